"""A bucket of turns under any order of calls, waits, and calls that are given up."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from belayer.execution.limits import Bucket, Rate

_ROUNDING = 1e-6


class BucketMachine(RuleBasedStateMachine):
    """Turns are taken at any time; each is had at the time the bucket says, unless it is given back before."""

    @initialize(calls=st.integers(1, 5), seconds=st.sampled_from([0.5, 1.0, 7.0, 60.0]))
    def begin(self, calls: int, seconds: float) -> None:
        self.rate = Rate(calls, seconds)
        self.bucket = Bucket(self.rate, float(calls), 0.0)
        self.now = 0.0
        self.turns: list[float] = []

    @rule(parts=st.integers(0, 30))
    def time_passes(self, parts: int) -> None:
        self.now += parts * self.rate.seconds / 10

    @rule(times=st.integers(1, 4))
    def turns_are_taken(self, times: int) -> None:
        for _ in range(times):
            at = self.now + self.bucket.take(self.now)
            assert at >= self.now
            assert at >= max(self.turns, default=0.0) - _ROUNDING, "whoever comes later does not come first"
            self.turns.append(at)

    @precondition(lambda self: any(at > self.now for at in self.turns))
    @rule()
    def the_last_who_waits_gives_up(self) -> None:
        self.turns.remove(max(self.turns))
        self.bucket.give_back()

    @rule()
    def a_wait_is_no_longer_than_it_must_be(self) -> None:
        """After a quiet time as long as the rate's own, and no one waiting, a turn is had at once."""
        if all(at <= self.now for at in self.turns):
            self.now += self.rate.seconds
            assert self.bucket.take(self.now) == 0.0
            self.turns.append(self.now)

    @invariant()
    def no_window_has_more_turns_than_it_may(self) -> None:
        turns = sorted(getattr(self, "turns", []))
        for first in range(len(turns)):
            for last in range(first, len(turns)):
                window = turns[last] - turns[first]
                allowed = self.rate.calls + window * self.rate.calls / self.rate.seconds
                assert last - first + 1 <= allowed + _ROUNDING


BucketMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestBucket = BucketMachine.TestCase
