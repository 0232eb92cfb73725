"""Start sessions, look at them, list them."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from belayer.api.asked import TheEngine, TheSession, TheSettings
from belayer.api.shapes import (
    Cursor,
    EventsPage,
    SessionDetail,
    SessionListed,
    SessionsPage,
    StartBody,
    Started,
    WholeId,
)
from belayer.api.stream import AS_EVENTS, event_stream
from belayer.api.strict import StrictRoute
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Wanted
from belayer.sessions.view import view
from belayer.vocabulary.clock import rfc3339
from belayer.vocabulary.events.event import Mode, Status

router = APIRouter(prefix="/api/execution", tags=["sessions"], route_class=StrictRoute)

_PAGE = 500
# A plan has at most a thousand; a browser shows fewer.
_MOST_STEPS = 2_000
_MOST = 5_000
Limit = Annotated[int, Query(ge=1, le=_MOST)]


@router.post("/start", status_code=201, response_model=Started)
async def start(body: StartBody, engine: TheEngine, settings: TheSettings) -> Started:
    """Start a session."""
    session_id = await engine.begin(body.command(), most_live=settings.max_sessions)
    row = await engine.row(session_id)
    return Started(
        session_id=row.id, status=row.status, mode=row.mode, title=row.title, workflow=row.workflow
    )


@router.get("/sessions", response_model=SessionsPage)
async def sessions(
    engine: TheEngine,
    status: Annotated[list[Status] | None, Query()] = None,
    mode: Mode | None = None,
    workflow: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str | None, Query(max_length=200, description="Text in the title.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: WholeId | None = None,
) -> SessionsPage:
    """List sessions, newest first."""
    rows = await engine.sessions(Wanted(frozenset(status or ()), mode, workflow, q, cursor, limit + 1))
    more = rows[limit - 1].id if len(rows) > limit else None
    return SessionsPage(sessions=tuple(_listed(row) for row in rows[:limit]), next=more)


@router.get("/sessions/{session_id}", response_model=SessionDetail)
async def session(
    engine: TheEngine, session_id: TheSession, after: Cursor = 0, limit: Limit = _PAGE
) -> Response:
    """Everything about a session, with its events after a cursor."""
    state = await engine.glance(session_id)
    wires = await engine.events(session_id, after, limit)
    shape = view(state, _MOST_STEPS).model_dump_json().encode()
    return _json(b"%s,%s" % (shape[:-1], _page(wires, after, state.seq)))


@router.get(
    "/sessions/{session_id}/events",
    response_model=EventsPage,
    responses={200: {"content": {AS_EVENTS: {"schema": {"type": "string"}}}}},
)
async def events(
    engine: TheEngine, session_id: TheSession, request: Request, after: Cursor = 0, limit: Limit = _PAGE
) -> Response:
    """A session's events after a cursor; as a stream to who accepts `text/event-stream`."""
    if AS_EVENTS in request.headers.get("accept", ""):
        return event_stream(engine, session_id, request, after)
    row = await engine.row(session_id)
    return _json(b"{%s" % _page(await engine.events(session_id, after, limit), after, row.last_seq))


def _page(wires: Sequence[bytes], after: int, last: int) -> bytes:
    """The members `events` and `next` and the closing brace; the events are the bytes that everybody gets."""
    reached = after + len(wires)
    following = b"%d" % reached if wires and reached < last else b"null"
    return b'"events":[%s],"next":%s}' % (b",".join(wires), following)


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _listed(row: SessionRow) -> SessionListed:
    return SessionListed(
        session_id=row.id,
        title=row.title,
        workflow=row.workflow,
        mode=row.mode,
        status=row.status,
        seq=row.last_seq,
        created_at=rfc3339(row.created),
        updated_at=rfc3339(row.updated),
    )
