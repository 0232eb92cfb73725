"""Old sessions that have ended make room, with the payloads nobody else refers to."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from belayer.sessions.blobs import Blobs, referred
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Store, Wanted
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.ids import SessionId

_PAGE = 500
PRUNABLE = FINAL | {Status.EXPIRED}


def choose(
    rows: Iterable[SessionRow], now: datetime, older_than: timedelta | None, keep: int | None
) -> list[SessionRow]:
    """Of ended sessions, newest first: those past the age, and those beyond the count. Pure."""
    ended = [row for row in rows if row.status in PRUNABLE]
    return [
        row
        for place, row in enumerate(ended)
        if (older_than is not None and row.updated < now - older_than) or (keep is not None and place >= keep)
    ]


async def all_rows(store: Store) -> list[SessionRow]:
    """Every session, newest first."""
    rows: list[SessionRow] = []
    while page := await store.rows(Wanted(before=rows[-1].id if rows else None, limit=_PAGE)):
        rows += page
    return rows


async def remove(store: Store, blobs: Blobs, session_ids: Sequence[SessionId]) -> None:
    """Remove the sessions and what only they referred to."""
    freed = await _references(store, session_ids)
    await store.remove(session_ids)
    if freed:
        kept = await _references(store, [row.id for row in await all_rows(store)])
        for digest in freed - kept:
            await blobs.remove(digest)


async def _references(store: Store, session_ids: Sequence[SessionId]) -> set[str]:
    found: set[str] = set()
    for session_id in session_ids:
        for record in await store.read(session_id):
            found.update(referred(record))
    return found
