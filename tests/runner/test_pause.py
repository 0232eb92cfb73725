"""A paused session begins nothing new, keeps what it has, and goes on from there, however often, over any restart."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from pydantic import ValidationError

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import BelayerError, IllegalTransition
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.events.steps import DoubtRaised, StepChanged
from belayer.wiring import kept_in_memory
from tests.support.engines import (
    Gate,
    events_of,
    home_engine,
    memory_engine,
    reached,
    records_of,
    turns,
    until,
    while_time_flies,
)


class Steps:
    """A workflow of gated effects."""

    def __init__(self, count: int = 3) -> None:
        self.gate = Gate()
        self._count = count

    async def steps(self, run: Run) -> list[str]:
        return [await run.step("it", act(self.gate.pass_), str(number)) for number in range(self._count)]


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


async def test_a_step_under_way_ends_and_is_recorded_when_its_session_is_paused() -> None:
    keeping, work = kept_in_memory(), Steps()
    async with memory_engine(work.steps, keeping=keeping) as engine:
        session = await engine.start(work.steps)
        await work.gate.reached()
        await session.pause()
        work.gate.open()
        await until(lambda: work.gate.through == ["0"])
        await turns()
    ended = [event.status for event in await events_of(keeping, session.id, StepChanged)]
    assert ended == [StepStatus.RUNNING, StepStatus.COMPLETED]


async def test_nothing_new_begins_after_a_pause() -> None:
    work = Steps()
    async with memory_engine(work.steps) as engine:
        session = await engine.start(work.steps)
        await work.gate.reached()
        assert (await session.pause()).status is Status.PAUSED
        work.gate.open()
        await turns()
        assert work.gate.begun == ["0"]
        assert (await session.state()).status is Status.PAUSED


async def test_no_effect_is_recorded_as_begun_between_a_pause_and_its_resume() -> None:
    keeping = kept_in_memory()
    done: list[int] = []

    async def workflow(run: Run) -> None:
        async def branch(run: Run) -> None:
            for number in range(20):
                await run.step("it", act(done.append), number)

        await run.parallel("side", [branch] * 5)

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        for moment in range(1, 60, 7):
            await until(lambda moment=moment: len(done) >= moment)
            await session.pause()
            await turns(5)
            await session.resume()
        await reached(session, Status.COMPLETED)
    paused = False
    for record in await records_of(keeping, session.id):
        event = record.event()
        if isinstance(event, SessionChanged):
            paused = event.status in (Status.PAUSED, Status.QUEUED)
        assert not (paused and isinstance(event, StepChanged) and event.status is StepStatus.RUNNING)
    assert len(done) == 100


async def test_a_resumed_session_goes_on_from_where_it_was() -> None:
    keeping, work = kept_in_memory(), Steps()
    async with memory_engine(work.steps, keeping=keeping) as engine:
        session = await engine.start(work.steps)
        await work.gate.reached()
        await session.pause()
        work.gate.open()
        await until(lambda: work.gate.through == ["0"])
        await session.resume()
        assert (await reached(session, Status.COMPLETED)).result == ["0", "1", "2"]
    assert work.gate.through == ["0", "1", "2"]
    assert await events_of(keeping, session.id, DoubtRaised) == []


async def test_a_session_resumed_while_its_step_is_still_under_way_does_not_begin_it_again() -> None:
    work = Steps()
    async with memory_engine(work.steps) as engine:
        session = await engine.start(work.steps)
        await work.gate.reached()
        await session.pause()
        await session.resume()
        await turns()
        work.gate.open()
        assert (await reached(session, Status.COMPLETED)).result == ["0", "1", "2"]
    assert work.gate.begun == ["0", "1", "2"]


async def test_a_session_paused_while_it_is_queued_does_not_begin() -> None:
    first, second = Steps(), Steps(1)

    async def waiting_its_turn(run: Run) -> list[str]:
        return await second.steps(run)

    async with memory_engine(first.steps, waiting_its_turn, concurrency=1) as engine:
        await engine.start(first.steps)
        await first.gate.reached()
        session = await engine.start(waiting_its_turn)
        await session.pause()
        first.gate.open()
        second.gate.open()
        await turns()
        assert second.gate.begun == []
        await session.resume()
        assert (await reached(session, Status.COMPLETED)).result == ["0"]


async def test_an_answer_to_a_paused_session_is_kept_until_it_is_resumed() -> None:
    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        await session.pause()
        await session.answer("Ada")
        await turns()
        assert (await session.state()).status is Status.PAUSED
        await session.resume()
        assert await session.result() == "Ada"


async def test_a_session_resumed_without_an_answer_waits_again_with_the_same_question() -> None:
    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        before = (await session.settled()).pending
        await session.pause()
        await session.resume()
        assert (await reached(session, Status.WAITING)).pending == before


async def test_a_session_may_be_paused_and_resumed_many_times_over_many_restarts(tmp_path: Path) -> None:
    done: list[int] = []

    async def workflow(run: Run) -> int:
        for number in range(10):
            await run.ask("go", f"Go on with {number}?")
            await run.step("it", act(done.append), number)
        return len(done)

    async with home_engine(tmp_path, workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
    for number in range(10):
        async with home_engine(tmp_path, workflow) as engine:
            session = engine.session(session.id)
            await session.pause()
            if number % 2:
                await session.answer("yes")
        async with home_engine(tmp_path, workflow) as engine:
            session = engine.session(session.id)
            assert (await session.state()).status is Status.PAUSED
            await session.resume()
            if not number % 2:
                await reached(session, Status.WAITING)
                await session.answer("yes")
            await reached(session, Status.WAITING, Status.COMPLETED)
    assert done == list(range(10))


async def test_a_paused_session_is_not_taken_up_by_the_next_engine() -> None:
    keeping, work = kept_in_memory(), Steps()
    async with memory_engine(work.steps, keeping=keeping, drives="none") as engine:
        session = await engine.start(work.steps)
        await session.pause()
    async with memory_engine(work.steps, keeping=keeping) as engine:
        await turns()
        assert (await engine.state(session.id)).status is Status.PAUSED
    assert work.gate.begun == []


@pytest.mark.parametrize(("then", "ended"), [("resume", Status.COMPLETED), ("cancel", Status.CANCELLED)])
async def test_a_pause_that_nobody_ends_ends_as_was_chosen(
    then: Literal["resume", "cancel"], ended: Status
) -> None:
    clock, work = ManualClock(), Steps()
    work.gate.open()
    async with memory_engine(work.steps, clock=clock, concurrency=1) as engine:
        session = await engine.start(work.steps)
        await session.pause(timeout=timedelta(hours=1), then=then)
        await while_time_flies(clock, reached(session, ended))
        assert clock.monotonic() >= 3600


@pytest.mark.parametrize(("then", "ended"), [("resume", Status.WAITING), ("cancel", Status.CANCELLED)])
async def test_a_pause_ends_as_was_chosen_after_a_restart(
    then: Literal["resume", "cancel"], ended: Status
) -> None:
    clock, keeping = ManualClock(), kept_in_memory()
    async with memory_engine(asking, clock=clock, keeping=keeping) as engine:
        session = await engine.start(asking)
        await session.settled()
        await session.pause(timeout=timedelta(hours=1), then=then)
    clock.advance(7200)
    async with memory_engine(asking, clock=clock, keeping=keeping) as engine:
        await while_time_flies(clock, reached(engine.session(session.id), ended))


async def test_a_pause_that_was_ended_in_time_does_not_end_again() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock) as engine:
        session = await engine.start(asking)
        await session.settled()
        await session.pause(timeout=timedelta(hours=1), then="cancel")
        await session.resume()
        await reached(session, Status.WAITING)
        for _ in range(100):
            clock.advance(100)
            await turns(10)
        assert (await session.state()).status is Status.WAITING


async def test_a_pause_without_end_lasts() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock) as engine:
        session = await engine.start(asking)
        await session.settled()
        await session.pause()
        for _ in range(100):
            clock.advance(100_000)
            await turns(10)
        assert (await session.state()).status is Status.PAUSED


@pytest.mark.parametrize(
    "timeout", [timedelta.max, timedelta(days=4_000_000), timedelta(seconds=-5), timedelta(0)]
)
async def test_an_impossible_pause_does_not_stop_the_engine(timeout: timedelta) -> None:
    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        with suppress(BelayerError, ValidationError):
            await session.pause(timeout=timeout)
        other = await engine.start(asking)
        assert (await other.settled()).status is Status.WAITING


async def test_a_paused_session_cannot_be_paused() -> None:
    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        before = await session.pause()
        with pytest.raises(IllegalTransition, match="paused"):
            await session.pause()
        assert (await session.state()).seq == before.seq


async def test_a_timer_rings_in_a_paused_session_only_after_it_is_resumed() -> None:
    clock = ManualClock()

    async def sleeping(run: Run) -> str:
        await run.sleep(60)
        return "up"

    async with memory_engine(sleeping, clock=clock) as engine:
        session = await engine.start(sleeping)
        await session.settled()
        await session.pause()
        for _ in range(20):
            clock.advance(10)
            await turns(20)
        assert (await session.state()).status is Status.PAUSED
        await session.resume()
        assert await while_time_flies(clock, session.result()) == "up"
