"""The embedded store: what is on disk, who else is there, and what happens when the disk fails."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from belayer.sessions.record import check_chain
from belayer.sessions.store import Store
from belayer.sessions.stores.schema import SCRIPTS, migrate
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.errors import (
    BelayerError,
    NewerStore,
    StoreError,
    StoreFull,
    StoreReadOnly,
    UnknownSession,
)
from belayer.vocabulary.events.event import Status
from tests.support.records import add, adding, beginning, create, named, now_is, put, said

ONE, TWO = named(1), named(2)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "belayer.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(path)
    yield opened
    await opened.close()


def run_program(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.sessions.stores.programs", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


async def refusal_of(path: Path) -> BelayerError:
    """What opening the store says."""
    with pytest.raises(BelayerError) as caught:
        await SqliteStore.open(path)
    return caught.value


class TestOpening:
    async def test_what_was_committed_is_there_after_closing_and_opening(self, path: Path) -> None:
        first = await SqliteStore.open(path)
        made = await create(first, ONE, beginning(), said())
        row = await first.row(ONE)
        await first.close()
        second = await SqliteStore.open(path)
        assert (await second.read(ONE), await second.row(ONE)) == (made, row)
        await second.close()

    async def test_a_reopened_session_goes_on_with_the_same_chain(self, path: Path) -> None:
        for number in range(3):
            store = await SqliteStore.open(path)
            await (create(store, ONE) if number == 0 else add(store, ONE))
            await store.close()
        store = await SqliteStore.open(path)
        records = await store.read(ONE)
        await store.close()
        check_chain(records)
        assert len(records) == 3

    async def test_many_may_open_a_new_file_at_once(self, path: Path) -> None:
        stores = await asyncio.gather(*(SqliteStore.open(path) for _ in range(8)))
        await create(stores[0], ONE)
        assert [len(await store.read(ONE)) for store in stores] == [1] * 8
        for store in stores:
            await store.close()

    async def test_readers_do_not_keep_the_writer_waiting(self, path: Path, store: SqliteStore) -> None:
        await create(store, ONE)
        connection = sqlite3.connect(path)
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        connection.close()
        assert mode == "wal"

    async def test_a_file_that_is_no_database_is_refused_with_a_sentence(self, path: Path) -> None:
        path.write_bytes(b"this is a letter, not a database. " * 100)
        error = await refusal_of(path)
        assert isinstance(error, StoreError)
        assert str(path) in error.detail

    async def test_a_file_that_is_no_database_is_left_as_it_is(self, path: Path) -> None:
        path.write_bytes(b"this is a letter, not a database. " * 100)
        await refusal_of(path)
        assert path.read_bytes() == b"this is a letter, not a database. " * 100

    async def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        error = await refusal_of(tmp_path / "missing" / "belayer.db")
        assert isinstance(error, StoreReadOnly)
        assert "missing/belayer.db" in error.detail
        assert error.hint

    async def test_a_database_of_another_program_is_refused(self, path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE sessions (something TEXT)")
        connection.close()
        assert isinstance(await refusal_of(path), StoreError)


class TestSchema:
    @staticmethod
    async def make_newer(path: Path) -> None:
        store = await SqliteStore.open(path)
        await create(store, ONE)
        await store.close()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()

    async def test_a_store_of_a_newer_belayer_is_refused_with_both_versions_named(self, path: Path) -> None:
        await self.make_newer(path)
        error = await refusal_of(path)
        assert isinstance(error, NewerStore)
        assert "99" in error.detail
        assert str(len(SCRIPTS)) in error.detail
        assert "Update Belayer" in (error.hint or "")

    async def test_a_store_of_a_newer_belayer_is_not_touched(self, path: Path) -> None:
        await self.make_newer(path)
        before = path.read_bytes()
        await refusal_of(path)
        assert path.read_bytes() == before

    async def test_a_store_of_a_newer_belayer_keeps_its_journal_mode(self, path: Path) -> None:
        await self.make_newer(path)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        before = path.read_bytes()
        await refusal_of(path)
        assert path.read_bytes() == before

    async def test_an_older_store_is_brought_up_to_date_with_its_sessions(self, path: Path) -> None:
        store = await SqliteStore.open(path)
        made = await create(store, ONE)
        await store.close()
        connection = sqlite3.connect(path, isolation_level=None)
        migrate(connection, [*SCRIPTS, "CREATE TABLE more (x);", "ALTER TABLE more ADD COLUMN y;"])
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (kept,) = connection.execute("SELECT count(*) FROM events").fetchone()
        columns = [row[1] for row in connection.execute("PRAGMA table_info(more)")]
        connection.close()
        assert (version, kept, columns) == (len(SCRIPTS) + 2, len(made), ["x", "y"])

    def test_a_migration_that_fails_changes_nothing(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        migrate(connection)
        with pytest.raises(sqlite3.Error):
            migrate(connection, [*SCRIPTS, "CREATE TABLE more (x);", "CREATE TABLE more (again);"])
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        connection.close()
        assert (version, "more" in tables) == (len(SCRIPTS), False)

    def test_after_a_migration_that_failed_the_next_one_can_succeed(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        with pytest.raises(sqlite3.Error):
            migrate(connection, [*SCRIPTS, "CREATE TABLE broken ("])
        migrate(connection, [*SCRIPTS, "CREATE TABLE more (x);"])
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.close()
        assert version == len(SCRIPTS) + 1

    def test_migrating_twice_is_migrating_once(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        migrate(connection)
        migrate(connection)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.close()
        assert version == len(SCRIPTS)


class TestOtherProcesses:
    async def test_two_processes_that_append_to_one_session_lose_nothing(
        self, path: Path, store: SqliteStore
    ) -> None:
        await create(store, ONE)
        programs = [run_program("append", path, who, 150, ONE) for who in ("a", "b")]
        told = [(await asyncio.to_thread(program.communicate))[0].split("\n") for program in programs]
        acknowledged = {tuple(line.split()) for lines in told for line in lines if line}
        records = await store.read(ONE, 1)
        check_chain(await store.read(ONE))
        kept = {(str(record.seq), record.event().text) for record in records if record.type == "log"}  # pyright: ignore[reportAttributeAccessIssue]
        assert len(acknowledged) == 300
        assert kept == acknowledged

    async def test_what_another_process_wrote_is_seen_by_the_next_commit(self, path: Path) -> None:
        mine, theirs = await SqliteStore.open(path), await SqliteStore.open(path)
        await create(mine, ONE)
        await add(mine, ONE)
        await add(theirs, ONE, now_is(Status.PAUSED))
        await add(mine, ONE)
        records = await mine.read(ONE)
        row = await theirs.row(ONE)
        await mine.close()
        await theirs.close()
        check_chain(records)
        assert row is not None
        assert (len(records), row.status) == (4, Status.PAUSED)

    async def test_a_session_that_another_process_removed_cannot_be_appended_to(self, path: Path) -> None:
        mine, theirs = await SqliteStore.open(path), await SqliteStore.open(path)
        await create(mine, ONE)
        await theirs.remove([ONE])
        (answer,) = await put(mine, adding(ONE))
        await mine.close()
        await theirs.close()
        assert isinstance(answer, UnknownSession)

    async def test_removing_while_a_commit_is_under_way_leaves_no_half_session(
        self, store: SqliteStore
    ) -> None:
        await create(store, ONE)
        for _ in range(20):
            await create(store, TWO)
            appends = [put(store, adding(TWO), adding(ONE)) for _ in range(5)]
            await asyncio.gather(*appends, store.remove([TWO]), *[put(store, adding(ONE)) for _ in range(3)])
            (answer,) = await put(store, adding(TWO))
            assert isinstance(answer, UnknownSession)

    async def test_a_commit_of_another_process_is_noticed(self, path: Path, store: SqliteStore) -> None:
        other = await SqliteStore.open(path)
        await create(other, ONE)
        changes = store.changes()
        noticed = asyncio.ensure_future(anext(changes))  # pyright: ignore[reportArgumentType]
        async with asyncio.timeout(30):
            while not noticed.done():
                await add(other, ONE)
                await asyncio.wait({noticed}, timeout=0.05)
        await noticed
        await other.close()

    async def test_ones_own_commit_is_not_news(self, path: Path, store: SqliteStore) -> None:
        other = await SqliteStore.open(path)
        await create(other, ONE)
        changes = store.changes()
        noticed = asyncio.ensure_future(anext(changes))  # pyright: ignore[reportArgumentType]
        while not noticed.done():
            await add(other, ONE)
            await asyncio.wait({noticed}, timeout=0.05)
        await other.close()
        again = asyncio.ensure_future(anext(changes))  # pyright: ignore[reportArgumentType]
        for _ in range(5):
            await add(store, ONE)
        done, _ = await asyncio.wait({again}, timeout=0.35)
        again.cancel()
        assert not done


class TestTroubleOnDisk:
    """A small disk of our own, which only root can make."""

    @pytest.fixture
    def disk(self, tmp_path: Path) -> Iterator[Path]:
        folder = tmp_path / "disk"
        folder.mkdir()
        if os.geteuid() != 0 or _mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", folder) != 0:
            pytest.skip("mounting a small disk needs root")
        yield folder
        subprocess.run(["umount", "--lazy", folder], check=True)

    @pytest.fixture
    async def kept(self, disk: Path) -> AsyncIterator[Store]:
        store = await SqliteStore.open(disk / "belayer.db")
        await create(store, ONE, beginning(), said("before"))
        yield store
        await store.close()

    async def test_a_full_disk_is_called_by_its_name(self, disk: Path, kept: Store) -> None:
        fill(disk)
        with pytest.raises(StoreFull, match=r"belayer\.db is full"):
            await until_refused(kept)

    async def test_a_full_disk_harms_nothing_that_was_acknowledged(self, disk: Path, kept: Store) -> None:
        fill(disk)
        acknowledged: list[int] = []
        with pytest.raises(StoreFull):
            await until_refused(kept, acknowledged)
        records = await kept.read(ONE, 2)
        check_chain(await kept.read(ONE))
        assert [record.seq for record in records] == acknowledged
        assert await kept.damage() == []

    async def test_the_store_goes_on_when_space_returns(self, disk: Path, kept: Store) -> None:
        fill(disk)
        with pytest.raises(StoreFull):
            await until_refused(kept)
        (disk / "filler").unlink()
        await add(kept, ONE, said("after"))
        check_chain(await kept.read(ONE))

    async def test_a_full_disk_refuses_the_whole_commit(self, disk: Path, kept: Store) -> None:
        fill(disk)
        await create_until_refused(kept)
        large = [adding(ONE, said("z" * 100_000)) for _ in range(20)]
        before = await kept.read(ONE)
        with pytest.raises(StoreFull):
            await put(kept, *large)
        assert await kept.read(ONE) == before

    async def test_opening_on_a_full_disk_says_that_it_is_full(self, disk: Path) -> None:
        fill(disk)
        assert isinstance(await refusal_of(disk / "belayer.db"), StoreFull)

    async def test_opening_on_a_read_only_disk_says_what_to_do(self, disk: Path) -> None:
        store = await SqliteStore.open(disk / "belayer.db")
        await create(store, ONE)
        await store.close()
        _mount("-o", "remount,ro", disk)
        error = await refusal_of(disk / "belayer.db")
        assert isinstance(error, StoreReadOnly)
        assert "BELAYER_HOME" in (error.hint or "")

    async def test_a_store_goes_on_when_it_may_write_again(self, disk: Path) -> None:
        store = await SqliteStore.open(disk / "belayer.db")
        await create(store, ONE)
        await store.close()
        _mount("-o", "remount,ro", disk)
        await refusal_of(disk / "belayer.db")
        _mount("-o", "remount,rw", disk)
        store = await SqliteStore.open(disk / "belayer.db")
        await add(store, ONE)
        check_chain(await store.read(ONE))
        await store.close()


def test_after_a_failed_write_nothing_is_accepted_until_the_store_is_opened_anew(path: Path) -> None:
    told, _ = run_program("fail_to_write", path).communicate()
    assert told.split("\n") == ["StoreBroken", "StoreBroken", "StoreBroken", "seq 2", ""]


def _mount(*arguments: object) -> int:
    return subprocess.run(["mount", *map(str, arguments)], check=False, stderr=subprocess.DEVNULL).returncode


def fill(disk: Path) -> None:
    """Use up the disk but for a little."""
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            file.truncate(max(file.tell() - 8 * 4096, 0))


async def until_refused(store: Store, acknowledged: list[int] | None = None) -> None:
    acknowledged = [] if acknowledged is None else acknowledged
    while True:
        acknowledged += [record.seq for record in await add(store, ONE, said("y" * 3000))]


async def create_until_refused(store: Store) -> None:
    with pytest.raises(StoreFull):
        await until_refused(store)
