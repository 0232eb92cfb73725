"""Traces as a collector gets them: every session and step once, timed by the log, without anything they are about."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest

from belayer.engine import Engine
from belayer.execution.act import Act
from belayer.execution.run import Run
from belayer.runner.tracing import tracing
from belayer.vocabulary.clock import ManualClock, to_micros
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import ConfigurationError, LogicError, TransientError
from belayer.vocabulary.events.event import Effect, Status, StepStatus
from tests.support.engines import Gate, memory_engine, until, while_time_flies
from tests.support.records import AT, beginning, named, now_is, records, stepped, taken

pytest.importorskip("opentelemetry.sdk", reason="the extra `telemetry` is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from belayer.runner.spans import Spans

PRIVATE = "nobody else's business"
TOOLS = ("http_fetch", "files.read")


class Traced:
    """Spans that stay here."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.spans = Spans(SimpleSpanProcessor(self._exporter), TOOLS)

    def ended(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.ended() if span.name == name]


@asynccontextmanager
async def traced_engine(
    *workflows: Any, clock: ManualClock | None = None
) -> AsyncGenerator[tuple[Engine, Traced]]:
    traced = Traced()
    async with memory_engine(*workflows, clock=clock) as engine:
        engine._parts.log.listen(traced.spans.hear)
        yield engine, traced


def ids(span: ReadableSpan) -> tuple[int, int]:
    """Of the trace, and of the span."""
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def about(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def fetching(given: str) -> str:
    return given + PRIVATE


async def plain(run: Run) -> str:
    await run.step("one", Act("http_fetch", fetching, Effect.READ), PRIVATE)
    await run.step("two", fetching, PRIVATE)
    return PRIVATE


class Clumsy:
    """Fails twice, then not."""

    left = 2

    async def __call__(self) -> str:
        self.left -= 1
        if self.left >= 0:
            raise TransientError(PRIVATE)
        return "done"


async def patient(run: Run) -> None:
    await run.step("it", Act("files.read", Clumsy(), Effect.READ))


async def broken(run: Run) -> None:
    async def break_() -> None:
        raise LogicError(PRIVATE)

    await run.step("it", Act("http_fetch", break_, Effect.READ))


async def asking(run: Run) -> None:
    await run.now()
    await run.ask("it", PRIVATE)


class TestSpans:
    async def test_a_session_has_a_span_and_its_steps_are_in_it(self) -> None:
        async with traced_engine(plain) as (engine, traced):
            session = await engine.start(plain)
            await session.result()
        (whole,) = traced.named("session")
        assert about(whole) == {
            "belayer.session.id": session.id,
            "gen_ai.conversation.id": session.id,
            "belayer.session.epoch": 1,
            "belayer.session.status": "completed",
            "belayer.workflow": "plain",
        }
        steps = [span for span in traced.ended() if span.name != "session"]
        assert [span.name for span in steps] == ["execute_tool http_fetch", "step"]
        assert {span.parent and span.parent.span_id for span in steps} == {ids(whole)[1]}

    async def test_a_tool_call_has_the_names_that_everybody_uses_for_it(self) -> None:
        async with traced_engine(plain) as (engine, traced):
            await (await engine.start(plain)).result()
        (call,) = traced.named("execute_tool http_fetch")
        found = about(call)
        assert (found["gen_ai.operation.name"], found["gen_ai.tool.name"]) == ("execute_tool", "http_fetch")
        assert (found["belayer.step.key"], found["belayer.step.attempt"]) == ("one", 1)
        assert (found["belayer.step.status"], found["belayer.step.effect"]) == ("completed", "read")

    async def test_a_session_s_id_is_the_id_of_its_trace_however_often_it_is_taken_up(self) -> None:
        async with traced_engine(asking) as (engine, traced):
            session = await engine.start(asking)
            await session.settled()
            await session.answer("x")
            await session.result()
        first, second = traced.named("session")
        assert [about(span)["belayer.session.status"] for span in (first, second)] == ["waiting", "completed"]
        assert {ids(span)[0] for span in (first, second)} == {UUID(session.id).int}
        assert ids(first) != ids(second)

    async def test_attempts_that_failed_are_events_of_the_span(self) -> None:
        clock = ManualClock()
        async with traced_engine(patient, clock=clock) as (engine, traced):
            session = await engine.start(patient)
            await while_time_flies(clock, session.result())
        (call,) = traced.named("execute_tool files.read")
        assert about(call)["belayer.step.attempt"] == 3
        assert [event.name for event in call.events] == ["retry", "retry"]
        kinds = [dict(event.attributes or {})["error.type"] for event in call.events]
        assert kinds == ["TransientError", "TransientError"]

    async def test_a_failure_is_an_error_with_its_kind(self) -> None:
        async with traced_engine(broken) as (engine, traced):
            await (await engine.start(broken)).settled()
        for span in traced.ended():
            assert span.status.status_code is StatusCode.ERROR
            assert about(span)["error.type"] == "LogicError"
        assert len(traced.ended()) == 2

    async def test_nothing_that_a_session_is_about_is_told(self) -> None:
        clock = ManualClock()
        async with traced_engine(plain, patient, broken, asking, clock=clock) as (engine, traced):
            for workflow in (plain, patient, broken, asking):
                session = await engine.start(workflow, title=PRIVATE)
                await while_time_flies(clock, session.settled())
        told = [span.to_json() for span in traced.ended()]
        assert len(told) >= 8
        assert not [line for line in told if PRIVATE in line]

    async def test_a_step_that_is_stopped_has_ended(self) -> None:
        gate = Gate()

        async def stuck(run: Run) -> None:
            await run.step("it", Act("files.read", gate.pass_, Effect.WRITE), "x")

        async with traced_engine(stuck) as (engine, traced):
            session = await engine.start(stuck)
            await gate.reached()
            await session.interrupt()
            await until(lambda: len(traced.ended()) == 2)
        assert {about(span).get("belayer.step.status", "none") for span in traced.ended()} == {
            "none",
            "paused",
        }

    async def test_a_mere_value_is_no_span(self) -> None:
        async with traced_engine(asking) as (engine, traced):
            await (await engine.start(asking)).settled()
        assert [span.name for span in traced.ended()] == ["session"]

    async def test_a_fork_does_not_repeat_its_ancestors_spans(self) -> None:
        async with traced_engine(plain) as (engine, traced):
            session = await engine.start(plain)
            await session.result()
            before = len(traced.ended())
            await engine.fork(Fork(session_id=session.id))
        assert len(traced.ended()) == before


class TestTimes:
    def test_spans_begin_and_end_when_the_log_says(self) -> None:
        traced = Traced()
        log = records(
            named(1),
            beginning(),
            taken(1),
            stepped("a", StepStatus.RUNNING),
            stepped("a", seconds=0.25),
            stepped("b", seconds=0.25),
            now_is(Status.COMPLETED),
        )
        for record in log:
            traced.spans.hear([record])
        at = to_micros(AT)
        found = [
            ((span.start_time or 0) // 1_000 - at, (span.end_time or 0) // 1_000 - at)
            for span in traced.ended()
        ]
        assert found == [(2_000_000, 3_000_000), (3_750_000, 4_000_000), (1_000_000, 5_000_000)]

    def test_a_session_that_is_taken_over_has_two_spans(self) -> None:
        traced = Traced()
        for record in records(named(1), beginning(), taken(1), taken(2), now_is(Status.FAILED)):
            traced.spans.hear([record])
        assert [about(span)["belayer.session.epoch"] for span in traced.ended()] == [1, 2]


@contextmanager
def collecting() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A collector on loopback that understands OTLP over HTTP: its address, and what came."""
    came: list[ExportTraceServiceRequest] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            came.append(
                ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            )
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class TestCollector:
    async def test_a_collector_has_every_span_once_the_engine_is_closed(self) -> None:
        with collecting() as (address, came):
            async with memory_engine(plain) as engine, tracing(engine._parts.log, address, TOOLS):
                session = await engine.start(plain)
                await session.result()
        spans = [
            span
            for request in came
            for group in request.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]
        assert sorted(span.name for span in spans) == ["execute_tool http_fetch", "session", "step"]
        assert {span.trace_id for span in spans} == {UUID(session.id).bytes}
        resource = {
            pair.key: pair.value.string_value for pair in came[0].resource_spans[0].resource.attributes
        }
        assert resource["service.name"] == "belayer"

    async def test_a_collector_that_is_gone_harms_no_session(self) -> None:
        with collecting() as (address, _):
            pass
        async with (
            asyncio.timeout(60),
            memory_engine(plain) as engine,
            tracing(engine._parts.log, address, TOOLS),
        ):
            assert await (await engine.start(plain)).result() == PRIVATE


class TestSettings:
    async def test_without_a_collector_nobody_listens(self) -> None:
        async with memory_engine() as engine:
            before = len(engine._parts.log._listeners)
            async with tracing(engine._parts.log, None, TOOLS):
                assert len(engine._parts.log._listeners) == before

    @pytest.mark.parametrize("endpoint", ["localhost:4318", "grpc://x", "http://", "http://[::1"])
    async def test_what_is_no_address_is_refused(self, endpoint: str) -> None:
        async with memory_engine() as engine:
            with pytest.raises(ConfigurationError, match="no http or https address"):
                async with tracing(engine._parts.log, endpoint, TOOLS):
                    pass

    async def test_without_the_extra_it_is_said_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
        monkeypatch.delitem(sys.modules, "belayer.runner.spans", raising=False)
        async with memory_engine() as engine:
            with pytest.raises(ConfigurationError) as raised:
                async with tracing(engine._parts.log, "http://x", TOOLS):
                    pass
        assert "belayer[telemetry]" in (raised.value.hint or "")
