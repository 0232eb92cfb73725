"""A session nobody touches expires; its history stays, and whoever comes back late finds it where it was."""

import pytest

from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Status
from tests.support.engines import memory_engine, reached, turns, while_time_flies


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


async def sleeping(run: Run) -> str:
    await run.sleep(100_000)
    return "up"


async def test_a_session_that_nobody_answers_expires() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(asking)
        await session.settled()
        await while_time_flies(clock, reached(session, Status.EXPIRED))
        assert 1800 <= clock.monotonic() <= 2200


@pytest.mark.parametrize("verb", ["pause", "interrupt"])
async def test_a_stopped_session_that_nobody_resumes_expires(verb: str) -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(asking)
        await session.settled()
        await getattr(session, verb)()
        await while_time_flies(clock, reached(session, Status.EXPIRED))


async def test_a_session_that_waits_for_a_time_does_not_expire() -> None:
    clock = ManualClock()
    async with memory_engine(sleeping, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(sleeping)
        assert await while_time_flies(clock, session.result()) == "up"


async def test_an_answer_after_expiry_lets_the_session_go_on() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(asking)
        await session.settled()
        await while_time_flies(clock, reached(session, Status.EXPIRED))
        await session.answer("Ada")
        assert await session.result() == "Ada"


async def test_an_expired_session_can_be_resumed_and_asks_the_same_again() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(asking)
        before = (await session.settled()).pending
        await while_time_flies(clock, reached(session, Status.EXPIRED))
        await session.resume()
        assert (await reached(session, Status.WAITING)).pending == before


async def test_a_touched_session_has_its_whole_time_again() -> None:
    clock = ManualClock()

    async def asking_twice(run: Run) -> str:
        return await run.ask("first", "First?") + await run.ask("second", "Second?")

    async with memory_engine(asking_twice, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(asking_twice)
        await session.settled()
        for _ in range(17):
            clock.advance(100)
            await turns()
        await session.answer("a")
        await reached(session, Status.WAITING)
        for _ in range(17):
            clock.advance(100)
            await turns()
        assert (await session.state()).status is Status.WAITING


async def test_nothing_expires_when_the_timeout_is_nought() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock, session_timeout=0.0) as engine:
        session = await engine.start(asking)
        await session.settled()
        for _ in range(100):
            clock.advance(10_000)
            await turns(10)
        assert (await session.state()).status is Status.WAITING


async def test_a_clock_that_jumps_back_expires_nothing_early() -> None:
    clock = ManualClock()
    async with memory_engine(asking, clock=clock, session_timeout=1800.0) as engine:
        session = await engine.start(asking)
        await session.settled()
        clock.advance(-86_400)
        for _ in range(15):
            clock.advance(100)
            await turns()
        assert (await session.state()).status is Status.WAITING
