"""A runner under any order of what people, time and crashes can do to its sessions."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from typing import Any, Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from belayer.engine import Engine, Session
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.sessions.blobs import MemoryBlobs
from belayer.sessions.lease import OneDriver
from belayer.sessions.record import Record, check_chain, in_force
from belayer.sessions.rows import SessionRow, from_state
from belayer.sessions.state import SessionState, fold
from belayer.sessions.store import Wanted
from belayer.sessions.stores.memory import MemoryStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import Refused
from belayer.vocabulary.events.event import FINAL, Effect, Json, Status, StepStatus
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.wiring import Keeping
from tests.support.engines import Life, MortalStore, doubted, engine_on, kill, turns, while_time_flies

_STOPPED = {Status.PAUSED, Status.INTERRUPTED, Status.EXPIRED}
_LIVE = {Status.PAUSED, Status.INTERRUPTED, Status.CANCELLED}
FOLLOWS: dict[Status, set[Status]] = {
    Status.QUEUED: {Status.RUNNING, *_LIVE},
    Status.RUNNING: {
        Status.RUNNING,
        Status.QUEUED,
        Status.WAITING,
        Status.COMPLETED,
        Status.FAILED,
        *_LIVE,
    },
    Status.WAITING: {Status.QUEUED, Status.EXPIRED, *_LIVE},
    Status.PAUSED: {Status.QUEUED, Status.CANCELLED, Status.EXPIRED},
    Status.INTERRUPTED: {Status.QUEUED, Status.CANCELLED, Status.EXPIRED},
    Status.EXPIRED: {Status.QUEUED, Status.CANCELLED},
    Status.COMPLETED: set(),
    Status.FAILED: set(),
    Status.CANCELLED: set(),
}
"""Which status may follow which, unless the session was rewound or forked, which leaves it paused."""


class Errands:
    """The workflow, and what it did to the world: one entry for each effect, under its idempotency key."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.life = Life()

    async def errand(self, run: Run) -> list[Json]:
        await run.step("first", act(name="send")(self._send), "first")
        name = await run.ask("name", "Your name?")
        decided = await run.approve("plan", {"name": name})
        if decided:
            await run.parallel("side", [self._side, self._side])
        await run.sleep(60)
        await run.step("last", act(name="charge", idempotent=True)(self._charge), "last")
        return [name, bool(decided)]

    async def _side(self, run: Run) -> None:
        await run.step("send", act(name="send")(self._send), "side")

    async def _send(self, what: str) -> str:
        await turns(40)
        await self.life.still_here()
        self.sent[this_step().idempotency_key] += 1
        await turns(40)
        return what

    async def _charge(self, what: str) -> str:
        await turns(40)
        return what


class RunnerMachine(RuleBasedStateMachine):
    """A person, a clock and bad luck, all at once."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.errands = Errands()
        self.store = MemoryStore()
        self.blobs = MemoryBlobs()
        self.clock = ManualClock()
        self.lives = 0
        self.engine: Engine
        self._begin_life()

    def _do(self, doing: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(doing, 30))

    def _begin_life(self) -> None:
        self.lives += 1
        life = self.errands.life = Life()
        keeping = Keeping(MortalStore(self.store, life), self.blobs, OneDriver(f"life {self.lives}"))
        self.closing = asyncio.Event()
        opened: asyncio.Future[Engine] = self.loop.create_future()

        async def live() -> None:
            async with engine_on(
                keeping, self.clock, [self.errands.errand], session_timeout=1800.0
            ) as engine:
                opened.set_result(engine)
                await self.closing.wait()

        self.living = self.loop.create_task(live())
        self.engine = self._do(opened)

    def _tell(self, doing: Awaitable[Any], wait: int) -> None:
        """Do something that may be refused, but not otherwise go wrong; then let everybody go on for a while."""

        async def tell() -> None:
            with suppress(Refused):
                await doing
            await turns(wait)

        self._do(tell())

    def _session(self, session_id: SessionId) -> Session:
        return self.engine.session(session_id)

    def _state(self, session_id: SessionId) -> SessionState:
        return self._do(self.engine.state(session_id))

    waits = st.sampled_from([0, 1, 2, 5, 10, 30, 100, 300])

    @rule(target=sessions, wait=waits)
    def start(self, wait: int) -> Any:
        if len(self._do(self.store.rows(Wanted()))) >= 4:
            return multiple()
        session = self._do(self.engine.start(self.errands.errand))
        self._do(turns(wait))
        return session.id

    @rule(session_id=sessions, wait=waits)
    def answer(self, session_id: SessionId, wait: int) -> None:
        for request in self._state(session_id).pending.values():
            if not isinstance(request, ApprovalRequested):
                value = (
                    "Ada" if request.purpose == "question" else self._truth(session_id, request.request_id)
                )
                self._tell(self._session(session_id).answer(value, request.request_id), wait)

    @rule(session_id=sessions, wait=waits, approved=st.booleans())
    def decide(self, session_id: SessionId, wait: int, approved: bool) -> None:
        for request in self._state(session_id).pending.values():
            if isinstance(request, ApprovalRequested):
                session = self._session(session_id)
                verb = session.approve if approved else session.reject
                self._tell(verb(request_id=request.request_id), wait)

    @rule(session_id=sessions, wait=waits)
    def pause(self, session_id: SessionId, wait: int) -> None:
        self._tell(self._session(session_id).pause(), wait)

    @rule(session_id=sessions, wait=waits, then=st.sampled_from(["resume", "cancel"]))
    def pause_for_a_while(self, session_id: SessionId, wait: int, then: Literal["resume", "cancel"]) -> None:
        self._tell(self._session(session_id).pause(timeout=timedelta(seconds=100), then=then), wait)

    @rule(session_id=sessions, wait=waits)
    def resume(self, session_id: SessionId, wait: int) -> None:
        self._tell(self._session(session_id).resume(), wait)

    @rule(session_id=sessions, wait=waits)
    def interrupt(self, session_id: SessionId, wait: int) -> None:
        self._tell(self._session(session_id).interrupt(), wait)

    @rule(session_id=sessions, wait=waits)
    def cancel(self, session_id: SessionId, wait: int) -> None:
        self._tell(self._session(session_id).cancel(), wait)

    @rule(session_id=sessions, wait=waits, back=st.integers(1, 12))
    def rewind(self, session_id: SessionId, wait: int, back: int) -> None:
        seq = max(self._state(session_id).seq - back, 1)
        self._tell(self._session(session_id).rewind(seq), wait)

    @rule(session_id=sessions, wait=waits, back=st.integers(1, 4))
    def stop_and_go_back_at_once(self, session_id: SessionId, wait: int, back: int) -> None:
        """While a step is still under way, most likely."""

        async def stop_and_go_back() -> None:
            session = self._session(session_id)
            state = await session.pause()
            await session.rewind(max(state.seq - back, 1))
            await session.resume()

        self._tell(stop_and_go_back(), wait)

    @rule(target=sessions, session_id=sessions, wait=waits, back=st.integers(0, 12))
    def fork(self, session_id: SessionId, wait: int, back: int) -> Any:
        if len(self._do(self.store.rows(Wanted()))) >= 4:
            return multiple()
        seq = max(self._state(session_id).seq - back, 1)
        fork = self._do(self._session(session_id).fork(seq))
        self._do(turns(wait))
        return fork.id

    @rule(seconds=st.sampled_from([1.0, 61.0, 200.0, 4000.0]), wait=waits)
    def time_passes(self, seconds: float, wait: int) -> None:
        async def advance() -> None:
            for _ in range(10):
                self.clock.advance(seconds / 10)
                await turns(10)
            await turns(wait)

        self._do(advance())

    @rule()
    def crash(self) -> None:
        self.errands.life.ended.set()
        self._do(kill(asyncio.all_tasks(self.loop)))
        self._begin_life()

    @rule()
    def close(self) -> None:
        self.closing.set()
        self._do(self.living)
        self._begin_life()

    @invariant()
    def what_may_not_be_repeated_is_done_at_most_once_under_its_key(self) -> None:
        assert all(count == 1 for count in self.errands.sent.values())

    @invariant()
    def every_log_is_whole_and_every_row_says_what_its_log_says(self) -> None:
        for row, records in self._kept():
            assert from_state(fold(row.id, records), check_chain(records)) == row

    @invariant()
    def every_status_follows_one_that_it_may_follow(self) -> None:
        for _, records in self._kept():
            events = [record.event() for record in records]
            changes = [event for event in events if isinstance(event, SessionChanged)]
            for before, after in pairwise(changes):
                legal = after.rewound_to or after.forked_from or after.status in FOLLOWS[before.status]
                assert legal, f"{before.status} → {after.status}"

    @invariant()
    def every_effect_that_counts_as_done_counts_as_begun_too(self) -> None:
        """Else somebody recorded an end who no longer drove the session: the fence has a hole."""
        for row, records in self._kept():
            begun: set[tuple[str, int]] = set()
            for event in (record.event() for record in in_force(records)):
                if isinstance(event, StepChanged) and event.effect is not Effect.READ:
                    if event.status is StepStatus.RUNNING:
                        begun.add((event.key, event.attempt))
                    elif event.status is StepStatus.COMPLETED:
                        assert (event.key, event.attempt) in begun, row.id

    @invariant()
    def the_engine_lives(self) -> None:
        assert not self.living.done()

    def _kept(self) -> list[tuple[SessionRow, list[Record]]]:
        """All rows with their logs, at one moment."""

        async def read() -> list[tuple[SessionRow, list[Record]]]:
            return [(row, await self.store.read(row.id)) for row in await self.store.rows(Wanted())]

        return self._do(read())

    def _truth(self, session_id: SessionId, request_id: RequestId) -> Json:
        """What became of a step in doubt: the log knows under which key it began, the world what happened under it."""
        step = self._do(doubted(self.engine, session_id, request_id))
        events = [record.event() for record in self._do(self.store.read(session_id))]
        began = [e.idempotency_key for e in events if isinstance(e, StepChanged) and e.key == step]
        keys = [name for name in began if name is not None]
        happened = bool(keys) and self.errands.sent[keys[-1]] > 0
        return {"choice": "happened", "output": "by hand"} if happened else "did not happen"

    def teardown(self) -> None:
        """Every session can be brought to an end."""
        try:
            for row in self._do(self.store.rows(Wanted())):
                self._bring_to_an_end(row.id)
            self.what_may_not_be_repeated_is_done_at_most_once_under_its_key()
            self.every_log_is_whole_and_every_row_says_what_its_log_says()
        finally:
            self.errands.life.ended.set()
            self._do(kill(asyncio.all_tasks(self.loop)))
            self.loop.close()

    def _bring_to_an_end(self, session_id: SessionId) -> None:
        for _ in range(30):
            state = self._state(session_id)
            if state.status in FINAL:
                assert state.status is not Status.FAILED, state.problem
                return
            if state.status in _STOPPED:
                self._tell(self._session(session_id).resume(), 0)
            self.answer(session_id, 0)
            self.decide(session_id, 0, True)
            self._do(while_time_flies(self.clock, turns(300)))
        raise AssertionError(f"{session_id} cannot be brought to an end: {self._state(session_id)}")


RunnerMachine.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestRunner = RunnerMachine.TestCase
