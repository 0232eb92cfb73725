"""What the log needs of a place to keep records: many proposals in one transaction, each taken or refused."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

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


@dataclass(frozen=True, slots=True)
class Counts:
    """How many sessions have each status, how many of the waiting wait for no set time but for a person, how many
    events were ever appended as far as the store can tell, and how many bytes it takes."""

    by_status: Mapping[Status, int]
    for_a_person: int
    events: int
    bytes: int


class Hour(NamedTuple):
    """How many sessions began in an hour, and how many ended how. `at` is its first microsecond since 1970."""

    at: int
    started: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0


class Mark(NamedTuple):
    """How far somebody has read in the order of writing: up to the event at this place, which has this hash.

    The places of removed events may be given anew. A mark that was lost so starts over, without what is not after
    `since`.
    """

    place: int = 0
    hash: bytes = b""
    at: int = 0
    since: int = 0


class Changes(NamedTuple):
    """Status changes after a mark, of all sessions, in the order of writing; and the mark to go on from."""

    records: Sequence[Record]
    mark: Mark


HOUR = 3_600_000_000
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

    async def counts(self) -> Counts:
        """What can be counted without looking at every session."""
        ...

    async def hours(self, since: int) -> list[Hour]:
        """The hours, from the one that `since` is in, in which a session began or ended; the earliest first."""
        ...

    async def written_last(self) -> Mark:
        """The mark of somebody who has read everything."""
        ...

    async def changed_since(self, mark: Mark) -> Changes:
        """The next status changes, at most so many that it takes no time. All are read when the mark stays."""
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
