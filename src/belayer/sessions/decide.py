"""What a command becomes, given the state it meets: events, or a refusal that says why. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from belayer.sessions.answers import check_answer
from belayer.sessions.state import Request, SessionState
from belayer.vocabulary.commands import (
    Answer,
    Approve,
    Cancel,
    Command,
    Expire,
    Interrupt,
    MakeCheckpoint,
    Pause,
    Reject,
    Resume,
    Rewind,
    Say,
    Wake,
)
from belayer.vocabulary.errors import (
    AlreadyDecided,
    BadCursor,
    DigestChanged,
    IllegalTransition,
    UnfitAnswer,
    UnknownRequest,
)
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.events.lifecycle import (
    AfterPause,
    CheckpointMade,
    Interrupted,
    Resumed,
    SessionChanged,
)
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Responded, Said

Events = Sequence[AnyEvent]

# Which status a command may find the session in.
ALLOWED: dict[type, frozenset[Status]] = {
    Pause: frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING}),
    Resume: frozenset({Status.PAUSED, Status.INTERRUPTED, Status.EXPIRED}),
    Interrupt: frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING}),
    Cancel: frozenset(Status) - FINAL,
    Expire: frozenset({Status.WAITING, Status.PAUSED, Status.INTERRUPTED}),
    Answer: frozenset(Status) - FINAL,
    Approve: frozenset(Status) - FINAL,
    Reject: frozenset(Status) - FINAL,
    Rewind: frozenset(Status) - {Status.QUEUED, Status.RUNNING},
    Say: frozenset(Status) - FINAL,
    MakeCheckpoint: frozenset(Status),
    Wake: frozenset(Status),
}


def decide(state: SessionState, command: Command, now: datetime) -> Events:
    """The events that the command appends now; empty when it has already been carried out."""
    _check_status(state, command)
    match command:
        case Answer():
            return _answer(state, command)
        case Approve() | Reject():
            return _settle(state, command)
        case Pause():
            ends = AfterPause(at=now + command.timeout, then=command.then) if command.timeout else None
            return [
                SessionChanged(
                    status=Status.PAUSED, reason=command.reason, after_pause=ends, driver=state.driver
                )
            ]
        case Resume():
            return _resume(state, command.reason)
        case Interrupt():
            return [
                Interrupted(reason=command.reason),
                SessionChanged(status=Status.INTERRUPTED, reason=command.reason, driver=state.driver),
            ]
        case Cancel():
            return [SessionChanged(status=Status.CANCELLED, reason=command.reason)]
        case Expire():
            return [SessionChanged(status=Status.EXPIRED, reason="nobody answered in time")]
        case Wake():
            return _wake(state, now)
        case Say():
            return [Said(text=command.text)]
        case MakeCheckpoint():
            return [CheckpointMade(name=command.name)]
        case Rewind():
            return _rewind(state, command.seq)
        case _:
            assert_never(command)


def _check_status(state: SessionState, command: Command) -> None:
    allowed = ALLOWED[type(command)]
    if state.status in allowed:
        return
    if isinstance(command, Answer | Approve | Reject) and command.request_id in state.answered:
        return
    verb = type(command).__name__.lower()
    raise IllegalTransition(
        f"Session {state.id} is {state.status}, so it cannot {verb}.", _way_out(state, command)
    )


def _way_out(state: SessionState, command: Command) -> str:
    if state.status in FINAL:
        return f"It has ended. Go on from an earlier point with `belayer rewind {state.id} SEQ` or `belayer fork`."
    if isinstance(command, Rewind):
        return f"Stop it first: `belayer pause {state.id}`."
    if isinstance(command, Resume) and state.status is Status.WAITING:
        return f"It waits for an answer: `belayer show {state.id}` says which."
    allowed = ", ".join(sorted(ALLOWED[type(command)]))
    return f"This is possible while it is {allowed}."


def _find(state: SessionState, request_id: str) -> Request:
    for known, request in state.pending.items():
        if known == request_id:
            return request
    raise UnknownRequest(
        f"Session {state.id} has no open request {request_id}.",
        f"See what it asks with `belayer show {state.id}`.",
    )


def _answer(state: SessionState, command: Answer) -> Events:
    earlier = state.answered.get(command.request_id)
    if earlier is not None:
        if earlier.approved is None and earlier.value == command.value:
            return []
        raise AlreadyDecided(
            f"Request {command.request_id} has been answered already: {earlier.value!r}.",
            "The first answer counts. To answer anew, rewind the session to before it.",
        )
    request = _find(state, command.request_id)
    if not isinstance(request, InputRequested):
        raise UnfitAnswer("This is an approval, not a question.", "Approve or reject it.")
    check_answer(request, command.value)
    return [Responded(request_id=command.request_id, value=command.value), *_ready(state)]


def _settle(state: SessionState, command: Approve | Reject) -> Events:
    approved = isinstance(command, Approve)
    earlier = state.answered.get(command.request_id)
    if earlier is not None:
        if earlier.approved is approved and earlier.digest == command.digest:
            return []
        word = {True: "approved", False: "rejected", None: "answered"}[earlier.approved]
        raise AlreadyDecided(
            f"Request {command.request_id} has already been {word}.", "The first decision counts."
        )
    request = _find(state, command.request_id)
    if not isinstance(request, ApprovalRequested):
        raise UnfitAnswer("This is a question, not an approval.", "Answer it.")
    if request.digest != command.digest:
        raise DigestChanged(
            f"What is to be approved is not what you saw (digest {command.digest}, now {request.digest}).",
            "Look at it again, then decide.",
        )
    notes = command.notes if isinstance(command, Approve) else command.reason
    remember = command.remember if isinstance(command, Approve) else None
    decision = Responded(
        request_id=command.request_id,
        approved=approved,
        digest=command.digest,
        notes=notes,
        remember=remember,
    )
    return [decision, *_ready(state)]


def _ready(state: SessionState) -> Events:
    """An answer makes a session ready that waited for it; one that is paused stays so."""
    if state.status in (Status.WAITING, Status.EXPIRED):
        return [SessionChanged(status=Status.QUEUED, reason="answered")]
    return []


def _resume(state: SessionState, reason: str | None) -> Events:
    # Who drove it when it was stopped may still be at a step, and goes on with it as long as it lives.
    return [
        Resumed(from_status=state.status, reason=reason),
        SessionChanged(status=Status.QUEUED, reason=reason, driver=state.driver),
    ]


def _wake(state: SessionState, now: datetime) -> Events:
    if state.status is Status.WAITING and state.wake_at is not None and state.wake_at <= now:
        return [SessionChanged(status=Status.QUEUED, reason="its time has come")]
    ends = state.after_pause
    if state.status is Status.PAUSED and ends is not None and ends.at <= now:
        if ends.then == "resume":
            return _resume(state, "the pause was over")
        return [SessionChanged(status=Status.CANCELLED, reason="nobody resumed it in time")]
    return []


def ask_anew(state: SessionState, _now: datetime) -> Events:
    """What a session waits for is no longer what it should ask about."""
    if state.status in (Status.WAITING, Status.EXPIRED):
        return [SessionChanged(status=Status.QUEUED, reason="what it asks about has changed")]
    return []


def _rewind(state: SessionState, seq: int) -> Events:
    if seq >= state.seq:
        raise BadCursor(
            f"Session {state.id} has {state.seq} events, so it cannot go back to {seq}.",
            f"See its events with `belayer show {state.id} --events`.",
        )
    # The new epoch shuts out a driver that is still at work on what is now left behind.
    return [
        SessionChanged(
            status=Status.PAUSED, reason=f"rewound to {seq}", rewound_to=seq, epoch=state.epoch + 1
        )
    ]
