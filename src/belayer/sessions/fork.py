"""Another session from an event of this one: its log begins as a copy, then goes its own way."""

from collections.abc import Awaitable, Callable, Sequence

from belayer.sessions.log import Log
from belayer.sessions.record import Entry, Record, check_chain
from belayer.sessions.store import Store
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import BadCursor, UnknownSession
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import Origin, Rehomed, SessionChanged
from belayer.vocabulary.ids import SessionId


async def fork_session(
    log: Log,
    store: Store,
    command: Fork,
    session_id: SessionId,
    workspace: Callable[[Sequence[Record]], Awaitable[str | None]],
) -> None:
    """Make the fork under this id. It is paused: nothing acts until somebody resumes it.

    `workspace` is given the part of the log that both share, and makes the fork a folder of its own.
    """
    records = await store.read(command.session_id)
    if not records:
        raise UnknownSession(
            f"There is no session {command.session_id}.", "List the sessions with `belayer ls`."
        )
    seq = command.seq or len(records)
    if seq > len(records):
        raise BadCursor(
            f"Session {command.session_id} has {len(records)} events, so it cannot be forked at {seq}.",
            f"See its events with `belayer show {command.session_id} --events`.",
        )
    check_chain(records[:seq])
    entries = [Entry(r.type, r.version, r.at, r.data, r.stage) for r in records[:seq]]
    origin = Origin(session_id=command.session_id, seq=seq)
    folder = await workspace(records[:seq])
    entries.append(log.entry(SessionChanged(status=Status.PAUSED, reason="forked", forked_from=origin)))
    entries.append(log.entry(Rehomed(because="fork", workspace=folder)))
    await log.adopt(session_id, entries)
