"""Interrupt and cancel stop what is under way: first kindly, then with less patience, at last by leaving it behind."""

import asyncio

import pytest

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import IllegalTransition, SessionFailed
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.people import InputRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import kept_in_memory
from tests.support.engines import Gate, events_of, memory_engine, reached, turns, until, while_time_flies


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


async def test_an_interrupt_stops_the_step_under_way() -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        assert (await session.interrupt()).status is Status.INTERRUPTED
        await until(lambda: gate.stopped == ["it"])
        gate.open()
        await turns()
        assert gate.through == []


async def test_a_stopped_effect_is_on_record_as_stopped() -> None:
    gate, keeping = Gate(), kept_in_memory()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        await session.interrupt()
        await turns()
    changed = await events_of(keeping, session.id, StepChanged)
    assert [event.status for event in changed] == [StepStatus.RUNNING, StepStatus.PAUSED]


async def test_an_effect_that_was_stopped_in_the_middle_is_in_doubt_after_resume() -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        await session.interrupt()
        await turns()
        await session.resume()
        (request,) = (await reached(session, Status.WAITING)).pending.values()
        assert isinstance(request, InputRequested)
        assert request.purpose == "in_doubt"
        gate.open()
        await session.answer("did not happen")
        assert (await reached(session, Status.COMPLETED, Status.PAUSED)).result == "it"
    assert gate.through == ["it"]


@pytest.mark.parametrize("manners", [{"effect": "read"}, {"idempotent": True}], ids=["read", "idempotent"])
async def test_what_may_be_repeated_is_done_again_after_resume(manners: dict[str, object]) -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(**manners)(gate.pass_), "it")  # pyright: ignore[reportCallIssue, reportArgumentType]

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        await session.interrupt()
        await until(lambda: gate.stopped == ["it"])
        gate.open()
        await session.resume()
        assert (await reached(session, Status.COMPLETED)).result == "it"
    assert gate.begun == ["it", "it"]


async def test_steps_that_had_ended_are_not_done_again_after_an_interrupt() -> None:
    gate = Gate()
    done: list[int] = []

    async def workflow(run: Run) -> str:
        for number in range(3):
            await run.step("before", act(done.append), number)
        return await run.step("it", act(effect="read")(gate.pass_), "it")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        for count in range(1, 4):
            await gate.reached(count)
            await session.interrupt()
            await until(lambda count=count: len(gate.stopped) == count)
            await session.resume()
        gate.open()
        await reached(session, Status.COMPLETED)
    assert done == [0, 1, 2]


class Stubborn:
    """An act that does not care about being cancelled."""

    def __init__(self) -> None:
        self.begun = 0
        self.asked_to_stop = 0
        self.ended = 0
        self.enough = asyncio.Event()

    async def work(self) -> str:
        self.begun += 1
        while not self.enough.is_set():
            try:
                await self.enough.wait()
            except asyncio.CancelledError:
                self.asked_to_stop += 1
        self.ended += 1
        return "at last"


async def test_a_step_that_will_not_stop_is_left_behind_after_its_grace() -> None:
    stubborn, clock = Stubborn(), ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(effect="read")(stubborn.work))

    async with memory_engine(workflow, asking, clock=clock, concurrency=1, grace=5.0) as engine:
        session = await engine.start(workflow)
        await until(lambda: stubborn.begun == 1)
        await session.interrupt()
        other = await engine.start(asking)
        assert (await while_time_flies(clock, other.settled())).status is Status.WAITING
        assert stubborn.asked_to_stop == 2
        stubborn.enough.set()
        await turns()


async def test_a_session_goes_on_although_its_old_step_was_left_behind() -> None:
    stubborn, clock = Stubborn(), ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(idempotent=True)(stubborn.work))

    async with memory_engine(workflow, clock=clock, grace=5.0) as engine:
        session = await engine.start(workflow)
        await until(lambda: stubborn.begun == 1)
        await session.interrupt()
        await while_time_flies(clock, until(lambda: stubborn.asked_to_stop == 2))
        clock.advance(10)
        await turns()
        await session.resume()
        await until(lambda: stubborn.begun == 2)
        stubborn.enough.set()
        assert (await reached(session, Status.COMPLETED)).result == "at last"
        await turns()


async def test_a_step_left_behind_records_nothing_once_its_session_was_resumed() -> None:
    stubborn, clock, keeping = Stubborn(), ManualClock(), kept_in_memory()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(stubborn.work))

    async with memory_engine(workflow, clock=clock, keeping=keeping, grace=5.0) as engine:
        session = await engine.start(workflow)
        await until(lambda: stubborn.begun == 1)
        await session.interrupt()
        await while_time_flies(clock, until(lambda: stubborn.asked_to_stop == 2))
        clock.advance(10)
        await turns()
        await session.resume()
        await reached(session, Status.WAITING)
        stubborn.enough.set()
        await turns()
        changed = await events_of(keeping, session.id, StepChanged)
        assert StepStatus.COMPLETED not in {event.status for event in changed}


async def test_a_step_may_tidy_up_when_it_is_interrupted() -> None:
    tidied: list[str] = []
    began = asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.sleep(0)
            tidied.append("tidied")

    async def workflow(run: Run) -> None:
        await run.step("it", act(effect="read")(work))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await began.wait()
        await session.interrupt()
        await until(lambda: tidied == ["tidied"])


async def test_a_waiting_session_can_be_interrupted_and_resumed() -> None:
    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        assert (await session.interrupt()).status is Status.INTERRUPTED
        await session.resume()
        await reached(session, Status.WAITING)
        await session.answer("Ada")
        assert await session.result() == "Ada"


async def test_an_interrupted_session_is_not_taken_up_by_the_next_engine() -> None:
    keeping = kept_in_memory()
    async with memory_engine(asking, keeping=keeping) as engine:
        session = await engine.start(asking)
        await session.settled()
        await session.interrupt()
    async with memory_engine(asking, keeping=keeping) as engine:
        await turns()
        assert (await engine.state(session.id)).status is Status.INTERRUPTED


async def test_a_cancelled_session_stops_its_step_and_does_nothing_more() -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        await run.step("it", act(gate.pass_), "it")
        return await run.step("it", act(gate.pass_), "next")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        assert (await session.cancel()).status is Status.CANCELLED
        await until(lambda: gate.stopped == ["it"])
        gate.open()
        await turns()
        assert gate.through == []
        with pytest.raises(SessionFailed, match="cancelled"):
            await session.result()


async def test_a_cancelled_session_cannot_be_resumed() -> None:
    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        before = await session.cancel()
        with pytest.raises(IllegalTransition) as refused:
            await session.resume()
        assert "rewind" in (refused.value.hint or "")
        assert (await session.state()).seq == before.seq


async def test_cancelling_one_session_leaves_the_others_at_work() -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow) as engine:
        first, second = await engine.start(workflow), await engine.start(workflow)
        await gate.reached(2)
        await first.cancel()
        gate.open()
        assert await second.result() == "it"


async def test_a_step_interrupted_while_it_waits_to_try_again_stops() -> None:
    clock, calls = ManualClock(), list[int]()

    async def fail() -> None:
        calls.append(1)
        raise ConnectionRefusedError("nobody there")

    async def workflow(run: Run) -> None:
        await run.step("it", act(effect="read")(fail))

    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        await until(lambda: calls == [1])
        await session.interrupt()
        for _ in range(50):
            clock.advance(1)
            await turns(10)
        assert calls == [1]
