"""What keeps failing is left alone for a while, in every session at once, and everybody can see it."""

import asyncio

import pytest

from belayer.engine import Engine
from belayer.execution.act import act
from belayer.execution.breaker import Breaker, BreakerState
from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import SessionFailed, TransientError
from belayer.vocabulary.events.steps import BreakerChanged
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import events_of, memory_engine, while_time_flies


class Service:
    """The other side, which can be down."""

    def __init__(self) -> None:
        self.down = True
        self.calls = 0

    async def call(self) -> str:
        self.calls += 1
        if self.down:
            raise TransientError("the service is down")
        return "served"

    async def calling(self, run: Run) -> str:
        return await run.step("call", act(name="call", effect="read", retries=0)(self.call))


async def try_once(engine: Engine, service: Service, clock: ManualClock) -> str:
    """Start a session and see it end; what it said."""
    session = await engine.start(service.calling)
    try:
        return str(await while_time_flies(clock, session.result()))
    except SessionFailed as failed:
        return failed.detail


async def states(keeping: Keeping, engine: Engine) -> list[str]:
    """How the breaker went, over all sessions, oldest first."""
    rows = sorted(await engine.sessions(), key=lambda row: row.id)
    return [event.state for row in rows for event in await events_of(keeping, row.id, BreakerChanged)]


async def test_an_act_that_failed_five_times_is_left_alone_in_every_session() -> None:
    clock, service = ManualClock(), Service()
    async with memory_engine(service.calling, clock=clock) as engine:
        for _ in range(5):
            assert "down" in await try_once(engine, service, clock)
        assert "left alone" in await try_once(engine, service, clock)
    assert service.calls == 5


async def test_after_a_rest_one_call_is_let_through_and_closes_the_breaker() -> None:
    clock, service, keeping = ManualClock(), Service(), kept_in_memory()
    async with memory_engine(service.calling, clock=clock, keeping=keeping) as engine:
        for _ in range(5):
            await try_once(engine, service, clock)
        service.down = False
        clock.advance(31)
        assert await try_once(engine, service, clock) == "served"
        assert await states(keeping, engine) == ["open", "half_open", "closed"]
        assert await try_once(engine, service, clock) == "served"


async def test_a_call_let_through_that_fails_opens_the_breaker_again() -> None:
    clock, service, keeping = ManualClock(), Service(), kept_in_memory()
    async with memory_engine(service.calling, clock=clock, keeping=keeping) as engine:
        for _ in range(5):
            await try_once(engine, service, clock)
        clock.advance(31)
        await try_once(engine, service, clock)
        assert "left alone" in await try_once(engine, service, clock)
        assert await states(keeping, engine) == ["open", "half_open", "open"]
    assert service.calls == 6


async def test_a_step_waits_out_an_open_breaker_if_it_has_retries_left() -> None:
    clock, service = ManualClock(), Service()

    async def patient(run: Run) -> str:
        return await run.step("call", act(name="call", effect="read", retries=3)(service.call))

    async with memory_engine(service.calling, patient, clock=clock) as engine:
        for _ in range(5):
            await try_once(engine, service, clock)
        service.down = False
        session = await engine.start(patient)
        assert await while_time_flies(clock, session.result()) == "served"


async def test_one_act_being_down_does_not_touch_another() -> None:
    clock, service = ManualClock(), Service()

    async def other(run: Run) -> str:
        async def fine() -> str:
            return "fine"

        return await run.step("fine", act(effect="read")(fine))

    async with memory_engine(service.calling, other, clock=clock) as engine:
        for _ in range(6):
            await try_once(engine, service, clock)
        assert await (await engine.start(other)).result() == "fine"


async def test_failures_that_say_nothing_about_the_other_side_leave_the_breaker_closed() -> None:
    calls: list[int] = []

    async def nonsense() -> None:
        calls.append(1)
        raise ValueError("asked nonsense")

    async def workflow(run: Run) -> None:
        await run.step("call", act(effect="read")(nonsense))

    async with memory_engine(workflow) as engine:
        for _ in range(8):
            with pytest.raises(SessionFailed, match="asked nonsense"):
                await (await engine.start(workflow)).result()
    assert len(calls) == 8


async def test_a_call_that_is_stopped_does_not_keep_the_breaker_half_open_for_ever() -> None:
    clock, service = ManualClock(), Service()
    began = asyncio.Event()

    async def hang() -> str:
        began.set()
        return await asyncio.get_running_loop().create_future()

    async def hanging(run: Run) -> str:
        return await run.step("call", act(name="call", effect="read")(hang))

    async with memory_engine(service.calling, hanging, clock=clock) as engine:
        for _ in range(5):
            await try_once(engine, service, clock)
        clock.advance(31)
        session = await engine.start(hanging)
        await began.wait()
        await while_time_flies(clock, session.cancel())
        service.down = False
        assert await try_once(engine, service, clock) == "served"


def test_a_breaker_begins_closed_and_lets_calls_through() -> None:
    breaker = Breaker()
    assert (breaker.state, breaker.wait(0.0)) == (BreakerState.CLOSED, 0.0)


def test_a_success_forgives_earlier_failures() -> None:
    breaker = Breaker(threshold=3)
    for _ in range(10):
        breaker.failed(0.0)
        breaker.failed(0.0)
        breaker.succeeded()
    assert breaker.state is BreakerState.CLOSED


def test_only_one_call_is_let_through_after_the_rest() -> None:
    breaker = Breaker(threshold=1, rest=10.0)
    breaker.failed(0.0)
    assert breaker.wait(10.0) == 0.0
    assert breaker.wait(10.0) > 0.0
