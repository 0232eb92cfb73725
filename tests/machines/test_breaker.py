"""A breaker under any order of calls, successes, failures and waits."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from belayer.execution.breaker import Breaker, BreakerState

THRESHOLD, REST = 3, 10


class BreakerMachine(RuleBasedStateMachine):
    """Calls are asked for, let through, and end one way or another, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker = Breaker(threshold=THRESHOLD, rest=REST)
        self.now = 0.0
        self.under_way = 0
        self.in_a_row = 0
        self.last_failure = 0.0
        self.let_through_half_open = 0

    @rule(seconds=st.integers(0, 2 * REST))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def a_call_is_wanted(self) -> None:
        before = self.breaker.state
        opened_at = self.breaker.opened_at
        wait = self.breaker.wait(self.now)
        assert 0 <= wait <= REST
        if wait > 0:
            assert self.breaker.state is not BreakerState.CLOSED, "a closed breaker lets everything through"
            return
        self.under_way += 1
        if before is BreakerState.OPEN:
            assert self.now >= opened_at + REST, (
                "an open breaker lets nothing through before its rest is over"
            )
        if self.breaker.state is BreakerState.HALF_OPEN:
            self.let_through_half_open += 1

    @precondition(lambda self: self.under_way > 0)
    @rule()
    def a_call_succeeds(self) -> None:
        self.under_way -= 1
        self.breaker.succeeded()
        self.in_a_row, self.let_through_half_open = 0, 0
        assert self.breaker.state is BreakerState.CLOSED

    @precondition(lambda self: self.under_way > 0)
    @rule()
    def a_call_fails(self) -> None:
        self.under_way -= 1
        before = self.breaker.state
        self.breaker.failed(self.now)
        self.in_a_row += 1
        self.last_failure = self.now
        if before is BreakerState.HALF_OPEN:
            assert self.breaker.state is BreakerState.OPEN
        if self.breaker.state is BreakerState.OPEN:
            self.let_through_half_open = 0

    @precondition(lambda self: self.under_way > 0)
    @rule()
    def a_call_says_nothing(self) -> None:
        self.under_way -= 1
        before = self.breaker.state
        self.breaker.left()
        self.let_through_half_open = 0
        assert self.breaker.state is before

    @invariant()
    def it_is_closed_until_enough_failures_in_a_row(self) -> None:
        if self.in_a_row < THRESHOLD and self.breaker.state is BreakerState.OPEN:
            raise AssertionError(f"open after only {self.in_a_row} failures in a row")

    @invariant()
    def enough_failures_in_a_row_do_not_leave_it_closed(self) -> None:
        assert not (self.in_a_row >= THRESHOLD and self.breaker.state is BreakerState.CLOSED)

    @invariant()
    def one_call_at_a_time_looks_whether_it_works_again(self) -> None:
        assert self.let_through_half_open <= 1

    def teardown(self) -> None:
        """Whatever happened, once every call has been reported on and the rest is over, a call may be tried."""
        for _ in range(self.under_way):
            self.breaker.left()
        assert self.breaker.wait(self.now + REST) == 0.0
        self.breaker.succeeded()
        assert self.breaker.wait(self.now + REST) == 0.0


BreakerMachine.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestBreaker = BreakerMachine.TestCase
