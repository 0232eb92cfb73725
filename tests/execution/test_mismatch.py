"""When the code no longer tells the story the log tells, the session holds and says so; it never guesses."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.sessions.state import SessionState
from belayer.vocabulary.events.event import Json, Status
from belayer.wiring import kept_in_memory
from tests.support.engines import memory_engine, reached

Place = Callable[[Run], Awaitable[Any]]


@act(effect="read")
async def look(what: str) -> str:
    return f"saw {what}"


@act(effect="read")
async def look_again(what: str) -> str:
    return f"saw {what} again"


@act
async def send(what: str) -> str:
    return f"sent {what}"


class Story:
    """One workflow whose place in the middle can be rewritten between two replays."""

    def __init__(self, place: Place) -> None:
        self.place = place

    async def story(self, run: Run) -> str:
        await self.place(run)
        await run.ask("go", "Go on?")
        return "told"


CHANGED: dict[str, tuple[Place, Place]] = {
    "another act": (lambda run: run.step("it", look, "a"), lambda run: run.step("it", look_again, "a")),
    "other arguments": (lambda run: run.step("it", look, "a"), lambda run: run.step("it", look, "b")),
    "arguments by name": (
        lambda run: run.step("it", look, what="a"),
        lambda run: run.step("it", look, what="b"),
    ),
    "an effect instead of a read": (
        lambda run: run.step("it", look, "a"),
        lambda run: run.step("it", send, "a"),
    ),
    "a question instead of a step": (
        lambda run: run.step("it", look, "a"),
        lambda run: run.ask("it", "What?"),
    ),
    "a time instead of a step": (lambda run: run.step("now", look, "a"), lambda run: run.now()),
    "a number instead of a step": (lambda run: run.step("random", look, "a"), lambda run: run.random()),
    "a step instead of a time": (lambda run: run.now(), lambda run: run.step("now", look, "a")),
}


async def replayed(first: Place, second: Place) -> tuple[SessionState, SessionState]:
    """The session after its place was rewritten, and after it was put right again."""
    told = Story(first)
    async with memory_engine(told.story) as engine:
        session = await engine.start(told.story)
        assert (await session.settled()).status is Status.WAITING
        told.place = second
        await session.answer("yes")
        held = await session.settled()
        told.place = first
        if held.status is Status.PAUSED:
            await session.resume()
        return held, await session.settled()


@pytest.mark.parametrize("change", CHANGED)
async def test_a_session_holds_when_its_key_now_means(change: str) -> None:
    held, _ = await replayed(*CHANGED[change])
    assert held.status is Status.PAUSED


@pytest.mark.parametrize("change", CHANGED)
async def test_a_session_goes_on_once_the_workflow_is_right_again_after(change: str) -> None:
    _, ended = await replayed(*CHANGED[change])
    assert ended.status is Status.COMPLETED


async def test_a_mismatch_names_the_key_and_both_stories() -> None:
    held, _ = await replayed(*CHANGED["another act"])
    assert held.reason is not None
    assert "'it'" in held.reason
    assert "look(" in held.reason
    assert "look_again(" in held.reason


ASKED: dict[str, tuple[Place, Place, Json]] = {
    "another question": (
        lambda run: run.ask("it", "Which file?"),
        lambda run: run.ask("it", "Delete which file?"),
        "a.txt",
    ),
    "another kind of question": (
        lambda run: run.ask("it", "Sure?", kind="text"),
        lambda run: run.ask("it", "Sure?", kind="confirm"),
        "no",
    ),
    "other choices": (
        lambda run: run.ask("it", "Which?", choices=["keep", "archive"]),
        lambda run: run.ask("it", "Which?", choices=["delete", "keep it"]),
        "archive",
    ),
    "a step instead of a question": (
        lambda run: run.ask("it", "Which file?"),
        lambda run: run.step("it", look, "a"),
        "a.txt",
    ),
    "an approval instead of a question": (
        lambda run: run.ask("it", "Which file?"),
        lambda run: run.approve("it", {"delete": "a.txt"}),
        "a.txt",
    ),
}


async def rewritten_after_answer(first: Place, second: Place, answer: Json) -> SessionState:
    told = Story(first)
    async with memory_engine(told.story) as engine:
        session = await engine.start(told.story)
        await session.settled()
        told.place = second
        await session.answer(answer)
        return await session.settled()


@pytest.mark.parametrize("change", ASKED)
async def test_an_answer_is_not_taken_for_an_answer_to(change: str) -> None:
    assert (await rewritten_after_answer(*ASKED[change])).status is Status.PAUSED


async def test_an_approval_does_not_hold_for_other_content() -> None:
    told = Story(lambda run: run.approve("plan", {"delete": "a.txt"}))
    async with memory_engine(told.story) as engine:
        session = await engine.start(told.story)
        await session.settled()
        told.place = lambda run: run.approve("plan", {"delete": "everything"})
        await session.approve()
        assert (await session.settled()).status is Status.PAUSED


async def test_an_approval_does_not_hold_under_another_title() -> None:
    told = Story(lambda run: run.approve("plan", {"delete": "a.txt"}, title="Look at a file"))
    async with memory_engine(told.story) as engine:
        session = await engine.start(told.story)
        await session.settled()
        told.place = lambda run: run.approve("plan", {"delete": "a.txt"}, title="Delete a file")
        await session.approve()
        assert (await session.settled()).status is Status.PAUSED


async def test_a_workflow_that_catches_everything_cannot_swallow_a_mismatch() -> None:
    sent: list[str] = []
    what = ["a"]

    async def workflow(run: Run) -> str:
        try:
            await run.step("it", look, what[0])
        except Exception:
            await run.step("fallback", act(sent.append), "fallback")
        await run.ask("go", "Go on?")
        return "told"

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        what[0] = "b"
        await session.answer("yes")
        assert (await session.settled()).status is Status.PAUSED
    assert sent == []


async def test_a_question_with_a_secret_in_it_can_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_PASSWORD", "hunter2-hunter2")

    async def workflow(run: Run) -> str:
        return await run.ask("it", "Is hunter2-hunter2 right?")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        await session.answer("yes")
        assert (await session.settled()).status is Status.COMPLETED


async def test_an_approval_of_something_secret_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_PASSWORD", "hunter2-hunter2")

    async def workflow(run: Run) -> bool:
        return bool(await run.approve("it", {"with": "hunter2-hunter2"}, title="Use hunter2-hunter2"))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        await session.approve()
        assert (await session.settled()).result is True


async def test_a_step_whose_arguments_hold_a_secret_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_PASSWORD", "hunter2-hunter2")
    told = Story(lambda run: run.step("it", look, "hunter2-hunter2"))
    async with memory_engine(told.story) as engine:
        session = await engine.start(told.story)
        await session.settled()
        await session.answer("yes")
        assert (await session.settled()).status is Status.COMPLETED


async def test_an_unknown_workflow_holds_its_session_until_it_is_known() -> None:
    keeping = kept_in_memory()
    told = Story(lambda run: run.step("it", look, "a"))
    async with memory_engine(told.story, keeping=keeping, drives="none") as engine:
        session = await engine.start(told.story)
    async with memory_engine(keeping=keeping) as engine:
        held = await engine.session(session.id).settled()
        assert held.status is Status.PAUSED
        assert "story" in (held.reason or "")
    async with memory_engine(told.story, keeping=keeping) as engine:
        await engine.session(session.id).resume()
        assert (await engine.session(session.id).settled()).status is Status.WAITING


async def test_an_input_that_no_longer_fits_holds_its_session() -> None:
    keeping = kept_in_memory()

    async def before() -> Callable[..., Awaitable[str]]:
        async def greet(run: Run, name: str) -> str:
            return name

        return greet

    async def after() -> Callable[..., Awaitable[str]]:
        async def greet(run: Run, count: int) -> str:
            return str(count)

        return greet

    old, new = await before(), await after()
    async with memory_engine(old, keeping=keeping, drives="none") as engine:
        session = await engine.start(old, "Ada")
    async with memory_engine(new, keeping=keeping) as engine:
        assert (await engine.session(session.id).settled()).status is Status.PAUSED
    async with memory_engine(old, keeping=keeping) as engine:
        await engine.session(session.id).resume()
        assert (await reached(engine.session(session.id), Status.COMPLETED)).result == "Ada"
