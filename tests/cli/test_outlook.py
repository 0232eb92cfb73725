"""Estimates in words that promise no more than is known."""

from typing import Any

import pytest

from belayer.cli.outlook import left_in_words, rough, takes_in_words

TO = "\N{EN DASH}"


def eta(low: float | None, mid: float | None, high: float | None, confidence: Any = 0.8) -> dict[str, Any]:
    return {"low": low, "mid": mid, "high": high, "confidence": confidence}


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (eta(95, 120, 240), f"about 2 min left (2{TO}4 min)"),
        (eta(40, 80, 120), f"about 80 s left (40 s{TO}2 min)"),
        (eta(0, 0.3, 2.2), f"less than a second left (0{TO}2 s)"),
        (eta(7200, 7200, 7300), "about 2 h left"),
        (eta(0, 0, 0), "less than a second left"),
        (eta(None, None, None, "unknown"), None),
        (eta(1, 2, 3, None), None),
        (eta(None, 2, 3), None),
        ({}, None),
        (None, None),
    ],
)
def test_what_is_left_is_said_roughly_or_not_at_all(known: dict[str, Any] | None, text: str | None) -> None:
    assert left_in_words(known) == text


def test_before_the_start_nothing_is_left_but_all_is_to_come() -> None:
    assert takes_in_words(eta(95, 120, 240)) == f"about 2 min (2{TO}4 min)"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5400, "2 h"), (200_000, "2 d")]
)
def test_a_rough_time_has_one_unit(seconds: float, text: str) -> None:
    assert rough(seconds) == text
