"""Each category of failure has its own way on: waited out, corrected first, refreshed, reduced, or none."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.execution.act import act
from belayer.execution.retry import Again, RetryPolicy
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    Category,
    ConfigurationError,
    LogicError,
    ResourceShort,
    SessionFailed,
    TransientError,
)
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.steps import Retried
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import events_of, memory_engine, reached, until, while_time_flies


@given(st.integers(1, 200), st.floats(0, 1, exclude_max=True))
def test_a_transient_failure_is_retried_so_often_and_no_more(attempt: int, luck: float) -> None:
    assert (RetryPolicy().move_after(attempt, Category.TRANSIENT, luck) is None) == (attempt > 3)


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True))
def test_a_delay_doubles_up_to_a_limit_and_is_spread_over_its_upper_half(attempt: int, luck: float) -> None:
    move = RetryPolicy(retries=100).move_after(attempt, Category.TRANSIENT, luck)
    full = min(0.5 * 2 ** (attempt - 1), 30.0)
    assert move is not None
    assert full / 2 <= move.delay <= full


@given(st.integers(1, 20), st.sampled_from([Category.CONFIGURATION, Category.LOGIC]), st.floats(0, 1))
def test_what_somebody_has_to_correct_is_never_retried(attempt: int, category: Category, luck: float) -> None:
    assert RetryPolicy().move_after(attempt, category, luck) is None


def test_a_refused_permission_is_retried_once_after_a_refresh() -> None:
    assert RetryPolicy().move_after(1, Category.PERMISSION, 0.0) == Again(refresh=True)
    assert RetryPolicy().move_after(2, Category.PERMISSION, 0.0) is None


def test_a_shortage_is_retried_once_with_less() -> None:
    move = RetryPolicy().move_after(1, Category.RESOURCE, 0.0)
    assert move is not None
    assert move.reduce
    assert RetryPolicy().move_after(2, Category.RESOURCE, 0.0) is None


@dataclass(slots=True)
class Failing:
    """An act that fails as it is told, then works."""

    failures: list[BaseException]
    calls: list[tuple[int, bool]] = field(default_factory=list[tuple[int, bool]])
    keys: set[str] = field(default_factory=set[str])
    refreshed: int = 0

    async def work(self) -> str:
        step = this_step()
        self.calls.append((step.attempt, step.reduced))
        self.keys.add(step.idempotency_key)
        if self.failures:
            raise self.failures.pop(0)
        return "worked"

    async def refresh(self) -> None:
        self.refreshed += 1


async def worked(failing: Failing, keeping: Keeping | None = None, **manners: Any) -> object:
    """The result of a session whose one step fails like this."""
    clock = ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(**{"effect": "read", **manners})(failing.work))

    async with memory_engine(workflow, clock=clock, keeping=keeping) as engine:
        session = await engine.start(workflow)
        return await while_time_flies(clock, session.result())


MANNERS = [{"effect": "read"}, {"idempotent": True}, {}]
IDS = ["read", "idempotent", "effect"]


@pytest.mark.parametrize("manners", MANNERS, ids=IDS)
async def test_a_step_gets_over_three_transient_failures(manners: dict[str, Any]) -> None:
    failing = Failing([TransientError("busy")] * 3)
    assert await worked(failing, **{"effect": "external", **manners}) == "worked"
    assert [attempt for attempt, _ in failing.calls] == [1, 2, 3, 4]
    assert len(failing.keys) == 1


async def test_a_step_fails_for_good_after_four_transient_failures() -> None:
    failing = Failing([TransientError("busy")] * 4)
    with pytest.raises(SessionFailed, match="busy"):
        await worked(failing)
    assert len(failing.calls) == 4


async def test_every_retry_is_on_record_with_its_delay() -> None:
    keeping = kept_in_memory()
    await worked(Failing([TransientError("busy")] * 3), keeping)
    async with memory_engine(keeping=keeping, drives="none") as engine:
        (row,) = await engine.sessions()
    retried = await events_of(keeping, row.id, Retried)
    assert [event.attempt for event in retried] == [1, 2, 3]
    for event, full in zip(retried, [0.5, 1.0, 2.0], strict=True):
        assert full / 2 <= event.delay <= full


@pytest.mark.parametrize("retries", [0, 1, 4])
async def test_an_act_says_itself_how_often_it_is_retried(retries: int) -> None:
    failing = Failing([TransientError("busy")] * 10)
    with pytest.raises(SessionFailed):
        await worked(failing, retries=retries)
    assert len(failing.calls) == retries + 1


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError("no such model"),
        LogicError("makes no sense"),
        ValueError("nonsense"),
        KeyError("k"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_no_retry_mends(error: BaseException) -> None:
    failing = Failing([error])
    with pytest.raises(SessionFailed):
        await worked(failing)
    assert len(failing.calls) == 1


async def test_a_denied_step_is_tried_once_more_after_a_refresh() -> None:
    failing = Failing([AccessDenied("stale token")])
    assert await worked(failing, refresh=failing.refresh) == "worked"
    assert failing.refreshed == 1


async def test_a_step_that_is_denied_twice_fails() -> None:
    failing = Failing([AccessDenied("stale token")] * 2)
    with pytest.raises(SessionFailed, match="stale token"):
        await worked(failing, refresh=failing.refresh)
    assert len(failing.calls) == 2


async def test_a_step_that_is_denied_after_a_transient_failure_still_gets_its_refresh() -> None:
    failing = Failing([TransientError("busy"), AccessDenied("stale token")])
    assert await worked(failing, refresh=failing.refresh) == "worked"
    assert failing.refreshed == 1


async def test_a_step_that_is_short_is_tried_once_more_with_less() -> None:
    failing = Failing([ResourceShort("out of memory")])
    assert await worked(failing) == "worked"
    assert failing.calls == [(1, False), (2, True)]


async def test_a_step_that_is_short_after_a_transient_failure_is_still_tried_with_less() -> None:
    failing = Failing([TransientError("busy"), ResourceShort("out of memory")])
    assert await worked(failing) == "worked"
    assert failing.calls[-1][1] is True


async def test_a_step_that_is_short_twice_fails() -> None:
    failing = Failing([ResourceShort("out of memory")] * 2)
    with pytest.raises(SessionFailed, match="out of memory"):
        await worked(failing)
    assert len(failing.calls) == 2


FOREIGN: list[tuple[Callable[[], BaseException], Category]] = [
    (lambda: ConnectionRefusedError("refused"), Category.TRANSIENT),
    (lambda: ConnectionResetError("reset"), Category.TRANSIENT),
    (lambda: TimeoutError("slow"), Category.TRANSIENT),
    (lambda: EOFError("gone"), Category.TRANSIENT),
    (lambda: PermissionError("no"), Category.PERMISSION),
    (lambda: FileNotFoundError("where"), Category.CONFIGURATION),
    (lambda: OSError(28, "No space left on device"), Category.RESOURCE),
    (MemoryError, Category.RESOURCE),
    (lambda: ValueError("no"), Category.LOGIC),
]


@pytest.mark.parametrize(("error", "category"), FOREIGN)
async def test_a_foreign_failure_has_a_category_and_advice(
    error: Callable[[], BaseException], category: Category
) -> None:
    failing = Failing([error() for _ in range(9)])
    with pytest.raises(SessionFailed) as failed:
        await worked(failing)
    assert failed.value.problem().category is category
    assert failed.value.hint is not None


async def test_attempts_of_an_effect_are_counted_on_after_a_restart() -> None:
    keeping, clock = kept_in_memory(), ManualClock()
    failing = Failing([TransientError("busy")] * 9)

    async def workflow(run: Run) -> str:
        return await run.step("it", act(idempotent=True)(failing.work))

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await until(lambda: len(failing.calls) == 1)
    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        with pytest.raises(SessionFailed):
            await while_time_flies(clock, engine.session(session.id).result())
    assert [attempt for attempt, _ in failing.calls] == [1, 2, 3, 4]


async def test_attempts_of_a_read_are_counted_on_after_a_restart() -> None:
    keeping, clock = kept_in_memory(), ManualClock()
    failing = Failing([TransientError("busy")] * 9)

    async def workflow(run: Run) -> str:
        return await run.step("it", act(effect="read")(failing.work))

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await until(lambda: len(failing.calls) == 1)
    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        with pytest.raises(SessionFailed):
            await while_time_flies(clock, engine.session(session.id).result())
    assert [attempt for attempt, _ in failing.calls] == [1, 2, 3, 4]


async def test_a_workflow_may_go_on_after_a_step_that_failed_for_good() -> None:
    async def workflow(run: Run) -> str:
        try:
            return await run.step("it", act(effect="read")(Failing([LogicError("broken")]).work))
        except BelayerError as error:
            return f"went on after: {error.detail}"

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        assert (await reached(session, Status.COMPLETED)).result == "went on after: broken"
