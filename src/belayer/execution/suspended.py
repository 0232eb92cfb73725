"""How a run leaves. BaseExceptions, so that no workflow catches them by mistake; only the runner does."""

from datetime import datetime

from belayer.vocabulary.errors import BelayerError


class Suspended(BaseException):
    """The run waits for a person, a time or a resume."""

    def __init__(self, reason: str, wake_at: datetime | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wake_at = wake_at


class Halted(BaseException):
    """The run cannot go on here and now, and its workflow can do nothing about it."""

    def __init__(self, error: BelayerError) -> None:
        super().__init__(error.detail)
        self.error = error


def together(waits: list[Suspended]) -> Suspended:
    """What several branches that wait amount to: the earliest wake-up counts."""
    times = [wait.wake_at for wait in waits if wait.wake_at is not None]
    return Suspended("; ".join(dict.fromkeys(wait.reason for wait in waits)), min(times, default=None))
