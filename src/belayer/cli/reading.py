"""Read a session as a person should see it: its chain checked, its large payloads in place, its driver known."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import cast

from belayer.engine import Engine
from belayer.sessions.blobs import FileBlobs, whole
from belayer.sessions.feed import Frame, TooSlow
from belayer.sessions.lease import LockedDrivers
from belayer.sessions.record import GENESIS, Record, check_chain
from belayer.sessions.rows import SessionRow
from belayer.sessions.state import Request, SessionState, fold
from belayer.sessions.store import Wanted
from belayer.vocabulary.errors import CorruptLog, UnknownSession
from belayer.vocabulary.events.event import Json, Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import SessionId

Watched = tuple[SessionState, Frame]


async def row_of(engine: Engine, session_id: SessionId) -> SessionRow:
    """The session's entry in the list."""
    rows = await engine.sessions(Wanted(before=SessionId(session_id + "\x7f"), limit=1))
    if not rows or rows[0].id != session_id:
        raise UnknownSession(f"There is no session {session_id}.", "List the sessions with `belayer ls`.")
    return rows[0]


async def records_of(engine: Engine, session_id: SessionId) -> list[Record]:
    """The whole log as it is now; CorruptLog if it is not what was written."""
    row = await row_of(engine, session_id)
    there = len(await engine.events(session_id))
    if there < row.last_seq:
        raise CorruptLog(session_id, there + 1, "the record is missing")
    records: list[Record] = []
    following = cast("AsyncGenerator[Frame]", engine.follow(session_id))
    async with aclosing(following):
        while len(records) < row.last_seq:
            frame = await anext(following)
            if frame.record is not None:
                _check(frame.record, records[-1] if records else None)
                records.append(frame.record)
    return records


async def state_of(engine: Engine, session_id: SessionId) -> SessionState:
    """The state, from a log that was checked."""
    return fold(session_id, await records_of(engine, session_id))


async def watch(engine: Engine, session_id: SessionId) -> AsyncGenerator[Watched]:
    """What `engine.watch` gives, checked on the way; a watcher that was too slow starts over and misses nothing."""
    last: Record | None = None
    while True:
        watching = cast("AsyncGenerator[Watched]", engine.watch(session_id))
        try:
            async with aclosing(watching):
                async for state, frame in watching:
                    if frame.record is not None:
                        if last is not None and frame.record.seq <= last.seq:
                            continue
                        _check(frame.record, last)
                        last = frame.record
                    yield state, frame
        except TooSlow:
            continue


def is_driven(home: Path, row: SessionRow) -> bool:
    """Whether a living process drives the session now."""
    drivers = LockedDrivers(home / "drivers", me="")
    return row.status is Status.RUNNING and row.driver is not None and drivers.alive(row.driver)


async def result_of(home: Path, state: SessionState) -> Json:
    """The session's result, from wherever it lies."""
    return await whole(_blobs(home), "result", state.result, state.result_aside)


async def shown_by(home: Path, request: Request) -> Json:
    """What an approval shows, from wherever it lies; a question shows nothing but itself."""
    if not isinstance(request, ApprovalRequested):
        return None
    return await whole(_blobs(home), "shown", request.shown, request.aside)


def _blobs(home: Path) -> FileBlobs:
    return FileBlobs(home / "blobs")


def _check(record: Record, previous: Record | None) -> None:
    after, hash_ = (previous.seq, previous.hash) if previous else (0, GENESIS)
    check_chain([record], after, hash_)
