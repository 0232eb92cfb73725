"""A step is done once for ever under its key; a run that has to wait leaves, whatever its workflow catches."""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable

import pytest

from belayer.engine import Session
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import LogicError, NeedsPerson, SessionFailed, StepFailed
from belayer.vocabulary.events.event import Effect, Json, Status, StepStatus
from belayer.vocabulary.events.lifecycle import CheckpointMade, Logged
from belayer.vocabulary.events.steps import Planned, StepChanged
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import events_of, memory_engine, reached, until, while_time_flies


class Counted:
    """Acts that remember how often they were called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    @property
    def read(self) -> Callable[[str], Awaitable[str]]:
        return act(name="read", effect="read")(self._call)

    @property
    def send(self) -> Callable[[str], Awaitable[str]]:
        return act(name="send")(self._call)

    async def _call(self, what: str) -> str:
        self.calls.append(what)
        return f"did {what}"


async def answered(session: Session, value: Json = "yes") -> None:
    await session.settled()
    await session.answer(value)


@pytest.mark.parametrize("manner", ["read", "send"])
async def test_a_finished_step_is_replayed_and_not_run_again(manner: str) -> None:
    counted = Counted()

    async def workflow(run: Run) -> str:
        done = await run.step("it", getattr(counted, manner), "it")
        await run.ask("go", "Go on?")
        return done

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await answered(session)
        assert await session.result() == "did it"
    assert counted.calls == ["it"]


async def test_a_failed_step_fails_the_same_way_when_it_is_replayed() -> None:
    calls: list[int] = []
    seen: list[str] = []

    async def fail() -> None:
        calls.append(1)
        raise ValueError("no such luck")

    async def workflow(run: Run) -> None:
        try:
            await run.step("it", act(effect="read")(fail))
        except StepFailed as failed:
            seen.append(f"{failed.key} {failed.detail} {failed.hint} {failed.cause.kind}")
        await run.ask("go", "Go on?")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await answered(session)
        await session.result()
    assert calls == [1]
    assert len(seen) == 2
    assert seen[0] == seen[1]


async def test_an_effect_is_on_record_before_it_happens() -> None:
    keeping = kept_in_memory()
    found: list[StepStatus] = []

    async def workflow(run: Run) -> None:
        async def look() -> None:
            found.extend(event.status for event in await events_of(keeping, run.session_id, StepChanged))

        await run.step("it", look)

    async with memory_engine(workflow, keeping=keeping) as engine:
        await (await engine.start(workflow)).result()
    assert found == [StepStatus.RUNNING]


async def test_a_step_that_only_reads_is_recorded_once() -> None:
    keeping, counted = kept_in_memory(), Counted()

    async def workflow(run: Run) -> None:
        await run.step("it", counted.read, "it")

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await session.result()
    assert [event.status for event in await events_of(keeping, session.id, StepChanged)] == [
        StepStatus.COMPLETED
    ]


async def test_an_undeclared_function_is_taken_to_change_the_world() -> None:
    assert act(print).effect is Effect.EXTERNAL
    assert not act(print).repeatable


async def test_a_key_used_again_gets_a_counter() -> None:
    keeping, counted = kept_in_memory(), Counted()

    async def workflow(run: Run) -> None:
        for place in range(3):
            await run.step("fetch", counted.read, str(place))

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await session.result()
    keys = [event.key for event in await events_of(keeping, session.id, StepChanged)]
    assert keys == ["fetch", "fetch#2", "fetch#3"]


@pytest.mark.parametrize("key", ["", "a#2", "x" * 201])
async def test_a_key_that_could_be_taken_for_another_is_refused(key: str) -> None:
    async def workflow(run: Run) -> None:
        await run.step(key, Counted().read, "it")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        with pytest.raises(SessionFailed, match="cannot be a step's key"):
            await session.result()


async def test_two_places_of_a_workflow_never_share_a_key() -> None:
    keeping, counted = kept_in_memory(), Counted()

    async def branch(run: Run) -> str:
        return await run.step("it", counted.read, "branch")

    async def workflow(run: Run) -> list[str]:
        await run.step("side/0/it", counted.read, "alone")
        done = await run.parallel("side", [branch])
        await run.ask("go", "Go on?")
        return done

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await session.settled()
        keys = [event.key for event in await events_of(keeping, session.id, StepChanged)]
        assert len(keys) == len(set(keys))


async def test_parallel_branches_give_their_results_in_order() -> None:
    gates = [asyncio.Event() for _ in range(3)]

    async def workflow(run: Run) -> list[int]:
        async def branch(run: Run, place: int) -> int:
            async def wait() -> int:
                await gates[place].wait()
                return place

            return await run.step("wait", act(effect="read")(wait))

        return await run.parallel("side", [functools.partial(branch, place=place) for place in range(3)])

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        for gate in reversed(gates):
            gate.set()
            await asyncio.sleep(0)
        assert await session.result() == [0, 1, 2]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_parallel_branches_are_replayed_in_any_order(order: tuple[int, ...]) -> None:
    counted = Counted()
    gates = [asyncio.Event() for _ in range(3)]
    rounds: list[list[str]] = []

    async def workflow(run: Run) -> list[str]:
        async def branch(run: Run, place: int) -> str:
            if not rounds:
                await gates[place].wait()
            return await run.step("it", counted.send, str(place)) + await run.step(
                "it", counted.read, f"{place}!"
            )

        rounds.append(
            await run.parallel("side", [functools.partial(branch, place=place) for place in range(3)])
        )
        await run.ask("go", "Go on?")
        return rounds[-1]

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        for place in order:
            gates[place].set()
            await until(lambda place=place: f"{place}!" in counted.calls)
        await answered(session)
        await session.result()
    assert rounds == [[f"did {place}did {place}!" for place in range(3)]] * 2
    assert len(counted.calls) == 6


async def test_no_more_branches_run_at_once_than_the_limit() -> None:
    at_once: list[int] = []
    running: set[int] = set()

    async def workflow(run: Run) -> None:
        async def branch(run: Run, place: int) -> None:
            async def work() -> None:
                running.add(place)
                at_once.append(len(running))
                for _ in range(10):
                    await asyncio.sleep(0)
                running.discard(place)

            await run.step("work", act(effect="read")(work))

        branches = [functools.partial(branch, place=place) for place in range(6)]
        await run.parallel("side", branches, limit=2)

    async with memory_engine(workflow) as engine:
        await (await engine.start(workflow)).result()
    assert max(at_once) == 2
    assert len(at_once) == 6


async def test_a_failure_in_one_branch_beats_a_wait_in_another() -> None:
    counted = Counted()

    async def asking(run: Run) -> str:
        return await run.ask("name", "Your name?")

    async def failing(run: Run) -> str:
        await run.step("first", counted.send, "first")
        raise LogicError("this branch is broken")

    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [asking, failing])

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        with pytest.raises(SessionFailed, match="this branch is broken"):
            await session.result()


async def test_branches_go_as_far_as_they_can_before_the_run_waits() -> None:
    counted = Counted()

    async def asking(run: Run) -> str:
        return await run.ask("name", "Your name?")

    async def working(run: Run) -> str:
        return "".join([await run.step("it", counted.send, str(place)) for place in range(3)])

    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [asking, working])

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        assert counted.calls == ["0", "1", "2"]
        await session.answer("Ada")
        assert await session.result() == ["Ada", "did 0did 1did 2"]
    assert counted.calls == ["0", "1", "2"]


async def test_two_branches_may_ask_at_once_and_be_answered_in_any_order() -> None:
    async def asking(run: Run) -> str:
        return await run.ask("name", "Your name?")

    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [asking, asking])

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        first, second = (await session.settled()).pending
        await session.answer("Bob", second)
        await session.settled()
        await session.answer("Ada", first)
        assert await session.result() == ["Ada", "Bob"]


async def test_parallel_without_branches_gives_nothing() -> None:
    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [])

    async with memory_engine(workflow) as engine:
        assert await (await engine.start(workflow)).result() == []


async def test_a_workflow_that_catches_exceptions_around_a_question_still_waits() -> None:
    async def workflow(run: Run) -> str:
        try:
            return await run.ask("name", "Your name?")
        except Exception:
            return "nobody"

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        assert (await session.settled()).status is Status.WAITING
        await session.answer("Ada")
        assert await session.result() == "Ada"


async def test_a_workflow_that_catches_everything_around_a_question_still_waits() -> None:
    async def workflow(run: Run) -> str:
        try:
            return await run.ask("name", "Your name?")
        except BaseException:
            return "nobody"

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        assert (await session.settled()).status is Status.WAITING


async def test_a_workflow_that_catches_everything_and_goes_on_does_nothing_more_until_it_is_answered() -> (
    None
):
    counted = Counted()

    async def workflow(run: Run) -> str:
        try:
            name = await run.ask("name", "Your name?")
        except BaseException:
            name = "nobody"
        return await run.step("greet", counted.send, name)

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        assert counted.calls == []
        await session.answer("Ada")
        assert await session.result() == "did Ada"


async def test_a_finally_block_does_nothing_while_the_run_leaves() -> None:
    counted = Counted()

    async def workflow(run: Run) -> str:
        try:
            return await run.ask("name", "Your name?")
        finally:
            await run.step("tidy", counted.send, "tidy")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        assert counted.calls == []
        await session.answer("Ada")
        assert await session.result() == "Ada"
    assert counted.calls == ["tidy"]


async def test_a_question_inside_a_task_group_does_not_stop_the_engine() -> None:
    async def grouped(run: Run) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(run.ask("name", "Your name?"))

    async def plain(run: Run) -> str:
        return await run.step("it", Counted().read, "it")

    async with memory_engine(grouped, plain) as engine, asyncio.timeout(10):
        session = await engine.start(grouped)
        await session.settled()
        assert await (await engine.start(plain)).result() == "did it"


async def test_a_workflow_that_cancels_itself_fails_alone() -> None:
    async def leaving(run: Run) -> None:
        raise asyncio.CancelledError

    async def plain(run: Run) -> str:
        return await run.step("it", Counted().read, "it")

    async with memory_engine(leaving, plain) as engine, asyncio.timeout(10):
        session = await engine.start(leaving)
        assert (await session.settled()).status is Status.FAILED
        assert await (await engine.start(plain)).result() == "did it"


async def test_an_act_that_cancels_itself_is_not_run_over_and_over() -> None:
    calls: list[int] = []

    async def cancelling() -> None:
        calls.append(1)
        raise asyncio.CancelledError

    async def workflow(run: Run) -> None:
        await run.step("it", act(effect="read")(cancelling))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await until(lambda: len(calls) >= 1)
        assert (await session.settled()).status is Status.FAILED
    assert len(calls) == 1


async def test_a_blocking_act_runs_in_a_thread_of_its_own() -> None:
    threads: list[threading.Thread] = []

    def block() -> int:
        threads.append(threading.current_thread())
        return 7

    async def workflow(run: Run) -> int:
        return await run.step("it", act(effect="read")(block))

    async with memory_engine(workflow) as engine:
        assert await (await engine.start(workflow)).result() == 7
    assert threads != [threading.main_thread()]


async def test_a_blocking_act_knows_its_step() -> None:
    keys: list[str] = []

    async def workflow(run: Run) -> None:
        await run.step("it", act(effect="read")(lambda: keys.append(this_step().key)))

    async with memory_engine(workflow) as engine:
        await (await engine.start(workflow)).result()
    assert keys == ["it"]


async def test_an_object_that_can_be_awaited_when_called_is_an_act() -> None:
    class Greeter:
        async def __call__(self, name: str) -> str:
            return f"hello {name}"

    async def workflow(run: Run) -> str:
        return await run.step("greet", act(effect="read")(Greeter()), "Ada")

    async with memory_engine(workflow) as engine:
        assert await (await engine.start(workflow)).result() == "hello Ada"


async def test_this_step_outside_of_a_step_is_an_error_that_says_so() -> None:
    with pytest.raises(LogicError, match="No step is under way") as raised:
        this_step()
    assert raised.value.hint is not None


async def test_steps_side_by_side_each_know_their_own_step() -> None:
    async def look() -> str:
        await asyncio.sleep(0)
        return this_step().key

    async def workflow(run: Run) -> list[str]:
        async def branch(run: Run) -> str:
            return await run.step("look", act(effect="read")(look))

        return await run.parallel("side", [branch, branch])

    async with memory_engine(workflow) as engine:
        assert await (await engine.start(workflow)).result() == ["side/0/look", "side/1/look"]


async def test_what_an_act_uses_counts_for_its_session() -> None:
    async def think() -> None:
        this_step().use(tokens=10, usd=0.5)
        this_step().use(tokens=5)

    async def workflow(run: Run) -> None:
        await run.step("think", act(effect="read")(think))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.result()
        usage = (await session.state()).usage
    assert (usage.tokens, usage.usd, usage.steps) == (15, 0.5, 1)


async def test_the_idempotency_key_changes_after_a_rewind() -> None:
    keys: list[str] = []

    async def charge() -> None:
        keys.append(this_step().idempotency_key)

    async def workflow(run: Run) -> None:
        await run.step("charge", act(idempotent=True)(charge))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.result()
        await session.rewind(2)
        await session.resume()
        await reached(session, Status.COMPLETED)
    assert len(set(keys)) == 2


async def test_the_idempotency_key_of_a_fork_is_another() -> None:
    keys: list[str] = []

    async def charge() -> None:
        keys.append(this_step().idempotency_key)

    async def workflow(run: Run) -> None:
        await run.step("charge", act(idempotent=True)(charge))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.result()
        fork = await session.fork(2)
        await fork.resume()
        await reached(fork, Status.COMPLETED)
    assert len(set(keys)) == 2


async def test_time_and_luck_are_the_same_on_every_replay() -> None:
    clock = ManualClock()
    seen: list[tuple[object, ...]] = []

    async def workflow(run: Run) -> None:
        seen.append((await run.now(), await run.random(), await run.now(), await run.random()))
        await run.ask("go", "Go on?")

    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow)
        await session.settled()
        clock.advance(1000)
        await session.answer("yes")
        await session.result()
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert seen[0][1] != seen[0][3]


async def test_a_line_a_plan_and_a_checkpoint_are_noted_once() -> None:
    keeping = kept_in_memory()

    async def workflow(run: Run) -> None:
        await run.plan("first", ("second", "The second"))
        await run.log("begun")
        await run.log("begun")
        await run.checkpoint("here")
        await run.ask("go", "Go on?")

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await answered(session)
        await session.result()
    counts = [len(await events_of(keeping, session.id, kind)) for kind in (Planned, Logged, CheckpointMade)]
    assert counts == [1, 2, 1]


async def test_a_run_sleeps_across_a_restart_and_wakes_at_the_recorded_time() -> None:
    keeping, clock = kept_in_memory(), ManualClock()
    woke: list[float] = []

    async def workflow(run: Run) -> None:
        await run.sleep(3600)
        woke.append(clock.monotonic())

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        assert (await session.settled()).status is Status.WAITING
    clock.advance(1000)
    began = clock.monotonic()
    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        await while_time_flies(clock, engine.session(session.id).result())
    assert began < 3600 <= woke[0] < 3700


async def test_a_time_that_has_passed_is_not_waited_for() -> None:
    clock = ManualClock()

    async def workflow(run: Run) -> str:
        await run.sleep_until(clock.now())
        return "up"

    async with memory_engine(workflow, clock=clock) as engine:
        assert await (await engine.start(workflow)).result() == "up"


async def test_a_timer_that_came_due_while_no_engine_ran_is_kept() -> None:
    keeping, clock = kept_in_memory(), ManualClock()

    async def workflow(run: Run) -> str:
        await run.sleep(60)
        return "up"

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await session.settled()
    clock.advance(1_000_000)
    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        assert await while_time_flies(clock, engine.session(session.id).result()) == "up"


async def test_the_earliest_of_several_timers_wakes_the_run() -> None:
    clock = ManualClock()
    woke: list[str] = []

    async def workflow(run: Run) -> None:
        async def branch(run: Run, seconds: float) -> None:
            await run.sleep(seconds)
            await run.step("woke", act(woke.append), str(seconds))

        await run.parallel("side", [functools.partial(branch, seconds=s) for s in (300.0, 60.0)])

    async with memory_engine(workflow, clock=clock) as engine:
        await while_time_flies(clock, (await engine.start(workflow)).result())
    assert woke == ["60.0", "300.0"]


async def autonomous_failure(workflow: Callable[..., Awaitable[object]], keeping: Keeping) -> SessionFailed:
    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow, mode="autonomous")
        with pytest.raises(SessionFailed) as failed:
            await session.result()
        assert (await session.state()).pending == {}
    return failed.value


async def test_an_autonomous_session_that_has_to_ask_fails_and_says_what_it_needed() -> None:
    async def workflow(run: Run) -> str:
        return await run.ask("name", "Your name?")

    failed = await autonomous_failure(workflow, kept_in_memory())
    assert failed.cause.kind == NeedsPerson.__name__
    assert "Your name?" in failed.detail
    assert failed.hint is not None


async def test_an_autonomous_session_that_needs_an_approval_fails_and_says_what_it_needed() -> None:
    async def workflow(run: Run) -> bool:
        return bool(await run.approve("plan", {"delete": "everything"}, title="The plan"))

    failed = await autonomous_failure(workflow, kept_in_memory())
    assert failed.cause.kind == NeedsPerson.__name__
    assert "The plan" in failed.detail


async def test_an_autonomous_session_may_sleep() -> None:
    clock = ManualClock()

    async def workflow(run: Run) -> str:
        await run.sleep(60)
        return "up"

    async with memory_engine(workflow, clock=clock) as engine:
        session = await engine.start(workflow, mode="autonomous")
        assert await while_time_flies(clock, session.result()) == "up"
