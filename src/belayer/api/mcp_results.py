"""What the MCP tools give back: a session without what would flood a model, and the same in a few sentences. Pure."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Annotated

from mcp import types
from pydantic import Field, WithJsonSchema

from belayer.api.shapes import SessionsPage
from belayer.sessions.state import SessionState
from belayer.sessions.view import Progress, StepAhead, view
from belayer.vocabulary.errors import BelayerError, Problem
from belayer.vocabulary.events.event import Budget, Json, Mode, Shape, Status, Usage
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import SessionId

_LONGEST_TEXT = 4_000
_LONGEST_LEAF = 1_000
_LARGEST_VALUE = 50_000

Envelope = Annotated[dict[str, Json], Field(description="seq, session_id, type, stage, timestamp, data")]
Request = InputRequested | ApprovalRequested
_REQUEST = WithJsonSchema(
    {
        "type": "object",
        "description": "type `request_input`: request_id, prompt, kind, choices, form, purpose, problem;"
        " type `approval_request`: request_id, title, shown, digest, why, risk",
    }
)


class SessionTold(Shape):
    """A session: where it stands, what it asks, what came of it. `note` says what the call itself did not do."""

    session_id: SessionId
    status: Status
    reason: str | None
    title: str
    workflow: str
    mode: Mode
    workspace: str | None
    updated_at: datetime | None
    wake_at: datetime | None
    seq: int
    plan: tuple[StepAhead, ...]
    progress: Progress | None
    pending: tuple[Annotated[Request, _REQUEST], ...]
    budget: Budget
    usage: Usage
    result: Json
    error: Problem | None
    events: tuple[Envelope, ...] = ()
    note: str | None = None


class EventsTold(Shape):
    """Events after a cursor; `next` is the cursor for what follows, null at the end."""

    session_id: SessionId
    events: tuple[Envelope, ...]
    next: int | None


def session_told(
    state: SessionState, pending: Iterable[Request], events: Iterable[bytes] = (), note: str | None = None
) -> SessionTold:
    """The state as it is told; `pending` as a person should see it."""
    seen = view(state)
    return SessionTold(
        session_id=seen.session_id,
        status=seen.status,
        reason=seen.reason,
        title=seen.title,
        workflow=seen.workflow,
        mode=seen.mode,
        workspace=seen.workspace,
        updated_at=seen.updated_at,
        wake_at=seen.wake_at,
        seq=seen.seq,
        plan=seen.plan,
        progress=seen.progress,
        pending=tuple(_bounded(request) for request in pending),
        budget=seen.budget,
        usage=seen.usage,
        result=_whole_or_text(seen.result),
        error=seen.error,
        events=tuple(_event(wire) for wire in events),
        note=note,
    )


def _event(wire: bytes) -> Envelope:
    event: Envelope = json.loads(wire)
    return event | {"data": shortened(event["data"])}


def shortened(value: Json) -> Json:
    """The same with every long text in it cut."""
    match value:
        case str() if len(value) > _LONGEST_LEAF:
            return cut(value, _LONGEST_LEAF)
        case dict():
            return {name: shortened(item) for name, item in value.items()}
        case list():
            return [shortened(item) for item in value]
        case _:
            return value


def fitting(wires: Sequence[bytes], most_bytes: int) -> Sequence[bytes]:
    """As many of the first as fit together, and at least one."""
    sizes = accumulate(len(wire) for wire in wires)
    return wires[: max(1, sum(size <= most_bytes for size in sizes))]


def cut(text: str, longest: int = _LONGEST_TEXT) -> str:
    """The beginning of a text, which says how much is missing."""
    left = len(text) - longest
    return text if left <= 0 else f"{text[:longest]}… ({left:,} more characters)"


def _bounded(request: Request) -> Request:
    if not isinstance(request, ApprovalRequested):
        return request
    return request.model_copy(update={"shown": _whole_or_text(request.shown)})


def _whole_or_text(value: Json) -> Json:
    """The value itself; the beginning of its JSON if it would flood a model."""
    text = _json(value)
    return value if len(text) <= _LARGEST_VALUE else cut(text, _LARGEST_VALUE)


def told(result: SessionTold | SessionsPage | EventsTold) -> types.CallToolResult:
    """A result as it is sent: for programs as it is, for a model in words."""
    match result:
        case SessionTold():
            text = "\n".join(_session_lines(result))
        case SessionsPage():
            text = "\n".join(_list_lines(result))
        case EventsTold():
            text = "\n".join(_event_lines(result))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=result.model_dump(mode="json")
    )


def told_problem(error: BelayerError) -> types.CallToolResult:
    """An error that the model can read and act on."""
    problem = error.problem()
    text = problem.detail if problem.hint is None else f"{problem.detail}\n{problem.hint}"
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=problem.model_dump(mode="json"),
        is_error=True,
    )


def _session_lines(session: SessionTold) -> Iterable[str]:
    because = f" ({session.reason})" if session.reason else ""
    yield f"Session {session.session_id}, {session.title!r}, is {session.status}{because}."
    if session.progress is not None:
        yield f"It is at step {session.progress.step} of {session.progress.of}."
    if session.note is not None:
        yield session.note
    for request in session.pending:
        yield from _request_lines(request)
    if session.status in (Status.QUEUED, Status.RUNNING):
        yield "It goes on by itself. Look again with engine_status and wait_seconds."
    elif session.wake_at is not None:
        yield f"It goes on by itself at {session.wake_at:%Y-%m-%dT%H:%M:%SZ}."
    if session.error is not None:
        yield f"Error: {session.error.detail} {session.error.hint or ''}".rstrip()
    if session.status is Status.COMPLETED:
        yield f"Result: {cut(_json(session.result))}"
    elif session.status in (
        Status.PAUSED,
        Status.INTERRUPTED,
        Status.EXPIRED,
    ):
        yield "engine_resume lets it go on."
    yield from (_event_line(event) for event in session.events)


def _request_lines(request: Request) -> Iterable[str]:
    match request:
        case ApprovalRequested():
            yield f"It asks for approval of {request.title!r} (request_id {request.request_id})."
            yield f"Digest: {request.digest}"
            yield f"Shown: {cut(_json(request.shown))}"
            yield "A person must decide; then call engine_approve with the digest."
        case InputRequested():
            yield f"It asks (request_id {request.request_id}, kind {request.kind}): {cut(request.prompt)}"
            if request.choices:
                yield f"Choices: {', '.join(request.choices)}"
            if request.form is not None:
                yield f"Form: {cut(_json(request.form))}"
            if request.problem is not None:
                yield f"Because: {cut(request.problem.detail)}"
            yield "Ask the person; then call engine_answer with what they said."


def _list_lines(page: SessionsPage) -> Iterable[str]:
    if not page.sessions:
        yield "There are no such sessions."
    for row in page.sessions:
        yield f"{row.session_id} {row.status} {row.mode} {row.workflow} {row.title!r} (updated {row.updated_at})"
    if page.next is not None:
        yield f"There are more: call again with cursor {page.next}."


def _event_lines(page: EventsTold) -> Iterable[str]:
    yield f"{len(page.events)} events of session {page.session_id}."
    yield from (_event_line(event) for event in page.events)
    if page.next is not None:
        yield f"There are more: call again with after {page.next}."


def _event_line(event: Envelope) -> str:
    return f"{event['seq']} {event['type']} {cut(_json(event['data']), _LONGEST_LEAF)}"


def _json(value: Json | Sequence[Json]) -> str:
    return json.dumps(value, ensure_ascii=False)
