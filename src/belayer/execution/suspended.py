"""How a run leaves when it has to wait. A BaseException, so that no workflow catches it by mistake."""

from datetime import datetime


class Suspended(BaseException):
    """The run waits for a person, a time or a resume; only the runner catches this."""

    def __init__(self, reason: str, wake_at: datetime | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wake_at = wake_at


def together(waits: list[Suspended]) -> Suspended:
    """What several branches that wait amount to: the earliest wake-up counts."""
    times = [wait.wake_at for wait in waits if wait.wake_at is not None]
    return Suspended("; ".join(dict.fromkeys(wait.reason for wait in waits)), min(times, default=None))
