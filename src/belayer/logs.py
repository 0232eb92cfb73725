"""Structured logs for the operator: sentences as events, facts as keys, to a file and to stderr.

Secrets are taken out of the finished line, so that none gets past by hiding in a list or an exception.
"""

import logging
import logging.handlers
import re
from pathlib import Path
from typing import Any

import structlog

from belayer.sessions.redact import Redactor

# Libraries with something to say to an operator: it goes where ours goes.
_OTHERS = ("uvicorn", "opentelemetry")
_FILE_BYTES = 10_000_000
_FILES_KEPT = 5
_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
# What could drive a terminal; a line break may stay, for tracebacks.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def set_up_logs(folder: Path, redactor: Redactor, *, to_stderr: bool = True) -> None:
    """Send everything to `belayer.jsonl` in the folder and, for people, warnings and worse to stderr."""
    folder.mkdir(parents=True, exist_ok=True)
    file = logging.handlers.RotatingFileHandler(
        folder / "belayer.jsonl", maxBytes=_FILE_BYTES, backupCount=_FILES_KEPT, encoding="utf-8", delay=True
    )
    file.setFormatter(_ForFile(redactor, structlog.processors.JSONRenderer(default=str)))
    destinations: list[logging.Handler] = [file]
    if to_stderr:
        stderr = logging.StreamHandler()
        stderr.setLevel(logging.WARNING)
        stderr.setFormatter(_ForTerminal(redactor, structlog.dev.ConsoleRenderer(colors=False)))
        destinations.append(stderr)
    root = logging.getLogger("belayer")
    root.handlers, root.propagate = destinations, False
    root.setLevel(logging.INFO)
    for name in _OTHERS:
        logging.getLogger(name).parent = root
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=_in_our_tree,
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class _ForFile(structlog.stdlib.ProcessorFormatter):
    """JSON lines without secrets."""

    def __init__(self, redactor: Redactor, render: Any) -> None:
        super().__init__(processor=render, foreign_pre_chain=_SHARED)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.data(super().format(record).encode()).decode()


class _ForTerminal(structlog.stdlib.ProcessorFormatter):
    """Lines for a person, without secrets and without anything that could drive the terminal."""

    def __init__(self, redactor: Redactor, render: Any) -> None:
        super().__init__(processor=render, foreign_pre_chain=_SHARED)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        line = self._redactor.text(super().format(record))
        return _CONTROL.sub(lambda found: f"<U+{ord(found[0]):04X}>", line)


def _in_our_tree(*_: Any) -> logging.Logger:
    return logging.getLogger("belayer")
