"""However many watch a session: each sees everything once and in order, and nobody waits for anybody."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame as SocketFrame
from websockets.protocol import State
from websockets.uri import parse_uri

from belayer.api.fanout import BROKEN, RESTART, TOO_SLOW, Backlog, Batch, Ending, Fanout
from belayer.api.socket import Allowance
from belayer.engine import Engine
from belayer.vocabulary.commands import Say
from belayer.vocabulary.errors import StoreBusy
from belayer.vocabulary.ids import SessionId
from belayer.wiring import kept_in_memory
from tests.support.engines import memory_engine, turns, until
from tests.support.records import said, stepped

_MANY = 50


class Client:
    """An outlet that keeps what it is given, and can be told to be slow."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.ending: Ending | None = None
        self.slow = False

    def take(self, batch: Batch) -> bool:
        if not self.slow:
            self.batches.append(batch)
        return not self.slow

    def end(self, ending: Ending) -> None:
        self.ending = ending

    @property
    def frames(self) -> list[dict[str, object]]:
        return [json.loads(wire) for batch in self.batches for _, wire in batch.told]

    @property
    def seqs(self) -> list[object]:
        return [frame["seq"] for frame in self.frames if frame["seq"] is not None]

    @property
    def texts(self) -> list[object]:
        """What was shown in passing: a snapshot as a whole, a token by itself."""
        shown = [frame["data"] for frame in self.frames if frame["seq"] is None]
        return [data.get("messages", data.get("text")) for data in shown if isinstance(data, dict)]


async def waits(run: object) -> None:
    """Never does anything: what happens in its session comes from the test."""


@asynccontextmanager
async def watching() -> AsyncIterator[tuple[Engine, Fanout, SessionId]]:
    """An engine that drives nothing, a fan-out, and a session with one event."""
    async with memory_engine(waits, drives="none") as engine, Fanout(engine) as fanout, asyncio.timeout(30):
        yield engine, fanout, (await engine.start(waits)).id


async def join(fanout: Fanout, session_id: SessionId, after: int = 0, client: Client | None = None) -> Client:
    """A client that has what it missed and is given what comes."""
    client = client or Client()
    async for batch in fanout.missed(session_id, after, client):
        client.batches.append(batch)
    return client


async def say(engine: Engine, session_id: SessionId, times: int = 1) -> None:
    for number in range(times):
        await engine.tell(session_id, Say(text=f"line {number}"))


def show(engine: Engine, session_id: SessionId, text: str, message: str = "m") -> None:
    engine._parts.feed.show(session_id, "token", {"message": message, "text": text})


def followers(engine: Engine) -> int:
    """How many follow the feed itself."""
    return sum(len(channel.followers) for channel in engine._parts.feed._channels.values())


@pytest.fixture
def long_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough for a test to do something meanwhile."""
    monkeypatch.setattr("belayer.api.fanout._REST_A_CLIENT", 0.5)
    monkeypatch.setattr("belayer.api.fanout._LONGEST_REST", 0.5)


class TestPassingOn:
    async def test_a_client_gets_what_it_missed_then_what_comes(self) -> None:
        async with watching() as (engine, fanout, session_id):
            await say(engine, session_id, 3)
            client = await join(fanout, session_id, 2)
            assert client.seqs == [3, 4]
            await say(engine, session_id, 2)
            await until(lambda: client.seqs == [3, 4, 5, 6])

    async def test_many_clients_cost_the_feed_one_follower(self) -> None:
        async with watching() as (engine, fanout, session_id):
            clients = [await join(fanout, session_id) for _ in range(_MANY)]
            await until(lambda: followers(engine) == 1)
            await say(engine, session_id)
            await until(lambda: all(client.seqs == [1, 2] for client in clients))

    async def test_all_clients_are_given_the_same_bytes(self) -> None:
        async with watching() as (engine, fanout, session_id):
            one, two = [await join(fanout, session_id, 1) for _ in range(2)]
            await say(engine, session_id)
            await until(lambda: bool(one.batches and two.batches))
            assert one.batches[0].frames is two.batches[0].frames

    async def test_what_comes_while_it_rests_goes_out_together(self, long_rests: None) -> None:
        async with watching() as (engine, fanout, session_id):
            client = await join(fanout, session_id, 1)
            await say(engine, session_id)
            await until(lambda: client.seqs == [2])
            await say(engine, session_id, 10)
            await until(lambda: len(client.seqs) == 11)
            assert [len(batch.told) for batch in client.batches] == [1, 10]

    async def test_clients_that_come_while_others_append_miss_and_repeat_nothing(self) -> None:
        async with watching() as (engine, fanout, session_id):
            appending = asyncio.create_task(say(engine, session_id, 600))
            clients: list[tuple[int, Client]] = []
            while not appending.done():
                after = (await engine.row(session_id)).last_seq // 2
                clients.append((after, await join(fanout, session_id, after)))
                await turns(7)
            await until(lambda: all(client.seqs[-1] == 601 for _, client in clients))
            assert len(clients) > 5
            for after, client in clients:
                assert client.seqs == list(range(after + 1, 602))

    async def test_more_at_once_than_the_feed_holds_for_a_follower_is_passed_on_in_full(self) -> None:
        async with watching() as (engine, fanout, session_id):
            client = await join(fanout, session_id, 1)
            await until(lambda: followers(engine) == 1)
            await engine._parts.log.append(session_id, [said() for _ in range(1_500)])
            await until(lambda: client.seqs == list(range(2, 1_502)))

    async def test_a_client_of_one_session_sees_nothing_of_another(self) -> None:
        async with watching() as (engine, fanout, session_id):
            other = (await engine.start(waits)).id
            client, stranger = await join(fanout, session_id, 1), await join(fanout, other, 1)
            await say(engine, session_id)
            await until(lambda: client.seqs == [2])
            assert stranger.batches == []


class TestSnapshots:
    async def test_a_late_client_gets_the_text_so_far_once_and_then_what_is_added(self) -> None:
        async with watching() as (engine, fanout, session_id):
            first = await join(fanout, session_id, 1)
            await until(lambda: followers(engine) == 1)
            show(engine, session_id, "Good")
            await until(lambda: first.texts == ["Good"])
            late = await join(fanout, session_id, 1)
            show(engine, session_id, " day")
            await until(lambda: first.texts == ["Good", " day"])
            assert late.texts == [{"m": "Good"}, " day"]

    async def test_a_token_that_waits_to_go_out_is_not_told_twice_to_who_joins_meanwhile(
        self, long_rests: None
    ) -> None:
        async with watching() as (engine, fanout, session_id):
            first = await join(fanout, session_id, 1)
            await until(lambda: followers(engine) == 1)
            for text in "ab":  # the first goes out at once, the second rests
                show(engine, session_id, text)
                await turns(5)
            late = await join(fanout, session_id, 1)
            show(engine, session_id, "c")
            await until(lambda: first.texts == ["a", "b", "c"])
            assert late.texts == [{"m": "ab"}, "c"]

    async def test_the_first_client_gets_the_text_that_was_written_before_it_came(self) -> None:
        async with watching() as (engine, fanout, session_id):
            show(engine, session_id, "early")
            client = await join(fanout, session_id, 1)
            await until(lambda: client.texts == [{"m": "early"}])

    async def test_the_durable_event_ends_the_snapshot(self) -> None:
        async with watching() as (engine, fanout, session_id):
            first = await join(fanout, session_id, 1)
            await until(lambda: followers(engine) == 1)
            show(engine, session_id, "whole")
            await engine._parts.log.append(session_id, [stepped("m")])
            await until(lambda: first.seqs == [2])
            late = await join(fanout, session_id, 1)
            await say(engine, session_id)
            await until(lambda: late.seqs == [2, 3])
            assert late.texts == []


class TestEnding:
    async def test_a_slow_client_is_dropped_and_the_others_go_on(self) -> None:
        async with watching() as (engine, fanout, session_id):
            slow, quick = await join(fanout, session_id, 1), await join(fanout, session_id, 1)
            slow.slow = True
            await say(engine, session_id, 2)
            await until(lambda: quick.seqs == [2, 3])
            assert slow.ending is TOO_SLOW
            assert quick.ending is None

    async def test_nothing_is_left_when_the_last_client_has_gone(self) -> None:
        async with watching() as (engine, fanout, session_id):
            tasks = asyncio.all_tasks()
            clients = [await join(fanout, session_id) for _ in range(3)]
            await until(lambda: followers(engine) == 1)
            for client in clients:
                fanout.leave(session_id, client)
            await until(lambda: followers(engine) == 0 and asyncio.all_tasks() == tasks)
            assert fanout._relays == {}

    async def test_a_client_that_was_dropped_alone_leaves_nothing_behind(self) -> None:
        async with watching() as (engine, fanout, session_id):
            client = await join(fanout, session_id, 1)
            client.slow = True
            await say(engine, session_id)
            await until(lambda: client.ending is not None)
            fanout.leave(session_id, client)
            await until(lambda: followers(engine) == 0)

    async def test_a_session_that_was_left_can_be_watched_again(self) -> None:
        async with watching() as (engine, fanout, session_id):
            fanout.leave(session_id, await join(fanout, session_id))
            client = await join(fanout, session_id, 1)
            await say(engine, session_id)
            await until(lambda: client.seqs == [2])

    async def test_when_it_stops_everybody_is_told_to_come_back(self) -> None:
        async with watching() as (_, fanout, session_id):
            client = await join(fanout, session_id, 1)
            fanout.stop()
            assert client.ending is RESTART
            late = await join(fanout, session_id)
            assert (late.batches, late.ending) == ([], RESTART)

    async def test_what_was_committed_before_it_stops_is_still_passed_on(self) -> None:
        async with watching() as (engine, fanout, session_id):
            client = await join(fanout, session_id, 1)
            await say(engine, session_id, 3)
            await turns(5)
            fanout.stop()
            assert client.seqs == [2, 3, 4]

    async def test_who_watches_is_cut_off_when_the_log_cannot_be_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def failing(*_: object) -> NoReturn:
            raise StoreBusy("The store is busy.", "Try again.")

        keeping = kept_in_memory()
        async with memory_engine(waits, keeping=keeping, drives="none") as engine, Fanout(engine) as fanout:
            session_id = (await engine.start(waits)).id
            client = await join(fanout, session_id, 1)
            with monkeypatch.context() as broken:
                broken.setattr(keeping.store, "read", failing)
                await until(lambda: client.ending is BROKEN)
            again = await join(fanout, session_id, 1)
            await say(engine, session_id)
            await until(lambda: again.seqs == [2])


class TestBacklog:
    async def test_it_gives_what_it_took_then_ends(self) -> None:
        backlog = Backlog()
        batches = [Batch([(number, b"x")]) for number in range(3)]
        for batch in batches:
            assert backlog.take(batch)
        backlog.end(RESTART)
        assert [batch async for batch in backlog.batches()] == batches

    async def test_it_refuses_more_than_a_client_may_lag_and_forgets_the_rest(self) -> None:
        backlog = Backlog()
        taken = 0
        while backlog.take(Batch([(None, b"x")] * 10)):
            taken += 1
        backlog.end(TOO_SLOW)
        assert 100 <= taken <= 101
        assert [batch async for batch in backlog.batches()] == []

    async def test_who_takes_what_is_there_may_go_on_for_ever(self) -> None:
        backlog = Backlog()
        batches = backlog.batches()
        for _ in range(3_000):
            assert backlog.take(Batch([(None, b"x")]))
            await anext(batches)

    async def test_silence_is_told(self) -> None:
        batches = Backlog().batches(0.0)
        assert [await anext(batches), await anext(batches)] == [None, None]


def read_by_a_client(content: bytes) -> list[bytes]:
    """The messages that a real client finds in what the server sent."""
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN, max_size=None)
    client.receive_data(content)
    return [bytes(frame.data) for frame in client.events_received() if isinstance(frame, SocketFrame)]


def read_as_events(content: bytes) -> list[tuple[int | None, bytes]]:
    """The events that an EventSource finds."""
    found: list[tuple[int | None, bytes]] = []
    for block in content.split(b"\n\n")[:-1]:
        fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
        found.append((int(fields[b"id"]) if b"id" in fields else None, fields[b"data"]))
    return found


_WIRES = st.one_of(st.text(max_size=300), st.integers(100, 70_000).map(lambda size: "x" * size)).map(
    lambda text: json.dumps({"text": text}).encode()
)


@given(st.lists(st.tuples(st.none() | st.integers(1, 2**53), _WIRES), max_size=8))
def test_whatever_is_in_a_batch_reaches_a_client_as_it_is(told: Sequence[tuple[int | None, bytes]]) -> None:
    batch = Batch(told)
    assert read_by_a_client(batch.frames) == [wire for _, wire in told]
    assert read_as_events(batch.events) == list(told)


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 40)), max_size=200))
def test_an_allowance_never_gives_more_than_it_may(asked: list[tuple[float, int]]) -> None:
    allowance, now, given_out = Allowance(10, 30), 1_000.0, 0
    for waited, much in asked:
        now += waited
        given_out += much if allowance.takes(much, now) else 0
        assert given_out <= 30 + (now - 1_000.0) * 10 + 1e-6


def test_an_allowance_comes_back_with_time() -> None:
    allowance = Allowance(10, 30)
    assert allowance.takes(30, 0.0)
    assert not allowance.takes(1, 0.0)
    assert allowance.takes(10, 1.0)
    assert not allowance.takes(1, 1.0)
