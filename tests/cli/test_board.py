"""The live view's memory: what it shows of many steps, of retries, of what passes by."""

from typing import Any

from belayer.cli.board import Board
from belayer.cli.story import Envelope
from belayer.sessions.state import SessionState
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.steps import PlannedStep
from belayer.vocabulary.ids import SessionId


def board(*planned: str) -> Board:
    state = SessionState(SessionId("s"), status=Status.RUNNING)
    state.plan = tuple(PlannedStep(key=key, title=key.title()) for key in planned)
    return Board(state, clock=lambda: 0.0)


def hear(board: Board, type_: str, seq: int | None = 1, **data: Any) -> None:
    board.hear(board.state, Envelope(seq, type_, "2026-01-01T00:00:00Z", data))


def step(board: Board, key: str, status: str, seq: int | None = 1, **data: Any) -> None:
    hear(board, "step", seq, key=key, name=data.pop("name", key), status=status, **data)


def test_of_many_steps_the_last_are_shown_and_the_others_counted() -> None:
    many = board()
    for number in range(300):
        step(many, f"s{number}", "completed", seconds=0.1)
    before, rows = many.window(12)
    assert before == 288
    assert [row.key for row in rows] == [f"s{number}" for number in range(288, 300)]


def test_what_is_under_way_stays_in_sight() -> None:
    many = board()
    step(many, "slow", "running", None)
    for number in range(50):
        step(many, f"s{number}", "completed", seconds=0.1)
    before, rows = many.window(12)
    assert (before, len(rows), rows[0].key) == (39, 12, "slow")


def test_a_step_is_called_as_the_plan_calls_it_even_if_the_plan_comes_later() -> None:
    late = board()
    step(late, "fetch", "completed", seconds=0.1)
    late.state.plan = (PlannedStep(key="fetch", title="Fetch it"),)
    hear(late, "plan", steps=[])
    assert late.rows["fetch"].label == "Fetch it"


def test_a_retry_and_a_doubt_stand_beside_their_step() -> None:
    shaky = board()
    step(shaky, "call", "running", None)
    hear(shaky, "retry", key="call", attempt=1, delay=0.5, problem={"detail": "too\x1bsoon"})
    assert "tries again in 0.5 s" in shaky.rows["call"].note
    assert "too<U+001B>soon" in shaky.rows["call"].note
    hear(shaky, "in_doubt", key="call", name="call", attempt=1, reason="killed")
    assert "in doubt" in shaky.rows["call"].note
    step(shaky, "call", "completed", attempt=2, seconds=0.2)
    assert (shaky.rows["call"].note, shaky.rows["call"].attempt) == ("", 2)


def test_recorded_values_are_no_steps_to_a_person() -> None:
    quiet = board()
    step(quiet, "now", "completed")
    assert quiet.rows == {}


def test_progress_logs_and_words_that_pass_by_are_shown() -> None:
    busy = board()
    step(busy, "s", "running", None)
    hear(busy, "progress", None, step="s", percent=40, text="halfway")
    hear(busy, "log", None, text="a line", step="s")
    hear(busy, "token", None, message="m", text="Once upon ")
    hear(busy, "token", None, message="m", text="a time")
    assert busy.rows["s"].note == "40 % halfway"
    assert list(busy.lines) == ["a line", "» Once upon a time"]


def test_a_plan_shows_what_comes_and_what_another_process_must_be_doing() -> None:
    ahead = board("one", "two", "three")
    step(ahead, "one", "completed", seconds=0.1)
    assert [row.label for row in ahead.coming(5)] == ["Two", "Three"]
    assert ahead.coming(5)[0].status is StepStatus.RUNNING
    step(ahead, "two", "running", None)
    assert [row.status for row in ahead.coming(5)] == [StepStatus.PENDING]
