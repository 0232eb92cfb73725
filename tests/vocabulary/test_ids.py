"""Ids sort by time and never repeat."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.ids import new_request_id, new_session_id, uuid7
from tests.support.records import AT

moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the strategy adds it


@given(moments)
def test_an_id_is_a_uuid_of_version_7(at: datetime) -> None:
    made = uuid.UUID(uuid7(at))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)


@given(moments)
def test_an_id_holds_its_time_in_milliseconds(at: datetime) -> None:
    millis = uuid.UUID(uuid7(at)).int >> 80
    assert millis == (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@given(moments, st.integers(1, 10**12))
def test_a_later_id_sorts_after_an_earlier_one(at: datetime, micros: int) -> None:
    assert uuid7(at) < uuid7(at + timedelta(microseconds=micros))


@pytest.mark.parametrize("year", [2026, 2039, 2060])
def test_ids_a_microsecond_apart_sort_by_time(year: int) -> None:
    start = datetime(year, 7, 1, tzinfo=UTC)
    made = [uuid7(start + timedelta(microseconds=micros)) for micros in range(2000)]
    assert made == sorted(made)


def test_ids_of_one_moment_differ() -> None:
    assert len({uuid7(AT) for _ in range(10_000)}) == 10_000


def test_sessions_and_requests_have_such_ids() -> None:
    assert {uuid.UUID(new_session_id(AT)).version, uuid.UUID(new_request_id(AT)).version} == {7}
