"""Structured logs for the operator: sentences as events, facts as keys, secrets redacted, to a file and to stderr."""

import logging
import logging.handlers
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from belayer.sessions.redact import Redactor

_FILE_BYTES = 10_000_000
_FILES_KEPT = 5


def set_up_logs(folder: Path, redactor: Redactor, *, to_stderr: bool = True) -> None:
    """Send everything to `belayer.jsonl` in the folder and, for people, warnings and worse to stderr."""
    folder.mkdir(parents=True, exist_ok=True)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _Redact(redactor),
    ]
    file = logging.handlers.RotatingFileHandler(
        folder / "belayer.jsonl", maxBytes=_FILE_BYTES, backupCount=_FILES_KEPT, encoding="utf-8", delay=True
    )
    file.setFormatter(structlog.stdlib.ProcessorFormatter(processor=structlog.processors.JSONRenderer()))
    destinations: list[logging.Handler] = [file]
    if to_stderr:
        stderr = logging.StreamHandler()
        stderr.setLevel(logging.WARNING)
        stderr.setFormatter(
            structlog.stdlib.ProcessorFormatter(processor=structlog.dev.ConsoleRenderer(colors=False))
        )
        destinations.append(stderr)
    root = logging.getLogger("belayer")
    root.handlers, root.propagate = destinations, False
    root.setLevel(logging.INFO)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=_in_our_tree,
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class _Redact:
    """Takes secrets out of every text of a log line."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def __call__(
        self, _logger: Any, _method: str, line: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        for key, value in line.items():
            if isinstance(value, str):
                line[key] = self._redactor.text(value)
        return line


def _in_our_tree(*_: Any) -> logging.Logger:
    return logging.getLogger("belayer")
