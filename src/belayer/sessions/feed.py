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


@dataclass(frozen=True, slots=True)
class Shown:
    """What passes and is not kept: a token, a line of output, progress."""

    type: str
    timestamp: str
    data: dict[str, Json]


@dataclass(slots=True)
class Frame:
    """One thing to show: a durable event with its record, or something that is gone once it was shown."""

    session_id: SessionId
    record: Record | None = None
    _wire: bytes | None = None
    shown: Shown | None = None

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


@dataclass(slots=True)
class Writing:
    """The text so far of every message that is still being written in a session, as its frames tell it."""

    session_id: SessionId
    messages: dict[str, str] = field(default_factory=dict[str, str])
    timestamp: str = ""

    def hear(self, frame: Frame) -> None:
        """Tokens add to a message; the durable event that has the whole of it ends it."""
        if frame.record is not None:
            self.settle(frame.record)
        elif frame.shown is not None and frame.shown.type in ("token", "snapshot"):
            self.add(frame.shown)

    def add(self, shown: Shown) -> None:
        """Take in a token, or a snapshot of everything so far."""
        self.timestamp = shown.timestamp
        whole = shown.data.get("messages")
        if shown.type == "snapshot" and isinstance(whole, dict):
            self.messages = {message: str(text) for message, text in whole.items()}
            return
        message = str(shown.data.get("message", ""))
        self.messages[message] = self.messages.get(message, "") + str(shown.data.get("text", ""))

    def settle(self, record: Record) -> None:
        """Forget what the record has the whole of; a session that stops or goes on writes nothing any more."""
        if not self.messages:
            return
        event = record.event()
        if isinstance(event, StepChanged):
            self.messages.pop(event.key, None)
        if record.type == "session":
            self.messages.clear()

    def snapshot(self, after: int) -> Frame | None:
        """All of it in one frame, for somebody who comes late; None if nothing is being written."""
        if not self.messages:
            return None
        data: dict[str, Json] = {"messages": {**self.messages}}
        return _passing(self.session_id, after, Shown("snapshot", self.timestamp, data))


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
        self._writings: dict[SessionId, Writing] = {}

    def publish(self, records: Sequence[Record]) -> None:
        """Pass committed records on, in order. Called by the log; what does not follow on is read later."""
        for record in records:
            if record.session_id in self._writings:
                self._settle(record)
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
        shown = Shown(type_, rfc3339(self._clock.now()), data)
        if type_ == "token":
            self._writings.setdefault(session_id, Writing(session_id)).add(shown)
        channel = self._channels.get(session_id)
        if channel is not None:
            _offer(channel.wanting(None), _passing(session_id, channel.last_seq, shown))

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
            if types is None and session_id in self._writings:
                follower.forget_passing()
                snapshot = self._writings[session_id].snapshot(self._channels[session_id].last_seq)
                if snapshot is not None:
                    yield snapshot
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

    def _settle(self, record: Record) -> None:
        """The durable event has the whole of what its tokens were a part of."""
        writing = self._writings[record.session_id]
        writing.settle(record)
        if not writing.messages:
            del self._writings[record.session_id]


def _offer(followers: Iterable[_Follower], frame: Frame) -> None:
    for follower in followers:
        follower.offer(frame)


def _passing(session_id: SessionId, after: int, shown: Shown) -> Frame:
    wire = to_json(
        {
            "seq": None,
            "after": after,
            "session_id": session_id,
            "type": shown.type,
            "stage": None,
            "timestamp": shown.timestamp,
            "data": shown.data,
        }
    )
    return Frame(session_id, None, wire, shown)
