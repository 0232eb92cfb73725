"""What the live view knows: told every frame, asked for the few rows that fit. Pure but for the clock it is given."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.story import Data, Envelope, in_words
from belayer.cli.wording import clock_time
from belayer.sessions.state import SessionState
from belayer.vocabulary.events.event import Status, StepStatus

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


@dataclass(slots=True)
class Board:
    """The steps and lines since the view was opened."""

    state: SessionState
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_LOG_LINES))
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
            case "retry" | "in_doubt":
                self._note(str(data["key"]), in_words(envelope))
            case "progress" if data.get("step"):
                self._note(str(data["step"]), in_words(envelope))
            case "log" | "breaker" | "checkpoint" | "budget":
                self.lines.append(in_words(envelope))
            case "token":
                self._write(str(data.get("text", "")))
            case _:
                pass

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
        row = self._row(str(data["key"]))
        row.status, row.attempt = status, int(data.get("attempt", 1))
        if status is StepStatus.RUNNING:
            row.began = self.clock()
            row.note = (
                f"until {clock_time(datetime.fromisoformat(data['wake_at']))}"
                if data.get("wake_at")
                else row.note
                if passing
                else ""
            )
        if status in _ENDED:
            row.seconds, row.began = data.get("seconds"), None
            row.note = safe_line(data["problem"]["detail"]) if data.get("problem") else ""

    def _note(self, key: str, note: str) -> None:
        self._row(key).note = note

    def _row(self, key: str) -> Row:
        if key not in self.rows:
            titles = {step.key: step.title for step in self.state.plan}
            self.rows[key] = Row(key, safe_line(titles.get(key, key)))
        return self.rows[key]

    def _write(self, text: str) -> None:
        """Words as they come: the last line of what is being written."""
        self._written = (self._written + text)[-_LINE:]
        line = shortened(safe_line(self._written.split("\n")[-1]), _LINE)
        if self.lines and self.lines[-1].startswith("» "):
            self.lines.pop()
        self.lines.append(f"» {line}")
