"""What happens in a session, in words."""

from typing import Any

import pytest

from belayer.cli.story import Envelope, in_words, told

PROBLEM = {"detail": "it is gone"}


def words(type_: str, **data: Any) -> str:
    return in_words(Envelope(1, type_, "2026-01-01T00:00:00Z", data), {"get": "Get it"})


@pytest.mark.parametrize(
    ("type_", "data", "text"),
    [
        (
            "step",
            {"key": "get#2", "name": "x", "status": "completed", "seconds": 2.0},
            "done: Get it (try 2) (2.0 s)",
        ),
        (
            "step",
            {"key": "get#2", "name": "x", "status": "skipped", "reason": "no use"},
            "skipped: Get it: no use",
        ),
        (
            "step",
            {"key": "get", "name": "x", "status": "failed", "seconds": 0.0, "problem": PROBLEM},
            "failed: Get it (0 ms): it is gone",
        ),
        (
            "retry",
            {"key": "get", "attempt": 1, "delay": 3.0, "problem": PROBLEM},
            "tries again in 3.0 s: Get it (attempt 1: it is gone)",
        ),
        (
            "limit",
            {"key": "get", "name": "http_fetch", "limit": "rate", "delay": 3.0},
            "waits: rate limit of http_fetch, 3.0 s (Get it)",
        ),
        (
            "limit",
            {"key": "get", "name": "http_fetch", "limit": "concurrency"},
            "waits: limit of calls at once of http_fetch (Get it)",
        ),
        (
            "breaker",
            {"name": "http_fetch", "state": "closed"},
            "circuit breaker of http_fetch is closed: it works again",
        ),
        (
            "restored",
            {"tree": "t", "written": 2, "deleted": 1, "skipped": ["a"]},
            "files brought back: 2 written, 1 deleted, 1 left as they are: a",
        ),
        (
            "user_response",
            {"request_id": "r", "approved": True, "remember": "session"},
            "approved, also for calls like it in this session",
        ),
    ],
)
def test_what_happened_is_one_line(type_: str, data: dict[str, Any], text: str) -> None:
    assert words(type_, **data) == text


def test_an_open_breaker_says_until_when() -> None:
    said = words("breaker", name="http_fetch", state="open", until="2026-01-01T00:00:30Z")
    assert " is open until 20" in said


def test_progress_is_quiet_where_lines_stay() -> None:
    assert told(Envelope(None, "progress", "2026-01-01T00:00:00Z", {"percent": 1})) is None
