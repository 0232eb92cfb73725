"""What is told to the outside about a session, and when it still needs telling. Pure; names and states, no contents."""

from collections.abc import Sequence
from typing import Literal

from belayer.sessions.record import Record
from belayer.sessions.state import Request, SessionState, fold
from belayer.vocabulary.clock import from_micros, rfc3339
from belayer.vocabulary.events.event import Mode, Shape, Status
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import RequestId, SessionId

Kind = Literal[
    "session.waiting", "session.completed", "session.failed", "session.cancelled", "session.expired"
]

_KINDS: dict[Status, Kind] = {
    Status.WAITING: "session.waiting",
    Status.PAUSED: "session.waiting",
    Status.COMPLETED: "session.completed",
    Status.FAILED: "session.failed",
    Status.CANCELLED: "session.cancelled",
    Status.EXPIRED: "session.expired",
}
TELLING = frozenset(_KINDS)
_LONGEST_TEXT = 300


class Open(Shape):
    """A request that waits for a person."""

    request_id: RequestId
    kind: str
    title: str


class About(Shape):
    """The session as it stood then."""

    session_id: SessionId
    seq: int
    title: str
    workflow: str
    mode: Mode
    status: Status
    reason: str | None
    pending: tuple[Open, ...]
    url: str


class Announcement(Shape):
    """A webhook's body. `timestamp` is when it happened, however late it is told."""

    type: Kind
    timestamp: str
    data: About


def announcement(records: Sequence[Record], seq: int, address: str) -> Announcement | None:
    """What to tell of the status change at this seq, given the whole log; None if there is nothing to tell.

    That a person is needed is told only for as long as it is true.
    """
    record = records[seq - 1]
    state = fold(record.session_id, records[:seq])
    kind = _KINDS.get(state.status)
    if kind is None or _was_copied(records[seq:]):
        return None
    if kind == "session.waiting":
        asks = bool(state.pending) if state.status is Status.WAITING else _is_held(records[:seq])
        if not asks or any(later.type == "session" for later in records[seq:]):
            return None
    return Announcement(
        type=kind, timestamp=rfc3339(from_micros(record.at)), data=_about(state, address.rstrip("/"))
    )


def _about(state: SessionState, address: str) -> About:
    return About(
        session_id=state.id,
        seq=state.seq,
        title=_short(state.title),
        workflow=_short(state.workflow),
        mode=state.mode,
        status=state.status,
        reason=_short(state.reason) if state.reason else None,
        pending=tuple(_open(request) for request in state.pending.values()),
        url=f"{address}/sessions/{state.id}",
    )


def _open(request: Request) -> Open:
    if isinstance(request, ApprovalRequested):
        return Open(request_id=request.request_id, kind="approval", title=_short(request.title))
    return Open(request_id=request.request_id, kind=request.kind, title=_short(request.prompt))


def _is_held(records: Sequence[Record]) -> bool:
    """Whether a session was paused by a problem: it goes on only once somebody has mended it."""
    return len(records) > 1 and records[-2].type == "error"


def _was_copied(later: Sequence[Record]) -> bool:
    """Whether this happened to another session, from which this one was forked afterwards."""
    changes = [
        record.event() for record in later if record.type == "session" and b'"forked_from"' in record.data
    ]
    return any(isinstance(change, SessionChanged) and change.forked_from is not None for change in changes)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
