"""Ready sessions are driven, so many at once; waiting ones cost nothing; a broken one stands in nobody's way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import structlog

from belayer.engine import Session
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.sessions.record import Record
from belayer.sessions.store import Answers, Proposal
from belayer.sessions.stores.memory import MemoryStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.steps import DoubtRaised, StepChanged
from belayer.vocabulary.ids import SessionId
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import Gate, damage_of, events_of, home_engine, memory_engine, turns, until


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


async def plain(run: Run, number: int = 0) -> int:
    return await run.step("it", act(effect="read")(lambda: number))


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_sessions_run_at_once_than_allowed(concurrency: int) -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow, concurrency=concurrency) as engine:
        sessions = [await engine.start(workflow) for _ in range(10)]
        await turns()
        assert len(gate.begun) == concurrency
        gate.open()
        for session in sessions:
            assert await session.result() == "it"


async def test_a_waiting_session_leaves_its_place_to_others() -> None:
    async with memory_engine(asking, plain, concurrency=1) as engine:
        for _ in range(5):
            await engine.start(asking)
        assert await (await engine.start(plain, 7)).result() == 7


async def test_sessions_are_taken_in_the_order_they_became_ready() -> None:
    order: list[int] = []
    clock, keeping = ManualClock(), kept_in_memory()

    async def workflow(run: Run, number: int) -> None:
        order.append(number)

    async with memory_engine(workflow, keeping=keeping, clock=clock, drives="none") as engine:
        sessions = []
        for number in range(10):
            sessions.append(await engine.start(workflow, number))
            clock.advance(1)
    async with memory_engine(workflow, keeping=keeping, clock=clock, concurrency=1) as engine:
        for session in sessions:
            await engine.session(session.id).result()
    assert order == list(range(10))


async def test_two_hundred_waiting_sessions_leave_no_task_behind() -> None:
    async with memory_engine(asking) as engine:
        first = await engine.start(asking)
        await first.settled()
        await turns()
        before = len(asyncio.all_tasks())
        sessions = [await engine.start(asking) for _ in range(200)]
        for session in sessions:
            await session.settled()
        await turns()
        assert len(asyncio.all_tasks()) == before


async def test_two_hundred_sleeping_sessions_leave_no_task_behind() -> None:
    async def sleeping(run: Run) -> None:
        await run.sleep(3600)

    async with memory_engine(sleeping) as engine:
        first = await engine.start(sleeping)
        await first.settled()
        await turns()
        before = len(asyncio.all_tasks())
        sessions = [await engine.start(sleeping) for _ in range(200)]
        for session in sessions:
            await session.settled()
        await turns()
        assert len(asyncio.all_tasks()) == before


async def test_two_hundred_sessions_all_come_to_their_end() -> None:
    async def workflow(run: Run, number: int) -> int:
        return sum([await run.step("it", act(effect="read")(_double), number) for _ in range(5)])

    async with memory_engine(workflow) as engine:
        sessions = [await engine.start(workflow, number) for number in range(200)]
        assert [await session.result() for session in sessions] == [number * 10 for number in range(200)]


async def _double(number: int) -> int:
    return number * 2


async def test_an_engine_that_drives_one_session_finds_it_behind_many_others() -> None:
    keeping = kept_in_memory()
    async with memory_engine(plain, keeping=keeping, drives="none") as engine:
        for number in range(50):
            await engine.start(plain, number)
        mine = await engine.start(plain, 99)
    async with memory_engine(plain, keeping=keeping, drives={mine.id}) as engine, asyncio.timeout(5):
        assert await engine.session(mine.id).result() == 99


async def test_an_engine_that_drives_one_session_leaves_the_others_alone() -> None:
    keeping = kept_in_memory()
    async with memory_engine(plain, keeping=keeping, drives="none") as engine:
        other = await engine.start(plain, 1)
        mine = await engine.start(plain, 2)
    async with memory_engine(plain, keeping=keeping, drives={mine.id}) as engine:
        await engine.session(mine.id).result()
        await turns()
        assert (await engine.state(other.id)).status is Status.QUEUED


async def test_an_engine_that_drives_nothing_drives_nothing() -> None:
    async with memory_engine(plain, drives="none") as engine:
        session = await engine.start(plain)
        await turns()
        assert (await session.state()).status is Status.QUEUED


class TamperingStore(MemoryStore):
    """A store on a disk that returns other bytes than were written, for one session."""

    bad: SessionId | None = None

    async def read(self, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        records = await super().read(session_id, after, limit)
        if session_id != self.bad:
            return records
        return [_flipped(record) if record.seq == 2 else record for record in records]


def _flipped(record: Record) -> Record:
    return Record(
        record.session_id,
        record.seq,
        record.type,
        record.version,
        record.at,
        record.stage,
        record.data.replace(b"only", b"ONLY"),
        record.hash,
    )


async def test_a_damaged_session_is_left_alone_while_others_run() -> None:
    store = TamperingStore()
    memory = kept_in_memory()
    keeping = Keeping(store, memory.blobs, memory.drivers)
    async with memory_engine(asking, plain, keeping=keeping) as engine:
        broken = await engine.start(asking)
        await broken.settled()
    store.bad = broken.id
    async with memory_engine(asking, plain, keeping=keeping) as engine:
        found = await damage_of(engine)
        assert len(found) == 1
        assert await (await engine.start(plain, 3)).result() == 3


async def test_a_damaged_session_that_is_ready_is_reported_and_stands_in_nobody_s_way() -> None:
    store = TamperingStore()
    memory = kept_in_memory()
    keeping = Keeping(store, memory.blobs, memory.drivers)
    async with memory_engine(asking, plain, keeping=keeping) as engine:
        broken = await engine.start(asking)
        await broken.settled()
    async with memory_engine(asking, plain, keeping=keeping, drives="none") as engine:
        await engine.session(broken.id).answer("Ada")
    store.bad = broken.id
    with structlog.testing.capture_logs() as told:
        async with memory_engine(asking, plain, keeping=keeping, concurrency=1) as engine:
            await until(lambda: any(line["log_level"] == "error" for line in told))
            assert await (await engine.start(plain, 3)).result() == 3
    problems = [line["problem"] for line in told if line["log_level"] == "error"]
    assert len(problems) == 1
    assert broken.id in problems[0]
    assert "seq 2" in problems[0]


async def test_closing_lets_the_step_under_way_end_and_leaves_no_doubt() -> None:
    keeping, gate = kept_in_memory(), Gate()

    async def workflow(run: Run) -> list[str]:
        return [await run.step("it", act(gate.pass_), str(number)) for number in range(3)]

    async with memory_engine(workflow, keeping=keeping, grace=3600.0) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        asyncio.get_running_loop().call_soon(gate.open)
    assert gate.through == ["0"]
    async with memory_engine(workflow, keeping=keeping) as engine:
        assert await engine.session(session.id).result() == ["0", "1", "2"]
    assert gate.through == ["0", "1", "2"]
    assert await events_of(keeping, session.id, DoubtRaised) == []


async def test_closing_a_folder_lets_the_step_under_way_end_and_leaves_no_doubt(tmp_path: Path) -> None:
    gate = Gate()

    async def workflow(run: Run) -> list[str]:
        return [await run.step("it", act(gate.pass_), str(number)) for number in range(3)]

    async with home_engine(tmp_path, workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        asyncio.get_running_loop().call_soon(gate.open)
    async with home_engine(tmp_path, workflow) as engine:
        assert await engine.session(session.id).result() == ["0", "1", "2"]
        assert await damage_of(engine) == []
    assert gate.through == ["0", "1", "2"]


async def test_a_session_that_becomes_ready_while_the_engine_closes_begins_no_effect() -> None:
    """Closing looks at what is driven; a session taken at that very moment must be stopped too."""

    class SlowStore(MemoryStore):
        holding = False
        held = asyncio.Event()
        let_go = asyncio.Event()

        async def due(self, limit: int):
            found = await super().due(limit)
            if self.holding and found.queued:
                self.held.set()
                await self.let_go.wait()
            return found

    store, memory, gate = SlowStore(), kept_in_memory(), Gate()
    keeping = Keeping(store, memory.blobs, memory.drivers)

    async def workflow(run: Run, what: str) -> str:
        return await run.step("it", act(gate.pass_), what)

    async with memory_engine(workflow, keeping=keeping, grace=5.0) as engine:
        await engine.start(workflow, "first")
        await gate.reached()
        store.holding = True
        late = await engine.start(workflow, "late")
        await store.held.wait()
        asyncio.get_running_loop().call_later(0.01, store.let_go.set)
    assert "late" not in gate.begun
    changed = await events_of(keeping, late.id, StepChanged)
    assert StepStatus.PAUSED not in {event.status for event in changed}


TO_A_CLOSED_ENGINE: dict[str, Callable[[Session], Awaitable[object]]] = {
    "start": lambda session: session.engine.start(plain),
    "answer": lambda session: session.answer("Ada"),
    "pause": lambda session: session.pause(),
    "state": lambda session: session.state(),
    "settled": lambda session: session.settled(),
    "result": lambda session: session.result(),
}


@pytest.mark.parametrize("command", TO_A_CLOSED_ENGINE)
async def test_a_closed_engine_refuses_to(command: str, tmp_path: Path) -> None:
    async with home_engine(tmp_path, asking) as engine:
        session = await engine.start(asking)
        await session.settled()
    with pytest.raises(BelayerError):
        async with asyncio.timeout(2):
            await TO_A_CLOSED_ENGINE[command](session)


class UnhurriedStore(MemoryStore):
    """A store that always takes its time, as one on a slow disk does."""

    async def commit(self, proposals: Sequence[Proposal]) -> Answers:
        await asyncio.sleep(0)
        return super().commit_now(proposals)

    def commit_now(self, proposals: Sequence[Proposal]) -> Answers | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return None


@pytest.mark.parametrize("command", TO_A_CLOSED_ENGINE)
async def test_nobody_hangs_on_a_closed_engine_with_a_slow_store_who_wants_to(command: str) -> None:
    memory = kept_in_memory()
    keeping = Keeping(UnhurriedStore(), memory.blobs, memory.drivers)
    async with memory_engine(asking, keeping=keeping) as engine:
        session = await engine.start(asking)
        await session.settled()
        if command == "result":
            await session.cancel()
    with suppress(BelayerError):
        async with asyncio.timeout(2):
            await TO_A_CLOSED_ENGINE[command](session)


async def test_an_engine_finds_unfinished_sessions_when_it_opens(tmp_path: Path) -> None:
    async with home_engine(tmp_path, plain, drives="none") as engine:
        ids = [(await engine.start(plain, number)).id for number in range(20)]
    async with home_engine(tmp_path, plain) as engine:
        assert [await engine.session(id_).result() for id_ in ids] == list(range(20))
