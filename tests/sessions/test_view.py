"""A session as it is shown."""

import json
from datetime import timedelta
from typing import Any

from belayer.sessions.state import fold
from belayer.sessions.view import Progress, SessionView, view
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.lifecycle import AfterPause, CheckpointMade
from belayer.vocabulary.events.steps import Planned, PlannedStep
from tests.support.records import AT, beginning, named, now_is, question, records, stepped

ONE = named(1)
PLAN = Planned(key="plan", steps=tuple(PlannedStep(key=key, title=key) for key in "abc"))


def shown(*events: Any) -> SessionView:
    return view(fold(ONE, records(ONE, beginning(), *events)))


def test_progress_is_in_percent() -> None:
    assert shown(PLAN, stepped("a")).progress == Progress(percent=33.3, step=1, of=3)


def test_without_a_plan_no_progress_is_shown() -> None:
    assert shown(stepped("a")).progress is None


def test_steps_are_shown_in_the_order_in_which_they_began() -> None:
    steps = shown(stepped("b", StepStatus.RUNNING), stepped("a"), stepped("b")).steps
    assert [(step.key, step.status) for step in steps] == [
        ("b", StepStatus.COMPLETED),
        ("a", StepStatus.COMPLETED),
    ]


def test_open_requests_are_shown_whole() -> None:
    assert shown(question()).pending == (question(),)


def test_the_end_of_a_pause_is_shown_as_a_wake_up_time() -> None:
    ends = AfterPause(at=AT + timedelta(hours=1), then="resume")
    assert shown(now_is(Status.PAUSED, after_pause=ends)).wake_at == AT + timedelta(hours=1)


def test_checkpoints_are_shown_with_their_seq() -> None:
    (checkpoint,) = shown(CheckpointMade(name="here")).checkpoints
    assert (checkpoint.seq, checkpoint.name) == (2, "here")


def test_what_is_shown_can_be_sent() -> None:
    sent = json.loads(shown(PLAN, question(), stepped("a")).model_dump_json())
    assert (sent["session_id"], sent["status"], sent["seq"]) == (ONE, "queued", 4)
