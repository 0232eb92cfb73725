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


@dataclass(slots=True)
class _Channel:
    """What a followed session needs in memory; gone with its last follower."""

    last_seq: int
    followers: set[_Follower] = field(default_factory=set[_Follower])
    written: dict[str, str] = field(default_factory=dict[str, str])


class Feed:
    """Hands every committed record, and every passing frame, to those who follow its session."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._channels: dict[SessionId, _Channel] = {}

    def publish(self, records: Sequence[Record]) -> None:
        """Pass committed records on. Called by the log, in commit order."""
        for record in records:
            channel = self._channels.get(record.session_id)
            if channel is None or record.seq <= channel.last_seq:
                continue
            channel.last_seq = record.seq
            channel.written.clear()
            wanting = [follower for follower in channel.followers if follower.wants(record)]
            if wanting:
                _offer(wanting, Frame(record.session_id, record))

    def is_watched(self, session_id: SessionId) -> bool:
        """Whether anybody would see a passing frame."""
        channel = self._channels.get(session_id)
        return channel is not None and any(follower.wants(None) for follower in channel.followers)

    def show(self, session_id: SessionId, type_: str, data: dict[str, Json]) -> None:
        """Pass on something that is not kept: a token, a line of output, progress."""
        channel = self._channels.get(session_id)
        if channel is None:
            return
        if type_ == "token":
            message = str(data.get("message", ""))
            channel.written[message] = channel.written.get(message, "") + str(data.get("text", ""))
        wanting = [follower for follower in channel.followers if follower.wants(None)]
        _offer(wanting, self._passing(session_id, channel, type_, data))

    async def catch_up(self) -> None:
        """Pass on what another process wrote."""
        for session_id, channel in list(self._channels.items()):
            self.publish(await self._store.read(session_id, channel.last_seq))

    async def follow(
        self, session_id: SessionId, after: int = 0, types: frozenset[str] | None = None
    ) -> AsyncIterator[Frame]:
        """Every frame after the cursor, without gap or repetition, for as long as the caller takes them.

        With `types`, only durable events of these types.
        """
        follower = _Follower(types)
        channel = self._channels.setdefault(session_id, _Channel(after))
        channel.followers.add(follower)
        try:
            async for frame in self._missed(session_id, after):
                after = frame.seq or after
                if follower.wants(frame.record):
                    yield frame
            channel.last_seq = max(channel.last_seq, after)
            if channel.written and follower.wants(None):
                data: dict[str, Json] = {"messages": dict(channel.written)}
                yield self._passing(session_id, channel, "snapshot", data)
            async for frame in _coming(follower, after):
                yield frame
        finally:
            channel.followers.discard(follower)
            if not channel.followers:
                self._channels.pop(session_id, None)

    async def _missed(self, session_id: SessionId, after: int) -> AsyncIterator[Frame]:
        while page := await self._store.read(session_id, after, _PAGE):
            for record in page:
                yield Frame(session_id, record)
            after = page[-1].seq

    def _passing(self, session_id: SessionId, channel: _Channel, type_: str, data: dict[str, Json]) -> Frame:
        wire = to_json(
            {
                "seq": None,
                "after": channel.last_seq,
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


async def _coming(follower: _Follower, after: int) -> AsyncIterator[Frame]:
    while True:
        await follower.news.wait()
        follower.news.clear()
        if follower.dropped:
            raise TooSlow(
                f"This follower was too slow and was dropped after seq {after}.",
                f"Follow again after seq {after}; nothing is lost.",
            )
        while follower.frames:
            frame = follower.frames.popleft()
            if frame.seq is not None:
                if frame.seq <= after:
                    continue
                after = frame.seq
            yield frame
