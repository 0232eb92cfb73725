"""Time that a test can turn, and times that come back as they were."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.clock import ManualClock, SystemClock, from_micros, rfc3339, sleep, to_micros
from tests.support.records import AT

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30), timezones=zones)  # noqa: DTZ001 - the strategy adds it


class TestForms:
    @given(moments)
    def test_a_time_comes_back_from_microseconds(self, at: datetime) -> None:
        assert from_micros(to_micros(at)) == at

    @given(st.integers(-(10**16), 10**17))
    def test_microseconds_come_back_from_a_time(self, micros: int) -> None:
        assert to_micros(from_micros(micros)) == micros

    @given(moments)
    def test_a_time_comes_back_from_the_wire(self, at: datetime) -> None:
        assert datetime.fromisoformat(rfc3339(at)) == at

    @given(moments, moments)
    def test_times_on_the_wire_sort_as_times(self, one: datetime, two: datetime) -> None:
        assert (rfc3339(one) < rfc3339(two)) == (one < two)

    def test_the_wire_has_utc_six_decimals_and_a_z(self) -> None:
        at = datetime(2026, 3, 4, 1, 2, 3, 45, tzinfo=timezone(timedelta(hours=2)))
        assert rfc3339(at) == "2026-03-03T23:02:03.000045Z"


class TestManualClock:
    def test_it_stands_still(self) -> None:
        clock = ManualClock(AT)
        assert (clock.now(), clock.monotonic()) == (clock.now(), clock.monotonic())

    def test_it_goes_on_when_told(self) -> None:
        clock = ManualClock(AT)
        clock.advance(1.5)
        assert (clock.now(), clock.monotonic()) == (AT + timedelta(seconds=1.5), 1.5)

    def test_a_call_is_made_when_it_falls_due(self) -> None:
        clock, calls = ManualClock(), []
        clock.call_later(10, lambda: calls.append("call"))
        clock.advance(9.99)
        before = list(calls)
        clock.advance(0.02)
        assert (before, calls) == ([], ["call"])

    def test_a_call_is_made_once(self) -> None:
        clock, calls = ManualClock(), []
        clock.call_later(1, lambda: calls.append("call"))
        clock.advance(5)
        clock.advance(5)
        assert calls == ["call"]

    def test_calls_are_made_in_the_order_in_which_they_fall_due(self) -> None:
        clock, calls = ManualClock(), []
        for seconds in (3, 1, 2):
            clock.call_later(seconds, lambda seconds=seconds: calls.append(seconds))
        clock.advance(10)
        assert calls == [1, 2, 3]

    def test_calls_of_one_moment_are_made_in_the_order_in_which_they_were_asked_for(self) -> None:
        clock, calls = ManualClock(), []
        for name in "abc":
            clock.call_later(1, lambda name=name: calls.append(name))
        clock.advance(1)
        assert calls == ["a", "b", "c"]

    def test_a_call_finds_the_time_it_was_meant_for(self) -> None:
        clock, seen = ManualClock(AT), []
        clock.call_later(2, lambda: seen.append(clock.now()))
        clock.advance(10)
        assert seen == [AT + timedelta(seconds=2)]

    def test_a_call_that_asks_for_another_within_the_same_time_gets_it(self) -> None:
        clock, calls = ManualClock(), []

        def ask_again() -> None:
            clock.call_later(1, lambda: calls.append(clock.monotonic()))

        clock.call_later(1, ask_again)
        clock.advance(5)
        assert calls == [2.0]

    def test_a_cancelled_call_is_not_made(self) -> None:
        clock, calls = ManualClock(), []
        clock.call_later(1, lambda: calls.append("call")).cancel()
        clock.advance(5)
        assert calls == []

    def test_it_says_when_the_next_call_is_due(self) -> None:
        clock = ManualClock()
        first = clock.call_later(5, lambda: None)
        clock.call_later(9, lambda: None)
        clock.advance(1)
        assert clock.next_due() == 4.0
        first.cancel()
        assert clock.next_due() == 8.0

    def test_it_says_when_nobody_waits(self) -> None:
        assert ManualClock().next_due() is None

    async def test_a_sleeper_wakes_at_its_time(self) -> None:
        clock = ManualClock()
        sleeper = asyncio.create_task(sleep(clock, 60))
        await asyncio.sleep(0)
        clock.advance(59)
        await asyncio.sleep(0)
        early = sleeper.done()
        clock.advance(1)
        await sleeper
        assert not early

    async def test_a_sleeper_who_is_cancelled_leaves_no_timer(self) -> None:
        clock = ManualClock()
        sleeper = asyncio.create_task(sleep(clock, 60))
        await asyncio.sleep(0)
        sleeper.cancel()
        await asyncio.wait({sleeper})
        assert clock.next_due() is None


class TestSystemClock:
    def test_the_time_has_a_zone(self) -> None:
        assert SystemClock().now().tzinfo is UTC

    def test_it_does_not_go_back(self) -> None:
        clock = SystemClock()
        assert clock.monotonic() <= clock.monotonic()

    async def test_a_call_is_made(self) -> None:
        called = asyncio.Event()
        SystemClock().call_later(0, called.set)
        async with asyncio.timeout(10):
            await called.wait()

    async def test_a_cancelled_call_is_not_made(self) -> None:
        called, later = asyncio.Event(), asyncio.Event()
        clock = SystemClock()
        clock.call_later(0, called.set).cancel()
        clock.call_later(0, later.set)
        await later.wait()
        assert not called.is_set()


def test_a_time_without_a_zone_has_no_microseconds() -> None:
    with pytest.raises(TypeError):
        to_micros(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
