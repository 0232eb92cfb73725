"""What clients send and get, beyond what the engine's own models say."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from belayer.api.envelopes import Envelope
from belayer.sessions.view import SessionView
from belayer.vocabulary.commands import Folder, Name, Start, Text
from belayer.vocabulary.events.event import Budget, Json, Mode, Shape, Status
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.vocabulary.rules import Rule

_ID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

Cursor = Annotated[int, Field(ge=0, le=2**53)]
TheRequest = Annotated[RequestId, Field(max_length=200)]
Digest = Annotated[str, Field(max_length=200)]
WholeId = Annotated[SessionId, Field(pattern=_ID)]


class BudgetBody(Budget):
    """What a session may use; null is no limit."""

    tokens: Annotated[StrictInt, Field(ge=0)] | None = None
    usd: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = None
    steps: Annotated[StrictInt, Field(ge=0)] | None = None
    seconds: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = None


class StartBody(Shape):
    """What to start: exactly one of `plan` and `workflow`."""

    mode: Mode = Mode.HITL
    plan: dict[str, Json] | None = None
    inputs: dict[str, Json] | None = None
    workflow: Name | None = None
    input: dict[str, Json] | None = None
    title: Name | None = None
    model: Name | None = None
    max_steps: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None
    timeout: Annotated[StrictFloat, Field(gt=0, le=31_536_000, allow_inf_nan=False)] | None = None
    budget: BudgetBody = BudgetBody()
    workspace: Folder | None = None
    policy: Annotated[tuple[Rule, ...], Field(max_length=1_000)] | None = None
    idempotency_key: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _can_be_started(cls, given: Any) -> Any:
        names = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        for name in ("goal", "skill", "change"):
            if name in names:
                raise ValueError(f"a {name} cannot be started by this version; start a plan or a workflow")
        return cast("Any", given)

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.plan is None) == (self.workflow is None):
            raise ValueError("give exactly one of: plan, workflow")
        if self.inputs is not None and self.plan is None:
            raise ValueError("inputs belong to a plan; a workflow takes its input")
        if self.input is not None and self.workflow is None:
            raise ValueError("input belongs to a workflow; a plan takes inputs")
        return self

    def command(self) -> Start:
        """The command that this asks for."""
        planned: dict[str, Json] = {"plan": self.plan, "inputs": self.inputs or {}}
        title = self.plan.get("title") if self.plan else None
        return Start(
            workflow=self.workflow or "plan",
            input=self.input if self.workflow else planned,
            title=self.title or (title[:200] or None if isinstance(title, str) else None),
            mode=self.mode,
            budget=self._limits(),
            workspace=self.workspace,
            policy=self.policy,
            idempotency_key=self.idempotency_key,
        )

    def _limits(self) -> Budget:
        """The budget, with the step and time limits that were given beside it."""
        steps = min((n for n in (self.budget.steps, self.max_steps) if n is not None), default=None)
        seconds = min((n for n in (self.budget.seconds, self.timeout) if n is not None), default=None)
        return Budget(tokens=self.budget.tokens, usd=self.budget.usd, steps=steps, seconds=seconds)


class Started(Shape):
    """The session that was started, or had been by the same idempotency key."""

    session_id: SessionId
    status: Status
    mode: Mode
    title: str
    workflow: str


class RespondBody(Shape):
    """An answer to a question."""

    request_id: TheRequest
    value: Json = None


class ApproveBody(Shape):
    """A yes to exactly what was shown."""

    request_id: TheRequest
    digest: Digest
    notes: Text | None = None
    remember: Literal["session"] | None = None


class RejectBody(Shape):
    """A no to what was shown."""

    request_id: TheRequest
    digest: Digest
    notes: Text | None = None
    reason: Text | None = None


class PauseBody(Shape):
    """How long to pause, and what then."""

    reason: Text | None = None
    timeout: Annotated[StrictFloat, Field(ge=0.001, le=315_360_000, allow_inf_nan=False)] | None = None
    then: Literal["resume", "cancel"] = "resume"


class StopBody(Shape):
    """Why."""

    reason: Text | None = None


class MessageBody(Shape):
    """Something to say to a session."""

    text: Annotated[str, Field(min_length=1, max_length=10_000)]


class CheckpointBody(Shape):
    """What to call this place."""

    name: Name


class RewindBody(Shape):
    """The event to go back to, and whether the files go back too."""

    seq: Annotated[StrictInt, Field(ge=1, le=2**53)]
    files: StrictBool = True


class ForkBody(Shape):
    """The last event that both have in common; without it, the last there is."""

    seq: Annotated[StrictInt, Field(ge=1, le=2**53)] | None = None


class EventsPage(Shape):
    """Events after a cursor; `next` is the cursor for what follows, null at the end."""

    events: tuple[Envelope, ...]
    next: int | None


class SessionDetail(SessionView):
    """A session with its events."""

    events: tuple[Envelope, ...]
    next: int | None


class SessionListed(Shape):
    """A session in a list."""

    session_id: SessionId
    title: str
    workflow: str
    mode: Mode
    status: Status
    seq: int
    created_at: str
    updated_at: str


class SessionsPage(Shape):
    """Sessions, newest first; `next` is the cursor for older ones."""

    sessions: tuple[SessionListed, ...]
    next: str | None


class Pending(Shape):
    """A request that waits for a person, and whose it is."""

    session_id: SessionId
    title: str
    status: Status
    since: str
    request: InputRequested | ApprovalRequested


class Inbox(Shape):
    """Everything that waits for a person, the oldest first."""

    requests: tuple[Pending, ...]


class CheckpointListed(Shape):
    """A place to go back to: named by somebody, or after a step."""

    seq: int
    name: str
    kind: Literal["named", "step"]


class Checkpoints(Shape):
    """The places a session can go back to."""

    checkpoints: tuple[CheckpointListed, ...]


class FileChange(Shape):
    """What a rewind would do to a file."""

    path: str
    kind: Literal["write", "delete", "skip"]
    why: str | None


class RewindPreview(Shape):
    """What a rewind would do to the files."""

    changes: tuple[FileChange, ...]
