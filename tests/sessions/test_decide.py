"""What each command becomes in each status: events, nothing, or a refusal that says what to do."""

from datetime import timedelta
from typing import Any

import pytest

from belayer.sessions.decide import decide
from belayer.sessions.state import SessionState, fold
from belayer.vocabulary.commands import (
    Answer,
    Approve,
    Cancel,
    Command,
    Expire,
    Interrupt,
    MakeCheckpoint,
    Pause,
    Reject,
    Resume,
    Rewind,
    Say,
    Wake,
)
from belayer.vocabulary.errors import (
    AlreadyDecided,
    BadCursor,
    DigestChanged,
    IllegalTransition,
    UnfitAnswer,
    UnknownRequest,
)
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.events.lifecycle import (
    AfterPause,
    CheckpointMade,
    Interrupted,
    Resumed,
    SessionChanged,
)
from belayer.vocabulary.events.people import Responded
from tests.support.records import (
    AT,
    approval,
    asked,
    beginning,
    named,
    now_is,
    question,
    records,
    said,
    taken,
)

ONE = named(1)
LIVING = frozenset(Status) - FINAL


def state(*events: Any, status: Status = Status.WAITING, **more: Any) -> SessionState:
    """A session with a question and an approval open, in the given status."""
    return fold(ONE, records(ONE, beginning(), question(1), approval(2), *events, now_is(status, **more)))


COMMANDS: dict[str, tuple[Command, frozenset[Status]]] = {
    "answer": (Answer(request_id=asked(1), value="yes"), LIVING),
    "approve": (Approve(request_id=asked(2), digest="d1"), LIVING),
    "reject": (Reject(request_id=asked(2), digest="d1"), LIVING),
    "pause": (Pause(), frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING})),
    "resume": (Resume(), frozenset({Status.PAUSED, Status.INTERRUPTED, Status.EXPIRED})),
    "interrupt": (Interrupt(), frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING})),
    "cancel": (Cancel(), LIVING),
    "expire": (Expire(), frozenset({Status.WAITING, Status.PAUSED, Status.INTERRUPTED})),
    "wake": (Wake(), frozenset(Status)),
    "checkpoint": (MakeCheckpoint(name="here"), frozenset(Status)),
    "say": (Say(text="hello"), frozenset(Status) - FINAL),
    "rewind": (Rewind(seq=1), frozenset(Status) - {Status.QUEUED, Status.RUNNING}),
}
TABLE = [
    pytest.param(command, status, status in allowed, id=f"{name} while {status}")
    for name, (command, allowed) in COMMANDS.items()
    for status in Status
]
FORBIDDEN = [row for row in TABLE if not row.values[2]]
RESULT = {
    "pause": Status.PAUSED,
    "resume": Status.QUEUED,
    "interrupt": Status.INTERRUPTED,
    "cancel": Status.CANCELLED,
    "expire": Status.EXPIRED,
    "rewind": Status.PAUSED,
}


@pytest.mark.parametrize(("command", "status", "allowed"), TABLE)
def test_a_command_is_carried_out_exactly_where_it_is_allowed(
    command: Command, status: Status, allowed: bool
) -> None:
    try:
        decide(state(status=status), command, AT)
    except IllegalTransition:
        assert not allowed
    else:
        assert allowed


@pytest.mark.parametrize(("command", "status", "allowed"), FORBIDDEN)
def test_a_refusal_names_the_session_and_its_status_and_says_what_to_do(
    command: Command, status: Status, allowed: bool
) -> None:
    with pytest.raises(IllegalTransition, match=f"{ONE} is {status}") as caught:
        decide(state(status=status), command, AT)
    assert caught.value.hint


@pytest.mark.parametrize("name", RESULT)
def test_a_command_leads_to_its_status(name: str) -> None:
    command, allowed = COMMANDS[name]
    for status in allowed:
        last = decide(state(status=status), command, AT)[-1]
        assert isinstance(last, SessionChanged)
        assert last.status is RESULT[name]


@pytest.mark.parametrize("status", sorted(FINAL))
def test_the_way_out_of_an_ended_session_is_a_rewind_or_a_fork(status: Status) -> None:
    with pytest.raises(IllegalTransition) as caught:
        decide(state(status=status), Resume(), AT)
    assert f"belayer rewind {ONE}" in (caught.value.hint or "")


def test_resuming_a_session_that_waits_points_to_its_question() -> None:
    with pytest.raises(IllegalTransition) as caught:
        decide(state(), Resume(), AT)
    assert "belayer show" in (caught.value.hint or "")


class TestAnswers:
    def test_an_answer_makes_a_waiting_session_ready(self) -> None:
        answered, ready = decide(state(), Answer(request_id=asked(1), value="yes"), AT)
        assert answered == Responded(request_id=asked(1), value="yes")
        assert ready == SessionChanged(status=Status.QUEUED, reason="answered")

    def test_an_answer_makes_an_expired_session_ready(self) -> None:
        events = decide(state(status=Status.EXPIRED), Answer(request_id=asked(1), value="yes"), AT)
        assert events[-1] == SessionChanged(status=Status.QUEUED, reason="answered")

    @pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.PAUSED, Status.INTERRUPTED])
    def test_an_answer_does_not_change_the_status_of_a_session_that_does_not_wait(
        self, status: Status
    ) -> None:
        events = decide(state(status=status), Answer(request_id=asked(1), value="yes"), AT)
        assert [event.type for event in events] == ["user_response"]

    def test_the_same_answer_again_changes_nothing(self) -> None:
        answered = state(Responded(request_id=asked(1), value={"a": [1]}))
        assert list(decide(answered, Answer(request_id=asked(1), value={"a": [1]}), AT)) == []

    @pytest.mark.parametrize("status", sorted(FINAL))
    def test_the_same_answer_again_changes_nothing_even_after_the_end(self, status: Status) -> None:
        answered = state(Responded(request_id=asked(1), value="yes"), status=status)
        assert list(decide(answered, Answer(request_id=asked(1), value="yes"), AT)) == []

    def test_another_answer_is_refused_and_told_the_first(self) -> None:
        answered = state(Responded(request_id=asked(1), value="yes"))
        with pytest.raises(AlreadyDecided, match="'yes'"):
            decide(answered, Answer(request_id=asked(1), value="no"), AT)

    def test_an_answer_to_nothing_is_refused(self) -> None:
        with pytest.raises(UnknownRequest, match=asked(9)) as caught:
            decide(state(), Answer(request_id=asked(9), value="yes"), AT)
        assert "belayer show" in (caught.value.hint or "")

    def test_an_approval_cannot_be_answered(self) -> None:
        with pytest.raises(UnfitAnswer, match="approval"):
            decide(state(), Answer(request_id=asked(2), value="yes"), AT)

    def test_an_approval_that_was_decided_cannot_be_answered(self) -> None:
        decided = state(Responded(request_id=asked(2), approved=True, digest="d1"))
        with pytest.raises(AlreadyDecided):
            decide(decided, Answer(request_id=asked(2), value=None), AT)

    def test_an_answer_that_does_not_fit_is_refused(self) -> None:
        with pytest.raises(UnfitAnswer):
            decide(state(), Answer(request_id=asked(1), value=5), AT)

    def test_a_question_that_a_rewind_took_back_cannot_be_answered(self) -> None:
        events = [beginning(), question(), now_is(Status.PAUSED, rewound_to=1)]
        with pytest.raises(UnknownRequest):
            decide(fold(ONE, records(ONE, *events)), Answer(request_id=asked(1), value="yes"), AT)

    def test_a_question_whose_answer_a_rewind_took_back_can_be_answered_anew(self) -> None:
        answer = Responded(request_id=asked(1), value="yes")
        events = [beginning(), question(), answer, now_is(Status.PAUSED, rewound_to=2)]
        decided = decide(fold(ONE, records(ONE, *events)), Answer(request_id=asked(1), value="no"), AT)
        assert list(decided) == [Responded(request_id=asked(1), value="no")]


class TestApprovals:
    def test_an_approval_records_what_was_approved(self) -> None:
        command = Approve(request_id=asked(2), digest="d1", notes="good", remember="session")
        decision = decide(state(), command, AT)[0]
        assert decision == Responded(
            request_id=asked(2), approved=True, digest="d1", notes="good", remember="session"
        )

    def test_a_rejection_records_why(self) -> None:
        decision = decide(state(), Reject(request_id=asked(2), digest="d1", reason="too much"), AT)[0]
        assert decision == Responded(request_id=asked(2), approved=False, digest="d1", notes="too much")

    @pytest.mark.parametrize("command", [Approve, Reject])
    def test_a_decision_makes_a_waiting_session_ready(self, command: Any) -> None:
        events = decide(state(), command(request_id=asked(2), digest="d1"), AT)
        assert events[-1] == SessionChanged(status=Status.QUEUED, reason="answered")

    @pytest.mark.parametrize("command", [Approve, Reject])
    def test_a_decision_on_something_else_than_what_is_shown_is_refused(self, command: Any) -> None:
        with pytest.raises(DigestChanged, match="d0, now d1"):
            decide(state(), command(request_id=asked(2), digest="d0"), AT)

    @pytest.mark.parametrize("command", [Approve, Reject])
    def test_the_same_decision_again_changes_nothing(self, command: Any) -> None:
        decided = state(Responded(request_id=asked(2), approved=command is Approve, digest="d1"))
        assert list(decide(decided, command(request_id=asked(2), digest="d1"), AT)) == []

    @pytest.mark.parametrize(("first", "command"), [(True, Reject), (False, Approve)])
    def test_the_opposite_decision_is_refused(self, first: bool, command: Any) -> None:
        decided = state(Responded(request_id=asked(2), approved=first, digest="d1"))
        with pytest.raises(AlreadyDecided, match="approved" if first else "rejected"):
            decide(decided, command(request_id=asked(2), digest="d1"), AT)

    def test_the_same_decision_with_another_digest_is_refused(self) -> None:
        decided = state(Responded(request_id=asked(2), approved=True, digest="d1"))
        with pytest.raises(AlreadyDecided):
            decide(decided, Approve(request_id=asked(2), digest="d0"), AT)

    @pytest.mark.parametrize("command", [Approve, Reject])
    def test_a_question_cannot_be_approved_or_rejected(self, command: Any) -> None:
        with pytest.raises(UnfitAnswer, match="question"):
            decide(state(), command(request_id=asked(1), digest="d1"), AT)

    @pytest.mark.parametrize("command", [Approve, Reject])
    def test_a_question_that_was_answered_cannot_be_approved_or_rejected(self, command: Any) -> None:
        answered = state(Responded(request_id=asked(1), value="yes"))
        with pytest.raises(AlreadyDecided, match="answered"):
            decide(answered, command(request_id=asked(1), digest="d1"), AT)

    @pytest.mark.parametrize("command", [Approve, Reject])
    def test_a_decision_on_nothing_is_refused(self, command: Any) -> None:
        with pytest.raises(UnknownRequest):
            decide(state(), command(request_id=asked(9), digest="d1"), AT)

    def test_an_approval_after_the_end_is_refused(self) -> None:
        with pytest.raises(IllegalTransition):
            decide(state(status=Status.CANCELLED), Approve(request_id=asked(2), digest="d1"), AT)


class TestStopping:
    def test_a_pause_keeps_its_reason(self) -> None:
        (paused,) = decide(state(), Pause(reason="lunch"), AT)
        assert paused == SessionChanged(status=Status.PAUSED, reason="lunch")

    @pytest.mark.parametrize("then", ["resume", "cancel"])
    def test_a_pause_may_end_by_itself(self, then: Any) -> None:
        (paused,) = decide(state(), Pause(timeout=timedelta(hours=1), then=then), AT)
        assert isinstance(paused, SessionChanged)
        assert paused.after_pause == AfterPause(at=AT + timedelta(hours=1), then=then)

    def test_an_interrupt_says_so_before_the_status_changes(self) -> None:
        assert list(decide(state(status=Status.RUNNING), Interrupt(reason="stop"), AT)) == [
            Interrupted(reason="stop"),
            SessionChanged(status=Status.INTERRUPTED, reason="stop"),
        ]

    def test_a_resume_says_what_it_ends(self) -> None:
        assert list(decide(state(status=Status.INTERRUPTED), Resume(reason="go"), AT)) == [
            Resumed(from_status=Status.INTERRUPTED, reason="go"),
            SessionChanged(status=Status.QUEUED, reason="go"),
        ]

    def test_a_checkpoint_has_its_name(self) -> None:
        assert list(decide(state(), MakeCheckpoint(name="here"), AT)) == [CheckpointMade(name="here")]


class TestWaking:
    def test_a_session_wakes_at_its_time(self) -> None:
        (woken,) = decide(state(wake_at=AT), Wake(), AT)
        assert woken == SessionChanged(status=Status.QUEUED, reason="its time has come")

    def test_a_session_does_not_wake_before_its_time(self) -> None:
        assert list(decide(state(wake_at=AT), Wake(), AT - timedelta(microseconds=1))) == []

    def test_a_session_without_a_time_does_not_wake(self) -> None:
        assert list(decide(state(), Wake(), AT)) == []

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.WAITING}))
    def test_only_a_session_that_waits_wakes(self, status: Status) -> None:
        assert list(decide(state(status=status, wake_at=AT), Wake(), AT)) == []

    def test_a_pause_that_is_over_resumes(self) -> None:
        paused = state(status=Status.PAUSED, after_pause=AfterPause(at=AT, then="resume"))
        assert list(decide(paused, Wake(), AT)) == [
            Resumed(from_status=Status.PAUSED, reason="the pause was over"),
            SessionChanged(status=Status.QUEUED, reason="the pause was over"),
        ]

    def test_a_pause_that_is_over_cancels(self) -> None:
        paused = state(status=Status.PAUSED, after_pause=AfterPause(at=AT, then="cancel"))
        assert list(decide(paused, Wake(), AT)) == [
            SessionChanged(status=Status.CANCELLED, reason="nobody resumed it in time")
        ]

    def test_a_pause_that_is_not_over_goes_on(self) -> None:
        paused = state(status=Status.PAUSED, after_pause=AfterPause(at=AT, then="cancel"))
        assert list(decide(paused, Wake(), AT - timedelta(microseconds=1))) == []

    def test_a_pause_that_a_person_ended_does_not_end_again(self) -> None:
        pause = now_is(Status.PAUSED, after_pause=AfterPause(at=AT, then="cancel"))
        assert list(decide(state(pause, status=Status.QUEUED), Wake(), AT + timedelta(days=1))) == []


class TestRewinding:
    def test_a_rewind_pauses_and_says_where_it_went(self) -> None:
        (rewound,) = decide(state(), Rewind(seq=2), AT)
        assert isinstance(rewound, SessionChanged)
        assert (rewound.status, rewound.rewound_to) == (Status.PAUSED, 2)

    def test_a_rewind_shuts_out_a_driver_still_at_work(self) -> None:
        (rewound,) = decide(state(taken(7)), Rewind(seq=2), AT)
        assert isinstance(rewound, SessionChanged)
        assert rewound.epoch == 8

    @pytest.mark.parametrize("seq", [4, 5, 10**9])
    def test_a_rewind_to_the_end_or_beyond_is_refused(self, seq: int) -> None:
        with pytest.raises(BadCursor, match="has 4 events"):
            decide(state(), Rewind(seq=seq), AT)

    def test_a_rewind_after_a_rewind_that_took_a_takeover_back_still_shuts_out_its_driver(self) -> None:
        events = [beginning(), said(), taken(1), taken(2), now_is(Status.PAUSED, rewound_to=2, epoch=3)]
        (rewound,) = decide(fold(ONE, records(ONE, *events)), Rewind(seq=1), AT)
        assert isinstance(rewound, SessionChanged)
        assert rewound.epoch == 4
