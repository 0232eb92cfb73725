"""What a session is now: a fold over its log. Pure; knows every event there is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from belayer.sessions.record import GENESIS, Record, in_force, rewound_to
from belayer.vocabulary.clock import from_micros
from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Asides, Budget, Effect, Json, Mode, Status, StepStatus, Usage
from belayer.vocabulary.events.lifecycle import (
    AfterPause,
    BudgetReached,
    CheckpointMade,
    ErrorMet,
    Interrupted,
    Logged,
    Origin,
    Rehomed,
    Resumed,
    SessionChanged,
    WorkspaceRestored,
)
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Responded, Said
from belayer.vocabulary.events.steps import (
    ArtifactMade,
    BreakerChanged,
    DoubtRaised,
    LimitMet,
    Planned,
    PlannedStep,
    Retried,
    StepChanged,
)
from belayer.vocabulary.ids import RequestId, SessionId

Request = InputRequested | ApprovalRequested


@dataclass(slots=True)  # made by the thousand, and freezing takes thrice as long: treat as frozen
class StepView:
    """A step as a person wants to see it."""

    key: str
    name: str
    status: StepStatus
    effect: Effect
    attempt: int = 1
    seconds: float | None = None
    problem: Problem | None = None
    seq: int = 0
    reason: str | None = None


@dataclass(slots=True)
class SessionState:
    """Everything a reader of the log may want to know about a session now."""

    id: SessionId
    seq: int = 0
    last_hash: bytes = field(default=GENESIS, compare=False, repr=False)
    status: Status = Status.QUEUED
    reason: str | None = None
    workflow: str = ""
    title: str = ""
    mode: Mode = Mode.HITL
    input: Json = None
    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    epoch: int = 0
    driver: str | None = None
    sandbox: str | None = None
    wake_at: datetime | None = None
    after_pause: AfterPause | None = None
    idempotency_key: str | None = None
    workspace: str | None = None
    forked_from: Origin | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    plan: tuple[PlannedStep, ...] = ()
    steps: dict[str, StepView] = field(default_factory=dict[str, StepView])
    tries: dict[str, StepView] = field(default_factory=dict[str, StepView])
    pending: dict[RequestId, Request] = field(default_factory=dict[RequestId, Request])
    answered: dict[RequestId, Responded] = field(default_factory=dict[RequestId, Responded])
    checkpoints: dict[int, str] = field(default_factory=dict[int, str])
    artifacts: dict[str, ArtifactMade] = field(default_factory=dict[str, ArtifactMade])
    result: Json = None
    result_aside: Asides | None = None
    problem: Problem | None = None

    def progress(self) -> tuple[int, int] | None:
        """Steps done and steps planned, or None when the workflow announced no plan."""
        if not self.plan:
            return None
        done = sum(1 for step in self.plan if _is_done(step, self.tries.get(step.key)))
        return done, len(self.plan)

    def planned(self, step: PlannedStep) -> StepStatus:
        """Where a planned step stands: its last try counts, and one that waits for a person is paused."""
        if any(step_of(request.key) == step.key for request in self.pending.values()):
            return StepStatus.PAUSED
        tried = self.tries.get(step.key)
        return tried.status if tried else StepStatus.PENDING


def copied(state: SessionState) -> SessionState:
    """A state of one's own, at the cost of its dictionaries: what they hold is never changed, only replaced."""
    return replace(
        state,
        steps=dict(state.steps),
        tries=dict(state.tries),
        pending=dict(state.pending),
        answered=dict(state.answered),
        checkpoints=dict(state.checkpoints),
        artifacts=dict(state.artifacts),
    )


def fold(session_id: SessionId, records: Sequence[Record]) -> SessionState:
    """The state after the given records, which must be a log from its beginning."""
    state = SessionState(session_id)
    kept = in_force(records)
    advance(state, kept)
    if len(kept) < len(records):
        _count_dropped(state, records, {record.seq for record in kept})
    return state


def advance(state: SessionState, records: Iterable[Record]) -> None:
    """Take further records into account. None of them may be a rewind: those need a fold of the whole log."""
    record = None
    for record in records:
        _apply(state, record)
        state.seq = record.seq
    if record is not None:
        state.last_hash, state.updated_at = record.hash, from_micros(record.at)


def needs_fold(records: Iterable[Record]) -> bool:
    """Whether these records cannot simply be added to a state."""
    return any(rewound_to(record) is not None for record in records)


def step_of(key: str) -> str:
    """The planned step that a key belongs to: fetch, for fetch#2, fetch/question and #gate/fetch#2/1."""
    parts = key.split("/")
    name = parts[1] if key.startswith("#") and len(parts) > 1 else parts[0]
    return name.partition("#")[0]


def _is_done(step: PlannedStep, tried: StepView | None) -> bool:
    if tried is None:
        return False
    if tried.status is StepStatus.FAILED:
        return step.critical is False
    return tried.status in (StepStatus.COMPLETED, StepStatus.SKIPPED)


def _count_dropped(state: SessionState, records: Sequence[Record], kept: set[int]) -> None:
    """A rewind takes back what was decided; not what was spent, who has driven, or that it is a copy."""
    for record in records:
        if record.type not in ("session", "step", "rehomed"):
            continue
        event = record.event()
        if isinstance(event, SessionChanged):
            state.epoch = max(state.epoch, event.epoch or 0)
            if event.forked_from is not None:
                _fork(state, event.forked_from, record)
        elif isinstance(event, Rehomed):
            state.workspace = event.workspace
        elif isinstance(event, StepChanged) and record.seq not in kept:
            state.usage = state.usage.plus(event.spent())


def _apply(state: SessionState, record: Record) -> None:
    event = record.event()
    match event:
        case SessionChanged():
            _change(state, event, record)
        case StepChanged():
            _step(state, event, record.seq)
        case InputRequested():
            state.pending[event.request_id] = event
        case ApprovalRequested():
            if event.replaces is not None:
                state.pending.pop(event.replaces, None)
            state.pending[event.request_id] = event
        case Responded():
            state.pending.pop(event.request_id, None)
            state.answered[event.request_id] = event
        case Planned():
            state.plan = event.steps
        case CheckpointMade():
            state.checkpoints[record.seq] = event.name
        case ArtifactMade():
            state.artifacts[event.name] = event
        case ErrorMet():
            state.problem = event.problem
        case Retried():
            if event.key in state.steps:
                tried = replace(state.steps[event.key], attempt=event.attempt + 1)
                state.steps[event.key] = state.tries[event.key.partition("#")[0]] = tried
        case Interrupted() | Resumed() | Logged() | BudgetReached() | BreakerChanged() | DoubtRaised():
            pass
        case Rehomed():
            state.workspace = event.workspace
        case LimitMet() | WorkspaceRestored() | Said():
            pass
        case _:
            assert_never(event)


def _change(state: SessionState, event: SessionChanged, record: Record) -> None:
    state.status, state.reason = event.status, event.reason
    state.wake_at, state.after_pause = event.wake_at, event.after_pause
    state.driver = event.driver
    state.sandbox = event.sandbox or state.sandbox
    state.epoch = max(state.epoch, event.epoch or 0)
    if event.begun is not None:
        _begin(state, event, record)
    if event.forked_from is not None:
        _fork(state, event.forked_from, record)
    if event.status is Status.COMPLETED:
        state.result, state.result_aside = event.result, event.aside
    if event.status is not Status.FAILED:
        state.problem = None


def _fork(state: SessionState, origin: Origin, record: Record) -> None:
    state.forked_from = origin
    state.created_at, state.idempotency_key = from_micros(record.at), None


def _begin(state: SessionState, event: SessionChanged, record: Record) -> None:
    begun = event.begun
    assert begun is not None
    state.workflow, state.title, state.mode = begun.workflow, begun.title, begun.mode
    state.input, state.budget, state.idempotency_key = begun.input, begun.budget, begun.idempotency_key
    state.workspace = begun.workspace
    state.created_at = from_micros(record.at)


def _step(state: SessionState, event: StepChanged, seq: int) -> None:
    view = StepView(
        event.key,
        event.name,
        event.status,
        event.effect,
        event.attempt,
        event.seconds,
        event.problem,
        seq,
        event.reason,
    )
    state.steps[event.key] = state.tries[event.key.partition("#")[0]] = view
    if event.status in (StepStatus.COMPLETED, StepStatus.FAILED):
        state.usage = state.usage.plus(event.spent())
