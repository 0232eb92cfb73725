"""Everything that waits for a person, across all sessions."""

from fastapi import APIRouter

from belayer.api.asked import TheEngine
from belayer.api.shapes import Inbox, Pending
from belayer.api.strict import StrictRoute
from belayer.sessions.store import Wanted
from belayer.vocabulary.clock import rfc3339
from belayer.vocabulary.events.event import FINAL, Status

router = APIRouter(prefix="/api", tags=["inbox"], route_class=StrictRoute)

_UNFINISHED = frozenset(Status) - FINAL
_MOST = 1_000


@router.get("/inbox")
async def inbox(engine: TheEngine) -> Inbox:
    """Every pending request of every session, the oldest first."""
    rows = await engine.sessions(Wanted(statuses=_UNFINISHED, limit=_MOST))
    found: list[Pending] = []
    for row in rows:
        state = await engine.state(row.id)
        found += [
            Pending(
                session_id=row.id,
                title=row.title,
                status=state.status,
                since=rfc3339(row.updated),
                request=request,
            )
            for request in state.pending.values()
        ]
    return Inbox(requests=tuple(sorted(found, key=lambda one: one.request.request_id)))
