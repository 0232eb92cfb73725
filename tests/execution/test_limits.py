"""Calls beyond what is allowed wait for their turn, in order, and say so; none is lost."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from belayer.execution.limits import Limits, Rate
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.events.steps import LimitMet
from belayer.wiring import kept_in_memory, running
from belayer.workflows.workflow import Workflows
from belayer.workspace.workspace import Workspace
from tests.support.engines import events_of, settings, turns, while_time_flies
from tests.support.plans import begin

TWO_A_SECOND = Rate(calls=2, seconds=1.0)


class Counter:
    """Calls under limits, and what came of them."""

    def __init__(self, rate: Rate | None = None, at_once: int | None = None) -> None:
        self.clock = ManualClock()
        self.limits = Limits(self.clock)
        self.rate, self.at_once = rate, at_once
        self.had: list[tuple[int, float]] = []
        self.told: list[tuple[str, float | None]] = []
        self.inside = self.most_inside = 0
        self.leave = asyncio.Event()

    async def call(self, number: int, hosts: Sequence[str] = (), name: str = "it") -> None:
        async with self.limits.turn(name, self.rate, self.at_once, hosts, self._waits):
            self.had.append((number, self.clock.monotonic()))
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            if self.at_once is not None:
                await self.leave.wait()
            self.inside -= 1

    async def _waits(self, limit: Literal["rate", "concurrency"], delay: float | None) -> None:
        self.told.append((limit, delay))


async def test_a_call_without_limits_waits_for_nobody() -> None:
    counter = Counter()
    await asyncio.gather(*(counter.call(number) for number in range(100)))
    assert counter.told == []


async def test_calls_beyond_the_rate_wait_in_the_order_they_came() -> None:
    counter = Counter(TWO_A_SECOND)
    calls = asyncio.gather(*(counter.call(number) for number in range(50)))
    await while_time_flies(counter.clock, calls)
    assert [number for number, _ in counter.had] == list(range(50))
    assert [at for _, at in counter.had] == [0.0, 0.0, *(pytest.approx(n / 2) for n in range(1, 49))]
    assert len(counter.told) == 48


async def test_a_call_that_waits_says_for_how_long() -> None:
    counter = Counter(TWO_A_SECOND)
    await while_time_flies(counter.clock, asyncio.gather(*(counter.call(number) for number in range(4))))
    assert counter.told == [("rate", 0.5), ("rate", 1.0)]


async def test_each_host_and_each_tool_has_a_rate_of_its_own() -> None:
    counter = Counter(Rate(calls=1, seconds=10.0))
    await counter.call(1, ["a.org"])
    await counter.call(2, ["b.org"])
    await counter.call(3, ["a.org"], name="other")
    assert counter.told == []
    await while_time_flies(counter.clock, counter.call(4, ["a.org"]))
    assert counter.told == [("rate", 10.0)]


async def test_a_call_to_several_hosts_waits_for_the_slowest() -> None:
    counter = Counter(Rate(calls=1, seconds=10.0))
    await counter.call(1, ["a.org"])
    await while_time_flies(counter.clock, counter.call(2, ["b.org", "a.org"]))
    assert counter.told == [("rate", 10.0)]


async def test_a_call_that_is_stopped_while_it_waits_gives_its_turn_back() -> None:
    counter = Counter(Rate(calls=1, seconds=10.0))
    await counter.call(0)
    waiting = [asyncio.create_task(counter.call(number)) for number in range(1, 101)]
    await turns()
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await while_time_flies(counter.clock, counter.call(101))
    assert counter.had[-1] == (101, 10.0)


async def test_no_more_calls_are_at_it_at_once_than_may_be_and_all_get_their_turn() -> None:
    counter = Counter(at_once=3)
    calls = asyncio.gather(*(counter.call(number) for number in range(20)))
    await turns()
    assert (counter.inside, len(counter.told)) == (3, 17)
    counter.leave.set()
    await calls
    assert counter.most_inside == 3
    assert [number for number, _ in counter.had] == list(range(20))
    assert set(counter.told) == {("concurrency", None)}


async def test_a_call_that_fails_or_is_stopped_leaves_its_place() -> None:
    counter = Counter(at_once=1)
    first, second = (asyncio.create_task(counter.call(number)) for number in range(2))
    await turns()
    first.cancel()
    await turns()
    second.cancel()
    counter.leave.set()
    await counter.call(2)
    assert [number for number, _ in counter.had] == [0, 1, 2]


async def test_hosts_without_number_are_not_remembered_without_end() -> None:
    counter = Counter(TWO_A_SECOND)
    for number in range(10_100):
        await counter.call(number, [f"{number}.org"])
    assert len(counter.limits._buckets) <= 10_001  # pyright: ignore[reportPrivateUsage]


class Nothing(Params):
    pass


async def test_a_step_that_meets_a_limit_waits_and_has_it_on_record(tmp_path: Path) -> None:
    clock, keeping = ManualClock(), kept_in_memory(tmp_path)
    at: list[float] = []

    async def ring(_params: Nothing, _workspace: Workspace) -> Json:
        at.append(clock.monotonic())
        return None

    tool = Tool("ring", "Ring.", Nothing, ring, effect=Effect.READ, rate=Rate(calls=2, seconds=100.0))
    async with running(keeping, Workflows(), "all", settings(grace=0.0), clock, [tool]) as engine:
        session = await begin(
            engine, *({"id": f"s{number}", "tool": "ring"} for number in range(4)), parallel=4
        )
        await while_time_flies(clock, session.result())
    met = await events_of(keeping, session.id, LimitMet)
    assert [(event.key, event.name, event.limit, event.delay) for event in met] == [
        ("s2", "ring", "rate", 50.0),
        ("s3", "ring", "rate", 100.0),
    ]
    assert [time - at[0] for time in at] == [0.0, 0.0, pytest.approx(50.0), pytest.approx(100.0)]


async def test_a_tool_that_only_so_many_may_use_at_once_is_used_by_no_more(tmp_path: Path) -> None:
    clock, keeping = ManualClock(), kept_in_memory(tmp_path)
    counter = Counter()

    async def ring(_params: Nothing, _workspace: Workspace) -> Json:
        counter.inside += 1
        counter.most_inside = max(counter.most_inside, counter.inside)
        await turns(20)
        counter.inside -= 1
        return None

    tool = Tool("ring", "Ring.", Nothing, ring, effect=Effect.READ, at_once=2, timeout=86_400.0)
    async with running(keeping, Workflows(), "all", settings(grace=0.0), clock, [tool]) as engine:
        steps = [{"id": f"s{number}", "tool": "ring"} for number in range(6)]
        sessions = [await begin(engine, *steps, parallel=6) for _ in range(3)]
        for session in sessions:
            await session.result()
    assert counter.most_inside == 2
    assert {event.limit for event in await events_of(keeping, sessions[0].id, LimitMet)} == {"concurrency"}
