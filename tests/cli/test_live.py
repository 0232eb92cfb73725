"""What the live view draws of a plan: a bar, an outlook, the steps that fit the screen."""

import io
import json
from typing import Any

from rich.console import Console

from belayer.cli.live import LiveTeller
from belayer.sessions.feed import Frame
from belayer.sessions.state import SessionState, StepView
from belayer.vocabulary.events.event import Effect, Status, StepStatus
from belayer.vocabulary.events.steps import PlannedStep
from belayer.vocabulary.ids import SessionId


def planned(count: int, done: int) -> SessionState:
    """A session with a plan of so many steps, of which the first are done."""
    state = SessionState(SessionId("s"), status=Status.RUNNING, title="Many")
    state.plan = tuple(PlannedStep(key=f"s{number}", title=f"s{number}", tool="t") for number in range(count))
    for number in range(done):
        step = StepView(f"s{number}", "t", StepStatus.COMPLETED, Effect.READ, seconds=0.1)
        state.steps[step.key] = state.tries[step.key] = step
    return state


def drawn(state: SessionState, *frames: Frame) -> str:
    paper = io.StringIO()
    console = Console(file=paper, width=100, height=30, markup=False)
    teller = LiveTeller(console, state, heading=True)
    for frame in frames:
        teller.hear(state, frame)
    console.print(teller)
    return paper.getvalue()


def passing(type_: str, **data: Any) -> Frame:
    shape = {"seq": None, "after": 1, "type": type_, "timestamp": "2026-01-01T00:00:00Z", "data": data}
    return Frame(SessionId("s"), None, json.dumps(shape).encode())


def test_a_plan_has_a_bar_a_percentage_and_an_outlook() -> None:
    eta = {"low": 95.0, "mid": 120.0, "high": 240.0, "confidence": 0.8}
    said = drawn(planned(10, 4), passing("progress", percent=40, step=5, of=10, eta=eta))
    assert "4 of 10 steps · 40 % · about 2 min left (2\N{EN DASH}4 min)" in said
    assert [line.split()[:2] for line in said.splitlines()[2:6]] == [
        ["✓", f"s{number}"] for number in range(4)
    ]
    assert said.splitlines()[11].split() == ["○", "s9"]


def test_without_an_estimate_no_time_is_said() -> None:
    unknown = {"low": None, "mid": None, "high": None, "confidence": "unknown"}
    said = drawn(planned(10, 4), passing("progress", percent=40, step=5, of=10, eta=unknown))
    assert "4 of 10 steps · 40 %" in said
    assert "left" not in said


def test_a_plan_longer_than_the_screen_is_drawn_around_what_is_under_way() -> None:
    said = drawn(planned(1000, 500))
    assert "… 494 earlier steps" in said
    assert "… 486 more steps" in said
    assert len(said.splitlines()) < 30
    assert "s500" in said
