"""Logs while a command runs: everything to the file in the home, and what a person has to know onto the screen."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import structlog

from belayer.logs import set_up_logs
from belayer.sessions.redact import Redactor
from belayer.settings import secrets_in


class Notices(logging.Handler):
    """Passes warnings that name a problem on to whoever shows them now, each once in a row."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.show: Callable[[str], None] | None = None
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        line = cast("dict[str, Any]", record.msg) if isinstance(record.msg, dict) else {}
        problem = str(line.get("problem", ""))
        if problem and problem != self._last and self.show is not None:
            self._last = problem
            self.show(f"{line.get('event', 'warning')}: {problem}")


@contextmanager
def logs_for(home: Path, notices: Notices) -> Generator[None]:
    """Write logs to the home for as long as the block lasts."""
    ours = logging.getLogger("belayer")
    if _set_up(home):
        ours.addHandler(notices)
    try:
        yield
    finally:
        for handler in ours.handlers:
            handler.close()
        ours.handlers = []
        structlog.reset_defaults()


def _set_up(home: Path) -> bool:
    """Whether there are logs now. That a home cannot be written is for the store to say."""
    try:
        set_up_logs(home / "logs", Redactor(secrets_in()), to_stderr=False)
    except OSError:
        return False
    return True
