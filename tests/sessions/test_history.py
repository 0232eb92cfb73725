"""What happened counts, once; what is too much to remember makes room for what is newer."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from belayer.sessions.history import History, Sample, ToolMetrics, load
from belayer.sessions.record import GENESIS, Record, chain
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import Category, Problem
from belayer.vocabulary.events.event import Aside, Effect, Status, StepStatus, Usage
from belayer.vocabulary.events.steps import Retried, StepChanged
from tests.sessions.test_integrity import at, change
from tests.support.records import (
    AT,
    add,
    beginning,
    create,
    entries,
    forked,
    named,
    now_is,
    records,
    said,
    writing,
)

ONE, TWO, THREE = named(1), named(2), named(3)
PROBLEM = Problem(kind="RateLimited", category=Category.TRANSIENT, detail="slow down")


def read(key: str = "a", seconds: float | None = 1.0, name: str = "fetch", **more: Any) -> StepChanged:
    """A step without effects: one event tells all."""
    more = {"status": StepStatus.COMPLETED, "input": "four", **more}
    return StepChanged(key=key, name=name, seconds=seconds, **more)


def begun(key: str = "a", given: Any = "four", **more: Any) -> StepChanged:
    return StepChanged(
        key=key, name="push", status=StepStatus.RUNNING, effect=Effect.WRITE, input=given, **more
    )


def ended(key: str = "a", seconds: float = 1.0, status: StepStatus = StepStatus.COMPLETED) -> StepChanged:
    return StepChanged(key=key, name="push", status=status, effect=Effect.WRITE, seconds=seconds)


def again(key: str = "a") -> Retried:
    return Retried(key=key, attempt=1, delay=0.5, problem=PROBLEM)


def heard(*events: Any) -> History:
    history = History()
    history.hear(records(ONE, *events))
    return history


def only(history: History) -> ToolMetrics:
    (metrics,) = history.metrics()
    return metrics


def times(history: History, name: str = "fetch") -> list[float]:
    return [sample.seconds for sample in history.samples(name)]


class TestSamples:
    def test_a_step_is_a_sample_of_its_input_and_its_duration(self) -> None:
        assert heard(read(input={"n": 1}, seconds=2.5)).samples("fetch") == [Sample(len('{"n":1}'), 2.5)]

    def test_no_input_is_no_bytes(self) -> None:
        assert heard(read(input=None)).samples("fetch") == [Sample(0.0, 1.0)]

    def test_an_input_laid_aside_counts_with_its_own_size(self) -> None:
        aside = {"input": Aside(digest="0" * 64, bytes=100_000)}
        assert heard(read(input=None, aside=aside)).samples("fetch") == [Sample(100_000.0, 1.0)]

    def test_a_step_with_effects_has_the_input_it_began_with(self) -> None:
        assert heard(begun(given="12345678"), ended()).samples("push") == [Sample(10.0, 1.0)]

    def test_steps_under_way_at_once_keep_their_own_inputs(self) -> None:
        history = heard(begun("a", "1"), begun("b", "12"), ended("b"), ended("a"))
        assert [sample.size for sample in history.samples("push")] == [4.0, 3.0]

    def test_a_step_whose_beginning_nobody_heard_counts_and_is_no_sample(self) -> None:
        history = heard(ended())
        assert history.samples("push") == []
        assert only(history).succeeded == 1

    def test_a_failure_is_no_sample(self) -> None:
        assert heard(read(status=StepStatus.FAILED)).samples("fetch") == []

    @pytest.mark.parametrize("name", ["now", "random", "sleep"])
    def test_a_mere_value_does_not_count(self, name: str) -> None:
        assert heard(read(name=name, seconds=None)).metrics() == []

    @pytest.mark.parametrize("status", [StepStatus.SKIPPED, StepStatus.PAUSED, StepStatus.PENDING])
    def test_a_step_that_did_not_end_does_not_count(self, status: StepStatus) -> None:
        assert heard(read(status=status)).metrics() == []

    @pytest.mark.parametrize("seconds", [b"-1.0", b"1e999", b"1e300", b"NaN"])
    def test_a_time_that_cannot_be_does_not_count(self, seconds: bytes) -> None:
        history, log = History(), records(ONE, read(seconds=1.5))
        log[0].data = log[0].data.replace(b"1.5", seconds)
        history.hear(log)
        assert history.metrics() == []

    def test_nobody_knows_anything_of_an_act_that_never_ran(self) -> None:
        assert History().samples("fetch") == []

    def test_the_newest_five_hundred_are_kept(self) -> None:
        history = heard(*(read(str(n), float(n)) for n in range(600)))
        assert times(history) == [float(n) for n in range(100, 600)]
        assert only(history).calls == 600

    def test_the_name_that_was_quiet_for_longest_makes_room(self) -> None:
        first = [read(str(n), name=f"act {n}") for n in range(1_000)]
        history = heard(*first, read("again", name="act 0"), read("more", name="one more"))
        names = {metrics.name for metrics in history.metrics()}
        assert len(names) == 1_000
        assert {"act 0", "one more"} <= names
        assert "act 1" not in names

    def test_what_never_ends_is_not_remembered_for_ever(self) -> None:
        history = heard(begun("old"), *(begun(str(n)) for n in range(10_000)), ended("old"), ended("9999"))
        assert len(history.samples("push")) == 1


class TestMetrics:
    def test_successes_failures_and_their_rate(self) -> None:
        metrics = only(heard(read("a"), read("b"), read("c"), read("d", status=StepStatus.FAILED)))
        assert (metrics.calls, metrics.succeeded, metrics.failed, metrics.success_rate) == (4, 3, 1, 0.75)

    def test_an_act_that_always_failed_has_no_quantiles(self) -> None:
        metrics = only(heard(read(status=StepStatus.FAILED)))
        assert (metrics.success_rate, metrics.p50, metrics.p95) == (0.0, None, None)

    def test_the_quantiles_are_those_of_the_successes(self) -> None:
        metrics = only(heard(*(read(str(n), float(n)) for n in range(1, 101))))
        assert (metrics.p50, metrics.p95) == (50.0, 95.0)

    def test_what_was_used_is_added_up(self) -> None:
        metrics = only(heard(read("a", usage=Usage(tokens=10, usd=0.5)), read("b", 2.0), read("c", 3.0)))
        assert (metrics.tokens, metrics.usd, metrics.seconds) == (10, 0.5, 6.0)

    def test_a_use_that_cannot_be_is_not_added(self) -> None:
        metrics = only(heard(read(usage=Usage(tokens=-5, usd=1e300))))
        assert (metrics.calls, metrics.tokens, metrics.usd) == (1, 0, 0.0)

    def test_the_time_of_the_last_call_is_that_of_its_record(self) -> None:
        assert only(heard(read("a"), read("b"), said())).last_at == AT + timedelta(seconds=1)

    def test_retries_count_for_the_act_whose_step_they_belong_to(self) -> None:
        history = heard(again("a"), again("a"), again("b"), read("a"), begun("b"), again("b"), ended("b"))
        assert {metrics.name: metrics.retried for metrics in history.metrics()} == {"fetch": 2, "push": 2}

    def test_acts_come_by_name(self) -> None:
        history = heard(*(read(name, name=name) for name in ("b", "c", "a")))
        assert [metrics.name for metrics in history.metrics()] == ["a", "b", "c"]


class TestHearing:
    def test_what_is_heard_twice_counts_once(self) -> None:
        history, log = History(), records(ONE, read("a"), read("b"))
        history.hear(log)
        history.hear(log)
        history.hear(log[1:])
        assert only(history).calls == 2

    def test_what_came_before_counts_when_it_is_heard_later(self) -> None:
        history, log = History(), records(ONE, *(read(str(n), float(n)) for n in range(6)))
        history.hear(log[3:5])
        history.hear(log)
        history.hear(log)
        assert times(history) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        assert only(history).calls == 6

    def test_sessions_are_told_apart(self) -> None:
        history = heard(read())
        history.hear(records(TWO, read()))
        assert only(history).calls == 2

    def test_what_cannot_be_read_is_passed_over(self) -> None:
        history, log = History(), records(ONE, read("a"), read("b"), read("c"))
        log[1].data = b'{"key": 7}'
        log[2].version = 999
        history.hear(log)
        assert only(history).calls == 1

    async def test_what_a_fork_copied_does_not_count_again(self) -> None:
        store, history = MemoryStore(), History()
        history.hear(await create(store, ONE, beginning(), read("a"), now_is(Status.COMPLETED)))
        async with writing(store) as log:
            log.listen(history.hear)
            fork = await forked(log, store, Fork(session_id=ONE), AT)
            assert only(history).calls == 1
            await log.append(fork, [read("b")])
        assert only(history).calls == 2


class TestLoading:
    async def test_the_newest_sessions_are_heard_oldest_first(self) -> None:
        store, history = MemoryStore(), History()
        for number in (1, 2, 3):
            seconds, when = float(number), AT + timedelta(hours=number)
            await create(store, named(number), beginning(), read(seconds=seconds), at=when)
        await load(store, history, sessions=2)
        assert times(history) == [2.0, 3.0]

    async def test_more_sessions_than_fit_a_page_are_all_heard(self) -> None:
        store, history = MemoryStore(), History()
        for number in range(450):
            await create(store, named(number), beginning(), read())
        await load(store, history, sessions=430)
        assert only(history).calls == 430

    async def test_a_damaged_session_is_left_out(self, tmp_path: Path) -> None:
        store, history = await SqliteStore.open(tmp_path / "b.db"), History()
        await create(store, ONE, beginning(), read(seconds=1.0), said())
        await create(store, TWO, beginning(), read(seconds=2.0))
        change(tmp_path / "b.db", f"UPDATE events SET at = at + 1 WHERE {at(3)}")
        await load(store, history)
        await store.close()
        assert times(history) == [2.0]

    async def test_what_is_written_while_loading_counts_once(self) -> None:
        store, history = MemoryStore(), History()
        await create(store, ONE, beginning(), read("a", 1.0), read("b", 2.0))
        history.hear(await add(store, ONE, read("c", 3.0), at=AT + timedelta(hours=1)))
        await load(store, history)
        history.hear(await add(store, ONE, read("d", 4.0), at=AT + timedelta(hours=2)))
        await load(store, history)
        assert times(history) == [1.0, 2.0, 3.0, 4.0]

    async def test_what_was_loaded_before_it_was_told_counts_once(self) -> None:
        store, history = MemoryStore(), History()
        await create(store, ONE, beginning())
        told: list[Record] = await add(store, ONE, read("a"))
        await load(store, history)
        history.hear(told)
        assert only(history).calls == 1

    async def test_a_fork_is_loaded_without_what_it_copied(self) -> None:
        store, history = MemoryStore(), History()
        await create(store, ONE, beginning(), read("a"))
        async with writing(store) as log:
            fork = await forked(log, store, Fork(session_id=ONE), AT)
            await log.append(fork, [read("b")])
        await load(store, history)
        assert only(history).calls == 2

    async def test_an_empty_store_is_an_empty_history(self) -> None:
        history = History()
        await load(MemoryStore(), history)
        assert history.metrics() == []


def test_later_records_do_not_move_earlier_samples() -> None:
    history = History()
    history.hear(chain(TWO, 0, GENESIS, entries(read(seconds=2.0), at=AT + timedelta(hours=1))))
    history.hear(chain(ONE, 0, GENESIS, entries(read(seconds=1.0), at=AT)))
    assert times(history) == [1.0, 2.0]
