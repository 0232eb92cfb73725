"""The live view's memory: what it shows of many steps, of retries, of what passes by."""

from typing import Any

from belayer.cli.board import Board
from belayer.cli.story import Envelope
from belayer.sessions.state import SessionState
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.people import InputRequested
from belayer.vocabulary.events.steps import PlannedStep
from belayer.vocabulary.ids import RequestId, SessionId


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
    hear(busy, "progress", None, key="s", percent=40, text="halfway")
    hear(busy, "log", None, text="a line", step="s")
    hear(busy, "token", None, message="m", text="Once upon ")
    hear(busy, "token", None, message="m", text="a time")
    assert busy.rows["s"].note == "40 % halfway"
    assert list(busy.lines) == ["a line", "» Once upon a time"]


def plan_board(*planned: str) -> Board:
    whole = board()
    whole.state.plan = tuple(PlannedStep(key=key, title=key.title(), tool="t") for key in planned)
    return whole


def test_of_a_plan_every_step_is_listed_in_its_order() -> None:
    whole = plan_board("one", "two", "three")
    step(whole, "two", "skipped", reason="it needs \x1bone")
    step(whole, "one", "failed", problem={"detail": "gone"})
    before, rows, after = whole.listed(10, ending=False)
    assert (before, after) == (0, 0)
    assert [(row.label, row.note) for row in rows] == [
        ("One", "gone"),
        ("Two", "it needs <U+001B>one"),
        ("Three", ""),
    ]
    assert rows[2].status is StepStatus.RUNNING  # nothing else is under way, so it must be this one


def test_a_try_of_a_step_is_no_step_of_its_own() -> None:
    again = plan_board("one")
    step(again, "one", "failed", problem={"detail": "gone"})
    step(again, "one#2", "completed", seconds=0.1)
    assert [(row.key, row.label, row.note) for row in again.listed(9, ending=True).rows] == [
        ("one", "One (try 2)", "")
    ]


def test_a_step_about_which_a_person_is_asked_is_paused() -> None:
    asking = plan_board("one", "two")
    request = InputRequested(request_id=RequestId("r"), key="one/failure", prompt="?", purpose="failure")
    asking.state.pending = {request.request_id: request}
    rows = asking.listed(9, ending=True).rows
    assert [(row.key, row.status, row.note) for row in rows] == [
        ("one", StepStatus.PAUSED, "waits for a person")
    ]


def test_what_a_step_does_within_itself_is_told_on_its_row() -> None:
    inner = plan_board("nap", "write")
    step(inner, "nap/sleep", "running", name="sleep", wake_at="2026-01-01T00:00:00Z")
    step(inner, "nap/health", "completed", name="health", seconds=0.1)
    step(inner, "write", "completed", seconds=0.1)
    step(inner, "write/undo", "completed", name="files.write undo", seconds=0.1)
    rows = inner.listed(9, ending=False).rows
    assert [row.key for row in rows] == ["nap", "write"]
    assert rows[0].note.startswith("until ")
    assert rows[1].note == "taken back"


def test_of_a_long_plan_what_is_under_way_is_in_sight() -> None:
    many = plan_board(*(f"s{number}" for number in range(1000)))
    for number in range(500):
        step(many, f"s{number}", "completed", seconds=0.1)
    before, rows, after = many.listed(12, ending=False)
    assert (before, len(rows), after) == (496, 12, 492)
    assert rows[4].key == "s500"


def test_a_limit_is_told_until_the_step_goes_on() -> None:
    slow = plan_board("get")
    hear(slow, "limit", key="get", name="http_fetch", limit="rate", delay=3.0)
    assert slow.rows["get"].note == "waits: rate limit of http_fetch, 3.0 s (Get)"
    step(slow, "get", "running", None)
    assert slow.rows["get"].note == ""


def test_the_outlook_is_said_only_if_it_is_known() -> None:
    told = plan_board("one")
    eta = {"low": 60.0, "mid": 120.0, "high": 240.0, "confidence": 0.8}
    hear(told, "progress", None, percent=0, step=1, of=1, eta=eta)
    assert told.outlook == "about 2 min left (60 s\N{EN DASH}4 min)"
    hear(told, "progress", None, percent=0, step=1, of=1, eta={**eta, "confidence": "unknown"})
    assert told.outlook is None


def test_a_plan_shows_what_comes_and_what_another_process_must_be_doing() -> None:
    ahead = board("one", "two", "three")
    step(ahead, "one", "completed", seconds=0.1)
    assert [row.label for row in ahead.coming(5)] == ["Two", "Three"]
    assert ahead.coming(5)[0].status is StepStatus.RUNNING
    step(ahead, "two", "running", None)
    assert [row.status for row in ahead.coming(5)] == [StepStatus.PENDING]
