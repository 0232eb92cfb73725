"""Old sessions make room; what others still need stays."""

from datetime import timedelta
from pathlib import Path

import pytest

from belayer.sessions.blobs import MemoryBlobs, put_aside
from belayer.sessions.prune import all_rows, choose, remove
from belayer.sessions.rows import SessionRow
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import to_micros
from belayer.vocabulary.events.event import FINAL, Status
from tests.sessions.test_integrity import at, change
from tests.support.records import AT, beginning, create, named, now_is, said, stepped

ONE, TWO, THREE = named(1), named(2), named(3)


def row(number: int, days_ago: float, status: Status = Status.COMPLETED) -> SessionRow:
    return SessionRow(named(number), status=status, updated_at=to_micros(AT - timedelta(days=days_ago)))


def chosen(rows: list[SessionRow], older_than: int | None = None, keep: int | None = None) -> list[int]:
    age = None if older_than is None else timedelta(days=older_than)
    ids = {named(number): number for number in range(10)}
    return [ids[found.id] for found in choose(rows, AT, age, keep)]


class TestChoosing:
    def test_what_is_past_the_age_is_chosen(self) -> None:
        assert chosen([row(3, 1), row(2, 8), row(1, 30)], older_than=7) == [2, 1]

    def test_what_is_beyond_the_count_is_chosen(self) -> None:
        assert chosen([row(4, 1), row(3, 1), row(2, 1), row(1, 1)], keep=3) == [1]

    def test_keeping_none_chooses_all(self) -> None:
        assert chosen([row(2, 1), row(1, 1)], keep=0) == [2, 1]

    def test_either_reason_is_enough(self) -> None:
        assert chosen([row(3, 9), row(2, 1), row(1, 1)], older_than=7, keep=2) == [3, 1]

    def test_without_a_reason_nothing_is_chosen(self) -> None:
        assert chosen([row(1, 9999)]) == []

    @pytest.mark.parametrize("status", sorted(set(Status) - FINAL - {Status.EXPIRED}))
    def test_a_session_that_has_not_ended_is_never_chosen(self, status: Status) -> None:
        assert chosen([row(1, 9999, status)], older_than=1, keep=0) == []

    @pytest.mark.parametrize("status", sorted(FINAL | {Status.EXPIRED}))
    def test_every_kind_of_end_counts(self, status: Status) -> None:
        assert chosen([row(1, 9999, status)], older_than=1) == [1]

    def test_sessions_that_have_not_ended_do_not_use_up_the_count(self) -> None:
        assert chosen([row(3, 1, Status.WAITING), row(2, 1), row(1, 1)], keep=1) == [1]


class TestRemoving:
    async def test_removed_sessions_are_gone_and_the_others_stay(self) -> None:
        store = MemoryStore()
        for session_id in (ONE, TWO, THREE):
            await create(store, session_id)
        await remove(store, MemoryBlobs(), [ONE, THREE])
        assert [found.id for found in await all_rows(store)] == [TWO]

    async def test_payloads_only_they_referred_to_are_gone(self) -> None:
        store, blobs = MemoryStore(), MemoryBlobs()
        for session_id, contents in ((ONE, [b"1", b"2"]), (TWO, [b"2", b"3"])):
            asides = [await put_aside(blobs, content) for content in contents]
            await create(
                store, session_id, beginning(), *(stepped("a", aside={"output": one}) for one in asides)
            )
        await remove(store, blobs, [ONE])
        kept = {await blobs.get(digest) for digest in await blobs.digests()}
        assert kept == {b"2", b"3"}

    async def test_more_sessions_than_fit_a_page_are_all_seen(self) -> None:
        store = MemoryStore()
        for number in range(1100):
            await create(store, named(number))
        assert len(await all_rows(store)) == 1100

    async def test_a_damaged_session_can_be_removed(self, tmp_path: Path) -> None:
        store = await SqliteStore.open(tmp_path / "b.db")
        await create(store, ONE, beginning(), said(), now_is(Status.FAILED))
        await create(store, TWO)
        change(tmp_path / "b.db", f"UPDATE events SET type = CAST(x'ff' AS TEXT) WHERE {at(2)}")
        await remove(store, MemoryBlobs(), [ONE])
        left = [found.id for found in await all_rows(store)]
        await store.close()
        assert left == [TWO]

    async def test_a_healthy_session_can_be_removed_beside_a_damaged_one(self, tmp_path: Path) -> None:
        store, blobs = await SqliteStore.open(tmp_path / "b.db"), MemoryBlobs()
        await create(store, ONE, beginning(), said())
        aside = await put_aside(blobs, b'"large"')
        await create(store, TWO, beginning(), stepped("a", aside={"output": aside}))
        change(tmp_path / "b.db", f"UPDATE events SET type = CAST(x'ff' AS TEXT) WHERE {at(2)}")
        await remove(store, blobs, [TWO])
        left = [found.id for found in await all_rows(store)]
        await store.close()
        assert left == [ONE]

    async def test_space_is_given_back(self, tmp_path: Path) -> None:
        path = tmp_path / "b.db"
        store = await SqliteStore.open(path)
        await create(store, ONE, beginning(), *(said("x" * 100_000) for _ in range(20)))
        await remove(store, MemoryBlobs(), [ONE])
        await store.close()
        assert path.stat().st_size < 200_000
