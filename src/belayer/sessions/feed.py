"""Who follows a session sees it all: what was missed, then what is being written, then what comes.

A follower who is too slow is dropped and may come back with its cursor; nobody ever waits for one.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

from pydantic_core import to_json

from belayer.sessions.record import Record
from belayer.sessions.store import Store
from belayer.vocabulary.clock import Clock, rfc3339
from belayer.vocabulary.errors import TransientError
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import SessionId

_FRAMES_A_FOLLOWER_MAY_LAG = 1_000
_PAGE = 500


class TooSlow(TransientError):
    """A follower did not keep up and was dropped."""


@dataclass(slots=True)
class Frame:
    """One thing to show: a durable event with its record, or something that is gone once it was shown."""

    session_id: SessionId
    record: Record | None = None
    _wire: bytes | None = None

    @property
    def seq(self) -> int | None:
        return None if self.record is None else self.record.seq

    @property
    def wire(self) -> bytes:
        """The frame as it is sent: encoded once, when the first follower wants it."""
        if self._wire is None:
            assert self.record is not None
            self._wire = self.record.wire()
        return self._wire


@dataclass(slots=True, eq=False)
class _Follower:
    """The frames one follower has not taken yet. `types` limits it to some kinds of durable events."""

    types: frozenset[str] | None = None
    frames: deque[Frame] = field(default_factory=deque[Frame])
    news: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: bool = False

    def wants(self, record: Record | None) -> bool:
        return self.types is None or (record is not None and record.type in self.types)

    def offer(self, frame: Frame) -> None:
        if len(self.frames) >= _FRAMES_A_FOLLOWER_MAY_LAG:
            self.dropped = True
            self.frames.clear()
        if not self.dropped:
            self.frames.append(frame)
        self.news.set()

    def forget_passing(self) -> None:
        """Drop what a snapshot is about to tell as a whole."""
        self.frames = deque(frame for frame in self.frames if frame.record is not None)


@dataclass(slots=True)
class _Channel:
    """A session that is followed. `behind`: something was written that was not passed on yet."""

    last_seq: int
    behind: bool = False
    followers: set[_Follower] = field(default_factory=set[_Follower])

    def wanting(self, record: Record | None) -> list[_Follower]:
        return [follower for follower in self.followers if follower.wants(record)]


class Feed:
    """Hands every committed record, and every passing frame, to those who follow its session."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._channels: dict[SessionId, _Channel] = {}
        self._written: dict[SessionId, dict[str, str]] = {}

    def publish(self, records: Sequence[Record]) -> None:
        """Pass committed records on, in order. Called by the log; what does not follow on is read later."""
        for record in records:
            if record.session_id in self._written:
                self._no_longer_written(record)
            channel = self._channels.get(record.session_id)
            if channel is None or record.seq <= channel.last_seq:
                continue
            if record.seq > channel.last_seq + 1:
                channel.behind = True
                for follower in channel.followers:
                    follower.news.set()
                return
            channel.last_seq = record.seq
            _offer(channel.wanting(record), Frame(record.session_id, record))

    def is_watched(self, session_id: SessionId) -> bool:
        """Whether anybody would see a passing frame."""
        channel = self._channels.get(session_id)
        return channel is not None and bool(channel.wanting(None))

    def show(self, session_id: SessionId, type_: str, data: dict[str, Json]) -> None:
        """Pass on something that is not kept: a token, a line of output, progress."""
        if type_ == "token":
            written = self._written.setdefault(session_id, {})
            message = str(data.get("message", ""))
            written[message] = written.get(message, "") + str(data.get("text", ""))
        channel = self._channels.get(session_id)
        if channel is not None:
            _offer(channel.wanting(None), self._passing(session_id, channel.last_seq, type_, data))

    async def catch_up(self) -> None:
        """Pass on what another process wrote."""
        for session_id in list(self._channels):
            await self._catch_up(session_id)

    async def follow(
        self, session_id: SessionId, after: int = 0, types: frozenset[str] | None = None
    ) -> AsyncIterator[Frame]:
        """Every frame after the cursor, without gap or repetition, for as long as the caller takes them.

        With `types`, only durable events of these types.
        """
        follower = _Follower(types)
        after = max(after, 0)
        try:
            last_page = False
            while not last_page:
                page = await self._store.read(session_id, after, _PAGE)
                last_page = len(page) < _PAGE
                if last_page:
                    await self._join(session_id, follower, after + len(page))
                for record in page:
                    after = record.seq
                    if follower.wants(record):
                        yield Frame(session_id, record)
            if types is None and self._written.get(session_id):
                follower.forget_passing()
                yield self._snapshot(session_id)
            async for frame in self._coming(session_id, follower, after):
                yield frame
        finally:
            self._leave(session_id, follower)

    async def _join(self, session_id: SessionId, follower: _Follower, after: int) -> None:
        """From here on the follower is told at once. A cursor from the future must not keep others waiting for it."""
        row = await self._store.row(session_id)
        head = min(after, row.last_seq if row else 0)
        channel = self._channels.setdefault(session_id, _Channel(head))
        channel.followers.add(follower)
        await self._catch_up(session_id)

    def _leave(self, session_id: SessionId, follower: _Follower) -> None:
        channel = self._channels.get(session_id)
        if channel is not None:
            channel.followers.discard(follower)
            if not channel.followers:
                del self._channels[session_id]

    async def _coming(self, session_id: SessionId, follower: _Follower, after: int) -> AsyncIterator[Frame]:
        channel = self._channels[session_id]
        while True:
            if channel.behind:
                await self._catch_up(session_id)
            while follower.frames and not follower.dropped:
                frame = follower.frames.popleft()
                if frame.seq is None or frame.seq > after:
                    after = frame.seq or after
                    yield frame
            if follower.dropped:
                raise TooSlow(
                    f"This follower was too slow and was dropped after seq {after}.",
                    f"Follow again after seq {after}; nothing is lost.",
                )
            await follower.news.wait()
            follower.news.clear()

    async def _catch_up(self, session_id: SessionId) -> None:
        """Read what was written behind our back, page by page, until it joins what is passed on at once."""
        while (channel := self._channels.get(session_id)) is not None:
            channel.behind = False
            page = await self._store.read(session_id, channel.last_seq, _PAGE)
            self.publish(page)
            if len(page) < _PAGE and not channel.behind:
                return

    def _no_longer_written(self, record: Record) -> None:
        """The durable event has the whole of what its tokens were a part of."""
        event = record.event()
        if isinstance(event, StepChanged):
            self._written[record.session_id].pop(event.key, None)
        if record.type == "session" or not self._written[record.session_id]:
            del self._written[record.session_id]

    def _snapshot(self, session_id: SessionId) -> Frame:
        messages: dict[str, Json] = {**self._written[session_id]}
        last_seq = self._channels[session_id].last_seq
        return self._passing(session_id, last_seq, "snapshot", {"messages": messages})

    def _passing(self, session_id: SessionId, after: int, type_: str, data: dict[str, Json]) -> Frame:
        wire = to_json(
            {
                "seq": None,
                "after": after,
                "session_id": session_id,
                "type": type_,
                "stage": None,
                "timestamp": rfc3339(self._clock.now()),
                "data": data,
            }
        )
        return Frame(session_id, None, wire)


def _offer(followers: Iterable[_Follower], frame: Frame) -> None:
    for follower in followers:
        follower.offer(frame)
