"""A plan being carried out: what a person may do about a failure, and what may be done without one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from belayer.engine import Engine, Session
from belayer.sessions.state import SessionState
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Approve
from belayer.vocabulary.errors import (
    AlreadyDecided,
    DigestChanged,
    Problem,
    SessionFailed,
    TransientError,
    UnfitAnswer,
    UnknownRequest,
)
from belayer.vocabulary.events.event import Json, Mode, Status
from belayer.vocabulary.events.lifecycle import Logged
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.rules import Risk, Rule, Verdict
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import events_of, while_time_flies
from tests.support.plans import Hands, begin, plan_engine, statuses, step

ALLOWED = Rule(verdict=Verdict.ALLOW, tool="send")
ASKED = Rule(verdict=Verdict.ASK, tool="send")
DENIED = Rule(verdict=Verdict.DENY, tool="send", note="not from here")
WRITE = {"id": "w", "tool": "files.write", "params": {"path": "a.txt", "content": "new\n"}}


@dataclass(slots=True)
class Stage:
    """A world, and what is kept from one engine to the next."""

    hands: Hands
    keeping: Keeping
    folder: Path

    @asynccontextmanager
    async def engine(self) -> AsyncGenerator[Engine]:
        async with plan_engine(self.hands, self.keeping) as engine:
            yield engine

    async def failed(self, *steps: dict[str, Any], **more: Any) -> Problem:
        """Why the plan failed."""
        async with self.engine() as engine:
            session = await begin(engine, *steps, workspace=self.folder, **more)
            with pytest.raises(SessionFailed) as failed:
                await session.result()
            return failed.value.problem()

    async def until_asked(self, *steps: dict[str, Any], **more: Any) -> Session:
        """Carry out the plan until it asks, and stop the engine there. The session is not to be used any more."""
        async with self.engine() as engine:
            session = await begin(engine, *steps, workspace=self.folder, **more)
            state = await session.settled()
            assert state.status is Status.WAITING, state.problem
            return session

    async def answered(self, asked: Session, *answers: Json) -> dict[str, str]:
        """How the steps came out after somebody answered in another engine."""
        async with self.engine() as engine:
            session = engine.session(asked.id)
            for answer in answers:
                await session.settled()
                await session.answer(answer)
            return await statuses(session)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / "work").mkdir()
    return Stage(Hands(), kept_in_memory(tmp_path / "home"), tmp_path / "work")


def question(state: SessionState) -> InputRequested:
    (request,) = state.pending.values()
    assert isinstance(request, InputRequested)
    return request


def approval(state: SessionState) -> ApprovalRequested:
    (request,) = state.pending.values()
    assert isinstance(request, ApprovalRequested)
    return request


async def test_a_critical_failure_in_autonomous_mode_ends_the_session_with_the_facts(stage: Stage) -> None:
    stage.hands.fail("b")
    problem = await stage.failed(step("a"), step("b"), step("c", needs=["b"]), mode=Mode.AUTONOMOUS)
    assert problem.kind == "PlanFailed"
    assert "The step b (look) failed: b cannot be done." in problem.detail
    assert "1 later step is skipped" in problem.detail
    assert ": c." in problem.detail
    assert problem.hint == "Do another."
    assert stage.hands.tried == ["a", "b"]


async def test_a_failure_that_is_not_critical_is_told_and_the_plan_goes_on(stage: Stage) -> None:
    stage.hands.fail("a")
    async with stage.engine() as engine:
        session = await begin(engine, step("a", critical=False), step("b", needs=["a"]), step("c"))
        assert await statuses(session) == {"a": "failed", "b": "skipped", "c": "completed"}
    (told,) = await events_of(stage.keeping, session.id, Logged)
    assert "a failed, which does not end the plan: a cannot be done." in told.text
    assert "b" in told.text


async def test_a_critical_failure_asks_a_person_and_says_what_it_means(stage: Stage) -> None:
    stage.hands.fail("a")
    async with stage.engine() as engine:
        session = await begin(engine, step("a"), step("b", needs=["a"]))
        asked = question(await session.settled())
    assert asked.purpose == "failure"
    assert asked.choices == ("retry", "edit", "skip", "abort")
    assert asked.problem is not None
    assert asked.problem.detail == "a cannot be done."
    assert asked.impact is not None
    assert asked.impact.endswith(": b.")


async def test_retry_does_the_step_again_and_goes_on(stage: Stage) -> None:
    stage.hands.fail("b")
    asked = await stage.until_asked(step("a"), step("b"), step("c", needs=["b"]))
    stage.hands.failing.clear()
    assert await stage.answered(asked, "retry") == {"a": "completed", "b": "completed", "c": "completed"}
    assert stage.hands.tried == ["a", "b", "b", "c"]


async def test_a_retry_that_fails_asks_again(stage: Stage) -> None:
    stage.hands.fail("a")
    asked = await stage.until_asked(step("a"))
    assert await stage.answered(asked, "retry", "retry", "skip") == {"a": "skipped"}
    assert stage.hands.tried == ["a", "a", "a"]


async def test_edit_does_the_step_with_the_parameters_that_were_given(stage: Stage) -> None:
    stage.hands.fail("a")
    asked = await stage.until_asked(step("a"), step("b", params={"name": "b after {{steps.a.output.name}}"}))
    ended = await stage.answered(asked, {"choice": "edit", "params": {"name": "another"}})
    assert ended == {"a": "completed", "b": "completed"}
    assert stage.hands.done == ["another", "b after another"]


async def test_an_edit_is_taken_literally(stage: Stage) -> None:
    stage.hands.fail("b")
    asked = await stage.until_asked(step("a"), step("b"))
    await stage.answered(asked, {"choice": "edit", "params": {"name": "{{steps.a.output.name}}"}})
    assert stage.hands.done == ["a", "{{steps.a.output.name}}"]


async def test_an_edit_with_wrong_parameters_asks_again(stage: Stage) -> None:
    stage.hands.fail("a")
    asked = await stage.until_asked(step("a"))
    wrong: Json = {"choice": "edit", "params": {"title": "x"}}
    right: Json = {"choice": "edit", "params": {"name": "x"}}
    assert await stage.answered(asked, wrong, right) == {"a": "completed"}
    assert stage.hands.done == ["x"]


async def test_an_edit_without_parameters_is_refused(stage: Stage) -> None:
    stage.hands.fail("a")
    async with stage.engine() as engine:
        session = await begin(engine, step("a"))
        await session.settled()
        with pytest.raises(UnfitAnswer, match="parameters"):
            await session.answer("edit")


async def test_a_fallback_is_taken_without_asking(stage: Stage) -> None:
    stage.hands.fail("a")
    fallback = {"tool": "look", "params": {"name": "instead"}}
    async with stage.engine() as engine:
        session = await begin(engine, step("a", fallback=fallback), step("b", needs=["a"]))
        assert await statuses(session) == {"a": "completed", "b": "completed"}
    assert stage.hands.tried == ["a", "instead", "b"]


async def test_a_fallback_that_fails_asks_a_person_who_may_try_it_again(stage: Stage) -> None:
    stage.hands.fail("a", "instead")
    fallback = {"tool": "look", "params": {"name": "instead"}}
    asked = await stage.until_asked(step("a", fallback=fallback))
    stage.hands.failing.pop("instead")
    assert await stage.answered(asked, "fallback") == {"a": "completed"}
    assert stage.hands.tried == ["a", "instead", "instead"]


async def test_skip_leaves_out_the_step_and_what_needs_it(stage: Stage) -> None:
    stage.hands.fail("a")
    asked = await stage.until_asked(step("a"), step("b", needs=["a"]), step("c"))
    assert await stage.answered(asked, "skip") == {"a": "skipped", "b": "skipped", "c": "completed"}
    assert stage.hands.tried == ["a", "c"]


async def test_abort_ends_the_plan_and_undoes_nothing(stage: Stage) -> None:
    stage.hands.fail("b")
    asked = await stage.until_asked(step("a", "put"), step("b"), step("c"))
    with pytest.raises(SessionFailed, match="Nothing was undone"):
        await stage.answered(asked, "abort")
    assert stage.hands.undone == []
    assert "c" not in stage.hands.tried


@pytest.mark.parametrize("parallel", [1, 2, 3])
async def test_undo_takes_back_what_was_done_the_last_first(stage: Stage, parallel: int) -> None:
    stage.hands.fail("d")
    steps = [step("a", "put"), step("b", "put", needs=["a"]), step("c"), step("d", needs=["b", "c"])]
    asked = await stage.until_asked(*steps, parallel=parallel)
    with pytest.raises(SessionFailed, match="Undone: b, a"):
        await stage.answered(asked, "undo")
    assert stage.hands.undone == ["b", "a"]


@pytest.mark.parametrize("parallel", [1, 2])
async def test_undo_takes_back_what_was_done_beside_the_step_that_failed(stage: Stage, parallel: int) -> None:
    stage.hands.fail("b")
    asked = await stage.until_asked(step("a", "put"), step("b"), parallel=parallel)
    assert stage.hands.done == ["a"]
    with pytest.raises(SessionFailed, match="Undone: a"):
        await stage.answered(asked, "undo")
    assert stage.hands.undone == ["a"]


async def test_undo_takes_back_what_was_done_before_somebody_was_asked(stage: Stage) -> None:
    stage.hands.fail("b")
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "put"), step("b", "send"), parallel=2)
        await session.settled()
        await session.approve()
        assert "undo" in question(await session.settled()).choices
        await session.answer("undo")
        await session.settled()
    assert stage.hands.undone == ["a"]


async def test_undo_brings_back_the_files(stage: Stage) -> None:
    (stage.folder / "a.txt").write_text("old\n")
    stage.hands.fail("b")
    asked = await stage.until_asked(WRITE, step("b", needs=["w"]))
    assert (stage.folder / "a.txt").read_text() == "new\n"
    with pytest.raises(SessionFailed):
        await stage.answered(asked, "undo")
    assert (stage.folder / "a.txt").read_text() == "old\n"


async def test_a_condition_that_cannot_be_looked_at_asks_a_person_too(stage: Stage) -> None:
    (stage.folder / "a.txt").write_text("old\n")
    asked = await stage.until_asked(step("a"), step("b", when="steps.a.output.name > 3"))
    assert await stage.answered(asked, "skip") == {"a": "completed", "b": "skipped"}


async def test_what_does_not_need_a_waiting_step_goes_on_beside_it(stage: Stage) -> None:
    stage.hands.fail("a")
    await stage.until_asked(step("a"), step("b"), step("c", needs=["b"]), step("d", needs=["a"]), parallel=2)
    assert stage.hands.done == ["b", "c"]


async def test_two_steps_that_wait_are_answered_in_any_order(stage: Stage) -> None:
    stage.hands.fail("a", "b")
    asked = await stage.until_asked(step("a"), step("b"), step("c", needs=["a", "b"]), parallel=2)
    stage.hands.failing.clear()
    async with stage.engine() as engine:
        session = engine.session(asked.id)
        first, second = (await session.settled()).pending
        await session.answer("retry", second)
        await session.answer("retry", first)
        assert await statuses(session) == {"a": "completed", "b": "completed", "c": "completed"}
    assert sorted(stage.hands.done) == ["a", "b", "c"]


async def test_a_tool_that_is_unwell_leaves_out_an_optional_step(stage: Stage) -> None:
    stage.hands.unwell = "it is ill"
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "call", optional=True), step("b"))
        assert await statuses(session) == {"a": "skipped", "b": "completed"}
        result = await session.result()
    assert isinstance(result, dict)
    assert "it is ill" in str(result["skipped"])


async def test_a_call_that_a_rule_allows_is_made_unasked(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"), mode=Mode.AUTONOMOUS, policy=(ALLOWED,))
        assert await statuses(session) == {"a": "completed"}


async def test_a_call_that_a_rule_forbids_is_not_made(stage: Stage) -> None:
    problem = await stage.failed(step("a", "send"), mode=Mode.AUTONOMOUS, policy=(ALLOWED, DENIED))
    assert "send may not do this" in problem.detail
    assert "not from here" in problem.detail
    assert stage.hands.tried == []


async def test_an_external_call_asks_and_is_made_once_it_is_approved(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"), step("b"))
        asked = approval(await session.settled())
        assert stage.hands.tried == []
        assert asked.title == "send (a)"
        await session.approve()
        assert await statuses(session) == {"a": "completed", "b": "completed"}
    assert stage.hands.done == ["a", "b"]


async def test_an_approval_given_to_another_engine_counts(stage: Stage) -> None:
    asked = await stage.until_asked(step("a", "send"))
    async with stage.engine() as engine:
        await engine.session(asked.id).approve()
        assert await statuses(engine.session(asked.id)) == {"a": "completed"}
    assert stage.hands.done == ["a"]


async def test_a_rejected_call_is_not_made_and_asks_what_now(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"))
        await session.settled()
        await session.reject("too early")
        asked = question(await session.settled())
        assert asked.problem is not None
        assert "A person said no to send (a): too early" in asked.problem.detail
        await session.answer("skip")
        assert await statuses(session) == {"a": "skipped"}
    assert stage.hands.tried == []


async def test_an_approval_is_for_one_step_only(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"), step("b", "send"))
        await session.settled()
        await session.approve()
        assert approval(await session.settled()).title == "send (b)"
    assert stage.hands.done == ["a"]


async def test_an_approval_is_used_up_by_a_failure(stage: Stage) -> None:
    stage.hands.fail("a")
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"))
        await session.settled()
        await session.approve()
        await session.settled()
        await session.answer("retry")
        assert approval(await session.settled()).title == "send (a#2)"
    assert stage.hands.tried == ["a"]


async def test_a_decision_is_remembered_for_the_session(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"), step("b", "send"), step("c", "post"))
        asked = approval(await session.settled())
        command = Approve(request_id=asked.request_id, digest=asked.digest, remember="session")
        await engine.tell(session.id, command)
        assert approval(await session.settled()).title == "post (c)"
        other = await begin(engine, step("a", "send"))
        assert (await other.settled()).status is Status.WAITING
    assert stage.hands.done == ["a", "b"]


async def test_a_decision_is_remembered_for_its_host_only(stage: Stage) -> None:
    async with stage.engine() as engine:
        calls = [step(id_, "send", params={"name": id_, "host": id_}) for id_ in ("x", "y")]
        session = await begin(engine, *calls)
        asked = approval(await session.settled())
        command = Approve(request_id=asked.request_id, digest=asked.digest, remember="session")
        await engine.tell(session.id, command)
        assert approval(await session.settled()).title == "send on y (y)"


async def test_what_is_of_high_risk_is_asked_about_and_cannot_be_remembered(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", params={"name": "a", "risk": "high"}))
        asked = approval(await session.settled())
    assert asked.risk is Risk.HIGH
    assert asked.offers is None


@pytest.mark.parametrize("again", [False, True])
async def test_what_changed_before_the_approval_is_shown_anew(stage: Stage, again: bool) -> None:
    target = stage.folder / "a.txt"
    target.write_text("old\n")
    ask = Rule(verdict=Verdict.ASK, tool="files.write")
    async with stage.engine() as engine:
        session = await begin(engine, WRITE, policy=(ask,), workspace=stage.folder)
        shown = approval(await session.settled())
        target.write_text("changed\n")
        with pytest.raises(DigestChanged):
            await session.approve()
        asked = approval(await session.settled())
        assert asked.replaces == shown.request_id
        assert asked.digest != shown.digest
        assert "-changed" in str(asked.shown)
        if again:
            target.write_text("changed again\n")
            with pytest.raises(DigestChanged):
                await session.approve()
            await session.settled()
        assert target.read_text() != "new\n"
        await session.approve()
        assert await statuses(session) == {"w": "completed"}
    assert target.read_text() == "new\n"


async def test_the_old_request_cannot_be_approved_any_more(stage: Stage) -> None:
    (stage.folder / "a.txt").write_text("old\n")
    ask = Rule(verdict=Verdict.ASK, tool="files.write")
    async with stage.engine() as engine:
        session = await begin(engine, WRITE, policy=(ask,), workspace=stage.folder)
        shown = approval(await session.settled())
        (stage.folder / "a.txt").write_text("changed\n")
        with pytest.raises(DigestChanged):
            await session.approve()
        await session.settled()
        with pytest.raises(UnknownRequest):
            await engine.tell(session.id, Approve(request_id=shown.request_id, digest=shown.digest))


async def test_what_changed_after_the_approval_is_shown_anew(stage: Stage) -> None:
    """Approved while no engine drives; by the time one does, the file is another."""
    target = stage.folder / "a.txt"
    target.write_text("old\n")
    ask = Rule(verdict=Verdict.ASK, tool="files.write")
    async with stage.engine() as engine:
        session = await begin(engine, WRITE, policy=(ask,), workspace=stage.folder)
        await session.settled()
        await session.pause()
        await session.approve()
        target.write_text("changed\n")
        await session.resume()
        asked = approval(await session.settled())
        assert "has changed since it was shown" in (asked.why or "")
        assert target.read_text() == "changed\n"
        await session.approve()
        await statuses(session)
    assert target.read_text() == "new\n"


async def test_an_approval_cannot_be_given_twice(stage: Stage) -> None:
    async with stage.engine() as engine:
        session = await begin(engine, step("a", "send"), step("b", "send"))
        asked = approval(await session.settled())
        await session.approve()
        await session.settled()
        with pytest.raises(AlreadyDecided):
            await engine.tell(
                session.id, Approve(request_id=asked.request_id, digest="0" * 64, notes="again")
            )
    assert stage.hands.done == ["a"]


async def test_an_autonomous_session_says_what_it_needs_and_how_to_allow_it(stage: Stage) -> None:
    call = step("a", "send", params={"name": "a", "host": "example.org"})
    problem = await stage.failed(call, mode=Mode.AUTONOMOUS)
    assert "needs an approval of send on example.org (a)" in problem.detail
    assert "belayer policy allow --tool send --host example.org" in (problem.hint or "")
    assert stage.hands.tried == []


async def test_an_autonomous_session_is_not_told_to_allow_what_is_always_asked_about(stage: Stage) -> None:
    problem = await stage.failed(step("a", params={"name": "a", "risk": "high"}), mode=Mode.AUTONOMOUS)
    assert "policy allow" not in (problem.hint or "")


async def test_what_changed_while_an_approved_step_was_to_be_tried_again_is_shown_anew(stage: Stage) -> None:
    target, clock = stage.folder / "a.txt", ManualClock()
    target.write_text("old\n")
    stage.hands.fail("w", error=TransientError("The disk is busy."))
    async with plan_engine(stage.hands, stage.keeping, clock) as engine:
        session = await begin(
            engine, WRITE, policy=(Rule(verdict=Verdict.ASK, tool="files.write"),), workspace=stage.folder
        )
        await session.settled()
        await session.approve()
        async for frame in engine.follow(session.id):
            if frame.record is not None and frame.record.type == "retry":
                break
        target.write_text("changed\n")
        state = await while_time_flies(clock, session.settled(), real=0.001)
        assert target.read_text() == "changed\n"
        assert state.status is Status.WAITING


async def test_what_keeps_breaking_off_is_given_up_after_its_retries(stage: Stage) -> None:
    clock = ManualClock()
    stage.hands.fail("a", error=ConnectionResetError("gone"))
    async with plan_engine(stage.hands, stage.keeping, clock) as engine:
        session = await begin(
            engine,
            step("a", "post", retries=2),
            mode=Mode.AUTONOMOUS,
            policy=(Rule(verdict=Verdict.ALLOW, tool="post"),),
        )
        state = await while_time_flies(clock, session.settled())
    assert state.status is Status.FAILED
    assert len(stage.hands.tried) == 3


async def test_what_cannot_be_undone_does_not_keep_the_rest_from_it(stage: Stage) -> None:
    stage.hands.fail("c", "undo b")
    asked = await stage.until_asked(step("a", "put"), step("b", "put"), step("c", needs=["a", "b"]))
    with pytest.raises(SessionFailed) as failed:
        await stage.answered(asked, "undo")
    assert stage.hands.undone == ["a"]
    assert failed.value.problem().kind == "PlanFailed"
    assert "b" in failed.value.detail


@pytest.mark.parametrize("id_", ["plan", "log", "now", "sleep", "health", "failure", "undo", "checkpoint"])
async def test_a_step_may_have_any_name(stage: Stage, id_: str) -> None:
    stage.hands.fail(id_)
    asked = await stage.until_asked(step(id_), step("b", needs=[id_]), parallel=2)
    stage.hands.failing.clear()
    assert await stage.answered(asked, "retry") == {id_: "completed", "b": "completed"}
    assert stage.hands.tried == [id_, id_, "b"]
