"""The server as seen from outside: numbers that are right, and names that nobody but us can choose."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from belayer.api.routes import metrics
from belayer.engine import Engine
from belayer.execution.act import Act
from belayer.execution.run import Run
from belayer.runner.vitals import OTHER, Reading, Vitals, grouped
from belayer.sessions.history import ToolMetrics
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import LogicError, StepFailed, TransientError
from belayer.vocabulary.events.event import Effect, Status, StepStatus
from tests.support.engines import home_engine, memory_engine, settings, while_time_flies
from tests.support.records import beginning, create, named, now_is, records, stepped

NOW = datetime(2026, 5, 4, 10, 30, tzinfo=UTC)


def vitals_of(engine: Engine) -> Vitals:
    """As `wiring` makes them."""
    parts = engine._parts
    vitals = Vitals(parts.store, engine._history, parts.breakers, engine.toolbox.names(), parts.clock)
    parts.log.listen(vitals.hear)
    return vitals


@asynccontextmanager
async def visiting(vitals: Vitals) -> AsyncGenerator[httpx.AsyncClient]:
    app = FastAPI()
    app.include_router(metrics.router)
    app.state.vitals, app.state.settings = vitals, settings(concurrency=7)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://belayer") as client:
        yield client


async def scraped(client: httpx.AsyncClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample, by name and labels, as Prometheus would read them."""
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def sample(name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    return name, tuple(sorted(labels.items()))


class Clumsy:
    """An act that fails a few times first."""

    def __init__(self, failures: int) -> None:
        self.left = failures

    async def __call__(self) -> str:
        if self.left:
            self.left -= 1
            raise TransientError("not yet")
        return "done"


async def refusing() -> None:
    raise LogicError("never")


async def working(run: Run) -> None:
    """One call that takes three attempts and one that fails, under the names of tools."""
    await run.step("a", Act("http_fetch", Clumsy(2), Effect.READ))
    with suppress(StepFailed):
        await run.step("b", Act("http_fetch", refusing, Effect.READ))


async def asking(run: Run) -> None:
    await run.ask("it", "Which?")


class TestScrape:
    async def test_sessions_are_counted_by_status_also_where_there_are_none(self) -> None:
        async with memory_engine(asking) as engine, visiting(vitals_of(engine)) as client:
            await (await engine.start(asking)).settled()
            found = await scraped(client)
        by_status = {status: found[sample("belayer_sessions", status=status.value)] for status in Status}
        assert by_status == {status: status is Status.WAITING for status in Status}
        assert found[sample("belayer_sessions_for_a_person")] == 1

    async def test_calls_attempts_and_seconds_of_a_tool_are_counted(self) -> None:
        clock = ManualClock(NOW)
        async with memory_engine(working, clock=clock) as engine, visiting(vitals_of(engine)) as client:
            session = await engine.start(working)
            await while_time_flies(clock, session.settled())
            found = await scraped(client)
        assert found[sample("belayer_calls_total", tool="http_fetch", outcome="succeeded")] == 1
        assert found[sample("belayer_calls_total", tool="http_fetch", outcome="failed")] == 1
        assert found[sample("belayer_retries_total", tool="http_fetch")] == 2
        assert found[sample("belayer_call_seconds_count", tool="http_fetch")] == 2
        assert sample("belayer_call_seconds", tool="http_fetch", quantile="0.95") in found

    async def test_events_room_and_the_process_are_told(self, tmp_path: Path) -> None:
        async with home_engine(tmp_path, asking) as engine, visiting(vitals_of(engine)) as client:
            session = await engine.start(asking)
            seq = (await session.settled()).seq
            found = await scraped(client)
        assert found[sample("belayer_events_appended_total")] == seq
        assert found[sample("belayer_store_bytes")] > 4096
        assert found[sample("belayer_concurrency")] == 7
        assert found[sample("process_resident_memory_bytes")] > 0

    async def test_a_breaker_is_in_one_state(self) -> None:
        async with memory_engine() as engine, visiting(vitals_of(engine)) as client:
            breaker = engine._parts.breakers.of("http_fetch")
            for _ in range(breaker.threshold):
                breaker.failed(0.0)
            found = await scraped(client)
        states = {
            state: found[sample("belayer_breaker", tool="http_fetch", state=state)]
            for state in ("closed", "open", "half_open")
        }
        assert states == {"closed": 0, "open": 1, "half_open": 0}

    async def test_every_scrape_is_of_its_own_moment(self) -> None:
        async with memory_engine(asking) as engine, visiting(vitals_of(engine)) as client:
            before = await scraped(client)
            await (await engine.start(asking)).settled()
            after = await scraped(client)
        waiting = sample("belayer_sessions", status="waiting")
        assert (before[waiting], after[waiting]) == (0, 1)


class TestNames:
    async def test_acts_that_are_no_tools_are_told_as_one(self) -> None:
        async def many(run: Run) -> None:
            for number in range(50):
                await run.step(f"s{number}", Act(f'evil"}} {number}\n', Clumsy(0), Effect.READ))

        async with memory_engine(many) as engine, visiting(vitals_of(engine)) as client:
            await (await engine.start(many)).settled()
            found = await scraped(client)
            told = (await client.get("/api/metrics/summary")).json()
            tools = {*engine.toolbox.names(), OTHER}
        assert {value for _, labels in found for name, value in labels if name == "tool"} <= tools
        assert found[sample("belayer_calls_total", tool=OTHER, outcome="succeeded")] == 50
        assert {tool["name"] for tool in told["tools"]} == tools

    @given(st.lists(st.builds(ToolMetrics, name=st.text(), calls=st.just(2), succeeded=st.integers(0, 2))))
    def test_grouping_loses_no_call_and_adds_no_name(self, past: list[ToolMetrics]) -> None:
        past = list({one.name: one for one in past}.values())
        tools = sorted({one.name for one in past[::2]} - {OTHER})
        found = grouped(past, tools)
        assert {one.name for one in found} <= {*tools, OTHER}
        assert sum(one.calls for one in found) == sum(one.calls for one in past)
        assert sum(one.succeeded for one in found) == sum(one.succeeded for one in past)


class TestSummary:
    async def told(self, engine: Engine) -> dict[str, Any]:
        async with visiting(vitals_of(engine)) as client:
            return (await client.get("/api/metrics/summary")).json()

    async def test_the_last_24_hours_are_told_also_the_empty_ones(self) -> None:
        async with memory_engine(clock=ManualClock(NOW)) as engine:
            store = engine._parts.store
            await create(store, named(1), beginning(), now_is(Status.COMPLETED), at=NOW)
            await create(store, named(2), beginning(), now_is(Status.FAILED), at=NOW - timedelta(hours=23))
            await create(store, named(3), beginning(), at=NOW - timedelta(hours=24))
            told = await self.told(engine)
        hours = told["hours"]
        assert [hour["at"] for hour in (hours[0], hours[-1])] == [
            "2026-05-03T11:00:00Z",
            "2026-05-04T10:00:00Z",
        ]
        assert [(hour["started"], hour["completed"], hour["failed"]) for hour in hours] == [
            (1, 0, 1),
            *[(0, 0, 0)] * 22,
            (1, 1, 0),
        ]

    async def test_a_server_that_did_nothing_has_no_rates(self) -> None:
        async with memory_engine() as engine:
            told = await self.told(engine)
        assert (told["calls"], told["success_rate"], told["tokens"], told["usd"]) == (0, None, 0, 0.0)
        assert {tool["breaker"] for tool in told["tools"]} == {"closed"}

    async def test_the_success_rate_is_that_of_all_calls(self) -> None:
        clock = ManualClock(NOW)
        async with memory_engine(working, clock=clock) as engine:
            session = await engine.start(working)
            await while_time_flies(clock, session.settled())
            told = await self.told(engine)
        assert (told["calls"], told["success_rate"]) == (2, 0.5)
        (fetch,) = [tool for tool in told["tools"] if tool["name"] == "http_fetch"]
        assert (fetch["calls"], fetch["failed"], fetch["retried"]) == (2, 1, 2)


class TestListening:
    async def heard(self, *events: Any, together: bool) -> Reading:
        async with memory_engine() as engine:
            vitals = vitals_of(engine)
            log = records(named(1), *events)
            for group in [log] if together else [[record] for record in log]:
                vitals.hear(group)
            return await vitals.reading()

    async def test_a_log_that_came_from_elsewhere_is_not_counted(self) -> None:
        events = [beginning(), stepped("a", seconds=1.0)]
        assert (await self.heard(*events, together=True)).tallies == {}
        assert (await self.heard(*events, together=False)).tallies[OTHER].succeeded == 1

    async def test_a_mere_value_is_no_call(self) -> None:
        assert (await self.heard(beginning(), stepped("now"), together=False)).tallies == {}

    async def test_a_step_that_only_began_is_not_counted(self) -> None:
        begun = stepped("a", StepStatus.RUNNING, seconds=1.0)
        assert (await self.heard(beginning(), begun, together=False)).tallies == {}
