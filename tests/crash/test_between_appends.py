"""The engine is stopped between any two commits of the reference workflow, once or twice, and started again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from belayer.sessions.blobs import MemoryBlobs
from belayer.sessions.lease import OneDriver
from belayer.sessions.record import Record, check_chain
from belayer.sessions.rows import SessionRow, from_state
from belayer.sessions.state import SessionState
from belayer.sessions.store import Answers, Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import Keeping
from tests.support.engines import Death, Life, MortalStore, engine_on, kill, while_time_flies
from tests.support.reference import (
    EXPECTED,
    ONCE,
    ONCE_BY_KEY,
    Deed,
    ListWorld,
    Reference,
    attend,
)


@dataclass(slots=True)
class Story:
    """What is known from outside over all lives of one session."""

    world: ListWorld = field(default_factory=ListWorld)
    clock: ManualClock = field(default_factory=ManualClock)
    acknowledged: set[bytes] = field(default_factory=set[bytes])
    completed: set[str] = field(default_factory=set[str])
    run_again: list[str] = field(default_factory=list[str])

    def durable(self, answers: Answers) -> None:
        for record in _records(answers):
            event = record.event()
            if isinstance(event, StepChanged) and event.status is StepStatus.COMPLETED:
                self.completed.add(event.key)

    def told(self, answers: Answers) -> None:
        self.acknowledged.update(record.hash for record in _records(answers))

    def watch(self, deed: Deed) -> None:
        if deed.key in self.completed:
            self.run_again.append(deed.key)


def _records(answers: Answers) -> list[Record]:
    return [record for answer in answers if not isinstance(answer, Exception) for record in answer]


class MemoryDisk:
    """What of a memory store survives a crash: all that was committed."""

    def __init__(self) -> None:
        self._store = MemoryStore()

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        yield self._store

    real = 0.0


class SqliteDisk:
    """A SQLite file, opened anew in every life."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "belayer.db"

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        store = await SqliteStore.open(self._path)
        try:
            yield store
        finally:
            await store.close()

    real = 0.0005


Disk = MemoryDisk | SqliteDisk


@dataclass(frozen=True, slots=True)
class Ending:
    """How it came out."""

    state: SessionState
    records: list[Record]
    row: SessionRow | None
    deaths: int


async def live(disk: Disk, story: Story, deaths: Sequence[Death]) -> Ending:
    """One session through as many lives as there are deaths, and one more."""
    blobs = MemoryBlobs()
    died = 0
    for number, death in enumerate([*deaths, None]):
        async with disk.store() as inner:
            life = Life()
            store = MortalStore(inner, life, death, story.durable, story.told)
            keeping = Keeping(store, blobs, OneDriver(f"life {number}"))
            state = await _one_life(keeping, life, story, disk.real)
            died += life.ended.is_set()
            if state is not None:
                return Ending(state, await inner.read(state.id), await inner.row(state.id), died)
    raise AssertionError("the last life has no end")


async def _one_life(keeping: Keeping, life: Life, story: Story, real: float) -> SessionState | None:
    """Start or find the session and see it through; None when the life ended first."""
    older = asyncio.all_tasks()

    async def work() -> SessionState:
        reference = Reference(story.world, life, watch=story.watch).reference
        async with engine_on(keeping, story.clock, [reference]) as engine:
            session = await engine.start(reference, idempotency_key="the one")
            return await attend(engine, session.id, story.world, lambda _: None)

    working = asyncio.create_task(work())
    ended = asyncio.create_task(life.ended.wait())
    first = asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
    await while_time_flies(story.clock, first, real=real)
    try:
        return working.result() if working.done() else None
    finally:
        await kill(asyncio.all_tasks() - older)


def check(story: Story, ending: Ending) -> None:
    """The promises."""
    assert ending.state.status is Status.COMPLETED, ending.state.problem
    result = ending.state.result
    assert isinstance(result, dict)
    assert {name: result[name] for name in EXPECTED} == EXPECTED
    assert story.run_again == []
    done = [deed.what for deed in story.world.deeds() if deed.kind == "done"]
    assert {what: done.count(what) for what in ONCE} == dict.fromkeys(ONCE, 1)
    for what in ONCE_BY_KEY:
        keys = {
            deed.idempotency_key for deed in story.world.deeds() if (deed.kind, deed.what) == ("done", what)
        }
        assert len(keys) == 1, what
    assert story.acknowledged <= {record.hash for record in ending.records}
    assert ending.row == from_state(ending.state, check_chain(ending.records))


@pytest.mark.parametrize("before", [True, False], ids=["lost", "not-acknowledged"])
async def test_a_session_in_memory_survives_a_stop_at_any_commit(before: bool) -> None:
    commit, deaths = 0, 1
    while deaths:
        commit += 1
        story = Story()
        ending = await live(MemoryDisk(), story, [Death(commit, before)])
        deaths = ending.deaths
        check(story, ending)
    assert commit > 30


@pytest.mark.parametrize("before", [True, False], ids=["lost", "not-acknowledged"])
async def test_a_session_in_sqlite_survives_a_stop_at_any_commit(before: bool, tmp_path: Path) -> None:
    commit, deaths = 0, 1
    while deaths:
        commit += 1
        story = Story()
        folder = tmp_path / str(commit)
        folder.mkdir()
        ending = await live(SqliteDisk(folder), story, [Death(commit, before)])
        deaths = ending.deaths
        check(story, ending)
    assert commit > 30


deaths = st.builds(Death, st.integers(1, 55), st.booleans())


@given(st.lists(deaths, min_size=2, max_size=4))
@hypothesis_settings(max_examples=250, deadline=None)
def test_a_session_survives_one_stop_after_another(deaths: list[Death]) -> None:
    async def story_of() -> None:
        story = Story()
        check(story, await live(MemoryDisk(), story, deaths))

    asyncio.run(story_of())


@given(st.lists(deaths, min_size=2, max_size=3))
@hypothesis_settings(max_examples=25, deadline=None)
def test_a_session_in_sqlite_survives_one_stop_after_another(deaths: list[Death]) -> None:
    async def story_of() -> None:
        with TemporaryDirectory() as folder:
            story = Story()
            check(story, await live(SqliteDisk(Path(folder)), story, deaths))

    asyncio.run(story_of())
