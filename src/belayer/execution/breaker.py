"""Leave alone for a while what keeps failing. Pure: told the time, it answers; one breaker per act."""

from dataclasses import dataclass
from enum import StrEnum


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(slots=True)
class Breaker:
    """Opens after so many failures in a row; after a rest lets one call through to see."""

    threshold: int = 5
    rest: float = 30.0
    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    opened_at: float = 0.0
    probing: bool = False

    def wait(self, now: float) -> float:
        """Seconds until a call may be tried; 0 for now. A call that may be tried must be reported on."""
        if self.state is BreakerState.OPEN:
            remaining = self.opened_at + self.rest - now
            if remaining > 0:
                return remaining
            self.state, self.probing = BreakerState.HALF_OPEN, False
        if self.state is BreakerState.HALF_OPEN:
            if self.probing:
                return self.rest
            self.probing = True
        return 0.0

    def rests(self, now: float) -> float:
        """Seconds of its rest that are left."""
        return max(self.opened_at + self.rest - now, 0.0) if self.state is BreakerState.OPEN else 0.0

    def succeeded(self) -> None:
        self.state, self.failures, self.probing = BreakerState.CLOSED, 0, False

    def failed(self, now: float) -> None:
        """Count a failure of the kind that speaks against the other side."""
        self.failures += 1
        if self.state is BreakerState.HALF_OPEN or self.failures >= self.threshold:
            self.state, self.opened_at, self.probing = BreakerState.OPEN, now, False

    def left(self) -> None:
        """A call ended without saying anything about the other side: it was stopped, or it was asked nonsense."""
        self.probing = False
