"""Engines for tests: in memory or on a folder, on a clock that the test turns, closed without waiting for anybody."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from belayer.engine import Engine, Session
from belayer.execution.run import Run
from belayer.sessions.record import Record
from belayer.sessions.rows import SessionRow
from belayer.sessions.state import SessionState
from belayer.sessions.store import Answers, Changes, Counts, Due, Hour, Mark, Proposal, Store, Wanted
from belayer.settings import Settings
from belayer.vocabulary.clock import Clock, ManualClock
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.wiring import Drives, Keeping, kept_in_memory, open_engine, running
from belayer.workflows.workflow import Workflows, as_workflow

T = TypeVar("T")
E = TypeVar("E")
Call = Callable[..., Awaitable[Any]]

_TURNS = 30
"""How often the loop is let go round before time passes: enough for a step to be recorded in memory."""
_PATIENCE = 30.0
"""Seconds after which nothing more is expected to happen. A guard against hangs, not a measure of speed."""


def settings(home: Path | str = "unused", **changes: Any) -> Settings:
    """Settings under which nothing expires and no command is run unless a test wants it."""
    return Settings(**{"home": Path(home), "session_timeout": 0.0, "sandbox": "off", **changes})


@asynccontextmanager
async def engine_on(
    keeping: Keeping,
    clock: Clock,
    workflows: Iterable[Call] = (),
    drives: Drives = "all",
    **changes: Any,
) -> AsyncGenerator[Engine]:
    """An engine on what is kept; while it closes, a manual clock goes on by itself."""
    known = Workflows(as_workflow(call) for call in workflows)
    turning: asyncio.Task[None] | None = None
    try:
        async with running(keeping, known, drives, settings(**changes), clock) as engine:
            try:
                yield engine
            finally:
                turning = asyncio.create_task(_turn(clock))
    finally:
        if turning is not None:
            turning.cancel()


@asynccontextmanager
async def memory_engine(
    *workflows: Call, clock: ManualClock | None = None, keeping: Keeping | None = None, **changes: Any
) -> AsyncGenerator[Engine]:
    """An engine that keeps everything in memory, on a manual clock."""
    async with engine_on(keeping or kept_in_memory(), clock or ManualClock(), workflows, **changes) as engine:
        yield engine


@asynccontextmanager
async def home_engine(
    home: Path, *workflows: Call, drives: Drives = "all", clock: Clock | None = None, **changes: Any
) -> AsyncGenerator[Engine]:
    """An engine on a real folder with a real SQLite file."""
    async with open_engine(
        workflows=workflows, drives=drives, settings=settings(home, **changes), clock=clock
    ) as engine:
        yield engine


async def until(true: Callable[[], bool]) -> None:
    """Let everybody else go on until it is true."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() < began + _PATIENCE, "it does not come true"
        await asyncio.sleep(0)


async def turns(count: int = 200) -> None:
    """Let everybody else go on for a while, to see that something does not happen."""
    for _ in range(count):
        await asyncio.sleep(0)


async def while_time_flies(clock: ManualClock, doing: Awaitable[T], *, real: float = 0.0) -> T:
    """The result; whenever everybody waits, the clock jumps to the next time somebody waits for.

    `real` is how long to wait for threads between two jumps.
    """
    task = asyncio.ensure_future(doing)
    began = time.monotonic()
    try:
        while not task.done():
            assert time.monotonic() < began + _PATIENCE, "nobody gets on"
            await turns(_TURNS)
            if real:
                await asyncio.sleep(real)
            due = clock.next_due()
            if due is not None and not task.done():
                clock.advance(max(due, 0.0))
        return task.result()
    finally:
        task.cancel()


async def _turn(clock: Clock) -> None:
    while isinstance(clock, ManualClock):
        await turns(_TURNS)
        clock.advance(0.5)


async def reached(session: Session, *statuses: Status) -> SessionState:
    """The state once the session has one of the statuses."""
    async with asyncio.timeout(_PATIENCE):
        async for state, _ in session.engine.watch(session.id):
            if state.status in statuses and state.seq == (await session.state()).seq:
                return state
    raise AssertionError("a session is watched until it is told")


async def records_of(keeping: Keeping, session_id: SessionId) -> list[Record]:
    return await keeping.store.read(session_id)


async def events_of(keeping: Keeping, session_id: SessionId, kind: type[E]) -> list[E]:
    """The session's events of one class, in order."""
    found: list[AnyEvent] = [record.event() for record in await records_of(keeping, session_id)]
    return [event for event in found if isinstance(event, kind)]


async def doubted(engine: Engine, session_id: SessionId, request_id: RequestId) -> str:
    """The key of the step that a question of doubt is about: the log names it just before it asks."""
    key = ""
    for line in await engine.events(session_id):
        frame = json.loads(line)
        if frame["type"] == "in_doubt":
            key = frame["data"]["key"]
        elif frame["data"].get("request_id") == request_id:
            return key
    raise AssertionError(f"nobody asked {request_id}")


async def damage_of(engine: Engine) -> list[str]:
    """Whatever `verify` finds wrong."""
    return [damage.what async for finding in engine.verify() for damage in finding.damage]


async def twice(act: Callable[..., Any], *args: Any, keeping: Keeping | None = None) -> list[Any]:
    """What a workflow gets from a step when it is done, and when it is replayed."""
    seen: list[Any] = []

    async def looking(run: Run) -> None:
        seen.append(await run.step("it", act, *args))
        await run.ask("go", "Go on?", kind="confirm")

    async with memory_engine(looking, keeping=keeping) as engine, asyncio.timeout(10):
        session = await engine.start(looking)
        await session.settled()
        if seen:
            await session.answer(True)
        await session.result()
    return seen


class Gate:
    """An act that begins, says so, waits until it is let through, and counts how often it went through."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.through: list[str] = []
        self.stopped: list[str] = []
        self._open = asyncio.Event()

    async def pass_(self, what: str) -> str:
        self.begun.append(what)
        try:
            await self._open.wait()
        except asyncio.CancelledError:
            self.stopped.append(what)
            raise
        self.through.append(what)
        return what

    def open(self) -> None:
        self._open.set()

    async def reached(self, count: int = 1) -> None:
        """Return once the act has begun so often."""
        await until(lambda: len(self.begun) >= count)


class Life:
    """One process as far as the world can tell. Once it has ended, nothing of it reaches anything any more."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def still_here(self) -> None:
        """Return at once while the process lives; never once it is dead."""
        if self.ended.is_set():
            await asyncio.get_running_loop().create_future()


@dataclass(frozen=True, slots=True)
class Death:
    """When a life ends: just before its n-th commit, which is then lost, or just after, when nobody was told."""

    commit: int
    before: bool


class Stopped(asyncio.CancelledError):
    """There is no process any more that could go on from here."""


def _ignore(_: Answers) -> None:
    """Nobody wants to know."""


class MortalStore:
    """A store seen from one life. When the life ends, the store neither takes nor says anything more."""

    def __init__(
        self,
        inner: Store,
        life: Life,
        death: Death | None = None,
        durable: Callable[[Answers], None] = _ignore,
        told: Callable[[Answers], None] = _ignore,
    ) -> None:
        self._inner = inner
        self._life = life
        self._death = death
        self._durable = durable
        self._told = told
        self._commits = 0

    async def commit(self, proposals: Sequence[Proposal]) -> Answers:
        await self._life.still_here()
        try:
            self._begin_commit()
            return self._end_commit(await self._inner.commit(proposals))
        except Stopped:
            await self._life.still_here()
            raise

    def commit_now(self, proposals: Sequence[Proposal]) -> Answers | None:
        self._begin_commit()
        answers = self._inner.commit_now(proposals)
        if answers is None:
            self._commits -= 1
            return None
        return self._end_commit(answers)

    def _begin_commit(self) -> None:
        self._commits += 1
        self._die_at(before=True)

    def _end_commit(self, answers: Answers) -> Answers:
        self._durable(answers)
        self._die_at(before=False)
        self._told(answers)
        return answers

    def _die_at(self, *, before: bool) -> None:
        if self._death == Death(self._commits, before):
            self._life.ended.set()
        if self._life.ended.is_set():
            raise Stopped

    async def read(self, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        await self._life.still_here()
        return await self._inner.read(session_id, after, limit)

    async def row(self, session_id: SessionId) -> SessionRow | None:
        await self._life.still_here()
        return await self._inner.row(session_id)

    async def started_with(self, idempotency_key: str) -> SessionRow | None:
        await self._life.still_here()
        return await self._inner.started_with(idempotency_key)

    async def matching(self, prefix: str) -> list[SessionId]:
        await self._life.still_here()
        return await self._inner.matching(prefix)

    async def rows(self, wanted: Wanted) -> list[SessionRow]:
        await self._life.still_here()
        return await self._inner.rows(wanted)

    async def due(self, limit: int) -> Due:
        await self._life.still_here()
        return await self._inner.due(limit)

    async def ripe(self, now: int) -> list[SessionId]:
        await self._life.still_here()
        return await self._inner.ripe(now)

    async def next_wake(self) -> int | None:
        await self._life.still_here()
        return await self._inner.next_wake()

    async def idle_since(self, before: int) -> list[SessionId]:
        await self._life.still_here()
        return await self._inner.idle_since(before)

    async def counts(self) -> Counts:
        await self._life.still_here()
        return await self._inner.counts()

    async def hours(self, since: int) -> list[Hour]:
        await self._life.still_here()
        return await self._inner.hours(since)

    async def written_last(self) -> Mark:
        await self._life.still_here()
        return await self._inner.written_last()

    async def changed_since(self, mark: Mark) -> Changes:
        await self._life.still_here()
        return await self._inner.changed_since(mark)

    async def remove(self, session_ids: Sequence[SessionId]) -> None:
        await self._life.still_here()
        await self._inner.remove(session_ids)

    async def replace_row(self, row: SessionRow) -> None:
        await self._life.still_here()
        await self._inner.replace_row(row)

    async def damage(self) -> list[str]:
        await self._life.still_here()
        return await self._inner.damage()

    async def changes(self) -> AsyncIterator[None]:
        """Nobody else writes here."""
        await asyncio.get_running_loop().create_future()
        yield

    async def close(self) -> None:
        """It belongs to the test."""


async def kill(tasks: set[asyncio.Task[Any]]) -> None:
    """End every task of a life. None of them can do anything more: the store and the world are out of its reach."""
    while tasks := {task for task in tasks if not task.done()}:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.001)
