"""A session as it is shown: by `belayer show --json` and to every client. Made from the state, adds nothing to it."""

from datetime import datetime

from belayer.sessions.state import SessionState, StepView
from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import (
    Budget,
    Effect,
    Json,
    Mode,
    Shape,
    Status,
    StepStatus,
    Usage,
)
from belayer.vocabulary.events.lifecycle import Origin
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.events.steps import ArtifactMade, PlannedStep
from belayer.vocabulary.ids import SessionId


class Step(Shape):
    """A step in a list."""

    key: str
    name: str
    status: StepStatus
    effect: Effect
    attempt: int
    seconds: float | None
    error: Problem | None
    reason: str | None
    seq: int


class StepAhead(PlannedStep):
    """A step of the plan and where it stands."""

    status: StepStatus


class Progress(Shape):
    """How far the announced plan is."""

    percent: float
    step: int
    of: int


class Checkpoint(Shape):
    """A named place to come back to."""

    seq: int
    name: str


class Artifact(Shape):
    """Something that a step made, under the name by which it can be fetched."""

    name: str
    media_type: str
    bytes: int
    key: str


class SessionView(Shape):
    """Everything about a session but its events."""

    session_id: SessionId
    status: Status
    reason: str | None
    title: str
    workflow: str
    mode: Mode
    input: Json
    created_at: datetime | None
    updated_at: datetime | None
    wake_at: datetime | None
    seq: int
    workspace: str | None
    plan: tuple[StepAhead, ...]
    progress: Progress | None
    steps: tuple[Step, ...]
    earlier_steps: int
    pending: tuple[InputRequested | ApprovalRequested, ...]
    checkpoints: tuple[Checkpoint, ...]
    artifacts: tuple[Artifact, ...]
    sandbox: str | None
    forked_from: Origin | None
    budget: Budget
    usage: Usage
    result: Json
    error: Problem | None


def view(state: SessionState, most_steps: int | None = None) -> SessionView:
    """The state in the form in which it leaves the house; of many steps the last."""
    steps = list(state.steps.values())
    return SessionView(
        session_id=state.id,
        status=state.status,
        reason=state.reason,
        title=state.title,
        workflow=state.workflow,
        mode=state.mode,
        input=state.input,
        created_at=state.created_at,
        updated_at=state.updated_at,
        wake_at=state.after_pause.at if state.after_pause else state.wake_at,
        seq=state.seq,
        workspace=state.workspace,
        plan=tuple(StepAhead(**dict(step), status=state.planned(step)) for step in state.plan),
        progress=_progress(state),
        steps=tuple(_step(step) for step in steps[-most_steps if most_steps else 0 :]),
        earlier_steps=max(len(steps) - most_steps, 0) if most_steps else 0,
        pending=tuple(state.pending.values()),
        checkpoints=tuple(Checkpoint(seq=seq, name=name) for seq, name in state.checkpoints.items()),
        artifacts=tuple(_artifact(made) for made in state.artifacts.values()),
        sandbox=state.sandbox,
        forked_from=state.forked_from,
        budget=state.budget,
        usage=state.usage,
        result=state.result,
        error=state.problem,
    )


def _step(step: StepView) -> Step:
    return Step(
        key=step.key,
        name=step.name,
        status=step.status,
        effect=step.effect,
        attempt=step.attempt,
        seconds=step.seconds,
        error=step.problem,
        reason=step.reason,
        seq=step.seq,
    )


def _artifact(made: ArtifactMade) -> Artifact:
    content = (made.aside or {}).get("content")
    return Artifact(
        name=made.name, media_type=made.media_type, bytes=content.bytes if content else 0, key=made.key
    )


def _progress(state: SessionState) -> Progress | None:
    known = state.progress()
    if known is None:
        return None
    done, of = known
    return Progress(percent=round(100 * done / of, 1), step=done, of=of)
