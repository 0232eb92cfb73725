"""The state is a fold over the log: every event, in any order, and what a rewind takes back."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.sessions.record import GENESIS, chain
from belayer.sessions.rows import SessionRow, after, from_state
from belayer.sessions.state import SessionState, StepView, advance, fold, needs_fold
from belayer.vocabulary.errors import Category, Problem
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Budget, Effect, Mode, Status, StepStatus, Usage
from belayer.vocabulary.events.lifecycle import (
    AfterPause,
    Begun,
    BudgetReached,
    CheckpointMade,
    ErrorMet,
    Interrupted,
    Logged,
    Origin,
    Resumed,
    SessionChanged,
)
from belayer.vocabulary.events.people import Responded
from belayer.vocabulary.events.steps import BreakerChanged, DoubtRaised, Planned, PlannedStep, Retried
from tests.support.records import (
    AT,
    approval,
    asked,
    beginning,
    entries,
    named,
    now_is,
    question,
    records,
    said,
    stepped,
    taken,
)
from tests.vocabulary.strategies import events, first_events

ONE, TWO = named(1), named(2)
PROBLEM = Problem(kind="X", category=Category.LOGIC, detail="no")


def state(*more: Any) -> SessionState:
    return fold(ONE, records(ONE, beginning(), *more))


class TestEveryEvent:
    def test_a_beginning_says_what_the_session_is_for(self) -> None:
        begun = Begun(
            workflow="w",
            title="t",
            mode=Mode.AUTONOMOUS,
            input={"a": None},
            budget=Budget(steps=3),
            idempotency_key="k",
        )
        begins = fold(ONE, records(ONE, SessionChanged(status=Status.QUEUED, begun=begun)))
        assert begins == SessionState(
            ONE,
            1,
            workflow="w",
            title="t",
            mode=Mode.AUTONOMOUS,
            input={"a": None},
            budget=Budget(steps=3),
            idempotency_key="k",
            created_at=AT,
            updated_at=AT,
        )

    def test_a_status_comes_with_its_reason(self) -> None:
        changed = state(now_is(Status.PAUSED, reason="lunch"))
        assert (changed.status, changed.reason) == (Status.PAUSED, "lunch")

    def test_a_takeover_changes_epoch_and_driver(self) -> None:
        taken_over = state(taken(1, "a"), taken(2, "b"))
        assert (taken_over.epoch, taken_over.driver, taken_over.status) == (2, "b", Status.RUNNING)

    def test_whoever_drove_lets_go_with_the_next_status(self) -> None:
        assert state(taken(1), now_is(Status.WAITING)).driver is None

    def test_the_epoch_stays_when_the_driver_lets_go(self) -> None:
        assert state(taken(4), now_is(Status.WAITING)).epoch == 4

    def test_a_wait_may_have_a_time(self) -> None:
        assert state(now_is(Status.WAITING, wake_at=AT)).wake_at == AT

    def test_a_wake_up_time_ends_with_the_wait(self) -> None:
        assert state(now_is(Status.WAITING, wake_at=AT), now_is(Status.QUEUED)).wake_at is None

    def test_a_pause_may_have_an_end(self) -> None:
        ends = AfterPause(at=AT, then="cancel")
        assert state(now_is(Status.PAUSED, after_pause=ends)).after_pause == ends

    def test_the_result_is_that_of_the_end(self) -> None:
        assert state(now_is(Status.COMPLETED, result={"x": None})).result == {"x": None}

    def test_a_failure_keeps_its_problem(self) -> None:
        assert state(ErrorMet(problem=PROBLEM), now_is(Status.FAILED)).problem == PROBLEM

    def test_a_session_that_goes_on_has_no_problem(self) -> None:
        assert state(ErrorMet(problem=PROBLEM), now_is(Status.FAILED), now_is(Status.QUEUED)).problem is None

    def test_a_fork_knows_where_it_comes_from_and_has_no_key_of_its_own(self) -> None:
        origin = Origin(session_id=TWO, seq=1)
        fork = fold(ONE, records(ONE, beginning(key="k"), now_is(Status.PAUSED, forked_from=origin)))
        assert (fork.forked_from, fork.idempotency_key, fork.created_at) == (
            origin,
            None,
            AT + timedelta(seconds=1),
        )

    def test_a_request_is_open_until_it_is_answered(self) -> None:
        assert list(state(question(1), approval(2)).pending) == [asked(1), asked(2)]

    def test_an_answer_closes_its_request(self) -> None:
        answer = Responded(request_id=asked(1), value="x")
        answered = state(question(1), question(2), answer)
        assert (list(answered.pending), answered.answered) == ([asked(2)], {asked(1): answer})

    def test_a_step_is_seen_as_it_stands_last(self) -> None:
        worked = state(
            stepped("a", StepStatus.RUNNING, effect=Effect.WRITE),
            stepped("b", StepStatus.RUNNING),
            stepped("a", StepStatus.FAILED, attempt=2, seconds=1.5, problem=PROBLEM, effect=Effect.WRITE),
        )
        assert worked.steps["a"] == StepView(
            "a", "act", StepStatus.FAILED, Effect.WRITE, 2, 1.5, PROBLEM, seq=4
        )
        assert list(worked.steps) == ["a", "b"]

    def test_what_ended_steps_used_adds_up(self) -> None:
        worked = state(
            stepped("a", StepStatus.COMPLETED, seconds=1.0, usage=Usage(tokens=10)),
            stepped("b", StepStatus.RUNNING, seconds=5.0),
            stepped("b", StepStatus.FAILED, seconds=2.0, usage=Usage(usd=0.5)),
        )
        assert worked.usage == Usage(tokens=10, usd=0.5, steps=2, seconds=3.0)

    def test_a_retry_shows_the_attempt_to_come(self) -> None:
        retried = state(
            stepped("a", StepStatus.RUNNING), Retried(key="a", attempt=1, delay=0.5, problem=PROBLEM)
        )
        assert retried.steps["a"].attempt == 2

    def test_a_plan_gives_progress(self) -> None:
        plan = Planned(key="plan", steps=(PlannedStep(key="a", title="A"), PlannedStep(key="b", title="B")))
        assert state(plan, stepped("a"), stepped("c")).progress() == (1, 2)

    def test_a_skipped_step_is_done(self) -> None:
        plan = Planned(key="plan", steps=(PlannedStep(key="a", title="A"),))
        assert state(plan, stepped("a", StepStatus.SKIPPED)).progress() == (1, 1)

    def test_without_a_plan_there_is_no_progress(self) -> None:
        assert state(stepped("a")).progress() is None

    def test_a_checkpoint_is_found_by_its_seq(self) -> None:
        assert state(said(), CheckpointMade(name="here")).checkpoints == {3: "here"}

    @pytest.mark.parametrize(
        "event",
        [
            Interrupted(reason="stop"),
            Resumed(from_status=Status.PAUSED),
            Logged(text="x"),
            BudgetReached(limit="steps", allowed=1, used=1),
            BreakerChanged(name="act", state="open", until=AT),
            DoubtRaised(key="a", name="act", attempt=1, reason="killed"),
        ],
    )
    def test_a_mere_note_changes_nothing_but_the_end_of_the_log(self, event: AnyEvent) -> None:
        before, noted = state(), state(event)
        before.seq, before.updated_at = noted.seq, noted.updated_at
        assert noted == before

    def test_the_last_event_says_when_the_session_was_touched(self) -> None:
        assert state(said(), said()).updated_at == AT + timedelta(seconds=2)


class TestRewind:
    def test_what_was_decided_is_taken_back(self) -> None:
        rewound = state(
            question(), Responded(request_id=asked(), value="x"), now_is(Status.PAUSED, rewound_to=2, epoch=1)
        )
        assert (list(rewound.pending), rewound.answered) == ([asked()], {})

    def test_what_was_spent_is_not_taken_back(self) -> None:
        rewound = state(stepped("a", seconds=3.0), now_is(Status.PAUSED, rewound_to=1, epoch=1))
        assert (rewound.usage, rewound.steps) == (Usage(steps=1, seconds=3.0), {})

    def test_what_was_spent_before_two_rewinds_is_counted_once(self) -> None:
        rewound = state(
            stepped("a", seconds=1.0),
            now_is(Status.PAUSED, rewound_to=1, epoch=1),
            stepped("a", seconds=10.0),
            now_is(Status.PAUSED, rewound_to=1, epoch=2),
        )
        assert rewound.usage == Usage(steps=2, seconds=11.0)

    def test_the_epoch_never_goes_back(self) -> None:
        assert state(taken(1), taken(2), now_is(Status.PAUSED, rewound_to=1)).epoch == 2

    def test_a_result_is_taken_back(self) -> None:
        rewound = state(now_is(Status.COMPLETED, result=1), now_is(Status.PAUSED, rewound_to=1, epoch=1))
        assert (rewound.status, rewound.result) == (Status.PAUSED, None)

    def test_the_end_of_the_log_is_still_its_end(self) -> None:
        assert state(said(), said(), now_is(Status.PAUSED, rewound_to=1)).seq == 4


class TestAdvancing:
    @settings(max_examples=60)
    @given(first=first_events, more=st.lists(events, max_size=8), data=st.data())
    def test_going_on_from_any_point_is_folding_the_whole(
        self, first: AnyEvent, more: list[AnyEvent], data: st.DataObject
    ) -> None:
        log = records(ONE, first, *more)
        cut = data.draw(st.integers(0, len(log)))
        going = fold(ONE, log[:cut])
        advance(going, log[cut:])
        assert going == fold(ONE, log)

    def test_only_a_rewind_needs_a_new_fold(self) -> None:
        log = records(ONE, beginning(), said('"rewound_to"'), now_is(Status.PAUSED, rewound_to=1))
        assert [needs_fold([record]) for record in log] == [False, False, True]


class TestRows:
    @settings(max_examples=60)
    @given(first=first_events, more=st.lists(events, max_size=8))
    def test_a_row_kept_along_the_way_is_the_row_of_the_whole_log(
        self, first: AnyEvent, more: list[AnyEvent]
    ) -> None:
        log = records(ONE, first, *more)
        row = SessionRow(ONE)
        for record in log:
            row = after(row, [record])
        assert row == from_state(fold(ONE, log), log[-1].hash)

    @settings(max_examples=60)
    @given(first=first_events, more=st.lists(events | st.integers(1, 9), max_size=10))
    def test_a_row_kept_along_rewinds_is_the_row_of_the_whole_log(
        self, first: AnyEvent, more: list[AnyEvent | int]
    ) -> None:
        log = list(chain(ONE, 0, GENESIS, entries(first)))
        row = after(SessionRow(ONE), log)
        for item in more:
            event = rewinding(log, item) if isinstance(item, int) else item
            made = chain(ONE, len(log), log[-1].hash, entries(event))
            row = after(row, made)
            log += made
        assert row == from_state(fold(ONE, log), log[-1].hash)

    def test_a_fork_that_goes_back_before_its_fork_is_still_itself(self) -> None:
        origin = Origin(session_id=TWO, seq=2)
        fork = now_is(Status.PAUSED, forked_from=origin)
        log = records(ONE, beginning(key="k"), said(), fork, now_is(Status.PAUSED, rewound_to=1, epoch=1))
        assert after(SessionRow(ONE), log) == from_state(fold(ONE, log), log[-1].hash)

    def test_times_of_a_row_are_times(self) -> None:
        log = records(ONE, beginning(), said())
        row = after(SessionRow(ONE), log)
        assert (row.created, row.updated) == (AT, AT + timedelta(seconds=1))


def rewinding(log: list[Any], wanted: int) -> SessionChanged:
    epoch = fold(ONE, log).epoch + 1
    return SessionChanged(status=Status.PAUSED, rewound_to=min(wanted, len(log)), epoch=epoch)
