"""A session leaves one store as a file and comes into another as it was, or not at all."""

import asyncio
import base64
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belayer.sessions.blobs import MemoryBlobs, put_aside
from belayer.sessions.integrity import verify
from belayer.sessions.portable import export_session
from belayer.sessions.record import GENESIS, Entry, chain, check_chain
from belayer.sessions.state import fold
from belayer.sessions.store import Store, Wanted
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import from_micros, rfc3339
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import BelayerError, KeyReused, StoreError, Unimportable, UnknownSession
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.people import Responded
from belayer.vocabulary.ids import SessionId
from tests.sessions.test_integrity import at, change
from tests.support.records import (
    AT,
    add,
    asked,
    beginning,
    create,
    entries,
    forked,
    imported,
    named,
    now_is,
    question,
    said,
    stepped,
    writing,
)
from tests.vocabulary.strategies import PAYLOADS, events, first_events

ONE, TWO = named(1), named(2)
ENDED = (
    beginning("ä title", key="k"),
    question(kind="form"),
    Responded(request_id=asked(), value={"none": None, "x": [1.5, 1e22, -0.0, 2**70, '☃\n"\\']}),
    stepped("a", seconds=0.25),
    now_is(Status.COMPLETED, result=[None]),
)


async def exported(*more: AnyEvent) -> bytes:
    store = MemoryStore()
    await create(store, ONE, *(more or ENDED))
    return await export_session(store, MemoryBlobs(), ONE)


async def taken_in(content: bytes, store: Store | None = None) -> Store:
    """The store after taking the file in; a refusal is raised."""
    store = store or MemoryStore()
    async with asyncio.timeout(10), writing(store) as log:
        await imported(log, store, MemoryBlobs(), content)
    return store


def before_arrival(content: bytes) -> dict[str, Any]:
    """An exported session without its last event, which says that it was imported."""
    session = json.loads(content)
    assert session["events"].pop()["type"] == "rehomed"
    return session


async def refusal_of(content: bytes) -> BelayerError:
    """What the import says; it must have changed nothing."""
    store = MemoryStore()
    with pytest.raises(BelayerError) as caught:
        await taken_in(content, store)
    assert await store.rows(Wanted()) == []
    return caught.value


class TestRoundTrip:
    async def test_a_session_comes_out_as_it_went_in(self) -> None:
        content = await exported()
        store = await taken_in(content)
        assert before_arrival(await export_session(store, MemoryBlobs(), ONE)) == json.loads(content)

    async def test_an_imported_session_has_the_same_records(self) -> None:
        source = MemoryStore()
        made = await create(source, ONE, *ENDED)
        store = await taken_in(await export_session(source, MemoryBlobs(), ONE))
        assert (await store.read(ONE))[:-1] == made

    @settings(max_examples=40, deadline=None)
    @given(first=first_events, more=st.lists(events, max_size=5))
    def test_whatever_happened_in_a_session_comes_out_as_it_went_in(
        self, first: AnyEvent, more: list[AnyEvent]
    ) -> None:
        async def there_and_back() -> tuple[bytes, bytes]:
            source, target, here, there = MemoryStore(), MemoryStore(), MemoryBlobs(), MemoryBlobs()
            for payload in PAYLOADS:
                await here.put(payload)
            await create(source, ONE, first, *more, now_is(Status.CANCELLED))
            content = await export_session(source, here, ONE)
            async with writing(target) as log:
                await imported(log, target, there, content)
            return content, await export_session(target, there, ONE)

        content, again = asyncio.run(there_and_back())
        assert before_arrival(again) == json.loads(content)

    async def test_a_session_goes_from_one_kind_of_store_to_the_other(self, tmp_path: Path) -> None:
        content = await exported()
        store = await SqliteStore.open(tmp_path / "belayer.db")
        await taken_in(content, store)
        assert before_arrival(await export_session(store, MemoryBlobs(), ONE)) == json.loads(content)
        await store.close()

    async def test_an_imported_session_is_well(self) -> None:
        store = await taken_in(await exported())
        assert [found.damage async for found in verify(store, MemoryBlobs())] == [(), ()]

    async def test_the_file_says_what_it_is(self) -> None:
        content = json.loads(await exported())
        assert (content["format"], content["version"], content["session_id"], content["complete"]) == (
            "belayer/session",
            1,
            ONE,
            True,
        )

    async def test_each_event_of_the_file_is_its_envelope_with_version_and_hash(self) -> None:
        source = MemoryStore()
        made = await create(source, ONE, *ENDED)
        content = json.loads(await export_session(source, MemoryBlobs(), ONE))
        envelope = {**json.loads(made[2].wire()), "version": 1, "hash": made[2].hash.hex()}
        assert content["events"][2] == envelope

    async def test_payloads_travel_with_the_session(self) -> None:
        source, here, there = MemoryStore(), MemoryBlobs(), MemoryBlobs()
        aside = await put_aside(here, b'"large"')
        await create(source, ONE, beginning(), stepped("a", aside={"output": aside}), now_is(Status.FAILED))
        content = await export_session(source, here, ONE)
        store = MemoryStore()
        async with writing(store) as log:
            await imported(log, store, there, content)
        assert await there.digests() == await here.digests()

    async def test_payloads_of_other_sessions_stay(self) -> None:
        source, blobs = MemoryStore(), MemoryBlobs()
        await blobs.put(b"of another session")
        await create(source, ONE, *ENDED)
        assert json.loads(await export_session(source, blobs, ONE))["blobs"] == {}

    async def test_a_rewound_session_travels_with_what_it_left_behind(self) -> None:
        content = await exported(beginning(), said(), now_is(Status.PAUSED, rewound_to=1, epoch=1))
        store = await taken_in(content)
        assert len(await store.read(ONE)) == 3 + 2

    async def test_a_fork_travels(self) -> None:
        source = MemoryStore()
        async with writing(source) as log:
            await log.create(ONE, ENDED)
            fork = await forked(log, source, Fork(session_id=ONE), AT)
        store = await taken_in(await export_session(source, MemoryBlobs(), fork))
        row = await store.row(fork)
        assert row is not None
        assert row.idempotency_key is None

    async def test_an_unknown_session_cannot_be_exported(self) -> None:
        with pytest.raises(UnknownSession):
            await export_session(MemoryStore(), MemoryBlobs(), ONE)


class TestArrival:
    @pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.WAITING, Status.EXPIRED])
    async def test_a_session_that_had_not_ended_arrives_paused(self, status: Status) -> None:
        store = await taken_in(await exported(beginning(), now_is(status)))
        row = await store.row(ONE)
        assert row is not None
        assert (row.status, row.last_seq) == (Status.PAUSED, 2 + 2)

    @pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED, Status.CANCELLED])
    async def test_a_session_that_had_ended_arrives_as_it_ended(self, status: Status) -> None:
        store = await taken_in(await exported(beginning(), now_is(status)))
        row = await store.row(ONE)
        assert row is not None
        assert (row.status, row.last_seq) == (status, 2 + 1)

    async def test_a_timer_does_not_go_off_after_an_import(self) -> None:
        store = await taken_in(await exported(beginning(), now_is(Status.WAITING, wake_at=AT)))
        assert await store.next_wake() is None

    async def test_a_session_that_is_there_already_is_left_as_it_is(self) -> None:
        content = await exported()
        store = await taken_in(content)
        before = await store.read(ONE)
        await taken_in(content, store)
        assert await store.read(ONE) == before

    async def test_a_session_that_went_on_here_is_left_as_it_is(self) -> None:
        content = await exported(beginning(), said())
        store = await taken_in(content)
        await add(store, ONE, said())
        before = await store.read(ONE)
        await taken_in(content, store)
        assert await store.read(ONE) == before

    async def test_a_session_that_is_there_with_another_history_is_refused(self) -> None:
        store = MemoryStore()
        made = await create(store, ONE, beginning("another"))
        with pytest.raises(Unimportable, match="another history"):
            await taken_in(await exported(), store)
        assert await store.read(ONE) == made

    async def test_an_idempotency_key_that_is_taken_here_is_not_taken_away(self) -> None:
        store = MemoryStore()
        await create(store, TWO, beginning(key="k"))
        with pytest.raises(KeyReused):
            await taken_in(await exported(), store)
        assert await store.row(ONE) is None


class TestDamagedSource:
    async def test_of_a_damaged_log_the_intact_part_is_exported(self, tmp_path: Path) -> None:
        store = await SqliteStore.open(tmp_path / "b.db")
        await create(store, ONE, beginning(), said(), said(), said())
        change(tmp_path / "b.db", f"UPDATE events SET data = x'7b7d' WHERE {at(3)}")
        content = json.loads(await export_session(store, MemoryBlobs(), ONE))
        await store.close()
        assert ([event["seq"] for event in content["events"]], content["complete"]) == ([1, 2], False)

    async def test_the_intact_part_can_be_imported_elsewhere(self, tmp_path: Path) -> None:
        store = await SqliteStore.open(tmp_path / "b.db")
        await create(store, ONE, beginning(), said(), said(), said())
        change(tmp_path / "b.db", f"UPDATE events SET data = x'7b7d' WHERE {at(3)}")
        content = await export_session(store, MemoryBlobs(), ONE)
        await store.close()
        other = await taken_in(content)
        row = await other.row(ONE)
        assert row is not None
        assert (row.last_seq, row.status) == (2 + 2, Status.PAUSED)

    async def test_a_session_of_which_nothing_is_intact_is_refused_with_a_sentence(
        self, tmp_path: Path
    ) -> None:
        store = await SqliteStore.open(tmp_path / "b.db")
        await create(store, ONE, beginning(), said())
        change(tmp_path / "b.db", f"UPDATE events SET data = x'7b7d' WHERE {at(1)}")
        try:
            content = await export_session(store, MemoryBlobs(), ONE)
        except BelayerError:
            return
        finally:
            await store.close()
        assert isinstance(await refusal_of(content), Unimportable)

    async def test_a_missing_payload_is_named(self) -> None:
        store, blobs = MemoryStore(), MemoryBlobs()
        aside = await put_aside(blobs, b'"large"')
        await create(store, ONE, beginning(), stepped("a", aside={"output": aside}))
        await blobs.remove(aside.digest)
        with pytest.raises(StoreError, match=aside.digest):
            await export_session(store, blobs, ONE)


def edited(content: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    """The file as somebody changed it."""
    parsed = json.loads(content)
    edit(parsed)
    return json.dumps(parsed).encode()


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "data": lambda file: file["events"][2]["data"].update(value="forged"),
    "a time": lambda file: file["events"][2].update(timestamp=rfc3339(AT + timedelta(days=1))),
    "a type": lambda file: file["events"][2].update(type="log"),
    "a version": lambda file: file["events"][2].update(version=2),
    "a stage": lambda file: file["events"][2].update(stage="planning"),
    "a seq": lambda file: file["events"][2].update(seq=9),
    "a hash": lambda file: file["events"][2].update(hash="0" * 64),
    "a hash that is none": lambda file: file["events"][2].update(hash="zz"),
    "the session": lambda file: file.update(session_id=TWO),
    "a missing event": lambda file: file["events"].pop(2),
    "a missing beginning": lambda file: file["events"].pop(0),
    "swapped events": lambda file: file["events"].insert(1, file["events"].pop(2)),
    "an event twice": lambda file: file["events"].append(file["events"][-1]),
    "no events": lambda file: file.update(events=[]),
    "another format": lambda file: file.update(format="something/else"),
    "a newer format": lambda file: file.update(version=2),
    "no format": lambda file: file.pop("format"),
    "more than belongs there": lambda file: file.update(more=1),
    "an id that is none": lambda file: file.update(session_id="../../etc/passwd"),
    "no payloads": lambda file: file.pop("blobs"),
    "a time without a zone": lambda file: file["events"][0].update(timestamp="2026-01-01T00:00:00"),
}


class TestChangedFiles:
    @pytest.mark.parametrize("what", CHANGES)
    async def test_a_file_that_was_changed_is_refused(self, what: str) -> None:
        error = await refusal_of(edited(await exported(), CHANGES[what]))
        assert isinstance(error, Unimportable)
        assert "Nothing was changed" in error.detail

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"null",
            b"[]",
            b"{}",
            b"{",
            b"a letter",
            b"\xff\xfe",
            b"\x00" * 100,
            b"[" * 100_000,
            b'{"format":"belayer/session"',
            b'{"a":' * 10_000,
        ],
        ids=range(11),
    )
    async def test_a_file_that_is_no_export_is_refused(self, content: bytes) -> None:
        assert isinstance(await refusal_of(content), Unimportable)

    async def test_a_file_cut_off_anywhere_is_refused(self) -> None:
        content = await exported()
        for end in range(0, len(content) - 2, 97):
            assert isinstance(await refusal_of(content[:end]), Unimportable)

    @settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
    def test_a_flipped_bit_is_refused_or_changes_nothing(self, place: int, bit: int) -> None:
        async def try_it() -> bool:
            source = MemoryStore()
            made = await create(source, ONE, *ENDED)
            content = bytearray(await export_session(source, MemoryBlobs(), ONE))
            content[place % len(content)] ^= 1 << bit
            store = MemoryStore()
            try:
                await taken_in(bytes(content), store)
            except Unimportable:
                return await store.rows(Wanted()) == []
            return (await store.read(ONE))[:-1] == made

        assert asyncio.run(try_it())

    async def test_a_key_that_stands_twice_is_refused(self) -> None:
        content = (await exported()).replace(
            b'"status":"completed"', b'"status":"failed","status":"completed"'
        )
        assert isinstance(await refusal_of(content), Unimportable)

    async def test_an_envelope_key_that_stands_twice_is_refused(self) -> None:
        content = (await exported()).replace(b'{"seq":3,', b'{"seq":7,"seq":3,')
        assert isinstance(await refusal_of(content), Unimportable)

    @pytest.mark.parametrize("text", ['"\\ud800"', "[" * 500 + "]" * 500])
    async def test_what_json_can_say_and_nobody_can_write_again_is_refused(self, text: str) -> None:
        content = (await exported()).replace(b'"data":{', b'"data":{"more":' + text.encode() + b",", 1)
        assert isinstance(await refusal_of(content), Unimportable)

    async def test_another_encoding_than_utf_8_is_refused(self) -> None:
        content = (await exported()).decode().encode("utf-16")
        assert isinstance(await refusal_of(content), Unimportable)

    async def test_a_damaged_payload_is_refused(self) -> None:
        content = await self.with_payload()
        changed = edited(
            content, lambda file: file["blobs"].update(dict.fromkeys(file["blobs"], b64(b"other")))
        )
        assert isinstance(await refusal_of(changed), Unimportable)

    async def test_a_payload_that_is_no_base64_is_refused(self) -> None:
        content = await self.with_payload()
        changed = edited(content, lambda file: file["blobs"].update(dict.fromkeys(file["blobs"], "*")))
        assert isinstance(await refusal_of(changed), Unimportable)

    async def test_a_missing_payload_is_refused(self) -> None:
        content = await self.with_payload()
        assert isinstance(await refusal_of(edited(content, lambda file: file.update(blobs={}))), Unimportable)

    async def test_a_payload_nobody_refers_to_is_not_taken_in(self) -> None:
        content = edited(await exported(), lambda file: file["blobs"].update({"a" * 64: b64(b"smuggled")}))
        store, blobs = MemoryStore(), MemoryBlobs()
        async with writing(store) as log:
            await imported(log, store, blobs, content)
        assert await blobs.digests() == set()

    @staticmethod
    async def with_payload() -> bytes:
        store, blobs = MemoryStore(), MemoryBlobs()
        aside = await put_aside(blobs, b'"large"')
        await create(store, ONE, beginning(), stepped("a", aside={"output": aside}))
        return await export_session(store, blobs, ONE)


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def forged(*made: Entry, session_id: SessionId = ONE) -> bytes:
    """A file whose chain holds although Belayer never wrote it: anybody can compute a hash."""
    lines = [
        json.dumps(
            {
                "seq": record.seq,
                "session_id": session_id,
                "type": record.type,
                "stage": record.stage,
                "timestamp": rfc3339(from_micros(record.at)),
                "data": "DATA",
                "version": record.version,
                "hash": record.hash.hex(),
            }
        )
        .encode()
        .replace(b'"DATA"', record.data)
        for record in chain(session_id, 0, GENESIS, made)
    ]
    head = b'{"format":"belayer/session","version":1,"session_id":"%s","complete":true,' % session_id.encode()
    return b'%s"events":[%s],"blobs":{}}' % (head, b",".join(lines))


def raw(data: bytes, type_: str = "session", version: int = 1, stage: str | None = None) -> Entry:
    return Entry(type_, version, entries(said())[0].at, data, stage)


FORGED = {
    "no beginning": [raw(b'{"text":"x","level":"info"}', "log")],
    "an unknown type": [raw(b"{}", "telepathy")],
    "a version that never was": [raw(b'{"status":"queued"}', version=0)],
    "a stage that is no word": [
        *entries(*ENDED),
        raw(b'{"text":"x","level":"info"}', "log", stage='a","seq":"b'),
    ],
    "a time without a zone": [
        *entries(beginning()),
        raw(b'{"status":"failed","wake_at":"2026-01-01T00:00:00"}'),
    ],
    "an epoch beyond any": [*entries(beginning()), raw(b'{"status":"failed","epoch":1' + b"0" * 30 + b"}")],
    "a number that is none": [*entries(beginning()), raw(b'{"status":"completed","result":NaN}')],
    "a rewind to before the beginning": [*entries(beginning()), raw(b'{"status":"failed","rewound_to":0}')],
}


class TestForgedFiles:
    async def test_a_forged_file_that_makes_sense_is_taken_in(self) -> None:
        store = await taken_in(forged(*entries(*ENDED)))
        check_chain(await store.read(ONE))

    @pytest.mark.parametrize("kind", ["memory", "sqlite"])
    @pytest.mark.parametrize("what", FORGED)
    async def test_a_forged_file_is_refused_or_leaves_a_session_that_can_be_read_and_shown(
        self, what: str, kind: str, tmp_path: Path
    ) -> None:
        store: Store = MemoryStore() if kind == "memory" else await SqliteStore.open(tmp_path / "b.db")
        try:
            await taken_in(forged(*FORGED[what]), store)
        except BelayerError:
            assert await store.rows(Wanted()) == []
            return
        else:
            records = await store.read(ONE)
            assert fold(ONE, records).workflow == "work"
            for record in records:
                json.loads(record.wire(), parse_constant=refuse)
        finally:
            await store.close()


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
