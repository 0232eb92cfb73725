"""The step that is under way, as its act may see it."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from belayer.execution.policy import Reach
from belayer.vocabulary.errors import LogicError
from belayer.vocabulary.events.event import Usage


@dataclass(slots=True)
class StepUnderWay:
    """What an act may want to know of the step it runs in, and tell to those who watch."""

    key: str
    attempt: int
    idempotency_key: str
    reduced: bool
    show: Callable[..., None]
    permits: Callable[[Reach], bool]
    usage: Usage | None = None

    def use(self, *, tokens: int = 0, usd: float = 0.0) -> None:
        """Count something against the session's budget."""
        self.usage = (self.usage or Usage()).plus(Usage(tokens=tokens, usd=usd))

    def log(self, text: str) -> None:
        """Show a line to those who watch."""
        self.show("log", text=text, step=self.key)

    def progress(self, percent: float, text: str = "") -> None:
        """Show how far the step is."""
        self.show("progress", percent=percent, text=text, key=self.key)


def may_reach(reach: Reach) -> bool:
    """Whether the rules let the calling act touch this too, which nobody knew of when it began: a redirect's host."""
    step = UNDER_WAY.get(None)
    return step is None or step.permits(reach)


UNDER_WAY: ContextVar[StepUnderWay] = ContextVar("step_under_way")


def this_step() -> StepUnderWay:
    """The step that the calling act runs in."""
    step = UNDER_WAY.get(None)
    if step is None:
        raise LogicError(
            "No step is under way here.", "Call this_step() from inside an act that run.step runs."
        )
    return step
