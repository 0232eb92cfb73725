"""Time as a part that is passed in, so that a test can turn the hands itself."""

import asyncio
import heapq
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Timer(Protocol):
    """A call that will happen unless it is cancelled."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """What the time is, and a call when it is later."""

    def now(self) -> datetime: ...

    def micros(self) -> int:
        """Now, in microseconds since 1970."""
        ...

    def monotonic(self) -> float: ...

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer: ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def micros(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call)


class ManualClock:
    """A clock that stands still until it is told to go on: for tests, ours and our users'."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed = 0.0
        self._timers: list[tuple[float, int, _ManualTimer]] = []
        self._count = 0

    def now(self) -> datetime:
        return self._now

    def micros(self) -> int:
        return to_micros(self._now)

    def monotonic(self) -> float:
        return self._elapsed

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = _ManualTimer(call)
        self._count += 1
        heapq.heappush(self._timers, (self._elapsed + max(seconds, 0.0), self._count, timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass and make every call that falls due, in order."""
        target = self._elapsed + seconds
        while self._timers and self._timers[0][0] <= target:
            due, _, timer = heapq.heappop(self._timers)
            self._pass(max(due - self._elapsed, 0.0))
            timer.fire()
        self._pass(target - self._elapsed)

    def next_due(self) -> float | None:
        """Seconds until the next call that somebody waits for, or None."""
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0][0] - self._elapsed if self._timers else None

    def _pass(self, seconds: float) -> None:
        self._elapsed += seconds
        self._now += timedelta(seconds=seconds)


class _ManualTimer:
    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def fire(self) -> None:
        if not self.cancelled:
            self._call()


async def sleep(clock: Clock, seconds: float) -> None:
    """Wait on the given clock."""
    done = asyncio.get_running_loop().create_future()

    def ring() -> None:
        if not done.done():
            done.set_result(None)

    timer = clock.call_later(seconds, ring)
    try:
        await done
    finally:
        timer.cancel()


def to_micros(at: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (at - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def rfc3339(at: datetime) -> str:
    """How a time looks on the wire: UTC, six decimals, `Z`."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
