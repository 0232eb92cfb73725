"""A store that forgets: for tests, ours and our users'."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from belayer.sessions.record import Record, chain
from belayer.sessions.rows import SessionRow, after
from belayer.sessions.store import (
    HOUR,
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
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.ids import SessionId

_IDLE = (Status.WAITING, Status.PAUSED, Status.INTERRUPTED)


class MemoryStore:
    """Records in a dictionary."""

    def __init__(self) -> None:
        self._records: dict[SessionId, list[Record]] = {}
        self._rows: dict[SessionId, SessionRow] = {}
        self._written: list[Record | None] = []

    async def commit(self, proposals: Sequence[Proposal]) -> Answers:
        return self.commit_now(proposals)

    def commit_now(self, proposals: Sequence[Proposal]) -> Answers:
        return [self._take(proposal) for proposal in proposals]

    async def read(self, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        records = self._records.get(session_id, [])[max(after, 0) :]
        return records if limit is None else records[:limit]

    async def row(self, session_id: SessionId) -> SessionRow | None:
        return self._rows.get(session_id)

    async def started_with(self, idempotency_key: str) -> SessionRow | None:
        return next((row for row in self._rows.values() if row.idempotency_key == idempotency_key), None)

    async def matching(self, prefix: str) -> list[SessionId]:
        return sorted(id_ for id_ in self._rows if id_.startswith(prefix))[:3]

    async def rows(self, wanted: Wanted) -> list[SessionRow]:
        rows = sorted(self._rows.values(), key=lambda row: row.id, reverse=True)
        return [row for row in rows if _fits(row, wanted)][: wanted.limit]

    async def due(self, limit: int) -> Due:
        queued = sorted(self._with(Status.QUEUED), key=lambda row: row.updated_at)[:limit]
        driven = self._with(Status.RUNNING)
        return Due([(row.id, row.driver) for row in queued], [(row.id, row.driver) for row in driven])

    async def ripe(self, now: int) -> list[SessionId]:
        return [row.id for row in self._rows.values() if row.wake_at is not None and row.wake_at <= now]

    async def next_wake(self) -> int | None:
        return min((row.wake_at for row in self._rows.values() if row.wake_at is not None), default=None)

    async def idle_since(self, before: int) -> list[SessionId]:
        return [row.id for row in self._with(*_IDLE) if row.wake_at is None and row.updated_at < before]

    async def counts(self) -> Counts:
        by_status = Counter(row.status for row in self._rows.values())
        for_a_person = [row for row in self._with(Status.WAITING) if row.wake_at is None]
        kept = [record for record in self._written if record is not None]
        size = sum(len(record.data) for record in kept)
        return Counts(by_status, len(for_a_person), len(self._written), size)

    async def hours(self, since: int) -> list[Hour]:
        began = Counter(_hour(row.created_at) for row in self._rows.values())
        ended = Counter((_hour(row.updated_at), row.status) for row in self._with(*FINAL))
        every = {*began, *(at for at, _ in ended)}
        return [
            Hour(
                at,
                began[at],
                ended[at, Status.COMPLETED],
                ended[at, Status.FAILED],
                ended[at, Status.CANCELLED],
            )
            for at in sorted(every)
            if at >= _hour(since)
        ]

    async def written_last(self) -> Mark:
        return Mark(len(self._written))

    async def changed_since(self, mark: Mark) -> Changes:
        written = self._written[mark.place :]
        changed = [record for record in written if record is not None and record.type == "session"]
        return Changes(changed, Mark(len(self._written)))

    async def remove(self, session_ids: Sequence[SessionId]) -> None:
        gone = set(session_ids)
        self._written = [None if one is None or one.session_id in gone else one for one in self._written]
        for session_id in session_ids:
            self._records.pop(session_id, None)
            self._rows.pop(session_id, None)

    async def replace_row(self, row: SessionRow) -> None:
        self._rows[row.id] = row

    async def damage(self) -> list[str]:
        return []

    async def changes(self) -> AsyncIterator[None]:
        """Nobody else can write here, so this waits for ever."""
        await asyncio.get_running_loop().create_future()
        yield

    async def close(self) -> None:
        """Nothing is open."""

    def _with(self, *statuses: Status) -> list[SessionRow]:
        return [row for row in self._rows.values() if row.status in statuses]

    def _take(self, proposal: Proposal) -> list[Record] | BelayerError:
        row = self._rows.get(proposal.session_id)
        refused = refusal(proposal, row)
        if refused is not None:
            return refused
        row = row or SessionRow(proposal.session_id)
        records = chain(row.id, row.last_seq, row.last_hash, proposal.entries)
        changed = after(row, records)
        if self._key_taken(changed):
            return key_reused(changed.idempotency_key or "")
        self._rows[row.id] = changed
        self._records.setdefault(row.id, []).extend(records)
        self._written += records
        return records

    def _key_taken(self, row: SessionRow) -> bool:
        key = row.idempotency_key
        return key is not None and any(
            other.idempotency_key == key and other.id != row.id for other in self._rows.values()
        )


def _hour(at: int) -> int:
    return at - at % HOUR


def _fits(row: SessionRow, wanted: Wanted) -> bool:
    text = (wanted.text or "").casefold()
    return (
        (not wanted.statuses or row.status in wanted.statuses)
        and (wanted.mode is None or row.mode is wanted.mode)
        and (wanted.workflow is None or row.workflow == wanted.workflow)
        and (wanted.before is None or row.id < wanted.before)
        and (text in row.title.casefold() or text in row.workflow.casefold() or row.id.startswith(text))
    )
