"""Damage is found and named, session by session; the rest keeps working."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from belayer.sessions.blobs import FileBlobs, MemoryBlobs, put_aside
from belayer.sessions.decide import decide
from belayer.sessions.integrity import Damage, Finding, intact, verify
from belayer.sessions.log import Log
from belayer.sessions.record import check_chain
from belayer.sessions.store import Wanted
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.commands import Cancel, Fork, Pause, Rewind
from belayer.vocabulary.errors import BelayerError, StoreError
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from tests.support.records import (
    AT,
    add,
    beginning,
    create,
    forked,
    named,
    now_is,
    said,
    stepped,
    taken,
    writing,
)

HURT, WELL = named(1), named(2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "belayer.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    """Two sessions, of which one will be hurt."""
    opened = await SqliteStore.open(path)
    for session_id in (HURT, WELL):
        await create(opened, session_id, beginning(), taken(1), *(said(f"line {n}") for n in range(4)))
    yield opened
    await opened.close()


def change(path: Path, sql: str, *values: Any) -> None:
    """Change the file behind Belayer's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = 1")
    assert connection.execute(sql, values).rowcount >= 1
    connection.close()


def at(seq: int, session: int = 1) -> str:
    """Where the record lies."""
    return f"session = {session} AND seq = {seq}"


async def findings(store: Any, *, rebuild: bool = False) -> dict[SessionId | None, Finding]:
    return {found.session_id: found async for found in verify(store, MemoryBlobs(), rebuild=rebuild)}


async def damage(store: Any) -> tuple[Damage, ...]:
    return (await findings(store))[HURT].damage


class TestHealth:
    async def test_a_healthy_store_has_no_damage(self, store: SqliteStore) -> None:
        assert [found.damage for found in (await findings(store)).values()] == [(), (), ()]

    async def test_every_session_is_looked_at_with_all_its_events(self, store: SqliteStore) -> None:
        found = await findings(store)
        assert {id_: finding.events for id_, finding in found.items()} == {None: 0, HURT: 6, WELL: 6}

    async def test_an_empty_store_has_no_damage(self) -> None:
        assert list((await findings(MemoryStore())).values()) == [Finding(None, 0)]

    async def test_more_sessions_than_fit_a_page_are_all_looked_at(self) -> None:
        store = MemoryStore()
        for number in range(450):
            await create(store, named(number))
        assert len(await findings(store)) == 451

    async def test_a_rewound_session_has_no_damage(self, store: SqliteStore) -> None:
        async with writing(store) as log:
            await log.decide(HURT, lambda state, now: decide(state, Pause(), now))
            await log.decide(HURT, lambda state, now: decide(state, Rewind(seq=2), now))
        assert await damage(store) == ()

    async def test_a_fork_that_was_rewound_to_before_its_fork_has_no_damage(self) -> None:
        store = MemoryStore()
        async with writing(store) as log:
            await log.create(HURT, [beginning(key="k"), said(), now_is(Status.COMPLETED)])
            fork = await forked(log, store, Fork(session_id=HURT), AT)
            await log.decide(fork, lambda state, now: decide(state, Rewind(seq=1), now))
        assert (await findings(store))[fork].damage == ()


class TestDamagedRecords:
    @pytest.mark.parametrize(
        ("column", "value"),
        [
            pytest.param("data", b'{"text":"lime 1","level":"info"}', id="data"),
            pytest.param("data", '{"text":"lime 1","level":"info"}', id="data typed by hand"),
            pytest.param("data", b"\xff\x00", id="data that is no JSON"),
            pytest.param("data", b"", id="no data"),
            pytest.param("data", 5, id="a number for data"),
            pytest.param("hash", b"x" * 32, id="hash"),
            pytest.param("hash", "x", id="hash typed by hand"),
            pytest.param("type", "lag", id="type"),
            pytest.param("type", b"\xff\xfe", id="type that is no text"),
            pytest.param("type", "step", id="type that fits other data"),
            pytest.param("version", 2, id="version"),
            pytest.param("version", "one", id="version that is no number"),
            pytest.param("at", 5, id="time"),
            pytest.param("at", "noon", id="time that is no number"),
            pytest.param("stage", "planning", id="stage"),
        ],
    )
    async def test_a_change_in_any_field_is_found_and_named(
        self, path: Path, store: SqliteStore, column: str, value: Any
    ) -> None:
        change(path, f"UPDATE events SET {column} = ? WHERE {at(4)}", value)
        assert [(found.session_id, found.seq) for found in await damage(store)] == [(HURT, 4)]

    async def test_text_that_is_no_text_is_found_and_named(self, path: Path, store: SqliteStore) -> None:
        change(path, f"UPDATE events SET type = CAST(x'6cff67' AS TEXT) WHERE {at(4)}")
        assert [(found.session_id, found.seq) for found in await damage(store)] == [(HURT, 4)]

    @pytest.mark.parametrize("seq", range(1, 7))
    async def test_damage_is_named_wherever_it_is(self, path: Path, store: SqliteStore, seq: int) -> None:
        change(path, f"UPDATE events SET at = at + 1 WHERE {at(seq)}")
        assert [found.seq for found in await damage(store)] == [seq]

    async def test_a_record_that_was_deleted_is_named(self, path: Path, store: SqliteStore) -> None:
        change(path, f"DELETE FROM events WHERE {at(3)}")
        assert await damage(store) == (Damage(HURT, 3, "the record is missing"),)

    async def test_a_tail_that_was_deleted_is_named(self, path: Path, store: SqliteStore) -> None:
        change(path, "DELETE FROM events WHERE session = 1 AND seq >= 5")
        assert await damage(store) == (Damage(HURT, 5, "the record is missing"),)

    async def test_a_log_that_was_deleted_is_named(self, path: Path, store: SqliteStore) -> None:
        change(path, "DELETE FROM events WHERE session = 1 AND seq >= 1")
        assert await damage(store) == (Damage(HURT, 1, "the record is missing"),)

    async def test_records_that_were_swapped_are_found(self, path: Path, store: SqliteStore) -> None:
        change(path, f"UPDATE events SET seq = -1 WHERE {at(3)}")
        change(path, f"UPDATE events SET seq = 3 WHERE {at(4)}")
        change(path, f"UPDATE events SET seq = 4 WHERE {at(-1)}")
        assert [found.seq for found in await damage(store)] == [3]

    async def test_a_record_moved_from_another_session_is_found(self, path: Path, store: SqliteStore) -> None:
        change(path, f"DELETE FROM events WHERE {at(3)}")
        change(path, f"UPDATE events SET session = 1 WHERE {at(3, session=2)}")
        assert [found.seq for found in await damage(store)] == [3]

    async def test_a_record_appended_behind_our_back_is_found(self, path: Path, store: SqliteStore) -> None:
        columns = "type, version, at, stage, data, hash"
        change(
            path,
            f"INSERT INTO events (session, seq, {columns}) SELECT 1, 7, {columns} FROM events WHERE {at(6)}",
        )
        assert [found.seq for found in await damage(store)] == [7]


class TestTheRest:
    @pytest.fixture(
        params=[
            pytest.param(f"UPDATE events SET data = x'7b7d' WHERE {at(3)}", id="changed data"),
            pytest.param(f"UPDATE events SET data = 'by hand' WHERE {at(3)}", id="data typed by hand"),
            pytest.param(f"UPDATE events SET type = CAST(x'ff' AS TEXT) WHERE {at(3)}", id="unreadable type"),
            pytest.param(f"DELETE FROM events WHERE {at(3)}", id="deleted record"),
            pytest.param("UPDATE sessions SET status = 'asleep' WHERE number = 1", id="unknown status"),
            pytest.param("UPDATE sessions SET mode = 'both' WHERE number = 1", id="unknown mode"),
            pytest.param(
                "UPDATE sessions SET title = CAST(x'ff' AS TEXT) WHERE number = 1", id="unreadable title"
            ),
            pytest.param(
                "UPDATE sessions SET last_hash = 'by hand' WHERE number = 1", id="last hash typed by hand"
            ),
            pytest.param("UPDATE sessions SET epoch = 'one' WHERE number = 1", id="epoch that is no number"),
        ]
    )
    async def hurt(self, request: pytest.FixtureRequest, path: Path, store: SqliteStore) -> None:
        change(path, request.param)

    @pytest.mark.usefixtures("hurt")
    async def test_the_damage_is_found_and_the_other_session_is_still_well(self, store: SqliteStore) -> None:
        found = await findings(store)
        assert (found[WELL].damage, bool(found[HURT].damage)) == ((), True)

    @pytest.mark.usefixtures("hurt")
    async def test_the_other_session_can_still_go_on(self, store: SqliteStore) -> None:
        async with asyncio.timeout(20), writing(store) as log:
            await log.append(WELL, [said()], epoch=1)
            await log.decide(WELL, lambda state, now: decide(state, Cancel(), now))
        check_chain(await store.read(WELL))

    @pytest.mark.usefixtures("hurt")
    async def test_the_other_session_can_go_on_beside_an_attempt_on_the_damaged_one(
        self, store: SqliteStore
    ) -> None:
        async with asyncio.timeout(20), writing(store) as log:
            answers = await asyncio.gather(
                log.append(WELL, [said()]),
                log.append(HURT, [said()]),
                log.decide(HURT, lambda state, now: decide(state, Cancel(), now)),
                log.append(WELL, [said()]),
                return_exceptions=True,
            )
        assert [type(answers[place]) for place in (0, 3)] == [list, list]

    @pytest.mark.usefixtures("hurt")
    async def test_the_other_session_is_still_listed(self, store: SqliteStore) -> None:
        assert WELL in [row.id for row in await store.rows(Wanted())]


class TestRows:
    @pytest.mark.parametrize(
        "change_row",
        [
            "status = 'completed'",
            "epoch = 7",
            "title = 'another'",
            "workflow = ''",
            "mode = 'autonomous'",
            "driver = NULL",
            "wake_at = 5",
            "created_at = 0",
            "updated_at = 0",
            "idempotency_key = 'k'",
            "last_hash = x'00'",
            "status = 'asleep'",
            "mode = 'both'",
            "title = CAST(x'6cff67' AS TEXT)",
            "epoch = 'one'",
        ],
    )
    async def test_an_entry_that_differs_from_its_log_is_mended_by_a_rebuild(
        self, path: Path, store: SqliteStore, change_row: str
    ) -> None:
        before = await store.row(HURT)
        change(path, f"UPDATE sessions SET {change_row} WHERE number = 1")
        assert await damage(store)
        await findings(store, rebuild=True)
        assert (await store.row(HURT), await damage(store)) == (before, ())

    async def test_an_entry_that_differs_is_named_with_the_way_to_mend_it(
        self, path: Path, store: SqliteStore
    ) -> None:
        change(path, "UPDATE sessions SET status = 'completed' WHERE number = 1")
        (found,) = await damage(store)
        assert found.seq is None
        assert "belayer verify --rebuild" in found.what

    async def test_without_rebuild_nothing_is_changed(self, path: Path, store: SqliteStore) -> None:
        change(path, "UPDATE sessions SET status = 'completed' WHERE number = 1")
        await findings(store)
        row = await store.row(HURT)
        assert row is not None
        assert row.status is Status.COMPLETED

    async def test_a_rebuild_does_not_hide_a_missing_tail(self, path: Path, store: SqliteStore) -> None:
        change(path, f"DELETE FROM events WHERE {at(6)}")
        await findings(store, rebuild=True)
        assert await damage(store) == (Damage(HURT, 6, "the record is missing"),)

    async def test_a_session_whose_entry_was_deleted_is_noticed(self, path: Path, store: SqliteStore) -> None:
        change(path, "DELETE FROM sessions WHERE number = 1")
        assert any(found.damage for found in (await findings(store)).values())

    async def test_a_mended_session_can_go_on(self, path: Path, store: SqliteStore) -> None:
        change(path, "UPDATE sessions SET last_hash = x'00', last_seq = 3 WHERE number = 1")
        await findings(store, rebuild=True)
        await add(store, HURT, said(), epoch=1)
        assert await damage(store) == ()


class TestFiles:
    @pytest.fixture
    async def closed(self, path: Path) -> Path:
        """A store of some size that nobody has open."""
        store = await SqliteStore.open(path)
        await create(store, HURT)
        await create(store, WELL)
        for number in range(30):
            await add(store, HURT, said("x" * 8000))
            await add(store, WELL, said(f"{number}" * 4000))
        await store.close()
        return path

    async def test_a_truncated_file_is_noticed(self, closed: Path) -> None:
        content = closed.read_bytes()
        closed.write_bytes(content[: len(content) // 2])
        assert await self.noticed(closed)

    @pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
    async def test_an_overwritten_page_is_noticed(self, closed: Path, share: float) -> None:
        content = bytearray(closed.read_bytes())
        start = int(len(content) * share) // 4096 * 4096
        content[start : start + 4096] = b"\xa5" * 4096
        closed.write_bytes(content)
        assert await self.noticed(closed)

    @pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
    async def test_a_flipped_bit_in_a_long_text_is_noticed(self, closed: Path, share: float) -> None:
        content = bytearray(closed.read_bytes())
        place = content.index(b"xxxx", int(len(content) * share))
        content[place] ^= 1
        closed.write_bytes(content)
        assert await self.noticed(closed)

    @staticmethod
    async def noticed(path: Path) -> bool:
        """Whether it is said, in a finding or an error of ours, that something is wrong."""
        try:
            store = await SqliteStore.open(path)
        except StoreError:
            return True
        try:
            return any(finding.damage for finding in (await findings(store)).values())
        except StoreError:
            return True
        finally:
            await store.close()

    async def test_a_missing_payload_is_named_with_its_event(self, tmp_path: Path) -> None:
        store, blobs = MemoryStore(), FileBlobs(tmp_path / "blobs")
        aside = await put_aside(blobs, b'"large"')
        await create(store, HURT, beginning(), said(), stepped("a", aside={"output": aside}))
        await blobs.remove(aside.digest)
        found = [one async for one in verify(store, blobs)]
        assert [(one.session_id, one.seq) for one in found[1].damage] == [(HURT, 3)]


class TestIntact:
    @pytest.mark.parametrize(
        "value",
        [
            pytest.param(b"{}", id="changed"),
            pytest.param("typed by hand", id="typed by hand"),
            pytest.param(b"\xff", id="no JSON"),
        ],
    )
    async def test_the_intact_part_ends_before_the_damage(
        self, path: Path, store: SqliteStore, value: Any
    ) -> None:
        change(path, f"UPDATE events SET data = ? WHERE {at(4)}", value)
        assert [record.seq for record in await intact(store, HURT)] == [1, 2, 3]

    async def test_the_intact_part_ends_before_what_cannot_even_be_read(
        self, path: Path, store: SqliteStore
    ) -> None:
        change(path, f"UPDATE events SET type = CAST(x'6cff67' AS TEXT) WHERE {at(4)}")
        assert [record.seq for record in await intact(store, HURT)] == [1, 2, 3]

    async def test_of_a_healthy_log_everything_is_intact(self, store: SqliteStore) -> None:
        assert await intact(store, HURT) == await store.read(HURT)


async def test_a_command_to_a_damaged_session_is_refused_and_not_appended(
    path: Path, store: SqliteStore
) -> None:
    change(path, f"UPDATE events SET data = x'ff' WHERE {at(3)}")
    async with asyncio.timeout(20), writing(store) as log:
        with pytest.raises(BelayerError, match="damaged at seq 3"):
            await log.decide(HURT, lambda state, now: decide(state, Cancel(), now))
    assert isinstance(log, Log)
    assert len(await store.read(HURT)) == 6
