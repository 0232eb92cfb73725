"""What was asked on the way to an answer. Answers are remembered with it, so that whoever takes one over owes the same.

An answer is a function of the facts and of how far it may look, its fuel: so many hops from function to function, and
between two hops so many steps. Looking ends also where names lead in circles, and always at the same place. An answer
that did not run out of fuel holds for any greater amount.
"""

from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")
_BITS = 5
_STEPS = (1 << _BITS) - 1
_STEPS_AFTER_A_HOP = (
    22  # a step is up to six calls of Python's, and all of them together must stay below its limit
)
_FEW_KEYS = 12
LAST = 3  # so many steps are left for what is done without asking
HOP = 1 << _BITS  # what it costs to follow a value into or out of a function
FULL = (4 << _BITS) | _STEPS


def near(fuel: int) -> int:
    """As many steps, but no hops."""
    return fuel & _STEPS


def one_hop(fuel: int) -> int:
    """As many steps, and one hop at most."""
    return fuel & _STEPS | HOP if fuel >= HOP else fuel


class Known:
    """An answer, the keys that were asked for it directly, and the answers that it rests on."""

    __slots__ = ("answer", "hops", "is_small", "keys", "rests_on", "steps")

    def __init__(
        self, answer: object, keys: set[int], rests_on: "list[Known]", hops: int, steps: int
    ) -> None:
        self.answer, self.keys, self.rests_on, self.hops, self.steps = answer, keys, rests_on, hops, steps
        self.is_small = (
            not rests_on and len(keys) <= _FEW_KEYS
        )  # whoever rests on it takes over its keys at once


class Notes:
    """What the answer rests on that is being looked for, and all answers found so far."""

    __slots__ = ("_far", "_full", "_rests_on", "_short", "hops", "keys", "low", "missed_hop", "missed_step")

    def __init__(self) -> None:
        self._full: dict[object, Known] = {}  # answers that had fuel enough
        self._far: dict[tuple[object, int], Known] = {}  # answers that lacked hops: good for so many hops
        self._short: dict[
            tuple[object, int], Known
        ] = {}  # answers that lacked steps: good for just this fuel
        self.begin()

    def begin(self) -> None:
        """Starts the notes of a file."""
        self.keys: set[int] = set()
        self._rests_on: list[Known] = []
        self.low = _STEPS
        self.hops = 0
        self.missed_hop = self.missed_step = False

    def all_keys(self) -> set[int]:
        """Every key that was asked since the file's notes were begun, directly or not."""
        found = set(self.keys)
        seen = set(map(id, self._rests_on))
        pending = list(self._rests_on)
        while pending:
            known = pending.pop()
            found |= known.keys
            for each in known.rests_on:
                if id(each) not in seen:
                    seen.add(id(each))
                    pending.append(each)
        return found

    def settle(self) -> None:
        """Takes over the keys of all that the answer rests on, where many will rest on it."""
        self.keys, self._rests_on = self.all_keys(), []

    def ask(
        self, question: object, fuel: int, cost: int, otherwise: T, find: Callable[..., T], *about: object
    ) -> T:
        """What `find(*about, fuel left)` says, asked once; `otherwise` if the fuel does not reach."""
        level, steps = fuel >> _BITS, fuel & _STEPS
        known = self._full.get(question)
        if known is None or known.hops > level or known.steps + LAST > steps:
            known = self._far.get((question, level))
            if known is None or known.steps + LAST > steps:
                known = self._short.get((question, fuel))
                if known is None:
                    return self._found(question, fuel, cost, otherwise, find, about)
                self.missed_step = True
            else:
                self.missed_hop = True
        if known.is_small:
            self.keys |= known.keys
        else:
            self._rests_on.append(known)
        if known.hops > self.hops:  # noqa: PLR1730 - this is asked a million times, and a call of max costs
            self.hops = known.hops
        if steps - known.steps < self.low:  # noqa: PLR1730
            self.low = steps - known.steps
        return cast("T", known.answer)

    def _found(
        self,
        question: object,
        fuel: int,
        cost: int,
        otherwise: T,
        find: Callable[..., T],
        about: tuple[object, ...],
    ) -> T:
        level, steps = fuel >> _BITS, fuel & _STEPS
        is_hop = cost == HOP
        if is_hop and level == 0:
            self.missed_hop = True
            return otherwise
        if not is_hop and steps < cost + LAST:
            self.missed_step = True
            return otherwise
        before = self.keys, self._rests_on, self.low, self.hops, self.missed_hop, self.missed_step
        left = ((level - 1) << _BITS) | _STEPS_AFTER_A_HOP if is_hop else fuel - cost
        self.keys, self._rests_on, self.low, self.hops = set(), [], left & _STEPS, 0
        self.missed_hop = self.missed_step = False
        answer = find(*about, left)
        needs = 0 if is_hop else steps - self.low
        known = Known(answer, self.keys, self._rests_on, self.hops + is_hop, needs)
        self._remember(question, fuel, known, is_hop)
        self._go_on(before, known, is_hop)
        return answer

    def _remember(self, question: object, fuel: int, known: Known, is_hop: bool) -> None:
        if self.missed_step and not is_hop:
            self._short[question, fuel] = known
        elif self.missed_step or self.missed_hop:
            self._far[question, fuel >> _BITS] = known
        else:
            self._full[question] = known

    def _go_on(
        self, before: tuple[set[int], list[Known], int, int, bool, bool], known: Known, is_hop: bool
    ) -> None:
        """Back to the notes of whoever asked. Steps that were missing behind a hop are so for any number of them."""
        missed_hop, missed_step = (
            self.missed_hop or (is_hop and self.missed_step),
            self.missed_step and not is_hop,
        )
        inner_low = self.low
        self.keys, self._rests_on, self.low, self.hops, self.missed_hop, self.missed_step = before
        if known.is_small:
            self.keys |= known.keys
        else:
            self._rests_on.append(known)
        self.hops = max(self.hops, known.hops)
        self.low = self.low if is_hop else min(self.low, inner_low)
        self.missed_hop, self.missed_step = self.missed_hop or missed_hop, self.missed_step or missed_step
