"""Are the estimates calibrated? Learn from the past of made-up tools, then count how often the 80 % interval holds.

Seeded, so that two runs print the same table. Ends with 1 when steps or plans, taken together, are outside 70-90 %.
"""

import math
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from belayer.execution.estimate import Ahead, Durations, Interval, remaining
from belayer.sessions.history import Sample

FEWEST, MOST = 0.70, 0.90
LENGTHS = (20, 30, 60, 120, 300)
WORLDS_PER_LENGTH = 40
STEPS = 10

# Durations are recorded to the microsecond.
RESOLUTION = 1e-6


def lognormal(dice: random.Random, _: int) -> Sample:
    return Sample(_size(dice), dice.lognormvariate(0.5, 0.6))


def by_size(dice: random.Random, _: int) -> Sample:
    size = _size(dice)
    return Sample(size, 0.2 + 0.004 * size * dice.lognormvariate(0.0, 0.3))


def bimodal(dice: random.Random, _: int) -> Sample:
    """A cache in front of something slow."""
    return Sample(_size(dice), (0.02 if dice.random() < 0.4 else 8.0) * dice.lognormvariate(0.0, 0.2))


def drifting(dice: random.Random, turn: int) -> Sample:
    return Sample(_size(dice), 1.01**turn * dice.lognormvariate(0.0, 0.25))


def jumping(dice: random.Random, turn: int) -> Sample:
    """A machine that is busy half of the time."""
    return Sample(_size(dice), (1.0 if turn % 150 < 75 else 4.0) * dice.lognormvariate(0.0, 0.3))


def heavy_tailed(dice: random.Random, _: int) -> Sample:
    return Sample(_size(dice), 0.5 * dice.paretovariate(1.2))


def constant(dice: random.Random, _: int) -> Sample:
    return Sample(_size(dice), 2.0)


def _size(dice: random.Random) -> float:
    return math.floor(dice.lognormvariate(6.0, 1.5))


Tool = Callable[[random.Random, int], Sample]
TOOLS: tuple[Tool, ...] = (lognormal, by_size, bimodal, drifting, jumping, heavy_tailed, constant)


@dataclass(slots=True)
class Share:
    """How many of how many intervals held."""

    held: int = 0
    all: int = 0

    def count(self, interval: Interval, seconds: float) -> None:
        self.held += interval.low - RESOLUTION <= seconds <= interval.high + RESOLUTION
        self.all += 1

    @property
    def part(self) -> float:
        return self.held / self.all


@dataclass(frozen=True, slots=True)
class Learned:
    """What the past of a tool tells, and what in truth comes next."""

    durations: Durations
    coming: Sequence[Sample]


World = Sequence[Learned]
Choose = Callable[[World, random.Random], Sequence[Learned]]


def worlds(seed: int) -> Iterator[World]:
    """Worlds in which every tool has a past of the same length, begun at some moment of its life."""
    dice = random.Random(seed)
    for _ in range(WORLDS_PER_LENGTH):
        for length in LENGTHS:
            yield [_learned(tool, length, dice) for tool in TOOLS]


def _learned(tool: Tool, length: int, dice: random.Random) -> Learned:
    began = dice.randrange(300)
    samples = [tool(dice, began + turn) for turn in range(length + STEPS)]
    durations = Durations.of(samples[:length])
    assert durations is not None
    return Learned(durations, samples[length:])


def steps_held(narrowed: float) -> dict[str, Share]:
    """For each tool, how often the coming durations lie in the interval."""
    shares = [Share() for _ in TOOLS]
    for world in worlds(seed=1):
        for share, learned in zip(shares, world, strict=True):
            for sample in learned.coming:
                interval = learned.durations.interval(sample.size)
                share.count(_narrowed(interval, narrowed), sample.seconds)
    return {f"steps, {tool.__name__}": share for tool, share in zip(TOOLS, shares, strict=True)}


def plans_held(choose: Choose, parallel: int, narrowed: float) -> Share:
    """How often a plan of the chosen tools takes as long as its interval says."""
    share, dice = Share(), random.Random(2)
    for world in worlds(seed=3):
        expected: list[Ahead] = []
        happened: list[Ahead] = []
        for place, learned in enumerate(choose(world, dice)):
            sample = learned.coming[place]
            needs = (str(place - 1 if parallel == 1 else dice.randrange(place)),) if place else ()
            expected.append(Ahead(str(place), needs, learned.durations, sample.size))
            happened.append(Ahead(str(place), needs, known=sample.seconds))
        interval, truth = _interval(expected, parallel), _interval(happened, parallel)
        share.count(_narrowed(interval, narrowed), truth.mid)
    return share


def any_tools(world: World, dice: random.Random) -> Sequence[Learned]:
    return dice.choices(world, k=STEPS)


def one_tool(world: World, dice: random.Random) -> Sequence[Learned]:
    return [dice.choice(world)] * STEPS


def _interval(ahead: Sequence[Ahead], parallel: int) -> Interval:
    low, mid, high, _ = remaining(ahead, parallel)
    assert low is not None
    assert mid is not None
    assert high is not None
    return Interval(low, mid, high)


def _narrowed(interval: Interval, to: float) -> Interval:
    low, mid, high = interval
    return Interval(mid - (mid - low) * to, mid, mid + (high - mid) * to)


def main(narrowed: float = 1.0) -> int:
    """Print the table. `narrowed` is the part of each interval that is used: with half of it the check must fail."""
    steps = steps_held(narrowed)
    plans = {
        "plans, one by one": plans_held(any_tools, 1, narrowed),
        "plans, parallel 3": plans_held(any_tools, 3, narrowed),
        "plans, of one tool": plans_held(one_tool, 1, narrowed),
    }
    overall = {"steps overall": _together(steps.values()), "plans overall": _together(plans.values())}
    _show({**steps, **plans, **overall})
    off = [name for name, share in overall.items() if not FEWEST <= share.part <= MOST]
    for name in off:
        print(
            f"{name}: {overall[name].part:.1%} is not between {FEWEST:.0%} and {MOST:.0%}.", file=sys.stderr
        )
    return 1 if off else 0


def _together(shares: Iterable[Share]) -> Share:
    known = list(shares)
    return Share(sum(share.held for share in known), sum(share.all for share in known))


def _show(shares: Mapping[str, Share]) -> None:
    print(f"{'':22}{'held':>8}{'of':>8}")
    for name, share in shares.items():
        print(f"{name:22}{share.part:8.1%}{share.all:8}")


if __name__ == "__main__":
    sys.exit(main())
