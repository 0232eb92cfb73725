"""What the live view knows: told every frame, asked for the few rows that fit. Pure but for the clock it is given."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from belayer.cli.outlook import left_in_words
from belayer.cli.planned import is_part, label_of, owner_of, titles_of, waiting_steps
from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.story import Data, Envelope, in_words
from belayer.cli.wording import clock_time
from belayer.sessions.state import SessionState
from belayer.vocabulary.events.event import FINAL, Status, StepStatus
from belayer.vocabulary.events.steps import PlannedStep

_LOG_LINES = 5
_LINE = 300
_ENDED = (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)


@dataclass(slots=True)
class Row:
    """One step as it is drawn."""

    key: str
    label: str
    status: StepStatus = StepStatus.PENDING
    attempt: int = 1
    seconds: float | None = None
    began: float | None = None
    note: str = ""

    @property
    def under_way(self) -> bool:
        return self.status is StepStatus.RUNNING


class Listed(NamedTuple):
    """Rows that fit, and how many stand before and after them."""

    before: int
    rows: list[Row]
    after: int


@dataclass(slots=True)
class Board:
    """The steps and lines since the view was opened."""

    state: SessionState
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_LOG_LINES))
    # When it will be done, as it was last said; None when nobody knows.
    outlook: str | None = None
    clock: Callable[[], float] = monotonic
    _written: str = ""

    def hear(self, state: SessionState, envelope: Envelope) -> None:
        """Take a frame into account."""
        self.state = state
        data = envelope.data
        match envelope.type:
            case "step":
                self._step(data, passing=envelope.seq is None)
            case "plan":
                for step in state.plan:
                    if step.key in self.rows:
                        self.rows[step.key].label = safe_line(step.title)
            case "retry" | "in_doubt" | "limit":
                self._note(str(data["key"]), in_words(envelope, titles_of(state)))
            case "progress" if data.get("key"):
                self._note(str(data["key"]), in_words(envelope))
            case "progress":
                self.outlook = left_in_words(data.get("eta"))
            case "log" | "breaker" | "checkpoint" | "budget" | "restored":
                self.lines.append(in_words(envelope))
            case "token":
                self._write(str(data.get("text", "")))
            case _:
                pass

    def listed(self, size: int, *, ending: bool) -> Listed:
        """All steps of a plan as far as they fit; at the end those that something was heard of."""
        waiting = waiting_steps(self.state)
        everything = not ending or self.state.status in FINAL
        steps = [
            step for step in self.state.plan if everything or step.key in self.rows or step.key in waiting
        ]
        rows = [self._planned(step, waits=step.key in waiting) for step in steps]
        now = next((place for place, row in enumerate(rows) if row.status not in _ENDED), len(rows))
        if now < len(rows) and rows[now].status is StepStatus.PENDING and self._works_unseen():
            rows[now] = replace(rows[now], status=StepStatus.RUNNING)
        first = max(0, min(now - size // 3, len(rows) - size))
        return Listed(first, rows[first : first + size], max(0, len(rows) - first - size))

    def _planned(self, step: PlannedStep, *, waits: bool) -> Row:
        """A plan's step as it stands: heard of here, or before; one about which a request is open is paused."""
        row = self.rows.get(step.key) or self._before(step)
        return replace(row, status=StepStatus.PAUSED, note=row.note or "waits for a person") if waits else row

    def _before(self, step: PlannedStep) -> Row:
        tried = self.state.tries.get(step.key)
        if tried is None:
            return Row(step.key, safe_line(step.title))
        why = tried.problem.detail if tried.problem else tried.reason or ""
        return Row(
            step.key, safe_line(step.title), tried.status, tried.attempt, tried.seconds, note=safe_line(why)
        )

    def coming(self, count: int) -> list[Row]:
        """The next steps of the plan that nothing has been heard of."""
        begun = (*self.state.steps, *self.rows)
        ahead = [step for step in self.state.plan if step.key not in begun]
        rows = [Row(step.key, safe_line(step.title)) for step in ahead[:count]]
        if rows and self._works_unseen():
            rows[0].status = StepStatus.RUNNING
        return rows

    def _works_unseen(self) -> bool:
        """Another process tells only what it has done, so what it does now must be the next of the plan."""
        return self.state.status is Status.RUNNING and not any(row.under_way for row in self.rows.values())

    def window(self, size: int) -> tuple[int, list[Row]]:
        """The last rows, and how many came before them. What is under way stays in sight."""
        rows = list(self.rows.values())
        older, last = rows[: max(len(rows) - size, 0)], rows[-size:]
        under_way = [row for row in older if row.under_way][-size:]
        shown = [*under_way, *last[len(under_way) :]]
        return len(rows) - len(shown), shown

    def _step(self, data: Data, *, passing: bool) -> None:
        status = StepStatus(data["status"])
        if data["name"] in ("now", "random") and data.get("seconds") is None:
            return
        if is_part(self.state, str(data["key"])):
            self._part(data, status)
            return
        row = self._row(str(data["key"]))
        key = row.key if status is StepStatus.SKIPPED else str(data["key"])
        row.label = safe_line(label_of(key, titles_of(self.state)))
        row.status, row.attempt = status, int(data.get("attempt", 1))
        if status is StepStatus.RUNNING:
            row.began = self.clock()
            row.note = _until(data) or (row.note if passing and not row.note.startswith("waits") else "")
        if status in _ENDED:
            row.seconds, row.began = data.get("seconds"), None
            why = data["problem"]["detail"] if data.get("problem") else data.get("reason")
            row.note = safe_line(why or "")

    def _part(self, data: Data, status: StepStatus) -> None:
        """What a plan's step does within itself shows only as far as it tells how the step stands."""
        row = self._row(str(data["key"]))
        if str(data["name"]).endswith(" undo") and status is StepStatus.COMPLETED:
            row.note = "taken back"
        elif data.get("wake_at"):
            row.status, row.note = StepStatus.RUNNING, _until(data)

    def _note(self, key: str, note: str) -> None:
        self._row(key).note = note

    def _row(self, key: str) -> Row:
        owner = owner_of(self.state, key)
        if owner not in self.rows:
            known = next((step for step in self.state.plan if step.key == owner), None)
            self.rows[owner] = self._before(known) if known else Row(owner, safe_line(owner))
        return self.rows[owner]

    def _write(self, text: str) -> None:
        """Words as they come: the last line of what is being written."""
        self._written = (self._written + text)[-_LINE:]
        line = shortened(safe_line(self._written.split("\n")[-1]), _LINE)
        if self.lines and self.lines[-1].startswith("» "):
            self.lines.pop()
        self.lines.append(f"» {line}")


def _until(data: Data) -> str:
    return f"until {clock_time(datetime.fromisoformat(data['wake_at']))}" if data.get("wake_at") else ""
