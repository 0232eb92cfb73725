"""Followers see everything once, in order; a slow one is dropped and nobody waits."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from belayer.sessions.feed import Feed, Frame, TooSlow
from belayer.sessions.log import Log
from belayer.sessions.record import check_chain
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from tests.support.records import (
    AT,
    add,
    beginning,
    create,
    named,
    now_is,
    records,
    said,
    stepped,
    writing,
)

ONE, TWO = named(1), named(2)


@pytest.fixture
def store() -> Store:
    return MemoryStore()


@asynccontextmanager
async def feeding(store: Store) -> AsyncIterator[tuple[Log, Feed]]:
    """A log and the feed that hears it."""
    feed = Feed(store, ManualClock(AT))
    async with asyncio.timeout(30), writing(store) as log:
        log.listen(feed.publish)
        yield log, feed


class Follower:
    """Takes frames one at a time, or all that have come."""

    def __init__(self, feed: Feed, session_id: SessionId, after: int = 0) -> None:
        self._frames = feed.follow(session_id, after)
        self._session_id = session_id

    async def next(self, count: int = 1) -> list[Frame]:
        return [await anext(self._frames) for _ in range(count)]

    async def seqs(self, count: int) -> list[int | None]:
        return [frame.seq for frame in await self.next(count)]

    async def be_live(self, log: Log) -> None:
        """Take all that was missed and one frame that was not."""
        coming = asyncio.create_task(self.next())
        await turns()
        while coming.done():
            coming = asyncio.create_task(self.next())
            await turns()
        await log.append(self._session_id, [said("live")])
        await coming

    async def leave(self) -> None:
        await self._frames.aclose()  # pyright: ignore[reportAttributeAccessIssue]

    async def nothing_more(self) -> bool:
        """Whether no frame is ready, once everything that is under way has had its turns."""
        coming = asyncio.ensure_future(anext(self._frames))  # pyright: ignore[reportArgumentType]
        await turns()
        came = coming.done()
        coming.cancel()
        await asyncio.wait({coming})
        return not came


async def turns() -> None:
    """Let everything that is under way go as far as it can."""
    for _ in range(50):
        await asyncio.sleep(0)


def content(frame: Frame) -> dict[str, object]:
    return json.loads(frame.wire)


class TestReplayThenLive:
    async def test_a_follower_sees_what_it_missed_then_what_comes(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said()])
            follower = Follower(feed, ONE)
            missed = await follower.seqs(2)
            await log.append(ONE, [said(), said()])
            assert missed + await follower.seqs(2) == [1, 2, 3, 4]

    async def test_a_follower_begins_after_its_cursor(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said(), said()])
            assert await Follower(feed, ONE, 2).seqs(1) == [3]

    async def test_a_follower_at_the_end_sees_only_what_comes(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said()])
            follower = Follower(feed, ONE, 2)
            coming = asyncio.create_task(follower.seqs(1))
            await asyncio.sleep(0)
            await log.append(ONE, [said()])
            assert await coming == [3]

    async def test_a_frame_is_the_envelope_of_its_record(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            (record,) = await log.create(ONE, [beginning()])
            (frame,) = await Follower(feed, ONE).next()
            assert (frame.record, frame.wire) == (record, record.wire())

    async def test_nothing_is_missed_or_repeated_while_others_append(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), *(said(str(n)) for n in range(1200))])
            followers = [Follower(feed, ONE, after) for after in (0, 0, 300, 1100)]
            following = [
                asyncio.create_task(follower.next(1601 - after))
                for follower, after in zip(followers, (0, 0, 300, 1100), strict=True)
            ]
            for number in range(400):
                await log.append(ONE, [said(f"live {number}")])
            for task, after in zip(following, (0, 0, 300, 1100), strict=True):
                assert [frame.seq for frame in await task] == list(range(after + 1, 1602))

    async def test_a_follower_who_reads_slowly_while_others_append_misses_nothing(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), *(said() for _ in range(20))])
            follower = Follower(feed, ONE)
            seen: list[int | None] = []
            for _ in range(21):
                seen += await follower.seqs(1)
                await log.append(ONE, [said(), said()])
            seen += await follower.seqs(42)
            assert seen == list(range(1, 64))

    async def test_a_follower_sees_only_its_own_session(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.next()
            await log.create(TWO, [beginning(), said()])
            feed.show(TWO, "token", {"text": "x"})
            assert await follower.nothing_more()

    async def test_the_frames_of_a_follower_form_the_whole_chain(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await log.append(ONE, [said(), said()])
            frames = await follower.next(3)
            check_chain([frame.record for frame in frames if frame.record])

    async def test_a_session_can_be_followed_before_it_begins(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            coming = asyncio.create_task(Follower(feed, ONE).seqs(2))
            await asyncio.sleep(0)
            await log.create(ONE, [beginning(), said()])
            assert await coming == [1, 2]


class TestCursors:
    @pytest.mark.parametrize("far_comes", ["first", "second"])
    async def test_a_cursor_beyond_the_end_takes_nothing_from_other_followers(
        self, store: Store, far_comes: str
    ) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            near, far = Follower(feed, ONE), Follower(feed, ONE, 1_000_000)
            order = [far, near] if far_comes == "first" else [near, far]
            waiting = {one: asyncio.create_task(one.seqs(2)) for one in order}
            await turns()
            await log.append(ONE, [said()])
            await turns()
            came = waiting[near].done()
            for task in waiting.values():
                task.cancel()
            await asyncio.wait(waiting.values())
            assert came

    async def test_a_cursor_before_the_beginning_gives_everything(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said(), said()])
            async with asyncio.timeout(2):
                assert await Follower(feed, ONE, -2).seqs(3) == [1, 2, 3]


class TestOtherProcesses:
    async def test_what_another_process_wrote_is_passed_on_by_catching_up(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            await add(store, ONE, said(), said())
            await feed.catch_up()
            assert await follower.seqs(2) == [3, 4]

    async def test_catching_up_repeats_nothing(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            await log.append(ONE, [said()])
            await feed.catch_up()
            await feed.catch_up()
            assert await follower.seqs(1) == [3]
            assert await follower.nothing_more()

    async def test_what_another_process_wrote_before_our_own_append_is_not_skipped(
        self, store: Store
    ) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            await add(store, ONE, said("theirs"))
            await log.append(ONE, [said("ours")])
            await feed.catch_up()
            async with asyncio.timeout(2):
                assert await follower.seqs(2) == [3, 4]

    async def test_catching_up_does_not_drop_a_follower_who_still_reads_a_long_log(
        self, store: Store
    ) -> None:
        async with feeding(store) as (_, feed):
            await create(store, ONE, beginning(), *(said() for _ in range(1500)))
            follower = Follower(feed, ONE)
            first = await follower.seqs(1)
            await add(store, ONE, said())
            await feed.catch_up()
            assert first + await follower.seqs(1501) == list(range(1, 1503))
            assert await follower.nothing_more()


class TestPassingFrames:
    async def test_a_passing_frame_has_no_seq_and_names_the_last_durable_one(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said()])
            follower = Follower(feed, ONE)
            await follower.next(2)
            feed.show(ONE, "progress", {"percent": 50})
            (frame,) = await follower.next()
            assert (frame.seq, frame.record) == (None, None)
            assert content(frame) == {
                "seq": None,
                "after": 2,
                "session_id": ONE,
                "type": "progress",
                "stage": None,
                "timestamp": "2026-01-01T00:00:00.000000Z",
                "data": {"percent": 50},
            }

    async def test_a_passing_frame_is_gone_once_it_was_shown(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            early = Follower(feed, ONE)
            await early.next()
            feed.show(ONE, "progress", {"percent": 50})
            late = Follower(feed, ONE)
            await late.next()
            assert await late.nothing_more()

    async def test_a_late_follower_gets_the_text_being_written_in_one_snapshot(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            early = Follower(feed, ONE)
            await early.next()
            for text in ("Hell", "o"):
                feed.show(ONE, "token", {"message": "m1", "text": text})
            feed.show(ONE, "token", {"message": "m2", "text": "other"})
            late = Follower(feed, ONE)
            _, snapshot = await late.next(2)
            assert content(snapshot)["type"] == "snapshot"
            assert content(snapshot)["data"] == {"messages": {"m1": "Hello", "m2": "other"}}
            assert snapshot.seq is None

    async def test_after_the_snapshot_come_only_further_tokens(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            early = Follower(feed, ONE)
            await early.next()
            feed.show(ONE, "token", {"message": "m", "text": "one "})
            late = Follower(feed, ONE)
            await late.next(2)
            feed.show(ONE, "token", {"message": "m", "text": "two"})
            (frame,) = await late.next()
            assert content(frame)["data"] == {"message": "m", "text": "two"}

    async def test_a_token_shown_during_the_replay_is_told_once(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said()])
            follower = Follower(feed, ONE)
            await follower.next()
            feed.show(ONE, "token", {"message": "m", "text": "word"})
            await follower.next()
            told = "".join(frame.wire.decode() for frame in [*await follower.next(), *await rest(follower)])
            assert told.count("word") == 1

    async def test_the_durable_event_ends_the_snapshot(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            early = Follower(feed, ONE)
            await early.next()
            feed.show(ONE, "token", {"message": "turn/1", "text": "word"})
            await log.append(ONE, [stepped("turn/1", output="word")])
            late = Follower(feed, ONE)
            await late.next(2)
            assert await late.nothing_more()

    async def test_another_durable_event_does_not_end_the_snapshot(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            feed.show(ONE, "token", {"message": "turn/1", "text": "word"})
            await log.append(ONE, [stepped("turn/2"), said()])
            (*_, snapshot) = await Follower(feed, ONE).next(4)
            assert content(snapshot)["data"] == {"messages": {"turn/1": "word"}}

    async def test_a_session_that_stops_writes_nothing_any_more(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            feed.show(ONE, "token", {"message": "turn/1", "text": "word"})
            await log.append(ONE, [now_is(Status.INTERRUPTED)])
            late = Follower(feed, ONE)
            await late.next(2)
            assert await late.nothing_more()

    async def test_text_written_while_nobody_followed_is_told(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            feed.show(ONE, "token", {"message": "m", "text": "word"})
            _, snapshot = await Follower(feed, ONE).next(2)
            assert content(snapshot)["data"] == {"messages": {"m": "word"}}

    async def test_who_wants_only_some_types_gets_these_and_nothing_that_passes(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning(), said(), now_is(Status.WAITING)])
            frames = feed.follow(ONE, 0, frozenset({"session"}))
            seqs = [(await anext(frames)).seq for _ in range(2)]
            coming = asyncio.ensure_future(anext(frames))  # pyright: ignore[reportArgumentType]
            await turns()
            feed.show(ONE, "progress", {"n": 1})
            await log.append(ONE, [said(), now_is(Status.CANCELLED)])
            assert [*seqs, (await coming).seq] == [1, 3, 5]

    async def test_a_passing_frame_is_valid_json_whatever_it_shows(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.next()
            feed.show(ONE, 'a"b', {"text": 'quote " backslash \\ newline \n ☃'})
            (frame,) = await follower.next()
            assert content(frame)["data"] == {"text": 'quote " backslash \\ newline \n ☃'}


async def rest(follower: Follower) -> list[Frame]:
    """What is ready now."""
    found: list[Frame] = []
    while True:
        coming = asyncio.create_task(follower.next())
        await turns()
        if not coming.done():
            coming.cancel()
            await asyncio.wait({coming})
            return found
        found += coming.result()


class TestSlowFollowers:
    async def test_a_follower_who_is_too_slow_is_dropped(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            for _ in range(50):
                await log.append(ONE, [said() for _ in range(100)])
            with pytest.raises(TooSlow):
                await follower.next(5000)

    async def test_a_dropped_follower_is_told_where_to_go_on(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            for _ in range(50):
                await log.append(ONE, [said() for _ in range(100)])
            with pytest.raises(TooSlow, match="after seq 2"):
                await follower.next(5000)
            assert await Follower(feed, ONE, 2).seqs(5000) == list(range(3, 5003))

    async def test_a_flood_of_passing_frames_drops_a_slow_follower_too(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            for number in range(5000):
                feed.show(ONE, "progress", {"n": number})
            with pytest.raises(TooSlow):
                await follower.next(5000)

    async def test_others_go_on_while_one_is_dropped(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            slow, quick = Follower(feed, ONE), Follower(feed, ONE)
            await slow.be_live(log)
            seen = await quick.seqs(2)
            for _ in range(50):
                await log.append(ONE, [said() for _ in range(100)])
                seen += await quick.seqs(100)
            with pytest.raises(TooSlow):
                await slow.next(5000)
            assert seen == list(range(1, 5003))

    async def test_an_append_does_not_wait_for_a_follower(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            for _ in range(20):
                await log.append(ONE, [said() for _ in range(500)])
            assert len(await store.read(ONE)) == 10_002


class TestLeaving:
    async def test_nothing_stays_in_memory_after_the_last_follower_left(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            followers = [Follower(feed, ONE) for _ in range(3)]
            for follower in followers:
                await follower.next()
            assert feed.is_watched(ONE)
            for follower in followers:
                await follower.leave()
            assert not feed.is_watched(ONE)

    async def test_a_follower_who_leaves_takes_nothing_from_those_who_stay(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            leaving, staying = Follower(feed, ONE), Follower(feed, ONE)
            await leaving.next()
            await staying.next()
            await leaving.leave()
            await log.append(ONE, [said()])
            assert await staying.seqs(1) == [2]

    async def test_a_dropped_follower_leaves_nothing_behind(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            follower = Follower(feed, ONE)
            await follower.be_live(log)
            for _ in range(50):
                await log.append(ONE, [said() for _ in range(100)])
            with pytest.raises(TooSlow):
                await follower.next(5000)
            assert not feed.is_watched(ONE)

    async def test_a_follower_whose_task_is_cancelled_leaves_nothing_behind(self, store: Store) -> None:
        async with feeding(store) as (log, feed):
            await log.create(ONE, [beginning()])
            task = asyncio.create_task(Follower(feed, ONE).next(99))
            for _ in range(10):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            assert not feed.is_watched(ONE)


async def test_a_record_published_twice_is_shown_once(store: Store) -> None:
    feed = Feed(store, ManualClock(AT))
    follower = Follower(feed, ONE)
    coming = asyncio.create_task(follower.seqs(1))
    await asyncio.sleep(0)
    (record,) = records(ONE, beginning())
    feed.publish([record])
    feed.publish([record])
    assert await coming == [1]
    assert await follower.nothing_more()
