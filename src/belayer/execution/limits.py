"""How often and how many at once: calls beyond that wait for their turn instead of failing."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from belayer.vocabulary.clock import Clock, sleep

Waits = Callable[[Literal["rate", "concurrency"], float | None], Awaitable[None]]
_BUCKETS_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """At most so many calls in so many seconds; as many at once after a quiet time."""

    calls: int
    seconds: float


@dataclass(slots=True)
class Bucket:
    """Tokens that come back with time. Pure: told the time, it says how long to wait for the token it sets aside."""

    rate: Rate
    tokens: float
    at: float

    def take(self, now: float) -> float:
        """Seconds until the caller's turn."""
        gained = max(now - self.at, 0.0) * self.rate.calls / self.rate.seconds
        self.tokens = min(self.tokens + gained, float(self.rate.calls)) - 1.0
        self.at = now
        return max(-self.tokens * self.rate.seconds / self.rate.calls, 0.0)

    def give_back(self) -> None:
        """The caller does not want its turn any more."""
        self.tokens += 1.0


@dataclass(slots=True)
class Limits:
    """The turns of all calls. One owner: the engine."""

    clock: Clock
    _buckets: dict[str, Bucket] = field(default_factory=dict[str, Bucket])
    _slots: dict[str, asyncio.Semaphore] = field(default_factory=dict[str, asyncio.Semaphore])

    @asynccontextmanager
    async def turn(
        self, name: str, rate: Rate | None, at_once: int | None, hosts: Sequence[str], waits: Waits
    ) -> AsyncGenerator[None]:
        """Wait for the call's turn, saying so if it has to wait, and hold it."""
        if at_once is None:
            await self._paced(name, rate, hosts, waits)
            yield
            return
        slots = self._slots.setdefault(name, asyncio.Semaphore(at_once))
        if slots.locked():
            await waits("concurrency", None)
        async with slots:
            await self._paced(name, rate, hosts, waits)
            yield

    async def _paced(self, name: str, rate: Rate | None, hosts: Sequence[str], waits: Waits) -> None:
        if rate is None:
            return
        now = self.clock.monotonic()
        buckets = [self._bucket(f"{name} {host}", rate, now) for host in (hosts or ("",))]
        delay = max([bucket.take(now) for bucket in buckets])
        if delay <= 0:
            return
        try:
            await waits("rate", delay)
            await sleep(self.clock, delay)
        except BaseException:
            for bucket in buckets:
                bucket.give_back()
            raise

    def _bucket(self, key: str, rate: Rate, now: float) -> Bucket:
        if len(self._buckets) > _BUCKETS_KNOWN:  # hosts are named by plans: an old one starts anew
            self._buckets.pop(next(iter(self._buckets)))
        return self._buckets.setdefault(key, Bucket(rate, float(rate.calls), now))
