"""The embedded store: one SQLite file, WAL, every commit on disk before anybody is told."""

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from belayer.sessions.record import Record, chain
from belayer.sessions.rows import SessionRow, after
from belayer.sessions.store import (
    Answers,
    Changes,
    Counts,
    Due,
    Hour,
    Mark,
    Proposal,
    Wanted,
    key_reused,
    refusal,
)
from belayer.sessions.stores.counting import counts, hours
from belayer.sessions.stores.line import Line
from belayer.sessions.stores.schema import migrate
from belayer.vocabulary.errors import (
    BelayerError,
    CorruptLog,
)
from belayer.vocabulary.events.event import Mode, Status
from belayer.vocabulary.ids import SessionId

_COLUMNS = (
    "id, workflow, title, mode, status, last_seq, last_hash, epoch, driver, wake_at, created_at, updated_at,"
    " idempotency_key"
)
_SINCE = "FROM events WHERE session = number AND seq > last_seq ORDER BY seq DESC LIMIT 1"
# A row is written when the status changes; what was appended since is read from the events. So a step costs
# one page less, and a row that says more than its events do tells that events are missing.
_READ = (
    "id, workflow, title, mode, status,"
    f" coalesce((SELECT seq {_SINCE}), last_seq), coalesce((SELECT hash {_SINCE}), last_hash),"
    f" epoch, driver, wake_at, created_at, coalesce((SELECT at {_SINCE}), updated_at), idempotency_key"
)
_LOOK_FOR_CHANGES_EVERY = 0.1
_INSERT_EVENT = (
    "INSERT INTO events (session, seq, type, version, at, stage, data, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_MODES, _STATUSES = frozenset(Mode), frozenset(Status)
_LARGEST_SEQ = 2**63 - 1
_PAGE = 256
_EVENTS_LOOKED_THROUGH = 5_000
_HEADS_KEPT = 1024


class _UnhurriedLine(Line):
    """For questions that take a while: never asked in the caller's thread, however quick the disk is."""

    def _is_quick(self) -> bool:
        return False


class SqliteStore:
    """One line writes, one reads, one counts; SQLite's own locks keep other processes apart."""

    def __init__(self, path: Path) -> None:
        self._writer = Line(path, "belayer-writer")
        self._reader = Line(path, "belayer-reader")
        self._counter = _UnhurriedLine(path, "belayer-counter")
        self._heads = _Heads()

    @classmethod
    async def open(cls, path: Path) -> "SqliteStore":
        """Open the file, making or migrating it first."""
        store = cls(path)
        try:
            await store._writer.do(migrate)
            await store._reader.do(_data_version)
        except BaseException:
            await store.close()
            raise
        return store

    async def commit(self, proposals: Sequence[Proposal]) -> Answers:
        return await self._writer.do(lambda connection: self._commit(connection, proposals))

    def commit_now(self, proposals: Sequence[Proposal]) -> Answers | None:
        return self._writer.do_now(lambda connection: self._commit(connection, proposals))

    async def read(self, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        records: list[Record] = []
        while limit is None or len(records) < limit:
            size = _PAGE if limit is None else min(limit - len(records), _PAGE)
            start = records[-1].seq if records else after
            page = await self._reader.do(
                lambda connection, start=start, size=size: _read(connection, session_id, start, size)
            )
            records += page
            if len(page) < size:
                break
        return records

    async def row(self, session_id: SessionId) -> SessionRow | None:
        rows = await self._select("WHERE id = ?", session_id)
        return rows[0] if rows else None

    async def started_with(self, idempotency_key: str) -> SessionRow | None:
        rows = await self._select("WHERE idempotency_key = ?", idempotency_key)
        return rows[0] if rows else None

    async def matching(self, prefix: str) -> list[SessionId]:
        found = await self._query(
            "SELECT id FROM sessions WHERE id >= ? AND id < ? ORDER BY id LIMIT 3", prefix, prefix + "\x7f"
        )
        return [SessionId(row[0]) for row in found]

    async def rows(self, wanted: Wanted) -> list[SessionRow]:
        where, values = _where(wanted)
        return await self._select(f"{where} ORDER BY id DESC LIMIT ?", *values, wanted.limit)

    async def due(self, limit: int) -> Due:
        queued = await self._query(
            "SELECT id, driver FROM sessions WHERE status = 'queued' ORDER BY updated_at LIMIT ?", limit
        )
        driven = await self._query("SELECT id, driver FROM sessions WHERE status = 'running'")
        return Due(queued, driven)

    async def ripe(self, now: int) -> list[SessionId]:
        return [row[0] for row in await self._query("SELECT id FROM sessions WHERE wake_at <= ?", now)]

    async def next_wake(self) -> int | None:
        found = await self._query("SELECT min(wake_at) FROM sessions WHERE wake_at IS NOT NULL")
        return found[0][0]

    async def idle_since(self, before: int) -> list[SessionId]:
        found = await self._query(
            "SELECT id FROM sessions WHERE status IN ('waiting', 'paused', 'interrupted')"
            f" AND wake_at IS NULL AND coalesce((SELECT at {_SINCE}), updated_at) < ?",
            before,
        )
        return [row[0] for row in found]

    async def counts(self) -> Counts:
        return await self._counter.do(counts)

    async def hours(self, since: int) -> list[Hour]:
        return await self._counter.do(lambda connection: hours(connection, since))

    async def written_last(self) -> Mark:
        found = await self._query("SELECT place, hash, at FROM events ORDER BY place DESC LIMIT 1")
        return Mark(*found[0]) if found else Mark()

    async def changed_since(self, mark: Mark) -> Changes:
        return await self._reader.do(lambda connection: _changed_since(connection, mark))

    async def remove(self, session_ids: Sequence[SessionId]) -> None:
        await self._change(lambda connection: _remove(connection, session_ids))
        await self._writer.do(_give_back_space)

    async def replace_row(self, row: SessionRow) -> None:
        await self._change(lambda connection: _put_row(connection, row))

    async def damage(self) -> list[str]:
        found = await self._query("PRAGMA quick_check")
        unlisted = await self._query(
            "SELECT session, count(*) FROM events WHERE session NOT IN (SELECT number FROM sessions) GROUP BY session"
        )
        return [row[0] for row in found if row[0] != "ok"] + [
            f"{events} events belong to session number {number}, which is missing from the list of sessions"
            for number, events in unlisted
        ]

    async def changes(self) -> AsyncIterator[None]:
        seen = await self._writer.do(_data_version)
        while True:
            await asyncio.sleep(_LOOK_FOR_CHANGES_EVERY)
            now = await self._writer.do(_data_version)
            if now != seen:
                seen = now
                yield

    async def close(self) -> None:
        await self._counter.close()
        await self._reader.close()
        await self._writer.close()

    async def _query(self, sql: str, *values: Any) -> list[Any]:
        return await self._reader.do(lambda connection: connection.execute(sql, values).fetchall())

    async def _select(self, rest: str, *values: Any) -> list[SessionRow]:
        return [_to_row(row) for row in await self._query(f"SELECT {_READ} FROM sessions {rest}", *values)]

    async def _change(self, act: Callable[[sqlite3.Connection], object]) -> None:
        """Change rows past the heads, which are then forgotten."""

        def change(connection: sqlite3.Connection) -> None:
            self._writer.in_transaction(connection, lambda: act(connection))
            self._heads.forget()

        await self._writer.do(change)

    def _commit(self, connection: sqlite3.Connection, proposals: Sequence[Proposal]) -> Answers:
        try:
            return self._writer.in_transaction(connection, lambda: self._take_all(connection, proposals))
        except BaseException:
            self._heads.forget()
            raise

    def _take_all(self, connection: sqlite3.Connection, proposals: Sequence[Proposal]) -> Answers:
        """Every proposal, in order, on the rows as they are in this transaction; then all events at once."""
        self._heads.trust_only(_data_version(connection))
        events: list[tuple[Any, ...]] = []
        answers = [self._take(connection, proposal, events) for proposal in proposals]
        connection.executemany(_INSERT_EVENT, events)
        return answers

    def _take(
        self,
        connection: sqlite3.Connection,
        proposal: Proposal,
        events: list[tuple[Any, ...]],
    ) -> list[Record] | BelayerError:
        try:
            number, row = self._heads.of(connection, proposal.session_id)
        except CorruptLog as error:
            return error
        refused = refusal(proposal, row)
        if refused is not None:
            return refused
        before = row or SessionRow(proposal.session_id)
        records = chain(before.id, before.last_seq, before.last_hash, proposal.entries)
        changed = after(before, records)
        if row is None and changed.idempotency_key and _key_taken(connection, changed.idempotency_key):
            return key_reused(changed.idempotency_key)
        if number is None or any(record.type == "session" for record in records):
            number = _put_row(connection, changed)
        self._heads.put(number, changed)
        events += [(number, r.seq, r.type, r.version, r.at, r.stage, r.data, r.hash) for r in records]
        return records


class _Heads:
    """The rows of the sessions at work, as of the last commit of this process."""

    def __init__(self) -> None:
        self._rows: OrderedDict[SessionId, tuple[int, SessionRow]] = OrderedDict()
        self._version = -1

    def trust_only(self, version: int) -> None:
        """Forget everything if another process has written since."""
        if version != self._version:
            self._rows.clear()
            self._version = version

    def forget(self) -> None:
        self._rows.clear()

    def of(
        self, connection: sqlite3.Connection, session_id: SessionId
    ) -> tuple[int, SessionRow] | tuple[None, None]:
        known = self._rows.get(session_id)
        if known is not None:
            return known
        found = connection.execute(
            f"SELECT number, {_READ} FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        if found is None:
            return None, None
        row = _to_row(found[1:])
        if type(row.last_hash) is not bytes or type(row.epoch) is not int or row.status not in _STATUSES:
            raise CorruptLog(
                session_id, row.last_seq, "its entry in the list of sessions is not what was written"
            )
        return found[0], row

    def put(self, number: int, row: SessionRow) -> None:
        self._rows[row.id] = number, row
        if len(self._rows) > _HEADS_KEPT:
            self._rows.popitem(last=False)


def _key_taken(connection: sqlite3.Connection, key: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM sessions WHERE idempotency_key = ?", (key,)).fetchone())


def _put_row(connection: sqlite3.Connection, row: SessionRow) -> int:
    (number,) = connection.execute(
        f"INSERT INTO sessions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET workflow = excluded.workflow, title = excluded.title,"
        " mode = excluded.mode, status = excluded.status, last_seq = excluded.last_seq,"
        " last_hash = excluded.last_hash, epoch = excluded.epoch, driver = excluded.driver,"
        " wake_at = excluded.wake_at, created_at = excluded.created_at, updated_at = excluded.updated_at,"
        " idempotency_key = excluded.idempotency_key RETURNING number",
        (
            row.id,
            row.workflow,
            row.title,
            row.mode,
            row.status,
            row.last_seq,
            row.last_hash,
            row.epoch,
            row.driver,
            row.wake_at,
            row.created_at,
            row.updated_at,
            row.idempotency_key,
        ),
    ).fetchone()
    return number


def _read(connection: sqlite3.Connection, session_id: SessionId, after: int, limit: int) -> list[Record]:
    found = connection.execute(
        "SELECT seq, type, version, at, stage, data, hash FROM events"
        " WHERE session = (SELECT number FROM sessions WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?",
        (session_id, min(max(after, 0), _LARGEST_SEQ), limit),
    ).fetchall()  # all at once: a statement left in the middle would hold this connection in the past
    return [_to_record(session_id, columns) for columns in found]


def _changed_since(connection: sqlite3.Connection, mark: Mark) -> Changes:
    found = connection.execute("SELECT hash FROM events WHERE place = ?", (mark.place,)).fetchone()
    if mark.place and (found is None or found[0] != mark.hash):
        mark = Mark(since=max(mark.at, mark.since))
    last = connection.execute(
        "SELECT place, hash, at FROM (SELECT place, hash, at FROM events WHERE place > ? ORDER BY place LIMIT ?)"
        " ORDER BY place DESC LIMIT 1",
        (mark.place, _EVENTS_LOOKED_THROUGH),
    ).fetchone()
    if last is None:
        return Changes([], mark._replace(since=0))
    rows = connection.execute(
        "SELECT id, seq, type, version, at, stage, data, hash FROM events JOIN sessions ON number = session"
        " WHERE place > ? AND place <= ? AND type = 'session' AND at > ? ORDER BY place",
        (mark.place, last[0], mark.since or -1),
    ).fetchall()
    place, hash_, at = last
    reached = Mark(place, hash_, max(at, mark.at, mark.since), mark.since)
    return Changes([_to_record(id_, columns) for id_, *columns in rows], reached)


def _to_record(session_id: SessionId, columns: Sequence[Any]) -> Record:
    record = Record(session_id, *columns)
    if not (
        type(record.data) is type(record.hash) is bytes and type(record.at) is type(record.version) is int
    ):
        raise CorruptLog(session_id, record.seq, "the record is not what was written")
    return record


def _remove(connection: sqlite3.Connection, session_ids: Sequence[SessionId]) -> None:
    for session_id in session_ids:
        found = connection.execute(
            "DELETE FROM sessions WHERE id = ? RETURNING number", (session_id,)
        ).fetchall()
        for (number,) in found:
            connection.execute("DELETE FROM events WHERE session = ?", (number,))


def _give_back_space(connection: sqlite3.Connection) -> None:
    connection.executescript("PRAGMA incremental_vacuum;")  # a plain execute would stop after one page
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _data_version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA data_version").fetchone()[0]


def _to_row(found: Sequence[Any]) -> SessionRow:
    """A row as it stands, also where that makes no sense: one damaged row must not hide the rows beside it."""
    id_, workflow, title, mode, status, last_seq, last_hash, *rest = found
    return SessionRow(
        id_,
        str(workflow),
        str(title),
        Mode(mode) if mode in _MODES else mode,
        Status(status) if status in _STATUSES else status,
        last_seq,
        last_hash,
        *rest,
    )


def _where(wanted: Wanted) -> tuple[str, list[Any]]:
    terms: list[str] = []
    values: list[Any] = []
    if wanted.statuses:
        terms.append(f"status IN ({', '.join('?' * len(wanted.statuses))})")
        values += sorted(wanted.statuses)
    if wanted.mode is not None:
        terms.append("mode = ?")
        values.append(wanted.mode)
    if wanted.workflow is not None:
        terms.append("workflow = ?")
        values.append(wanted.workflow)
    if wanted.before is not None:
        terms.append("id < ?")
        values.append(wanted.before)
    if wanted.text:
        text = wanted.text.casefold()
        terms.append("(instr(casefold(title), ?) OR instr(casefold(workflow), ?) OR substr(id, 1, ?) = ?)")
        values += [text, text, len(text), text]
    return ("WHERE " + " AND ".join(terms) if terms else ""), values
