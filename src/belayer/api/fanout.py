"""One follower of the feed per session, however many watch: a frame is prepared once and handed to all.

Nobody is waited for. Sent at once when all is quiet, else together with what came in the last moment: the more watch,
the longer it is, up to 33 ms.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import structlog

from belayer.api.line import encoded
from belayer.engine import Engine
from belayer.sessions.feed import Frame, TooSlow, Writing
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.ids import SessionId

_logger = structlog.get_logger()

# A write took 12 µs here, most of it in the kernel: up to a thousand clients, writing takes a quarter of the time.
_REST_A_CLIENT = 33e-6
_LONGEST_REST = 0.033
_PAGE = 200
_FRAMES_AN_OUTLET_MAY_LAG = 1_000


@dataclass(frozen=True, slots=True)
class Ending:
    """Why nothing more comes, as a WebSocket's close says it."""

    code: int
    reason: str


RESTART = Ending(1012, "restart")
TOO_SLOW = Ending(4008, "too slow: follow again after the last seq you have")
BROKEN = Ending(1011, "the log cannot be read now: follow again after the last seq you have")


@dataclass(frozen=True)
class Batch:
    """Envelopes that go out together, each with its seq if it has one. Every form is made once, for all who take it."""

    told: Sequence[tuple[int | None, bytes]]

    @cached_property
    def frames(self) -> bytes:
        """As WebSocket frames."""
        return b"".join([encoded(wire) for _, wire in self.told])

    @cached_property
    def events(self) -> bytes:
        """As Server-Sent Events. What is not kept has no id: nobody can come back to it."""
        return b"".join(
            [
                b"data: %s\n\n" % wire if seq is None else b"id: %d\ndata: %s\n\n" % (seq, wire)
                for seq, wire in self.told
            ]
        )


class Outlet(Protocol):
    """Where one client's batches go."""

    def take(self, batch: Batch) -> bool:
        """Pass it on without waiting; False if the client is too slow."""
        ...

    def end(self, ending: Ending) -> None:
        """Nothing more comes."""
        ...


@dataclass(eq=False, slots=True)
class Backlog:
    """An outlet for a client that is sent to with waiting. Holds what it has not taken yet, up to a limit."""

    _batches: deque[Batch] = field(default_factory=deque[Batch])
    _frames: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    ending: Ending | None = None

    def take(self, batch: Batch) -> bool:
        if self._frames > _FRAMES_AN_OUTLET_MAY_LAG:
            return False
        self._batches.append(batch)
        self._frames += len(batch.told)
        self._news.set()
        return True

    def end(self, ending: Ending) -> None:
        self.ending = self.ending or ending
        if ending is TOO_SLOW:
            self._batches.clear()
        self._news.set()

    async def batches(self, silence: float | None = None) -> AsyncIterator[Batch | None]:
        """Every batch until the end; None after so many seconds without one."""
        while True:
            while self._batches:
                batch = self._batches.popleft()
                self._frames -= len(batch.told)
                yield batch
            if self.ending is not None:
                return
            self._news.clear()
            try:
                async with asyncio.timeout(silence):
                    await self._news.wait()
            except TimeoutError:
                yield None


class Fanout:
    """Everybody who watches, by session. Its tasks last as long as its block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._relays: dict[SessionId, _Relay] = {}
        self._tasks = asyncio.TaskGroup()
        self._stopped = False
        self._attending: set[Callable[[Ending], None]] = set()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.stop()
        await self._tasks.__aexit__(None, None, None)

    async def missed(self, session_id: SessionId, after: int, outlet: Outlet) -> AsyncGenerator[Batch]:
        """What came after the cursor so far; once this is through, the outlet is given what comes, without a gap."""
        while not self._stopped:
            wires = await self._engine.events(session_id, after, _PAGE)
            if wires:
                yield Batch(list(enumerate(wires, after + 1)))
                after += len(wires)
            elif self._join(session_id, after, outlet):
                return
        outlet.end(RESTART)

    def leave(self, session_id: SessionId, outlet: Outlet) -> None:
        """The outlet is given nothing more."""
        relay = self._relays.get(session_id)
        if relay is not None:
            relay.leave(outlet)
            if not relay.is_watched:
                self._end(relay)

    def attend(self, ended: Callable[[Ending], None]) -> None:
        """Have this called when everything stops, whether or not anything is followed."""
        self._attending.add(ended)

    def dismiss(self, ended: Callable[[Ending], None]) -> None:
        self._attending.discard(ended)

    def stop(self) -> None:
        """Tell everybody to come back later, and take in nobody any more."""
        self._stopped = True
        for ended in tuple(self._attending):
            ended(RESTART)
        for relay in list(self._relays.values()):
            relay.end(RESTART)
            self._end(relay)

    def _join(self, session_id: SessionId, after: int, outlet: Outlet) -> bool:
        """Whether the outlet could join: not if the relay has passed on more than the outlet has."""
        if self._stopped:
            return False
        relay = self._relays.get(session_id)
        if relay is None:
            relay = self._relays[session_id] = _Relay(session_id, after)
            relay.task = self._tasks.create_task(self._run(relay))
        return relay.join(outlet, after)

    async def _run(self, relay: "_Relay") -> None:
        try:
            await relay.run(self._engine)
        except BelayerError as error:
            _logger.warning("followers cut off", session=relay.session_id, error=error.detail)
        except Exception as error:  # the API's own door: one session's trouble is not another's
            _logger.error("followers cut off", session=relay.session_id, exc_info=error)
        relay.end(BROKEN)
        self._end(relay)

    def _end(self, relay: "_Relay") -> None:
        relay.close()
        if self._relays.get(relay.session_id) is relay:
            del self._relays[relay.session_id]


class _Relay:
    """Follows one session and passes on to its outlets. `_early` have read further than this has come so far."""

    def __init__(self, session_id: SessionId, after: int) -> None:
        self.session_id = session_id
        self.task: asyncio.Task[None] | None = None
        self._seq = after
        self._writing = Writing(session_id)
        self._outlets: set[Outlet] = set()
        self._new: dict[Outlet, int] = {}
        self._early: dict[Outlet, int] = {}
        self._coming: list[tuple[int | None, bytes]] = []
        self._next: asyncio.Handle | None = None

    @property
    def is_watched(self) -> bool:
        return bool(self._outlets or self._new or self._early)

    def join(self, outlet: Outlet, after: int) -> bool:
        if after < self._seq:
            return False
        if after > self._seq:
            self._early[outlet] = after
        else:
            self._admit(outlet)
        return True

    def leave(self, outlet: Outlet) -> None:
        self._outlets.discard(outlet)
        self._new.pop(outlet, None)
        self._early.pop(outlet, None)

    async def run(self, engine: Engine) -> None:
        """Pass on, for as long as this runs."""
        while True:
            try:
                async with aclosing(engine.follow(self.session_id, self._seq)) as frames:
                    async for frame in frames:
                        self._hear(frame)
            except TooSlow:
                continue  # more came in one go than the feed holds for a follower

    def end(self, ending: Ending) -> None:
        """Let everybody go, with what there is to tell."""
        self._flush()
        for outlet in (*self._outlets, *self._new, *self._early):
            outlet.end(ending)
            self.leave(outlet)

    def close(self) -> None:
        if self._next is not None:
            self._next.cancel()
        if self.task is not None:
            self.task.cancel()

    def _hear(self, frame: Frame) -> None:
        self._writing.hear(frame)
        self._coming.append((frame.seq, frame.wire))
        if frame.seq is not None:
            self._seq = frame.seq
            for outlet in [early for early, after in self._early.items() if after <= self._seq]:
                del self._early[outlet]
                self._admit(outlet)
        if self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._flush_and_rest)

    def _admit(self, outlet: Outlet) -> None:
        """From here on. What it has read, or what the snapshot tells, is not told again."""
        self._new[outlet] = len(self._coming)
        snapshot = self._writing.snapshot(self._seq)
        if snapshot is not None:
            outlet.take(Batch([(None, snapshot.wire)]))

    def _flush_and_rest(self) -> None:
        """Whatever comes before the rest is over goes out together."""
        self._next = None
        if self._coming:
            self._flush()
            rest = min(len(self._outlets) * _REST_A_CLIENT, _LONGEST_REST)
            self._next = asyncio.get_running_loop().call_later(rest, self._flush_and_rest)

    def _flush(self) -> None:
        coming, self._coming = self._coming, []
        new, self._new = self._new, {}
        batch = Batch(coming)
        for outlet in list(self._outlets):
            self._give(outlet, batch)
        for outlet, since in new.items():
            self._outlets.add(outlet)
            self._give(outlet, batch if since == 0 else Batch(coming[since:]))

    def _give(self, outlet: Outlet, batch: Batch) -> None:
        if batch.told and not outlet.take(batch):
            self.leave(outlet)
            outlet.end(TOO_SLOW)
