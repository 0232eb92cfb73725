"""Times and ids as people read them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.cli.listing import unique_prefixes
from belayer.cli.wording import age, duration
from belayer.vocabulary.ids import SessionId


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0123, "12 ms"),
        (0.0999, "0.1 s"),
        (2.14, "2.1 s"),
        (59.96, "1 min"),
        (245, "4 min 5 s"),
        (12_000, "3 h 20 min"),
        (86_400, "1 d"),
        (1_051_200, "12 d 4 h"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0s"), (59, "59s"), (60, "1m"), (7200, "2h"), (200_000, "2d")]
)
def test_an_age_is_one_number(seconds: int, text: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert age(now - timedelta(seconds=seconds), now) == text


@given(st.sets(st.text("0123456789abcdef", min_size=12, max_size=12), max_size=40))
def test_a_short_id_begins_one_id_only(ids: set[str]) -> None:
    short = unique_prefixes([SessionId(id_) for id_ in ids])
    for id_, prefix in short.items():
        assert [other for other in ids if other.startswith(prefix)] == [id_]
        assert len(prefix) == 8 or sum(other.startswith(prefix[:-1]) for other in ids) > 1
