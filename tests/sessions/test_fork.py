"""A fork begins as a copy and then goes its own way."""

from datetime import timedelta
from pathlib import Path

import pytest

from belayer.sessions.decide import decide
from belayer.sessions.record import check_chain
from belayer.sessions.state import fold
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Answer, Fork
from belayer.vocabulary.errors import BadCursor, CorruptLog, UnknownSession
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import Origin
from belayer.vocabulary.ids import SessionId
from tests.sessions.test_integrity import at, change
from tests.support.records import (
    AT,
    asked,
    beginning,
    create,
    forked,
    named,
    now_is,
    question,
    said,
    taken,
    writing,
)

ONE = named(1)
LATER = AT + timedelta(days=1)


@pytest.fixture
async def store() -> Store:
    store = MemoryStore()
    await create(
        store, ONE, beginning("t", key="k"), taken(1), question(), now_is(Status.WAITING, wake_at=LATER)
    )
    return store


async def fork(store: Store, seq: int | None = None) -> SessionId:
    async with writing(store, ManualClock(LATER)) as log:
        return await forked(log, store, Fork(session_id=ONE, seq=seq), LATER)


async def test_a_fork_has_the_same_events_up_to_its_origin(store: Store) -> None:
    made = await store.read(await fork(store, 3))
    original = await store.read(ONE)
    assert [(r.type, r.at, r.data) for r in made[:3]] == [(r.type, r.at, r.data) for r in original[:3]]


async def test_a_fork_has_a_chain_of_its_own(store: Store) -> None:
    made = await store.read(await fork(store))
    check_chain(made)
    assert made[0].hash != (await store.read(ONE))[0].hash


async def test_without_a_seq_the_whole_session_is_forked(store: Store) -> None:
    assert len(await store.read(await fork(store))) == 4 + 2


async def test_a_fork_knows_its_origin(store: Store) -> None:
    forked = await fork(store, 2)
    assert fold(forked, await store.read(forked)).forked_from == Origin(session_id=ONE, seq=2)


async def test_a_fork_is_paused_and_no_timer_wakes_it(store: Store) -> None:
    row = await store.row(await fork(store))
    assert row is not None
    assert (row.status, row.wake_at) == (Status.PAUSED, None)


async def test_a_fork_is_newer_than_its_original(store: Store) -> None:
    row = await store.row(await fork(store))
    assert row is not None
    assert row.created == LATER


async def test_the_idempotency_key_stays_with_the_original(store: Store) -> None:
    await fork(store)
    row = await store.started_with("k")
    assert row is not None
    assert row.id == ONE


async def test_a_session_can_be_forked_many_times(store: Store) -> None:
    assert len({await fork(store) for _ in range(5)}) == 5


async def test_an_answer_in_the_fork_is_not_one_in_the_original(store: Store) -> None:
    forked = await fork(store)
    command = Answer(request_id=asked(), value="x")
    async with writing(store) as log:
        await log.decide(forked, lambda state, now: decide(state, command, now))
    assert fold(ONE, await store.read(ONE)).answered == {}


async def test_forking_leaves_the_original_as_it_was(store: Store) -> None:
    before = await store.read(ONE)
    await fork(store, 2)
    assert await store.read(ONE) == before


async def test_a_fork_can_be_forked(store: Store) -> None:
    first = await fork(store, 2)
    async with writing(store) as log:
        second = await forked(log, store, Fork(session_id=first), LATER)
    assert fold(second, await store.read(second)).forked_from == Origin(session_id=first, seq=4)


@pytest.mark.parametrize("seq", [5, 10**9])
async def test_a_seq_the_session_does_not_have_is_refused(store: Store, seq: int) -> None:
    with pytest.raises(BadCursor, match="has 4 events"):
        await fork(store, seq)


async def test_an_unknown_session_cannot_be_forked() -> None:
    with pytest.raises(UnknownSession):
        await fork(MemoryStore())


async def test_a_damaged_log_can_be_forked_only_before_its_damage(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "b.db")
    await create(store, ONE, beginning(), said(), said(), said())
    change(tmp_path / "b.db", f"UPDATE events SET data = x'7b7d' WHERE {at(3)}")
    with pytest.raises(CorruptLog):
        await fork(store, 3)
    assert len(await store.read(await fork(store, 2))) == 2 + 2
    await store.close()
