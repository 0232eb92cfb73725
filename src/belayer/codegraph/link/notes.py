"""What was asked on the way to an answer. Answers are remembered with it, so that whoever takes one over owes the same.

An answer is a function of the facts and of how far it may look, its fuel: so many hops from function to function, and
between two hops so many steps. Looking ends also where names lead in circles, and always at the same place. An answer
that did not run out of fuel holds for any greater amount.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
_BITS = 5
_STEPS = (1 << _BITS) - 1
# A step is up to six calls of Python's, and all of them together must stay below its limit.
_STEPS_AFTER_A_HOP = 22
_SHORT_TRAIL = 6
LAST = 3  # so many steps are left for what is done without asking
HOP = 1 << _BITS  # what it costs to follow a value into or out of a function
HOPS, STEPS = 1, 2  # what an answer can lack
FULL = (4 << _BITS) | _STEPS


def near(fuel: int) -> int:
    """As many steps, but no hops."""
    return fuel & _STEPS


def one_hop(fuel: int) -> int:
    """As many steps, and one hop at most."""
    return fuel & _STEPS | HOP if fuel >= HOP else fuel


class Known:
    """An answer, how much fuel it needs, and its trail: the keys that were asked for it and the answers it rests on."""

    __slots__ = ("answer", "hops", "steps", "trail")

    def __init__(self, answer: Any, trail: "Sequence[int | Known]", hops: int, steps: int) -> None:
        self.answer, self.trail, self.hops, self.steps = answer, trail, hops, steps


class Asked(list[int | Known]):
    """The keys that were asked, and the answers that were taken over, in their order."""

    __slots__ = ()
    add = list[int | Known].append


class Notes:
    """The trail of the answer that is being looked for, and all answers found so far.

    There is one trail for all who ask: what a question adds is at its end until it is answered. A short piece stays
    there, for whoever asked owes the same; a long one is replaced by the answer that has it.
    """

    __slots__ = ("_full", "_hops", "_lacking", "_start", "keys", "lacks", "low")

    def __init__(self) -> None:
        self._full: dict[object, Known] = {}  # answers that had fuel enough
        # Answers that lacked steps, each good for just its fuel, or hops: good for so many hops, by a negative number.
        self._lacking: dict[object, dict[int, Known]] = {}
        self.keys = Asked()
        self.begin()

    def begin(self) -> None:
        """Starts the notes of a file."""
        self.keys.clear()
        self._start = 0  # where the trail of the question begins that is being answered
        self._hops = 0  # how many hops it took so far
        self.low = _STEPS  # how many steps were left where fewest were
        self.lacks: int = 0  # what was too little: HOPS, STEPS or both

    def all_keys(self) -> set[int]:
        """Every key that was asked since the file's notes were begun, directly or not."""
        return _keys_on(self.keys)

    def settle(self) -> None:
        """Takes over the keys of all that the answer rests on, where many will rest on it."""
        self.keys[self._start :] = _keys_on(self.keys[self._start :])

    def ask(
        self, question: object, fuel: int, cost: int, otherwise: T, find: Callable[..., T], *about: object
    ) -> T:
        """What `find(*about, fuel left)` says, asked once; `otherwise` if the fuel does not reach."""
        steps = fuel & _STEPS
        known = self._full.get(question)
        if known is None or known.steps + LAST > steps or known.hops > fuel >> _BITS:
            known = self._known_to_lack(question, fuel) if question in self._lacking else None
            if known is None:
                return self._found(question, fuel, cost, otherwise, find, about)
        trail = known.trail
        if len(trail) > _SHORT_TRAIL:
            self.keys.append(known)
        elif trail:
            self.keys += trail
        if known.hops > self._hops:  # noqa: PLR1730 - this is asked a million times, and a call of max costs
            self._hops = known.hops
        if steps - known.steps < self.low:  # noqa: PLR1730
            self.low = steps - known.steps
        return known.answer

    def _known_to_lack(self, question: object, fuel: int) -> Known | None:
        """The answer for just so much fuel, which was too little."""
        known = self._lacking[question].get(~(fuel >> _BITS))
        if known is not None and known.steps + LAST <= fuel & _STEPS:
            self.lacks |= HOPS
            return known
        known = self._lacking[question].get(fuel)
        if known is not None:
            self.lacks |= STEPS
        return known

    def _found(
        self,
        question: object,
        fuel: int,
        cost: int,
        otherwise: T,
        find: Callable[..., T],
        about: tuple[object, ...],
    ) -> T:
        steps, is_hop = fuel & _STEPS, cost == HOP
        if fuel < HOP if is_hop else steps < cost + LAST:
            self.lacks |= HOPS if is_hop else STEPS
            return otherwise
        before = self._start, self._hops, self.low, self.lacks
        left = fuel - HOP - steps + _STEPS_AFTER_A_HOP if is_hop else fuel - cost
        start = self._start = len(self.keys)
        self._hops, self.low, self.lacks = 0, left & _STEPS, 0
        answer = find(*about, left)
        known = Known(answer, self.keys[start:], self._hops + is_hop, 0 if is_hop else steps - self.low)
        if len(known.trail) > _SHORT_TRAIL:
            self.keys[start:] = (known,)
        lacks = HOPS if is_hop and self.lacks else self.lacks  # behind a hop, steps do not depend on the fuel
        self._remember(question, fuel, known, lacks)
        low = steps - known.steps
        self._start, hops, outer_low, outer_lacks = before
        self._hops = known.hops if known.hops > hops else hops
        self.low = low if low < outer_low else outer_low
        self.lacks = outer_lacks | lacks
        return answer

    def _remember(self, question: object, fuel: int, known: Known, lacks: int) -> None:
        if not lacks:
            self._full[question] = known
        else:
            self._lacking.setdefault(question, {})[~(fuel >> _BITS) if lacks == HOPS else fuel] = known


def _keys_on(trail: Sequence[int | Known]) -> set[int]:
    """The keys of a trail and of all answers on it."""
    found: set[int | Known] = set(trail)
    wave = [each for each in found if type(each) is Known]
    while wave:
        new = set[int | Known]().union(*(known.trail for known in wave))
        new -= found
        found |= new
        wave = [each for each in new if type(each) is Known]
    return {each for each in found if type(each) is int}
