"""The in-process scheduler: takes ready sessions, at most so many at once; wakes, expires and takes over others."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from belayer.runner.driving import Driving, Parts, is_free
from belayer.runner.strain import strain
from belayer.sessions.decide import decide
from belayer.sessions.record import Record
from belayer.sessions.state import SessionState
from belayer.vocabulary.clock import sleep, to_micros
from belayer.vocabulary.commands import Command, Expire, Wake
from belayer.vocabulary.errors import BelayerError, CorruptLog, IllegalTransition, NewerEvent, StoreError
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.ids import SessionId

_logger = structlog.get_logger()

_LOOK_AROUND_EVERY = 5.0
_SWEEPS_PER_TIMEOUT = 10


@dataclass(frozen=True, slots=True)
class Habits:
    """How the runner goes about it. `only` limits it to some sessions; None is all there are.

    While `strain` gives a reason, nothing is begun beside what is under way: it queues.
    """

    concurrency: int = 16
    idle_seconds: float = 1800.0
    only: set[SessionId] | None = None
    strain: Callable[[], str | None] = strain


@dataclass(slots=True)
class Runner:
    """Drives sessions for as long as it runs."""

    parts: Parts
    habits: Habits
    _driving: dict[SessionId, Driving] = field(default_factory=dict[SessionId, Driving])
    _left_alone: set[SessionId] = field(default_factory=set[SessionId])
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _times: asyncio.Event = field(default_factory=asyncio.Event)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)
    _closing: bool = False

    async def run(self) -> None:
        """Take up everything unfinished, then whatever becomes ready. Ends only by cancellation."""
        self.parts.log.listen(self._hear)
        self._news.set()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._take_in(group))
            group.create_task(self._keep_time())
            group.create_task(self._look_around())
            if self.habits.idle_seconds > 0:
                group.create_task(self._expire_idle())

    async def drain(self) -> None:
        """Begin nothing new and let current steps end, for as long as the grace allows."""
        self._closing = True
        for driving in self._driving.values():
            driving.stop("the engine stopped", now=False)
        if self._driving:
            await self._wait(self._idle, self.parts.grace)

    async def look_again(self) -> None:
        """Another process has written: see whether what is driven here was stopped or taken, and what is ready."""
        for session_id, driving in list(self._driving.items()):
            row = await self.parts.store.row(session_id)
            if row is not None and row.status is not Status.RUNNING:
                _stop(driving, row.status)
            elif row is not None and row.driver not in (None, self.parts.drivers.me):
                driving.stop("taken over", now=True)
        self._news.set()
        self._times.set()

    def _hear(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.type != "session":
                continue
            event = record.event()
            assert isinstance(event, SessionChanged)
            if event.status is Status.QUEUED:
                self._news.set()
            if event.wake_at is not None or event.after_pause is not None:
                self._times.set()
            driving = self._driving.get(record.session_id)
            if driving is not None:
                _stop(driving, event.status)

    async def _take_in(self, group: asyncio.TaskGroup) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            room = self.habits.concurrency - len(self._driving)
            if room <= 0 or self._closing:
                continue
            ready = await self._ready(room)
            if len(ready) + len(self._driving) > 1 and (reason := self.habits.strain()) is not None:
                alone = ready[: 0 if self._driving else 1]
                self._say_queued(ready[len(alone) :], reason)
                ready = alone
            for session_id in ready:
                self._idle.clear()
                driving = self._driving[session_id] = Driving(self.parts, session_id)
                group.create_task(self._drive(driving))

    def _say_queued(self, session_ids: Sequence[SessionId], reason: str) -> None:
        """Whoever watches learns why nothing happens; another look is taken before long."""
        _logger.warning("sessions queue", reason=reason, sessions=len(session_ids))
        for session_id in session_ids:
            self.parts.feed.show(
                session_id, "limit", {"limit": "load", "text": f"It waits because {reason}."}
            )

    async def _ready(self, room: int) -> list[SessionId]:
        """At most so many sessions that somebody should drive; none while the store cannot say."""
        busy = {*self._driving, *self._left_alone}
        try:
            if self.habits.only is not None:
                found = sorted(self.habits.only)
            else:
                due = await self.parts.store.due(room + len(busy))
                drivers = self.parts.drivers
                found = [id_ for id_, driver in [*due.queued, *due.driven] if is_free(driver, drivers)]
        except StoreError as error:
            _logger.error("store cannot say what is due", problem=error.detail, hint=error.hint)
            return []
        return [id_ for id_ in found if id_ not in busy][:room]

    async def _drive(self, driving: Driving) -> None:
        session_id = driving.session_id
        with structlog.contextvars.bound_contextvars(session_id=session_id):
            try:
                if await driving.go():
                    self._news.set()
            except (CorruptLog, NewerEvent) as error:
                self._left_alone.add(session_id)
                self.parts.feed.show(session_id, "log", {"text": error.detail, "level": "error"})
                _logger.error("session cannot be driven", problem=error.detail, hint=error.hint)
            except BelayerError as error:
                _logger.error("session cannot be driven now", problem=error.detail, hint=error.hint)
            finally:
                del self._driving[session_id]
                if not self._driving:
                    self._idle.set()

    async def _keep_time(self) -> None:
        while True:
            self._times.clear()
            try:
                delay = await self._wake_ripe()
            except StoreError as error:
                _logger.error("store cannot say whose time has come", problem=error.detail, hint=error.hint)
                delay = _LOOK_AROUND_EVERY
            await self._wait(self._times, delay)

    async def _wake_ripe(self) -> float:
        """Wake every session whose time has come; seconds until the next one's."""
        now = self.parts.clock.micros()
        for session_id in await self.parts.store.ripe(now):
            await self._command(session_id, Wake())
        following = await self.parts.store.next_wake()
        if following is None:
            return _LOOK_AROUND_EVERY
        return min(max((following - now) / 1e6, 0.05), _LOOK_AROUND_EVERY)

    async def _look_around(self) -> None:
        """A driver that died tells nobody, so look for its sessions now and then."""
        while True:
            await sleep(self.parts.clock, _LOOK_AROUND_EVERY)
            self._news.set()

    async def _expire_idle(self) -> None:
        while True:
            await sleep(self.parts.clock, self.habits.idle_seconds / _SWEEPS_PER_TIMEOUT)
            before = self.parts.clock.micros() - int(self.habits.idle_seconds * 1e6)
            try:
                for session_id in await self.parts.store.idle_since(before):
                    await self._command(session_id, Expire(), untouched_since=before)
            except StoreError as error:
                _logger.error("store cannot say who is idle", problem=error.detail, hint=error.hint)

    async def _command(
        self, session_id: SessionId, command: Command, untouched_since: int | None = None
    ) -> None:
        if self.habits.only is not None and session_id not in self.habits.only:
            return

        def act(state: SessionState, now: datetime) -> Sequence[AnyEvent]:
            touched = to_micros(state.updated_at) if state.updated_at else 0
            if untouched_since is not None and touched >= untouched_since:
                return []
            return decide(state, command, now)

        try:
            await self.parts.log.decide(session_id, act)
        except IllegalTransition:
            pass  # it went on in the meantime
        except BelayerError as error:
            _logger.error("session cannot be woken or expired", session_id=session_id, problem=error.detail)

    async def _wait(self, event: asyncio.Event, seconds: float) -> None:
        waits = [
            asyncio.create_task(event.wait()),
            asyncio.create_task(sleep(self.parts.clock, seconds)),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _stop(driving: Driving, status: Status) -> None:
    if status is Status.PAUSED:
        driving.stop("paused", now=False)
    elif status in (Status.INTERRUPTED, Status.CANCELLED):
        driving.stop(status.value, now=True)
