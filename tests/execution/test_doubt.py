"""A step that had begun and has no known end: its probe is asked, then a person; nobody guesses, none is repeated."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from belayer.engine import Engine
from belayer.execution.act import Act, DidNotHappen, Happened, Probed, act
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import InDoubt, OutcomeUnknown, SessionFailed, UnfitAnswer
from belayer.vocabulary.events.event import Json, Mode, Status
from belayer.vocabulary.events.people import InputRequested
from belayer.vocabulary.events.steps import DoubtRaised
from belayer.wiring import kept_in_memory
from tests.support.engines import events_of, memory_engine, reached, while_time_flies


@dataclass(slots=True)
class Sending:
    """An effect that breaks off as it is told, and a record of what really happened."""

    breaks: list[Callable[[], BaseException]] = field(default_factory=list[Callable[[], BaseException]])
    sent: list[str] = field(default_factory=list[str])
    keys: set[str] = field(default_factory=set[str])
    probes: int = 0
    found: Probed = None

    async def send(self, what: str) -> str:
        self.sent.append(what)
        self.keys.add(this_step().idempotency_key)
        if self.breaks:
            raise self.breaks.pop(0)()
        return f"sent {what}"

    async def probe(self, what: str) -> Probed:
        self.probes += 1
        return self.found

    def workflow(self, **manners: Any) -> Callable[..., Any]:
        declared: Act[..., str] = act(**manners)(self.send) if manners else act(self.send)

        async def sending(run: Run) -> str:
            return await run.step("send", declared, "letter")

        return sending


class LibraryError(Exception):
    """What a client library might raise in the middle of a request."""


def broken() -> BaseException:
    return ConnectionResetError("the line went dead")


BREAKS: dict[str, Callable[[], BaseException]] = {
    "a lost connection": broken,
    "a time-out": lambda: TimeoutError("no answer"),
    "an answer cut short": lambda: asyncio.IncompleteReadError(b"", 10),
    "an end of file": lambda: EOFError("gone"),
    "a lack of memory": MemoryError,
    "an error of a library": lambda: LibraryError("it broke off"),
    "a cancellation from inside": asyncio.CancelledError,
    "its own word": lambda: OutcomeUnknown("half of it was written"),
}


@pytest.mark.parametrize("break_", BREAKS)
async def test_an_effect_is_not_repeated_after(break_: str) -> None:
    sending, clock = Sending([BREAKS[break_]]), ManualClock()
    workflow = sending.workflow()
    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        state = await while_time_flies(clock, session.settled())
    assert sending.sent == ["letter"]
    assert state.status is Status.WAITING


async def in_doubt(engine: Engine, workflow: Callable[..., Any]) -> tuple[Any, InputRequested]:
    """A session that asks what became of its step."""
    session = await engine.start(workflow)
    (request,) = (await session.settled()).pending.values()
    assert isinstance(request, InputRequested)
    return session, request


async def test_a_person_is_asked_what_became_of_it() -> None:
    workflow = Sending([broken]).workflow()
    async with memory_engine(workflow) as engine:
        _, request = await in_doubt(engine, workflow)
    assert request.purpose == "in_doubt"
    assert "send" in request.prompt
    assert '{"choice": "happened", "output": …}' in request.prompt
    assert request.choices == ("happened", "did not happen", "check")


async def test_a_doubt_is_on_record_with_its_reason() -> None:
    keeping = kept_in_memory()
    workflow = Sending([broken]).workflow()
    async with memory_engine(workflow, keeping=keeping) as engine:
        session, _ = await in_doubt(engine, workflow)
    (doubt,) = await events_of(keeping, session.id, DoubtRaised)
    assert doubt.key == "send"
    assert "line went dead" in doubt.reason


@pytest.mark.parametrize("break_", ["a lost connection", "a time-out", "its own word"])
async def test_a_step_that_happened_is_not_done_again(break_: str) -> None:
    sending = Sending([BREAKS[break_]])
    workflow = sending.workflow()
    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        await session.answer({"choice": "happened", "output": "sent letter"})
        assert (await session.settled()).result == "sent letter"
    assert sending.sent == ["letter"]


async def test_a_step_that_did_not_happen_is_done() -> None:
    sending = Sending([broken])
    workflow = sending.workflow()
    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        await session.answer("did not happen")
        assert (await session.settled()).result == "sent letter"
    assert sending.sent == ["letter", "letter"]
    assert len(sending.keys) == 1


async def test_a_step_may_be_in_doubt_again_and_again() -> None:
    sending = Sending([broken, broken, broken])
    workflow = sending.workflow()
    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        for _ in range(3):
            await session.settled()
            await session.answer("did not happen")
        assert (await session.settled()).result == "sent letter"
    assert len(sending.sent) == 4


async def test_somebody_who_checks_is_asked_again() -> None:
    sending = Sending([broken])
    workflow = sending.workflow()
    async with memory_engine(workflow) as engine:
        session, first = await in_doubt(engine, workflow)
        await session.answer("check")
        (second,) = (await session.settled()).pending
        assert second != first.request_id
        await session.answer({"choice": "happened", "output": "sent letter"})
        assert (await session.settled()).result == "sent letter"
    assert sending.sent == ["letter"]


async def test_an_answer_that_is_none_of_the_three_is_refused() -> None:
    workflow = Sending([broken]).workflow()
    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        with pytest.raises(UnfitAnswer):
            await session.answer("perhaps")
        assert len((await session.state()).pending) == 1


async def test_a_probe_that_says_it_happened_settles_it() -> None:
    sending = Sending([broken], found=Happened("sent letter, says the probe"))
    workflow = sending.workflow(probe=sending.probe)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        assert await session.result() == "sent letter, says the probe"
    assert sending.sent == ["letter"]


async def test_a_probe_that_says_it_did_not_happen_settles_it() -> None:
    sending = Sending([broken], found=DidNotHappen())
    workflow = sending.workflow(probe=sending.probe)
    clock = ManualClock()
    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)  # it is tried again as after any failure: after a while
        assert await while_time_flies(clock, session.result()) == "sent letter"
    assert sending.sent == ["letter", "letter"]


async def test_a_probe_that_does_not_know_leaves_it_to_a_person() -> None:
    sending = Sending([broken], found=None)
    workflow = sending.workflow(probe=sending.probe)
    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        await session.answer("did not happen")
        assert (await session.settled()).result == "sent letter"
    assert sending.probes == 1


async def test_a_probe_is_asked_again_when_a_person_says_check() -> None:
    sending = Sending([broken], found=None)
    workflow = sending.workflow(probe=sending.probe)
    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        sending.found = Happened("found at last")
        await session.answer("check")
        assert (await session.settled()).result == "found at last"
    assert sending.sent == ["letter"]


async def test_a_probe_that_fails_leaves_it_to_a_person() -> None:
    sending = Sending([broken])

    async def probe(what: str) -> Probed:
        raise ConnectionRefusedError("nobody there")

    workflow = sending.workflow(probe=probe)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        assert (await session.settled()).status is Status.WAITING


@pytest.mark.parametrize("manners", [{"idempotent": True}, {"effect": "read"}], ids=["idempotent", "read"])
async def test_what_may_be_repeated_is_repeated_under_the_same_key(manners: dict[str, Any]) -> None:
    sending, clock = Sending([broken]), ManualClock()
    workflow = sending.workflow(**manners)
    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        assert await while_time_flies(clock, session.result()) == "sent letter"
    assert len(sending.sent) == 2
    assert len(sending.keys) == 1


async def test_an_autonomous_session_in_doubt_fails_and_says_so() -> None:
    sending = Sending([broken])
    workflow = sending.workflow()
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, mode=Mode.AUTONOMOUS)
        with pytest.raises(SessionFailed) as failed:
            await session.result()
    assert failed.value.cause.kind == InDoubt.__name__
    assert "send" in failed.value.detail
    assert failed.value.hint is not None
    assert sending.sent == ["letter"]


async def test_an_autonomous_session_takes_its_probe_at_its_word() -> None:
    sending = Sending([broken], found=Happened("sent letter"))
    workflow = sending.workflow(probe=sending.probe)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, mode=Mode.AUTONOMOUS)
        assert await session.result() == "sent letter"


@pytest.mark.parametrize("manners", [{"effect": "read"}, {"idempotent": True}], ids=["read", "idempotent"])
async def test_a_step_that_takes_too_long_is_tried_again_if_it_may_be_repeated(
    manners: dict[str, Any],
) -> None:
    calls: list[int] = []
    clock = ManualClock()

    async def slow() -> str:
        calls.append(1)
        if len(calls) == 1:
            await asyncio.get_running_loop().create_future()
        return "at last"

    async def workflow(run: Run) -> str:
        return await run.step("it", act(timeout=30, **manners)(slow))

    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        assert await while_time_flies(clock, session.result()) == "at last"
    assert len(calls) == 2


async def test_an_effect_that_takes_too_long_is_in_doubt() -> None:
    clock = ManualClock()
    calls: list[int] = []

    async def slow() -> str:
        calls.append(1)
        return await asyncio.get_running_loop().create_future()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(timeout=30)(slow))

    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        state = await while_time_flies(clock, session.settled())
        assert state.status is Status.WAITING
        await session.answer({"choice": "happened", "output": "it did"})
        assert (await reached(session, Status.COMPLETED, Status.PAUSED)).result == "it did"
    assert calls == [1]


async def test_a_step_has_no_longer_than_it_was_given() -> None:
    clock = ManualClock()
    began = clock.monotonic()

    async def slow() -> str:
        return await asyncio.get_running_loop().create_future()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(timeout=30, effect="read", retries=0)(slow))

    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        with pytest.raises(SessionFailed, match="longer than 30 seconds"):
            await while_time_flies(clock, session.result())
        assert clock.monotonic() - began < 60


async def test_an_effect_whose_engine_was_stopped_for_good_is_in_doubt() -> None:
    keeping, clock = kept_in_memory(), ManualClock()
    began = asyncio.Event()

    async def hang() -> str:
        began.set()
        return await asyncio.get_running_loop().create_future()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(hang))

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await began.wait()
    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        (request,) = (await engine.session(session.id).settled()).pending.values()
        assert isinstance(request, InputRequested)
        assert request.purpose == "in_doubt"
        await engine.session(session.id).answer({"choice": "happened", "output": "by hand"})
        assert (await engine.session(session.id).settled()).result == "by hand"


async def test_a_step_in_doubt_in_one_branch_does_not_hold_up_another() -> None:
    sending = Sending([broken])
    others: list[int] = []

    async def doubtful(run: Run) -> str:
        return await run.step("send", act(sending.send), "letter")

    async def working(run: Run) -> str:
        for number in range(3):
            await run.step("work", act(others.append), number)
        return "worked"

    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [doubtful, working])

    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        assert others == [0, 1, 2]
        await session.answer({"choice": "happened", "output": "sent letter"})
        assert (await session.settled()).result == ["sent letter", "worked"]
    assert others == [0, 1, 2]


HAPPENED: list[Json] = ["happened", {"choice": "happened"}, {"choice": "happened", "output": "no numbers"}]


@pytest.mark.parametrize("said", HAPPENED, ids=str)
async def test_a_session_is_never_stuck_because_a_person_gave_no_fitting_output(said: Json) -> None:
    async def count() -> list[int]:
        raise broken()

    async def workflow(run: Run) -> list[int]:
        return await run.step("count", act(count))

    async with memory_engine(workflow) as engine:
        session, _ = await in_doubt(engine, workflow)
        await session.answer(said)
        state = await session.settled()
        assert state.status is not Status.PAUSED, "resuming it would only find the same unfit output again"


async def test_a_doubt_that_is_settled_is_not_asked_about_again_after_a_restart() -> None:
    keeping = kept_in_memory()
    sending = Sending([broken])

    async def workflow(run: Run) -> str:
        sent = await run.step("send", act(sending.send), "letter")
        await run.ask("go", "Go on?")
        return sent

    async with memory_engine(workflow, keeping=keeping) as engine:
        session, _ = await in_doubt(engine, workflow)
        await session.answer({"choice": "happened", "output": "sent letter"})
        await session.settled()
    async with memory_engine(workflow, keeping=keeping) as engine:
        (request,) = (await engine.state(session.id)).pending.values()
        assert request.key == "go"
        await engine.session(session.id).answer("yes")
        assert await engine.session(session.id).result() == "sent letter"
    assert sending.sent == ["letter"]


async def test_a_probe_that_hangs_leaves_it_to_a_person() -> None:
    sending, clock = Sending([broken]), ManualClock()

    async def hanging(_: str) -> Probed:
        await asyncio.get_running_loop().create_future()

    workflow = sending.workflow(probe=hanging, timeout=0.05)
    async with memory_engine(workflow, clock=clock) as engine, asyncio.timeout(5):
        session = await engine.start(workflow)
        assert (await session.settled()).status is Status.WAITING
