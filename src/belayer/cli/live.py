"""The live view: title, progress, the last steps with their marks and times, log lines. Drawn ten times a second.

One event loop does everything: frames arrive, a timer draws; so what is drawn never changes under the pen.
"""

import asyncio
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from belayer.cli.board import Board, Listed, Row
from belayer.cli.planned import is_plan
from belayer.cli.safe_text import safe_line
from belayer.cli.story import opened
from belayer.cli.wording import STATUS_STYLE, STEP_MARK, duration
from belayer.sessions.feed import Frame
from belayer.sessions.state import SessionState
from belayer.vocabulary.events.event import StepStatus

_DRAWN_EVERY = 0.1
_ROWS = 12
_COMING = 3
_BAR_WIDTH = 32
# The heading, the bar, log lines and some air.
_OTHER_LINES = 10
_ROWS_AT_LEAST = 6


class LiveTeller:
    """Draws a board in place. What is left on the screen afterwards is its last steps."""

    def __init__(self, console: Console, state: SessionState, *, heading: bool) -> None:
        self._board = Board(state)
        self._heading = heading
        self._spinner = Spinner("dots", style="bold blue")
        self._ending = False
        self._live = Live(self, console=console, auto_refresh=False)
        self._drawing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "LiveTeller":
        self._live.start(refresh=True)
        self._drawing = asyncio.create_task(self._draw())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        self._ending = True
        self._live.refresh()
        self._live.stop()

    def hear(self, state: SessionState, frame: Frame) -> None:
        self._board.hear(state, opened(frame.wire))

    def notice(self, text: str) -> None:
        self._live.console.print(Text(safe_line(text), style="yellow"), soft_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(*self._parts(console.width, console.height))

    async def _draw(self) -> None:
        while True:
            await asyncio.sleep(_DRAWN_EVERY)
            self._live.refresh()

    def _parts(self, width: int, height: int) -> Iterator[RenderableType]:
        board = self._board
        if self._heading:
            yield _heading(board.state)
        if board.state.plan and not self._ending:
            yield _bar(board)
        yield self._steps(width, max(height - _OTHER_LINES, _ROWS_AT_LEAST))
        for line in board.lines:
            yield Text(f"    {line}", style="bright_black", no_wrap=True, overflow="ellipsis")

    def _steps(self, width: int, fitting: int) -> Table:
        before, rows, after = self._listed(fitting)
        table = Table.grid(padding=(0, 1))
        table.add_column(width=3, justify="right")
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(width - 20, 20))
        table.add_column(justify="right", no_wrap=True)
        if before:
            table.add_row("", Text(f"… {before} earlier steps", style="bright_black"), "")
        for row in rows:
            self._add(table, row)
        if after:
            table.add_row("", Text(f"… {after} more steps", style="bright_black"), "")
        return table

    def _listed(self, fitting: int) -> Listed:
        if is_plan(self._board.state):
            return self._board.listed(fitting, ending=self._ending)
        before, rows = self._board.window(_ROWS)
        return Listed(before, rows if self._ending else [*rows, *self._board.coming(_COMING)], 0)

    def _add(self, table: Table, row: Row) -> None:
        mark: RenderableType = Text(*STEP_MARK[row.status])
        if row.under_way and not self._ending and not row.note.startswith("until"):
            mark = self._spinner
        attempt = f" (attempt {row.attempt})" if row.attempt > 1 else ""
        label = Text(row.label + attempt, style="bright_black" if row.status == "pending" else "")
        if row.note:
            label.append(f"  {row.note}", style="red" if row.status == "failed" else "yellow")
        table.add_row(mark, label, Text(self._time(row), style="bright_black"))

    def _time(self, row: Row) -> str:
        if row.seconds is not None:
            return "" if row.status is StepStatus.SKIPPED else duration(row.seconds)
        return duration(self._board.clock() - row.began) if row.began is not None and row.under_way else ""


def _heading(state: SessionState) -> Text:
    return Text.assemble(
        (safe_line(state.title), "bold"),
        (f"  {state.id}  ", "bright_black"),
        (state.status.value, STATUS_STYLE[state.status]),
        no_wrap=True,
        overflow="ellipsis",
    )


def _bar(board: Board) -> Table:
    done, of = board.state.progress() or (0, 0)
    said = [f"{done} of {of} steps", f"{100 * done // max(of, 1)} %"]
    said += [board.outlook] if board.outlook and done < of else []
    table = Table.grid(padding=(0, 1))
    table.add_row("  ", ProgressBar(total=of, completed=done, width=_BAR_WIDTH), " · ".join(said))
    return table
