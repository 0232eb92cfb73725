"""Another session from an event of this one: its log begins as a copy, then goes its own way."""

from datetime import datetime

from belayer.sessions.log import Log
from belayer.sessions.record import Entry, check_chain
from belayer.sessions.store import Store
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import BadCursor, UnknownSession
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import Origin, SessionChanged
from belayer.vocabulary.ids import SessionId, new_session_id


async def fork_session(log: Log, store: Store, command: Fork, now: datetime) -> SessionId:
    """Make the fork. It is paused: nothing acts until somebody resumes it."""
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
    entries.append(log.entry(SessionChanged(status=Status.PAUSED, reason="forked", forked_from=origin)))
    session_id = new_session_id(now)
    await log.adopt(session_id, entries)
    return session_id
