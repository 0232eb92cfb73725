"""Spans for OpenTelemetry, made of what was committed: a session from being taken to its rest, and the steps in it.

Names, keys, states and times; never what a step was given or gave. Needs the extra `telemetry`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TypeVar
from uuid import UUID

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, StatusCode, set_span_in_context
from opentelemetry.util.types import AttributeValue

from belayer.sessions.record import Record
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.lifecycle import ErrorMet, SessionChanged
from belayer.vocabulary.events.steps import NOTHING, Retried, StepChanged
from belayer.vocabulary.ids import SessionId

_MOST_OPEN = 10_000
_EXPORT_SECONDS = 5
_PATH = "/v1/traces"
_NO_PARENT = Context()
_ENDED = (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.PAUSED)

K = TypeVar("K")
V = TypeVar("V")


class Spans:
    """Listens to the log. What it remembers is bounded; a session taken up in another process is not its own."""

    def __init__(self, processor: SpanProcessor, tools: Collection[str]) -> None:
        self._ids = _TraceIds()
        resource = Resource.create({"service.name": "belayer", "service.version": version("belayer")})
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("belayer", version("belayer"))
        self._tools = frozenset(tools)
        self._workflows: dict[SessionId, str] = {}
        self._sessions: dict[SessionId, Span] = {}
        self._steps: dict[tuple[SessionId, str], _Begun] = {}

    def hear(self, records: Sequence[Record]) -> None:
        """Begin and end spans. Never raises. A log that begins with more than one event was written elsewhere."""
        if records[0].seq == 1 and len(records) > 1:
            return
        for record in records:
            if record.type in ("session", "step", "retry", "error"):
                self._hear(record)

    def close(self) -> None:
        """Send what is left; blocks until it is sent or cannot be."""
        self._provider.shutdown()

    def _hear(self, record: Record) -> None:
        try:
            event = record.event()
        except StoreError:
            return
        match event:
            case SessionChanged():
                self._hear_session(record, event)
            case StepChanged():
                self._hear_step(record, event)
            case Retried():
                begun = self._steps.get((record.session_id, event.key)) or _Begun(record.at)
                begun.retries.append((record.at, event))
                _keep(self._steps, (record.session_id, event.key), begun)
            case ErrorMet() if record.session_id in self._sessions:
                self._sessions[record.session_id].set_attribute("error.type", event.problem.kind)
            case _:
                pass

    def _hear_session(self, record: Record, event: SessionChanged) -> None:
        if event.begun is not None:
            _keep(self._workflows, record.session_id, event.begun.workflow)
        span = self._sessions.pop(record.session_id, None)
        if span is not None:
            span.set_attribute("belayer.session.status", event.status.value)
            if event.status is Status.FAILED:
                span.set_status(StatusCode.ERROR)
            span.end(record.at * 1_000)
        if event.status is Status.RUNNING:
            _keep(self._sessions, record.session_id, self._session_span(record, event))

    def _session_span(self, record: Record, event: SessionChanged) -> Span:
        attributes: dict[str, AttributeValue] = {
            "belayer.session.id": record.session_id,
            "gen_ai.conversation.id": record.session_id,
            "belayer.session.epoch": event.epoch or 0,
        }
        workflow = self._workflows.get(record.session_id)
        if workflow is not None:
            attributes["belayer.workflow"] = workflow
        self._ids.session_id = record.session_id
        return self._tracer.start_span(
            "session", context=_NO_PARENT, start_time=record.at * 1_000, attributes=attributes
        )

    def _hear_step(self, record: Record, event: StepChanged) -> None:
        place = record.session_id, event.key
        if event.status is StepStatus.RUNNING:
            _keep(self._steps, place, _Begun(record.at))
        elif event.status in _ENDED:
            begun = self._steps.pop(place, None)
            if begun is not None or event.seconds is not None:  # else a mere value: the time, a random number
                self._step_span(record, event, begun)

    def _step_span(self, record: Record, event: StepChanged, begun: "_Begun | None") -> None:
        took = int((event.seconds or 0.0) * 1e6)
        start = min(begun.at, record.at - took) if begun else record.at - took
        parent = self._sessions.get(record.session_id)
        self._ids.session_id = record.session_id
        span = self._tracer.start_span(
            f"execute_tool {event.name}" if event.name in self._tools else "step",
            context=set_span_in_context(parent) if parent else _NO_PARENT,
            start_time=start * 1_000,
            attributes=self._about(record, event),
        )
        for at, retry in begun.retries if begun else ():
            facts = {"belayer.step.attempt": retry.attempt, "belayer.delay": retry.delay}
            span.add_event("retry", {**facts, "error.type": retry.problem.kind}, at * 1_000)
        if event.status is StepStatus.FAILED:
            span.set_status(StatusCode.ERROR)
        span.end(record.at * 1_000)

    def _about(self, record: Record, event: StepChanged) -> dict[str, AttributeValue]:
        used = event.usage or NOTHING
        about: dict[str, AttributeValue] = {
            "belayer.session.id": record.session_id,
            "belayer.step.key": event.key,
            "belayer.step.name": event.name,
            "belayer.step.attempt": event.attempt,
            "belayer.step.effect": event.effect.value,
            "belayer.step.status": event.status.value,
        }
        if event.name in self._tools:
            about["gen_ai.operation.name"] = "execute_tool"
            about["gen_ai.tool.name"] = event.name
        if used != NOTHING:
            about["belayer.usage.tokens"] = used.tokens
            about["belayer.usage.usd"] = used.usd
        if event.problem is not None:
            about["error.type"] = event.problem.kind
        return about


def exported_to(endpoint: str) -> SpanProcessor:
    """Sends spans to a collector (OTLP over HTTP), from a thread of its own; what it cannot take is dropped."""
    url = endpoint.rstrip("/")
    return BatchSpanProcessor(
        OTLPSpanExporter(endpoint=url if url.endswith(_PATH) else url + _PATH, timeout=_EXPORT_SECONDS)
    )


@dataclass(slots=True)
class _Begun:
    """A step that has not ended: when it was first heard of, and the attempts that failed since."""

    at: int
    retries: list[tuple[int, Retried]] = field(default_factory=list[tuple[int, Retried]])


class _TraceIds(RandomIdGenerator):
    """A session's own id is the id of its trace, however often it is taken up."""

    session_id: SessionId | None = None

    def generate_trace_id(self) -> int:
        return UUID(self.session_id).int if self.session_id else super().generate_trace_id()


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    kept[key] = value
    if len(kept) > _MOST_OPEN:
        del kept[next(iter(kept))]
