"""What all events share, and the small shapes they are made of."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

if TYPE_CHECKING:
    Json = JsonValue
else:
    # pydantic would call a Python function for every node of a JsonValue; what gets here went through `plain`.
    Json = Any


class Shape(BaseModel):
    """A frozen piece of an event."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Aside(Shape):
    """A payload too large for an event: it lies in the blob store under this SHA-256."""

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: int


Asides = dict[str, Aside]


class Event(Shape):
    """One thing that happened. `version` goes up when the fields change; `upcast` then reads the old form.

    A field whose payload is too large stays empty; `aside` then says where the payload lies.
    """

    version: ClassVar[int] = 1

    aside: Asides | None = None


class Snapshot(Shape):
    """A workspace's files at one moment: a git tree in our own store, and where the user's repository stood."""

    tree: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    head: str | None = None
    truncated: bool = False


class Status(StrEnum):
    """Where a session stands."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


class Mode(StrEnum):
    """Whether a session may stop for a person."""

    HITL = "hitl"
    AUTONOMOUS = "autonomous"


class Effect(StrEnum):
    """What an act does to the world."""

    READ = "read"
    WRITE = "write"
    EXTERNAL = "external"


class StepStatus(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    PAUSED = "paused"


class Budget(Shape):
    """What a session may use; None is no limit."""

    tokens: int | None = None
    usd: float | None = None
    steps: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used."""

    tokens: int = 0
    usd: float = 0.0
    steps: int = 0
    seconds: float = 0.0

    def plus(self, other: "Usage") -> "Usage":
        """Both together. Rounded, so that the sum is the same in whatever order it is made, here and in the browser."""
        return Usage(
            self.tokens + other.tokens,
            round(self.usd + other.usd, 6),
            self.steps + other.steps,
            round(self.seconds + other.seconds, 6),
        )
