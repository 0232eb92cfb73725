"""What the log needs of a place to keep records: many proposals in one transaction, each taken or refused."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from belayer.sessions.record import Entry, Record
from belayer.sessions.rows import SessionRow
from belayer.vocabulary.errors import (
    AlreadyDecided,
    BelayerError,
    Fenced,
    KeyReused,
    Moved,
    NotRunning,
    UnknownSession,
)
from belayer.vocabulary.events.event import Mode, Status
from belayer.vocabulary.ids import SessionId


@dataclass(slots=True)
class Proposal:
    """Entries for one session, and what must be true for them to be taken."""

    session_id: SessionId
    entries: tuple[Entry, ...]
    creates: bool = False
    epoch: int | None = None
    expected_seq: int | None = None
    needs_running: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions a list should hold, newest first."""

    statuses: frozenset[Status] = frozenset()
    mode: Mode | None = None
    workflow: str | None = None
    text: str | None = None
    before: SessionId | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Due:
    """Which sessions want the runner's attention, each with its driver: who drives it, or last did."""

    queued: Sequence[tuple[SessionId, str | None]]
    driven: Sequence[tuple[SessionId, str | None]]


Answers = Sequence[list[Record] | BelayerError]


class Store(Protocol):
    """Keeps records and rows. Every method may raise a StoreError."""

    async def commit(self, proposals: Sequence[Proposal]) -> Answers:
        """Take all proposals in one durable transaction; the answer for each is its records or its refusal."""
        ...

    def commit_now(self, proposals: Sequence[Proposal]) -> Answers | None:
        """The same without waiting, where that takes less time than a change of threads; else None."""
        ...

    async def read(self, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[Record]: ...

    async def row(self, session_id: SessionId) -> SessionRow | None: ...

    async def started_with(self, idempotency_key: str) -> SessionRow | None: ...

    async def matching(self, prefix: str) -> list[SessionId]:
        """Ids that begin with the prefix, at most a few: enough to tell none, one and several apart."""
        ...

    async def rows(self, wanted: Wanted) -> list[SessionRow]: ...

    async def due(self, limit: int) -> Due:
        """Sessions to be driven, the longest waiting first, and those that somebody claims to drive."""
        ...

    async def ripe(self, now: int) -> list[SessionId]:
        """Sessions whose wake-up time has come."""
        ...

    async def next_wake(self) -> int | None: ...

    async def idle_since(self, before: int) -> list[SessionId]:
        """Sessions that wait for a person and have not been touched since."""
        ...

    async def remove(self, session_ids: Sequence[SessionId]) -> None: ...

    async def replace_row(self, row: SessionRow) -> None: ...

    async def damage(self) -> list[str]:
        """What is wrong with the store itself, apart from any session's log."""
        ...

    def changes(self) -> AsyncIterator[None]:
        """One item whenever another process has written."""
        ...

    async def close(self) -> None: ...


def refusal(proposal: Proposal, row: SessionRow | None) -> BelayerError | None:
    """Why a proposal cannot be taken, given the row it meets in the transaction. Pure: every store asks it."""
    if proposal.creates:
        return None if row is None else AlreadyDecided(f"Session {row.id} exists already.")
    if row is None:
        return UnknownSession(
            f"There is no session {proposal.session_id}.", "List the sessions with `belayer ls`."
        )
    if proposal.epoch is not None and proposal.epoch != row.epoch:
        return Fenced.by(row.id, proposal.epoch, row.epoch)
    if proposal.expected_seq is not None and proposal.expected_seq != row.last_seq:
        return Moved(f"Session {row.id} is at seq {row.last_seq}, not at {proposal.expected_seq}.")
    if proposal.needs_running and row.status is not Status.RUNNING:
        return NotRunning(f"Session {row.id} is {row.status}.")
    return None


def key_reused(key: str) -> KeyReused:
    return KeyReused(
        f"The idempotency key {key!r} belongs to another session.", "Use a new key for a new session."
    )
