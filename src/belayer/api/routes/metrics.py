"""How the server is, for Prometheus and for a person: counts, rates and times, never what a session is about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection
from starlette.responses import Response

from belayer.api.asked import TheSettings
from belayer.api.prometheus import CONTENT_TYPE, exposition
from belayer.api.strict import StrictRoute
from belayer.execution.breaker import BreakerState
from belayer.runner.vitals import Reading, Vitals
from belayer.sessions.history import ToolMetrics
from belayer.sessions.store import Hour
from belayer.vocabulary.clock import from_micros
from belayer.vocabulary.events.event import Shape, Status

router = APIRouter(tags=["metrics"], route_class=StrictRoute)


class HourSummary(Shape):
    """How many sessions began in the hour from `at` on, and how many ended how."""

    at: datetime
    started: int
    completed: int
    failed: int
    cancelled: int


class ToolSummary(ToolMetrics):
    """How a tool did, as far as the known past reaches, and the state of its breaker. `other` is everything else."""

    breaker: BreakerState | None


class MetricsSummary(Shape):
    """How the server is. `for_a_person`: sessions that wait for a person and for no set time."""

    at: datetime
    sessions: dict[Status, int]
    for_a_person: int
    hours: tuple[HourSummary, ...]
    tools: tuple[ToolSummary, ...]
    calls: int
    success_rate: float | None
    tokens: int
    usd: float
    events: int
    store_bytes: int


def _vitals(connection: HTTPConnection) -> Vitals:
    return connection.app.state.vitals


TheVitals = Annotated[Vitals, Depends(_vitals)]


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(vitals: TheVitals, settings: TheSettings) -> Response:
    """Everything that is counted, as Prometheus reads it."""
    return Response(exposition(await vitals.reading(), settings.concurrency), media_type=CONTENT_TYPE)


@router.get("/api/metrics/summary")
async def summary(vitals: TheVitals) -> MetricsSummary:
    """The last 24 hours, and how sessions and tools are now."""
    return _summary(await vitals.reading(), await vitals.last_hours())


def _summary(reading: Reading, hours: Sequence[Hour]) -> MetricsSummary:
    past, counts = reading.past, reading.counts
    calls, succeeded = sum(one.calls for one in past), sum(one.succeeded for one in past)
    return MetricsSummary(
        at=reading.at,
        sessions={status: counts.by_status.get(status, 0) for status in Status},
        for_a_person=counts.for_a_person,
        hours=tuple(_hour(hour) for hour in hours),
        tools=tuple(ToolSummary(**dict(one), breaker=reading.breakers.get(one.name)) for one in past),
        calls=calls,
        success_rate=succeeded / calls if calls else None,
        tokens=sum(one.tokens for one in past),
        usd=sum(one.usd for one in past),
        events=counts.events,
        store_bytes=counts.bytes,
    )


def _hour(hour: Hour) -> HourSummary:
    return HourSummary(
        at=from_micros(hour.at),
        started=hour.started,
        completed=hour.completed,
        failed=hour.failed,
        cancelled=hour.cancelled,
    )
