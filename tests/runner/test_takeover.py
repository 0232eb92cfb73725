"""Several engines on one home: each session has one driver, a dead one is replaced, and all hear of each other."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.sessions.lease import LockedDrivers
from belayer.vocabulary.clock import ManualClock, SystemClock
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.events.people import InputRequested
from belayer.vocabulary.events.steps import DoubtRaised
from belayer.wiring import kept_in
from tests.support.engines import Gate, damage_of, events_of, home_engine, reached, until

_ROOT = Path(__file__).parents[2]


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


async def test_two_engines_on_one_home_share_the_work_and_repeat_none(tmp_path: Path) -> None:
    done: Counter[int] = Counter()

    async def workflow(run: Run, number: int) -> int:
        async def work() -> int:
            done[number] += 1
            await asyncio.sleep(0)
            return number

        return await run.step("it", act(work))

    async with home_engine(tmp_path, workflow) as first, home_engine(tmp_path, workflow) as second:
        sessions = [await (first, second)[number % 2].start(workflow, number) for number in range(60)]
        assert [await session.result() for session in sessions] == list(range(60))
        assert await damage_of(first) == []
    assert done == Counter(range(60))


async def test_no_session_is_in_doubt_because_two_engines_share_a_home(tmp_path: Path) -> None:
    async def workflow(run: Run, number: int) -> int:
        for _ in range(3):
            await run.step("it", act(_nothing))
        return number

    async with home_engine(tmp_path, workflow) as first, home_engine(tmp_path, workflow) as second:
        sessions = [await (first, second)[number % 2].start(workflow, number) for number in range(30)]
        for session in sessions:
            await session.result()
    async with kept_in(tmp_path, SystemClock()) as keeping:
        for session in sessions:
            assert await events_of(keeping, session.id, DoubtRaised) == []


async def _nothing() -> None:
    await asyncio.sleep(0)


async def test_a_session_is_not_taken_from_a_driver_that_lives(tmp_path: Path) -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    clock = ManualClock()
    async with home_engine(tmp_path, workflow) as first:
        session = await first.start(workflow)
        await gate.reached()
        async with home_engine(tmp_path, workflow, clock=clock):
            for _ in range(20):
                clock.advance(5)
                await asyncio.sleep(0.005)
            assert gate.begun == ["it"]
        gate.open()
        assert await session.result() == "it"


async def test_a_step_still_under_way_here_is_not_put_in_doubt_by_another_engine_after_a_resume(
    tmp_path: Path,
) -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with home_engine(tmp_path, workflow) as here, home_engine(tmp_path, workflow) as there:
        session = await here.start(workflow)
        await until(lambda: gate.begun == ["it"])
        await there.session(session.id).pause()
        await there.session(session.id).resume()
        # Long enough for the other engine to look around; there is no event to wait for when nothing may happen.
        await asyncio.sleep(0.3)
        gate.open()
        state = await reached(session, Status.COMPLETED, Status.WAITING)
        assert (state.status, state.result) == (Status.COMPLETED, "it")
    assert gate.begun == ["it"]


def test_a_driver_that_is_just_starting_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another driver starts, and tidies up, at the very moment before the first one has its lock."""
    lock = fcntl.flock
    with ExitStack() as stack:
        others: list[LockedDrivers] = []

        def start_another_first(file: Any, how: int) -> None:
            if how & fcntl.LOCK_EX and not others:
                others.append(LockedDrivers(tmp_path, "other"))
                stack.enter_context(others[0])
            lock(file, how)

        monkeypatch.setattr(fcntl, "flock", start_another_first)
        stack.enter_context(LockedDrivers(tmp_path, "first"))
        assert others[0].alive("first")


async def test_an_answer_given_in_another_engine_wakes_the_session_here(tmp_path: Path) -> None:
    async with home_engine(tmp_path, asking) as here, home_engine(tmp_path, drives="none") as there:
        session = await here.start(asking)
        await session.settled()
        await there.session(session.id).answer("Ada")
        assert await session.result() == "Ada"


async def test_a_pause_given_in_another_engine_stops_the_session_here(tmp_path: Path) -> None:
    gate = Gate()

    async def workflow(run: Run) -> list[str]:
        return [await run.step("it", act(gate.pass_), str(number)) for number in range(3)]

    async with home_engine(tmp_path, workflow) as here, home_engine(tmp_path, drives="none") as there:
        session = await here.start(workflow)
        await gate.reached()
        await there.session(session.id).pause()
        gate.open()
        await until(lambda: gate.through == ["0"])
        async with home_engine(tmp_path, drives="none") as looking:
            assert (await looking.state(session.id)).status is Status.PAUSED
        assert gate.begun == ["0"]
        await there.session(session.id).resume()
        assert await session.result() == ["0", "1", "2"]


async def test_an_interrupt_given_in_another_engine_stops_the_step_here(tmp_path: Path) -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with home_engine(tmp_path, workflow) as here, home_engine(tmp_path, drives="none") as there:
        session = await here.start(workflow)
        await gate.reached()
        await there.session(session.id).interrupt()
        async with asyncio.timeout(10):
            while not gate.stopped:
                await asyncio.sleep(0.01)


async def test_an_answer_that_arrives_while_another_branch_works_is_taken_up(tmp_path: Path) -> None:
    gate = Gate()

    async def working(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [asking, working])

    async with home_engine(tmp_path, workflow) as here, home_engine(tmp_path, drives="none") as there:
        session = await here.start(workflow)
        await gate.reached()
        (request,) = (await there.state(session.id)).pending
        await there.session(session.id).answer("Ada", request)
        gate.open()
        assert await session.result() == ["Ada", "it"]
    assert gate.through == ["it"]


async def test_a_follower_misses_nothing_that_another_engine_wrote(tmp_path: Path) -> None:
    gate = Gate()

    async def working(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async def workflow(run: Run) -> list[str]:
        return await run.parallel("side", [asking, working])

    async with home_engine(tmp_path, workflow) as here, home_engine(tmp_path, drives="none") as there:
        session = await here.start(workflow)
        await gate.reached()
        seen: list[int] = []

        async def follow() -> None:
            nonlocal seen
            async for frame in here.follow(session.id):
                seen += [frame.seq] if frame.seq is not None else []

        following = asyncio.create_task(follow())
        (request,) = (await there.state(session.id)).pending
        await until(lambda: len(seen) >= 3)
        await there.session(session.id).answer("Ada", request)
        gate.open()
        await session.result()
        last = (await session.state()).seq
        async with asyncio.timeout(5):
            while not seen or seen[-1] < last:
                await asyncio.sleep(0.01)
        following.cancel()
    assert seen == list(range(1, last + 1))


async def test_a_follower_here_sees_the_end_of_a_session_driven_elsewhere(tmp_path: Path) -> None:
    async with home_engine(tmp_path, drives="none") as here, home_engine(tmp_path, asking) as there:
        session = await there.start(asking)
        await session.settled()
        waiting = asyncio.create_task(here.session(session.id).result())
        await session.answer("Ada")
        async with asyncio.timeout(10):
            assert await waiting == "Ada"


DRIVER = """
import asyncio, sys
from pathlib import Path
from belayer import Run, act, open_engine

async def hang(what: str) -> str:
    print("begun", flush=True)
    await asyncio.Event().wait()

MANNERS = {"effect": act(name="it")(hang), "idempotent": act(name="it", idempotent=True)(hang)}

async def workflow(run: Run, manner: str) -> str:
    return await run.step("it", MANNERS[manner], "it")

async def main() -> None:
    async with open_engine(Path(sys.argv[1]), workflows=[workflow]) as engine:
        await engine.start(workflow, sys.argv[2])
        await asyncio.Event().wait()

asyncio.run(main())
"""


def killed_driver(home: Path, manner: str) -> None:
    """A process that began a step in the home and was killed."""
    command = [sys.executable, "-c", DRIVER, str(home), manner]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("manner", ["effect", "idempotent"])
async def test_a_session_whose_driver_died_is_taken_over_by_an_engine_that_runs(
    tmp_path: Path, manner: str
) -> None:
    calls: list[str] = []

    async def it(what: str) -> str:
        calls.append(what)
        return "done"

    acts = {"effect": act(name="it")(it), "idempotent": act(name="it", idempotent=True)(it)}

    async def workflow(run: Run, manner: str) -> str:
        return await run.step("it", acts[manner], "it")

    clock = ManualClock()
    async with home_engine(tmp_path, workflow, clock=clock) as engine:
        await asyncio.to_thread(killed_driver, tmp_path, manner)
        (row,) = await engine.sessions()
        session = engine.session(row.id)
        for _ in range(3):
            clock.advance(5)
            await asyncio.sleep(0.02)
        state = await reached(session, Status.WAITING, Status.COMPLETED)
        if manner == "effect":
            (request,) = state.pending.values()
            assert isinstance(request, InputRequested)
            assert request.purpose == "in_doubt"
            assert calls == []
        else:
            assert state.result == "done"


async def test_every_taking_raises_the_epoch(tmp_path: Path) -> None:
    async with home_engine(tmp_path, asking) as engine:
        session = await engine.start(asking)
        await session.settled()
    for number in range(3):
        async with home_engine(tmp_path, asking) as engine:
            await engine.session(session.id).pause()
            await engine.session(session.id).resume()
            await reached(engine.session(session.id), Status.WAITING)
            assert number < 3
    async with kept_in(tmp_path, SystemClock()) as keeping:
        taken = [event.epoch for event in await events_of(keeping, session.id, SessionChanged) if event.epoch]
    assert taken == [1, 2, 3, 4]


async def test_engines_that_come_and_go_lose_no_session(tmp_path: Path) -> None:
    done: Counter[int] = Counter()

    async def workflow(run: Run, number: int) -> int:
        for _ in range(5):
            await run.step("it", act(_nothing))
        await run.step("last", act(lambda: done.update([number])))
        return number

    async with home_engine(tmp_path, drives="none") as keeper:
        sessions = [await keeper.start(workflow, number) for number in range(40)]
        for _ in range(4):
            async with AsyncExitStack() as stack:
                for _ in range(2):
                    await stack.enter_async_context(home_engine(tmp_path, workflow, concurrency=4))
                await asyncio.sleep(0)
        async with home_engine(tmp_path, workflow):
            assert [await keeper.session(session.id).result() for session in sessions] == list(range(40))
    assert done == Counter(range(40))
