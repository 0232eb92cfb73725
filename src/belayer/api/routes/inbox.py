"""Everything that waits for a person, across all sessions."""

from collections.abc import AsyncGenerator, Sequence

from fastapi import APIRouter

from belayer.api.asked import TheEngine
from belayer.api.shapes import Inbox, Pending
from belayer.api.strict import StrictRoute
from belayer.engine import Engine
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Wanted
from belayer.vocabulary.clock import rfc3339
from belayer.vocabulary.errors import CorruptLog, NewerEvent, UnknownSession
from belayer.vocabulary.events.event import FINAL, Status

router = APIRouter(prefix="/api", tags=["inbox"], route_class=StrictRoute)

_UNFINISHED = frozenset(Status) - FINAL
_PAGE = 500


@router.get("/inbox")
async def inbox(engine: TheEngine) -> Inbox:
    """Every pending request of every session, the oldest first."""
    found = [pending async for row in _unfinished(engine) for pending in await _pending(engine, row)]
    return Inbox(requests=tuple(sorted(found, key=lambda one: one.request.request_id)))


async def _unfinished(engine: Engine) -> AsyncGenerator[SessionRow]:
    wanted = Wanted(statuses=_UNFINISHED, limit=_PAGE)
    while rows := await engine.sessions(wanted):
        for row in rows:
            yield row
        wanted = Wanted(statuses=_UNFINISHED, before=rows[-1].id, limit=_PAGE)


async def _pending(engine: Engine, row: SessionRow) -> Sequence[Pending]:
    """What a session asks; nothing if it is gone by now or cannot be read, which must not hide the others."""
    try:
        state = await engine.glance(row.id)
    except (CorruptLog, NewerEvent, UnknownSession):
        return ()
    return [
        Pending(
            session_id=row.id,
            title=row.title,
            status=state.status,
            since=rfc3339(row.updated),
            request=request,
        )
        for request in state.pending.values()
    ]
