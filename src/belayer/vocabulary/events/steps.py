"""What a session does: planned, tried, failed, done."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Effect, Event, Json, Shape, Snapshot, StepStatus, Usage

NOTHING = Usage()


class PlannedStep(Shape):
    """A step that the workflow means to take."""

    key: str
    title: str
    tool: str | None = None
    needs: tuple[str, ...] | None = None
    critical: bool | None = None


class Planned(Event):
    """The workflow says what is to come, so that progress can be shown."""

    type: Literal["plan"] = "plan"
    key: str
    steps: tuple[PlannedStep, ...]
    parallel: int | None = None
    digest: str | None = None


class StepChanged(Event):
    """A step began, ended, or was stopped. `input` stands in the first event of a step only."""

    type: Literal["step"] = "step"
    key: str
    name: str
    status: StepStatus
    attempt: int = 1
    effect: Effect = Effect.READ
    input: Json = None
    output: Json = None
    problem: Problem | None = None
    seconds: float | None = None
    usage: Usage | None = None
    idempotency_key: str | None = None
    wake_at: AwareDatetime | None = None
    reason: str | None = None
    workspace: Snapshot | None = None

    def spent(self) -> Usage:
        """What the step took, once it has ended; a mere value (the time, a random number) takes nothing."""
        if self.seconds is None or self.status not in (StepStatus.COMPLETED, StepStatus.FAILED):
            return NOTHING
        if self.usage is None:
            return Usage(steps=1, seconds=self.seconds)
        return self.usage.plus(Usage(steps=1, seconds=self.seconds))


class Retried(Event):
    """An attempt failed and there will be another."""

    type: Literal["retry"] = "retry"
    key: str
    attempt: int
    delay: float
    problem: Problem


class BreakerChanged(Event):
    """A circuit breaker opened, closed, or lets one call through to see."""

    type: Literal["breaker"] = "breaker"
    name: str
    state: Literal["closed", "open", "half_open"]
    until: AwareDatetime | None = None


class DoubtRaised(Event):
    """A step had begun and nobody knows how it ended."""

    type: Literal["in_doubt"] = "in_doubt"
    key: str
    name: str
    attempt: int
    reason: str


class ArtifactMade(Event):
    """A step made something to look at or take away. Its content always lies aside, under `content`."""

    type: Literal["artifact"] = "artifact"
    key: str
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
    media_type: str


class LimitMet(Event):
    """A step waits because a limit was reached; it goes on by itself."""

    type: Literal["limit"] = "limit"
    key: str
    name: str
    limit: Literal["rate", "concurrency"]
    delay: float | None = None
