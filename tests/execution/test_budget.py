"""A session that has used up its budget holds until a person gives more. It neither crashes nor acts."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.execution.act import act
from belayer.execution.budget import exceeded
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.errors import BudgetExhausted, SessionFailed
from belayer.vocabulary.events.event import Budget, Status, Usage
from belayer.vocabulary.events.lifecycle import BudgetReached
from belayer.vocabulary.events.people import InputRequested
from belayer.wiring import kept_in_memory
from tests.support.engines import events_of, memory_engine, reached

usages = st.builds(
    Usage, tokens=st.integers(0, 50), usd=st.floats(0, 50), steps=st.integers(0, 50), seconds=st.floats(0, 50)
)


@given(usages)
def test_no_budget_is_no_limit(usage: Usage) -> None:
    assert exceeded(Budget(), 1, usage) is None


@given(usages, st.integers(1, 10), st.integers(1, 5))
def test_a_limit_is_reached_when_what_was_given_is_used(usage: Usage, steps: int, grants: int) -> None:
    over = exceeded(Budget(steps=steps), grants, usage)
    assert (over is not None) == (usage.steps >= steps * grants)


def counting(steps: int, worked: list[int]) -> Callable[..., Any]:
    """A workflow of so many steps."""

    async def workflow(run: Run) -> int:
        async def work(number: int) -> None:
            this_step().use(tokens=10, usd=0.1)
            worked.append(number)

        for number in range(steps):
            await run.step("work", act(work), number)
        return len(worked)

    return workflow


@pytest.mark.parametrize(
    ("budget", "done"),
    [(Budget(steps=2), 2), (Budget(tokens=25), 3), (Budget(usd=0.15), 2), (Budget(tokens=30), 3)],
    ids=["steps", "tokens", "usd", "tokens exactly"],
)
async def test_a_session_holds_when_a_limit_is_reached(budget: Budget, done: int) -> None:
    worked: list[int] = []
    workflow = counting(9, worked)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=budget)
        state = await session.settled()
        assert state.status is Status.WAITING
        (request,) = state.pending.values()
        assert isinstance(request, InputRequested)
        assert request.purpose == "budget"
    assert len(worked) == done


async def test_a_reached_limit_is_on_record() -> None:
    keeping = kept_in_memory()
    workflow = counting(9, [])
    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow, budget=Budget(steps=2))
        await session.settled()
    (reached_,) = await events_of(keeping, session.id, BudgetReached)
    assert (reached_.limit, reached_.allowed, reached_.used) == ("steps", 2, 2)


async def test_a_session_that_is_given_as_much_again_goes_on_as_far_again() -> None:
    worked: list[int] = []
    workflow = counting(5, worked)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=Budget(steps=2))
        await session.settled()
        await session.answer("extend")
        await session.settled()
        assert worked == [0, 1, 2, 3]
        await session.answer("extend")
        assert await session.result() == 5
    assert worked == [0, 1, 2, 3, 4]


async def test_a_session_that_is_given_nothing_more_fails_and_says_why() -> None:
    worked: list[int] = []
    workflow = counting(5, worked)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=Budget(steps=2))
        await session.settled()
        await session.answer("stop")
        with pytest.raises(SessionFailed) as failed:
            await session.result()
    assert failed.value.cause.kind == BudgetExhausted.__name__
    assert worked == [0, 1]


async def test_an_autonomous_session_fails_when_a_limit_is_reached() -> None:
    worked: list[int] = []
    workflow = counting(5, worked)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=Budget(steps=2), mode="autonomous")
        with pytest.raises(SessionFailed, match="2 steps") as failed:
            await session.result()
    assert failed.value.cause.kind == BudgetExhausted.__name__
    assert worked == [0, 1]


async def test_what_was_spent_survives_a_restart() -> None:
    keeping, worked = kept_in_memory(), list[int]()
    gate = asyncio.Event()

    async def workflow(run: Run) -> None:
        for number in range(4):
            await run.step("work", act(worked.append), number)
            if number == 0 and not gate.is_set():
                await run.ask("go", "Go on?")

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow, budget=Budget(steps=2))
        await session.settled()
    async with memory_engine(workflow, keeping=keeping) as engine:
        await engine.session(session.id).answer("yes")
        await engine.session(session.id).settled()
    assert worked == [0, 1]


async def test_a_rewind_does_not_give_back_what_was_spent() -> None:
    worked: list[int] = []
    workflow = counting(3, worked)
    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=Budget(steps=3))
        await reached(session, Status.COMPLETED)
        await session.rewind(2)
        await session.resume()
        state = await reached(session, Status.WAITING, Status.COMPLETED)
        assert state.status is Status.WAITING
    assert worked == [0, 1, 2]


async def test_branches_that_reach_the_limit_together_ask_once() -> None:
    worked: list[int] = []

    async def branch(run: Run) -> None:
        await run.step("work", act(worked.append), 1)

    async def workflow(run: Run) -> None:
        await run.step("first", act(worked.append), 0)
        await run.parallel("side", [branch, branch, branch])

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=Budget(steps=1))
        assert len((await session.settled()).pending) == 1


@pytest.mark.parametrize(("said", "ended"), [("extend", Status.COMPLETED), ("stop", Status.FAILED)])
async def test_the_question_stays_the_same_while_another_branch_still_spends(
    said: str, ended: Status
) -> None:
    gate = asyncio.Event()

    async def slow(run: Run) -> None:
        await run.step("slow", act(effect="read")(gate.wait))

    async def quick(run: Run) -> None:
        for number in range(4):
            await run.step("quick", act(effect="read")(str), number)

    async def workflow(run: Run) -> None:
        await run.parallel("side", [slow, quick])

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow, budget=Budget(steps=3))
        async for state, _ in engine.watch(session.id):
            if state.pending:
                break
        gate.set()
        await session.settled()
        await session.answer(said)
        assert (await session.settled()).status is ended
