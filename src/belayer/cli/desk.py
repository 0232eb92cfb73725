"""Where a command is carried out: its settings, its screen, its engine. And the door at which every error ends.

Whatever goes wrong leaves here as a sentence and an exit code, never as a traceback.
"""

import asyncio
import shlex
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import structlog
import typer

from belayer.cli.exits import Exit, exit_after
from belayer.cli.notices import Notices, logs_for
from belayer.cli.screen import Screen, open_screen
from belayer.engine import Engine
from belayer.settings import Settings, read_settings
from belayer.vocabulary.errors import BelayerError, Category, Problem
from belayer.wiring import Drives, open_engine
from belayer.workflows.workflow import Workflow

_logger = structlog.get_logger()


@dataclass(slots=True)
class Desk:
    """What a command has to work with."""

    screen: Screen
    settings: Settings
    home_given: Path | None = None
    # What a person who presses Ctrl-C should know; the command sets it once there is something to know.
    when_stopped: str = "Stopped."
    notices: Notices = field(default_factory=Notices)

    @property
    def home(self) -> Path:
        return self.settings.home

    @asynccontextmanager
    async def engine(self, drives: Drives = "none", *workflows: Workflow) -> AsyncGenerator[Engine]:
        """The engine on this home."""
        with _ungrouped():
            async with open_engine(settings=self.settings, drives=drives, workflows=workflows) as engine:
                yield engine

    def command(self, *words: str) -> str:
        """A command line that a person can paste."""
        home = ["--home", str(self.home_given)] if self.home_given else []
        return shlex.join(["belayer", *words, *home])


Group = BaseExceptionGroup[BaseException]
Work = Callable[[Desk], Awaitable[int]]
Loop = Callable[[], asyncio.AbstractEventLoop]


def carry_out(
    work: Work, *, home: Path | None, as_json: bool, no_input: bool = False, loop: Loop | None = None
) -> None:
    """Do a command's work and end with its exit code."""
    screen = open_screen(as_json=as_json, no_input=no_input)
    raise typer.Exit(_code_of(work, screen, home, loop))


def _code_of(work: Work, screen: Screen, home: Path | None, loop: Loop | None) -> int:
    desk: Desk | None = None
    try:
        desk = Desk(screen, read_settings(home=home), home)
        with logs_for(desk.home, desk.notices), _ungrouped():
            return _in_loop(work, desk, loop)
    except BelayerError as error:
        screen.trouble(error.problem())
        return exit_after(error)
    except KeyboardInterrupt:
        _tell_stopped(screen, desk.when_stopped if desk else "Stopped.")
        return Exit.STOPPED


def _in_loop(work: Work, desk: Desk, loop: Loop | None) -> int:
    async def go() -> int:
        this = cast("asyncio.Task[int]", asyncio.current_task())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
        return await work(desk)

    try:
        with _ungrouped(), asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(go())
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error  # SIGTERM is a polite end, the same as Ctrl-C
    except (BelayerError, BrokenPipeError):
        raise
    except Exception as error:  # the CLI's own door
        _logger.exception("command failed", error=type(error).__name__)
        raise BelayerError(
            f"Something went wrong inside Belayer: {type(error).__name__}: {error}",
            f"The details are in {desk.home / 'logs' / 'belayer.jsonl'}. Sessions are not harmed; try again.",
        ) from error


@contextmanager
def _ungrouped() -> Generator[None]:
    """Raise the one error that matters instead of a group of one."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise first_of(group) from group


def first_of(group: Group) -> BaseException:
    """The first error in a group that is not itself a group."""
    first = cast("BaseException", group.exceptions[0])
    return first_of(cast("Group", first)) if isinstance(first, BaseExceptionGroup) else first


def _tell_stopped(screen: Screen, detail: str) -> None:
    if screen.as_json:
        screen.trouble(Problem(kind="Stopped", category=Category.LOGIC, detail=detail))
    else:
        screen.warn(detail)
