"""Measure contestants in turns, so that what else the machine does falls on all of them alike."""

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Generic, TypeVar

Measured = TypeVar("Measured")

# SQLite's WAL grows until its first checkpoint, 1,000 pages on, and is overwritten from then on: a commit
# that grows it took 0.25 ms here, a later one 0.13 ms. Samples before this step tell of the new file only.
SETTLED = 1000


@dataclass(frozen=True, slots=True)
class Contestant(Generic[Measured]):
    """Somebody to measure: a name, and what to do in a fresh folder each round."""

    name: str
    measure: Callable[[Path], Awaitable[Measured]]


async def interleaved(
    rounds: int, *contestants: Contestant[Measured], within: Path | None = None
) -> dict[str, list[Measured]]:
    """A result per contestant and round, in turns; `within` must be on a disk (tmpfs makes fsync free)."""
    results: dict[str, list[Measured]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            with tempfile.TemporaryDirectory(prefix="bench-", dir=within) as folder:
                results[contestant.name].append(await contestant.measure(Path(folder)))
    return results


@dataclass(frozen=True, slots=True)
class Spread:
    """What a pile of samples comes to."""

    median: float
    p95: float
    count: int


def spread(samples: Sequence[float]) -> Spread:
    """Median and 95th percentile (the smallest sample that 95 % do not exceed)."""
    ordered = sorted(samples)
    rank = -(-95 * len(ordered) // 100)
    return Spread(median(ordered), ordered[rank - 1], len(ordered))


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """`above` to `below`, the median over rounds: each round is compared with its own neighbour."""
    return median(a / b for a, b in zip(above, below, strict=True))
