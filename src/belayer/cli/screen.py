"""Where a command speaks: people read lines and colours, scripts read JSON, and stderr is for trouble.

Markup, emoji names and highlighting are off everywhere, so a text is never more than a text.
"""

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from belayer.cli.safe_text import safe_block
from belayer.vocabulary.errors import Problem

_WIDTH_WITHOUT_TERMINAL = 160


@dataclass(frozen=True, slots=True)
class Screen:
    """Stdout and stderr as this command may use them."""

    out: Console
    err: Console
    as_json: bool
    interactive: bool

    @property
    def live(self) -> bool:
        """Whether a picture may change in place."""
        return self.out.is_terminal and not self.out.is_dumb_terminal and not self.as_json

    def say(self, text: str | Text = "", style: str | None = None) -> None:
        """A line or block for a person; a script does not get it. The caller has made it safe."""
        if not self.as_json:
            self.out.print(text, style=style, soft_wrap=True)

    def draw(self, picture: RenderableType) -> None:
        """Something for a person that is laid out to the width of the screen."""
        if not self.as_json:
            self.out.print(picture)

    def warn(self, text: str) -> None:
        """Something a person should know although the command goes on."""
        self.err.print(Text(_hung(text), style="yellow"), soft_wrap=True)

    @contextmanager
    def waiting(self, text: str) -> Generator[Callable[[str], None]]:
        """A line that moves while something takes its time; the caller may change what it says."""
        if not self.live:
            yield lambda _: None
            return
        with self.out.status(text) as status:
            yield status.update

    def answer(self, value: dict[str, Any]) -> None:
        """The command's one answer to a script. All in ASCII, so that nothing in it can act on a terminal."""
        if self.as_json:
            self.out.file.write(json.dumps(value) + "\n")
            self.out.file.flush()  # a script may read it while the command goes on

    def trouble(self, problem: Problem) -> None:
        """What went wrong and what to do."""
        if self.as_json:
            self.err.file.write(problem.model_dump_json(ensure_ascii=True) + "\n")
            return
        self._labelled("error:", "bold red", problem.detail)
        if problem.hint:
            self._labelled("hint: ", "bold cyan", problem.hint)

    def _labelled(self, label: str, style: str, text: str) -> None:
        self.err.print(Text.assemble((label, style), " ", _hung(text)), soft_wrap=True)


def open_screen(*, as_json: bool = False, no_input: bool = False) -> Screen:
    """The screen of this process."""
    out, err = _console(stderr=False), _console(stderr=True)
    attended = sys.stdin is not None and sys.stdin.isatty() and out.is_terminal
    return Screen(out, err, as_json, interactive=attended and not as_json and not no_input)


def _hung(text: str) -> str:
    """A safe text whose further lines stand back, so that none of them can pose as a message of ours."""
    return safe_block(text).replace("\n", "\n  ")


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH_WITHOUT_TERMINAL)
    return console
