"""A step that waits: as long as it says, over restarts, at no cost."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from belayer.tools.wait import WAIT
from belayer.vocabulary.clock import ManualClock, rfc3339
from belayer.vocabulary.errors import ConfigurationError
from belayer.vocabulary.events.event import Json, Status
from belayer.wiring import kept_in_memory
from tests.support.engines import engine_on, reached, while_time_flies
from tests.support.plans import begin


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "either"),
        ({"seconds": 1, "until": "2027-01-01T00:00:00Z"}, "either"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"seconds": 366 * 86_400 + 1}, "seconds"),
        ({"seconds": "soon"}, "seconds"),
        ({"until": "2027-01-01T00:00:00"}, "timezone"),
        ({"until": "tomorrow"}, "until"),
        ({"until": "0001-01-01T00:00:00+14:00"}, "1970"),
        ({"until": "9999-12-31T23:59:59-12:00"}, "9999"),
        ({"minutes": 1}, "minutes"),
    ],
)
def test_what_is_no_time_to_wait_is_refused(params: dict[str, Json], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        WAIT.read(params)


@pytest.mark.parametrize(
    ("params", "seconds"), [({"seconds": 90}, 90.0), ({"until": "2027-01-01T00:00:00Z"}, 0.0)]
)
def test_a_wait_knows_how_long_it_takes_if_it_was_told_so(params: dict[str, Json], seconds: float) -> None:
    assert WAIT.estimate is not None
    assert WAIT.estimate(WAIT.read(params)) == seconds


async def waited(tmp_path: Path, clock: ManualClock, params: dict[str, Any]) -> Any:
    """What the plan's one step came to."""
    async with engine_on(kept_in_memory(tmp_path), clock) as engine:
        session = await begin(engine, {"id": "w", "tool": "wait", "params": params})
        result: Any = await while_time_flies(clock, session.result())
    return result["outputs"]["w"]


async def test_a_step_waits_for_as_long_as_it_says(tmp_path: Path) -> None:
    clock = ManualClock()
    began = clock.now()
    assert await waited(tmp_path, clock, {"seconds": 300}) == {"waited": 300}
    assert clock.now() - began >= timedelta(minutes=5)


async def test_a_step_waits_until_its_time(tmp_path: Path) -> None:
    clock = ManualClock()
    until = clock.now() + timedelta(minutes=5)
    assert await waited(tmp_path, clock, {"until": rfc3339(until)}) == {"waited_until": rfc3339(until)}
    assert clock.now() >= until


async def test_a_time_in_another_zone_is_the_same_time(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 6, 1, 12, tzinfo=UTC))
    output = await waited(tmp_path, clock, {"until": "2026-06-01T14:10:00+02:00"})
    assert output == {"waited_until": "2026-06-01T12:10:00.000000Z"}
    assert clock.now() >= datetime(2026, 6, 1, 12, 10, tzinfo=UTC)


@pytest.mark.parametrize("params", [{"seconds": 0}, {"until": "2001-01-01T00:00:00Z"}])
async def test_a_time_that_has_come_is_not_waited_for(tmp_path: Path, params: dict[str, Any]) -> None:
    async with engine_on(kept_in_memory(tmp_path), ManualClock()) as engine:
        session = await begin(engine, {"id": "w", "tool": "wait", "params": params})
        await session.result()


async def test_a_wait_goes_on_where_it_was_after_a_restart(tmp_path: Path) -> None:
    clock, keeping = ManualClock(), kept_in_memory(tmp_path)
    began = clock.now()
    async with engine_on(keeping, clock) as engine:
        session = await begin(engine, {"id": "w", "tool": "wait", "params": {"seconds": 1000}})
        state = await reached(session, Status.WAITING)
        assert state.wake_at == began + timedelta(seconds=1000)
    clock.advance(400)
    async with engine_on(keeping, clock) as engine:
        state = await engine.session(session.id).state()
        assert state.wake_at == began + timedelta(seconds=1000)
        await while_time_flies(clock, engine.session(session.id).result())
    assert clock.now() - began >= timedelta(seconds=1000)
