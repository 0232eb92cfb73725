"""What a person or program may ask of a session. Parsed at the edge, decided in sessions/decide.py."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from belayer.vocabulary.events.event import Budget, Json, Mode, Shape
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.vocabulary.plain import plain
from belayer.vocabulary.rules import Rule

_LONGEST_PAUSE = timedelta(days=3650)

Given = Annotated[Json, BeforeValidator(plain)]
Text = Annotated[str, Field(max_length=10_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Folder = Annotated[str, Field(min_length=1, max_length=4096)]


class Start(Shape):
    """Begin a session."""

    workflow: Name
    input: Given = None
    title: Name | None = None
    mode: Mode = Mode.HITL
    budget: Budget = Budget()
    idempotency_key: Name | None = None
    workspace: Folder | None = None
    policy: tuple[Rule, ...] | None = None


class Answer(Shape):
    """Say what was asked for."""

    type: Literal["user_response"] = "user_response"
    request_id: RequestId
    value: Given


class Approve(Shape):
    """Agree to exactly what was shown."""

    type: Literal["approve"] = "approve"
    request_id: RequestId
    digest: str
    notes: Text | None = None
    remember: Literal["session"] | None = None


class Reject(Shape):
    """Say no to what was shown."""

    type: Literal["reject"] = "reject"
    request_id: RequestId
    digest: str
    reason: Text | None = None


class Pause(Shape):
    """Begin nothing new until somebody resumes, or until `timeout` has passed and `then` happens."""

    type: Literal["pause"] = "pause"
    reason: Text | None = None
    timeout: Annotated[timedelta, Field(gt=timedelta(0), le=_LONGEST_PAUSE)] | None = None
    then: Literal["resume", "cancel"] = "resume"


class Resume(Shape):
    """Go on."""

    type: Literal["resume"] = "resume"
    reason: Text | None = None


class Interrupt(Shape):
    """Stop the current step now."""

    type: Literal["interrupt"] = "interrupt"
    reason: Text | None = None


class Cancel(Shape):
    """End the session for good."""

    type: Literal["cancel"] = "cancel"
    reason: Text | None = None


class Expire(Shape):
    """Put a session aside that nobody has touched for long."""

    type: Literal["expire"] = "expire"


class Wake(Shape):
    """The time a session waited for has come."""

    type: Literal["wake"] = "wake"


class Say(Shape):
    """Tell the session something; it takes it up where it next listens."""

    type: Literal["message"] = "message"
    text: Annotated[str, Field(min_length=1, max_length=10_000)]


class MakeCheckpoint(Shape):
    """Give this place a name."""

    type: Literal["checkpoint"] = "checkpoint"
    name: Name


class Rewind(Shape):
    """Go back to just after an event."""

    type: Literal["rewind"] = "rewind"
    seq: Annotated[int, Field(ge=1)]
    files: bool = True


class Fork(Shape):
    """Begin another session from an event of this one."""

    session_id: SessionId
    seq: Annotated[int, Field(ge=1)] | None = None


Command = (
    Answer
    | Approve
    | Reject
    | Pause
    | Resume
    | Interrupt
    | Cancel
    | Expire
    | Wake
    | Say
    | MakeCheckpoint
    | Rewind
)
