"""A session's own life: begun, taken, waiting, stopped, ended."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Budget, Event, Json, Mode, Shape, Snapshot, Status
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.rules import Rule


class Begun(Shape):
    """What a session was started with."""

    workflow: str
    title: str
    mode: Mode
    input: Json = None
    budget: Budget = Budget()
    idempotency_key: str | None = None
    workspace: str | None = None
    policy: tuple[Rule, ...] | None = None


class Origin(Shape):
    """The session and event that a fork begins from."""

    session_id: SessionId
    seq: int


class AfterPause(Shape):
    """What becomes of a pause that nobody ends."""

    at: AwareDatetime
    then: Literal["resume", "cancel"]


class SessionChanged(Event):
    """The session has a new status."""

    type: Literal["session"] = "session"
    status: Status
    reason: str | None = None
    begun: Begun | None = None
    epoch: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    driver: str | None = None
    sandbox: str | None = None
    wake_at: AwareDatetime | None = None
    after_pause: AfterPause | None = None
    rewound_to: Annotated[int, Field(ge=1)] | None = None
    restores: Snapshot | None = None
    forked_from: Origin | None = None
    result: Json = None


class Interrupted(Event):
    """A person wants the current step stopped now."""

    type: Literal["interrupt"] = "interrupt"
    reason: str | None = None


class Resumed(Event):
    """A person, or the end of a pause, lets the session go on."""

    type: Literal["resume"] = "resume"
    from_status: Status
    reason: str | None = None


class ErrorMet(Event):
    """Something went wrong that the session could not mend."""

    type: Literal["error"] = "error"
    problem: Problem
    step: str | None = None


class CheckpointMade(Event):
    """A place with a name to come back to."""

    type: Literal["checkpoint"] = "checkpoint"
    name: str
    key: str | None = None


class WorkspaceRestored(Event):
    """A rewind brought the workspace's files back too. `before` has what was there until then, so nothing is lost."""

    type: Literal["restored"] = "restored"
    tree: str
    before: Snapshot | None = None
    written: int = 0
    deleted: int = 0
    skipped: tuple[str, ...] = ()


class Rehomed(Event):
    """The session is a copy that goes its own way: a fork, or one that was imported.

    What was allowed to the other one is not allowed to this one: its rules and approvals stay behind, and it works in a
    folder of its own.
    """

    type: Literal["rehomed"] = "rehomed"
    because: Literal["fork", "import"]
    workspace: str | None = None


class Logged(Event):
    """A line the workflow wants in the session's story."""

    type: Literal["log"] = "log"
    text: str
    level: Literal["debug", "info", "warning", "error"] = "info"
    key: str | None = None


class BudgetReached(Event):
    """The session used up what it was given and holds until somebody gives more."""

    type: Literal["budget"] = "budget"
    limit: Literal["tokens", "usd", "steps", "seconds"]
    allowed: float
    used: float
