"""How long it will still take, with an interval that holds four times in five, or "unknown". Pure.

A tool's durations are learned from its own past: their logarithm against the logarithm of the input's size, old samples
fading. Each sample is predicted from those before it alone, as the next one will be, so that the errors of the past are
a fair picture of the next error even when the tool drifts; the interval is made of their conformal quantiles.
"""

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import NamedTuple, Self

from belayer.sessions.history import Sample

LEVEL = 0.8
FEWEST_SAMPLES = 20

# A sample weighs this much less with each that comes after it: about the last thirty count.
_FADING = 0.97
# The first predictions rest on too little to say anything about later ones.
_WARM_UP = 5
# Under a millisecond a duration is noise: the logarithm flattens out there, and zero is a duration like any other.
_NOISE_SECONDS = 1e-3
# Works against a slope that only chance suggests, in squared logarithms of a size.
_RIDGE = 1.0
# Nothing is taken to grow faster than with the square of its input, nor to shrink faster than its input grows.
_STEEPEST, _STEEPEST_DOWN = 2.0, -1.0
# How much more alike the steps of one plan are than chance makes them: a slow day is slow for all. Chosen with
# scripts/eta_coverage.py, so that a plan that uses one tool ten times is as well calibrated as one that mixes them.
_ALIKE = 4.0
_LONGEST_SECONDS = 1e10
# What a logarithm and back may lose.
_ROUNDING = 1e-9

_SEED = 20
_MOST_DRAWS, _FEWEST_DRAWS = 200, 40
# Steps times draws, so that a call takes a few milliseconds; many steps even out and need fewer draws.
_WORK = 6_000


class Interval(NamedTuple):
    """Seconds: as likely to be below `low` as above `high`, and below `mid` as above it."""

    low: float
    mid: float
    high: float


class Eta(NamedTuple):
    """Seconds still to go; all None when nobody knows. `confidence` is the share of such intervals that hold."""

    low: float | None
    mid: float | None
    high: float | None
    confidence: float | None


UNKNOWN = Eta(None, None, None, None)


class _Line(NamedTuple):
    """What a size suggests, in logarithms."""

    x: float
    y: float
    slope: float

    def at(self, x: float) -> float:
        return self.y + self.slope * (x - self.x)


@dataclass(frozen=True, slots=True)
class Durations:
    """How long one tool takes, as far as its past tells.

    `errors` are those of past predictions in order; `reach` is the weight of each and of all before it.
    """

    line: _Line
    errors: tuple[float, ...]
    reach: tuple[float, ...]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self | None:
        """Learn from samples, newest last; None when there are too few to say anything."""
        if len(samples) < FEWEST_SAMPLES:
            return None
        fit, errors = _Fit(), list[float]()
        for sample in samples:
            x, y = math.log1p(sample.size), _log(sample.seconds)
            errors.append(y - fit.line().at(x))
            fit.learn(x, y)
        newest_first = reversed(errors[_WARM_UP:])
        weighed = sorted((error, _FADING**age) for age, error in enumerate(newest_first))
        reach = accumulate(weight for _, weight in weighed)
        return cls(fit.line(), tuple(error for error, _ in weighed), tuple(reach))

    def interval(self, size: float, level: float = LEVEL) -> Interval:
        """Where the next duration lies with the given probability; at most as wide as past errors ever were."""
        total = self.reach[-1]
        # The next sample counts among the others, on the far side: this is what keeps few samples honest.
        far = (0.5 + level / 2) * (total + 1.0)
        low = bisect_right(self.reach, total - far)
        high = min(bisect_left(self.reach, far), len(self.errors) - 1)
        return Interval(
            self._seconds(size, self.errors[low] - _ROUNDING),
            self.at(size, 0.5),
            self._seconds(size, self.errors[high] + _ROUNDING),
        )

    def at(self, size: float, u: float) -> float:
        """The duration that a share `u` of all stays within."""
        place = bisect_left(self.reach, u * self.reach[-1])
        return self._seconds(size, self.errors[min(place, len(self.errors) - 1)])

    def left_after(self, size: float, elapsed: float, dice: random.Random) -> float:
        """How long a step may still take that has taken so long already: one throw of the dice."""
        total = self.reach[-1]
        passed = bisect_right(self.errors, _log(elapsed) - self.line.at(math.log1p(size)))
        weight = dice.uniform(self.reach[passed - 1] if passed else 0.0, total + 1.0)
        if weight < total:
            return max(0.0, self.at(size, weight / total) - elapsed)
        # It outlasts all that was seen: the longer it takes, the longer it may still take.
        return max(elapsed, self.at(size, 1.0)) * (1.0 + dice.random()) - elapsed

    def _seconds(self, size: float, error: float) -> float:
        return _exp(self.line.at(math.log1p(size)) + error)


def is_early(durations: Durations, size: float, seconds: float) -> bool:
    """Whether a step that ended after so long was quicker than one would expect."""
    return seconds < durations.interval(size).low


@dataclass(frozen=True, slots=True)
class Ahead:
    """A step that has not ended.

    `known` is how long it takes if the tool can say; `elapsed` how long it has been running, None if it is not.
    """

    key: str
    needs: tuple[str, ...] = ()
    durations: Durations | None = None
    size: float = 0.0
    known: float | None = None
    elapsed: float | None = None


def remaining(ahead: Sequence[Ahead], parallel: int) -> Eta:
    """How long until all is done, if steps start in order, each when its needs are done and one of the slots is free.

    Needs that are not ahead are done. Unknown if any step is, or if steps need each other in a circle. Drawn many times
    with the same dice, so that the same question gets the same answer.
    """
    schedule = _Schedule.of(ahead)
    if schedule is None or any(step.known is None and step.durations is None for step in ahead):
        return UNKNOWN
    count = max(_FEWEST_DRAWS, min(_MOST_DRAWS, _WORK // max(len(ahead), 1)))
    ends = sorted(schedule.end(seconds, max(parallel, 1)) for seconds in _futures(ahead, count))
    far = math.ceil((0.5 + LEVEL / 2) * (count + 1))
    return Eta(ends[count - far], ends[count // 2], ends[far - 1], LEVEL)


def _futures(ahead: Sequence[Ahead], count: int) -> Sequence[Sequence[float]]:
    """What every step may still take, so many times. Thrown by key, so that the order of steps changes no throw."""
    dice = random.Random(_SEED)
    urns = {id(step.durations): _Urn(step.durations, dice, count) for step in ahead if step.durations}
    drawn = {step.key: _drawn(step, urns, dice, count) for step in sorted(ahead, key=lambda step: step.key)}
    return list(zip(*(drawn[step.key] for step in ahead), strict=True)) or [()] * count


def _drawn(step: Ahead, urns: Mapping[int, "_Urn"], dice: random.Random, count: int) -> list[float]:
    elapsed = _clamped(step.elapsed or 0.0)
    if step.known is not None or step.durations is None:
        return [_clamped((step.known or 0.0) - elapsed)] * count
    if step.elapsed is not None:
        return [step.durations.left_after(step.size, elapsed, dice) for _ in range(count)]
    middle = step.durations.line.at(math.log1p(step.size))
    return [_exp(middle + error) for error in urns[id(step.durations)].draw()]


class _Urn:
    """Errors of one tool, for so many futures at once. In each, what was drawn goes back twice (Pólya).

    The steps of a tool share what nobody knows about it, and the less is known the more: were each drawn for itself,
    the errors of a plan that uses one tool often would seem to cancel out.
    """

    def __init__(self, durations: Durations, dice: random.Random, count: int) -> None:
        self._durations = durations
        self._dice = dice
        self._count = count
        self._drawn: list[list[float]] = []

    def draw(self) -> list[float]:
        """One more step's errors, one for each future."""
        errors, reach, drawn = self._durations.errors, self._durations.reach, self._drawn
        fresh = self._dice.choices(errors, cum_weights=reach, k=self._count)
        # A throw below the number of earlier draws says which of them comes again.
        throws = (self._dice.random() * (len(drawn) + reach[-1] / _ALIKE) for _ in fresh) if drawn else ()
        for future, throw in enumerate(throws):
            if throw < len(drawn):
                fresh[future] = drawn[int(throw)][future]
        drawn.append(fresh)
        return fresh


@dataclass(frozen=True, slots=True)
class _Schedule:
    """Who waits for whom, by place. Steps under way wait for nobody."""

    waits: tuple[int, ...]
    feeds: tuple[tuple[int, ...], ...]
    under_way: tuple[int, ...]
    ready: tuple[int, ...]

    @classmethod
    def of(cls, ahead: Sequence[Ahead]) -> Self | None:
        """None when some step can never start."""
        places = {step.key: place for place, step in enumerate(ahead)}
        waits, feeds = [0] * len(ahead), [list[int]() for _ in ahead]
        for place, step in enumerate(ahead):
            for need in set(step.needs) & places.keys() if step.elapsed is None else ():
                feeds[places[need]].append(place)
                waits[place] += 1
        under_way = tuple(place for place, step in enumerate(ahead) if step.elapsed is not None)
        ready = tuple(place for place, step in enumerate(ahead) if step.elapsed is None and waits[place] == 0)
        schedule = cls(tuple(waits), tuple(map(tuple, feeds)), under_way, ready)
        return schedule if schedule.is_possible() else None

    def is_possible(self) -> bool:
        """Whether every step comes to its turn."""
        waits, turns = list(self.waits), 0
        free = [*self.under_way, *self.ready]
        while free:
            turns += 1
            for place in self.feeds[free.pop()]:
                waits[place] -= 1
                if waits[place] == 0:
                    free.append(place)
        return turns == len(waits)

    def end(self, seconds: Sequence[float], parallel: int) -> float:
        """When the last step ends if each takes so long."""
        now, waits = 0.0, list(self.waits)
        running = [(seconds[place], place) for place in self.under_way]
        heapify(running)
        ready = list(self.ready)
        while ready or running:
            while ready and len(running) < parallel:
                place = heappop(ready)
                heappush(running, (now + seconds[place], place))
            now, done = heappop(running)
            for place in self.feeds[done]:
                waits[place] -= 1
                if waits[place] == 0:
                    heappush(ready, place)
        return now


@dataclass(slots=True)
class _Fit:
    """A weighted ridge regression that learns one point at a time and forgets slowly."""

    weight: float = 0.0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def learn(self, x: float, y: float) -> None:
        """The means and the sums of squares about them, brought up to date without loss (West 1979)."""
        old = self.weight * _FADING
        self.weight = old + 1.0
        dx, dy = x - self.x, y - self.y
        share = old / self.weight
        self.xx = self.xx * _FADING + dx * dx * share
        self.xy = self.xy * _FADING + dx * dy * share
        self.x += dx / self.weight
        self.y += dy / self.weight

    def line(self) -> _Line:
        slope = self.xy / (self.xx + _RIDGE)
        return _Line(self.x, self.y, max(_STEEPEST_DOWN, min(_STEEPEST, slope)))


def _log(seconds: float) -> float:
    return math.log(_clamped(seconds) + _NOISE_SECONDS)


def _exp(log: float) -> float:
    return _clamped(math.exp(min(log, 700.0)) - _NOISE_SECONDS)


def _clamped(seconds: float) -> float:
    return min(max(0.0, seconds), _LONGEST_SECONDS)
