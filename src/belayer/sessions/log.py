"""The only writer. Every append that waits at one moment shares one transaction and one fsync."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from belayer.sessions.record import Entry, Record
from belayer.sessions.redact import Redactor
from belayer.sessions.state import SessionState, advance, fold, needs_fold
from belayer.sessions.store import Proposal, Store
from belayer.vocabulary.clock import Clock, to_micros
from belayer.vocabulary.errors import BelayerError, Moved, StoreError, UnknownSession
from belayer.vocabulary.events.catalog import AnyEvent, to_data
from belayer.vocabulary.ids import SessionId

Decide = Callable[[SessionState, datetime], Sequence[AnyEvent]]
Listener = Callable[[Sequence[Record]], None]

_STATES_KEPT = 32
_PAGE = 5_000
_LARGEST_GROUP = 2_000


@dataclass(slots=True)
class _Waiting:
    """An append that waits for its turn. It is made even if its appender is cancelled and no longer looks."""

    session_id: SessionId
    done: asyncio.Future[list[Record]]
    entries: tuple[Entry, ...] = ()
    decide: Decide | None = None
    creates: bool = False
    epoch: int | None = None
    expected_seq: int | None = None
    needs_running: bool = False

    def grant(self, records: list[Record]) -> None:
        if not self.done.done():
            self.done.set_result(records)

    def refuse(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


@dataclass(slots=True)
class _Group:
    """What goes into one commit."""

    waiting: list[_Waiting] = field(default_factory=list[_Waiting])
    proposals: list[Proposal] = field(default_factory=list[Proposal])

    def add(self, waiting: _Waiting, proposal: Proposal) -> None:
        self.waiting.append(waiting)
        self.proposals.append(proposal)


class Log:
    """Appends events, tells its listeners what was committed, and knows the state that follows from it."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor) -> None:
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._waiting: list[_Waiting] = []
        self._work = asyncio.Event()
        self._states: OrderedDict[SessionId, SessionState] = OrderedDict()
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Have the listener called with the records of every commit, before their appenders go on."""
        self._listeners.append(listener)

    async def create(self, session_id: SessionId, events: Sequence[AnyEvent]) -> list[Record]:
        return await self._enqueue(_Waiting(session_id, _future(), self._entries(events), creates=True))

    async def adopt(self, session_id: SessionId, entries: Sequence[Entry]) -> list[Record]:
        """Create a session from entries that were written elsewhere: a fork or an import."""
        return await self._enqueue(_Waiting(session_id, _future(), tuple(entries), creates=True))

    async def append(
        self,
        session_id: SessionId,
        events: Sequence[AnyEvent],
        *,
        epoch: int | None = None,
        expected_seq: int | None = None,
        needs_running: bool = False,
    ) -> list[Record]:
        """Append as the session's driver: refused when the epoch is not the newest."""
        entries = self._entries(events)
        return await self._enqueue(
            _Waiting(
                session_id,
                _future(),
                entries,
                epoch=epoch,
                expected_seq=expected_seq,
                needs_running=needs_running,
            )
        )

    async def decide(self, session_id: SessionId, decide: Decide) -> list[Record]:
        """Append what `decide` makes of the state as it is at the moment of the commit."""
        while True:
            await self.state(session_id)
            try:
                return await self._enqueue(_Waiting(session_id, _future(), decide=decide))
            except Moved:
                continue  # another process was faster

    async def state(self, session_id: SessionId) -> SessionState:
        """The state now. Owned by the log: look, do not touch, do not keep over an await."""
        state = self._states.pop(session_id, None) or SessionState(session_id)
        while page := await self._store.read(session_id, state.seq, _PAGE):
            if needs_fold(page):
                state = fold(session_id, await self._store.read(session_id))
            else:
                advance(state, page)
        if state.seq == 0:
            raise UnknownSession(f"There is no session {session_id}.", "List the sessions with `belayer ls`.")
        self._states[session_id] = state
        while len(self._states) > _STATES_KEPT:
            self._states.popitem(last=False)
        return state

    async def run(self) -> None:
        """Commit whatever waits, for as long as this runs."""
        while True:
            await self._work.wait()
            self._work.clear()
            while self._waiting:
                group = await self._next_group()
                if group.proposals:
                    await self._commit(group)

    def entry(self, event: AnyEvent) -> Entry:
        """The form in which an event is stored."""
        data = self._redactor.data(to_data(event))
        return Entry(event.type, type(event).version, to_micros(self._clock.now()), data)

    def _entries(self, events: Sequence[AnyEvent]) -> tuple[Entry, ...]:
        return tuple(self.entry(event) for event in events)

    async def _enqueue(self, waiting: _Waiting) -> list[Record]:
        self._waiting.append(waiting)
        self._work.set()
        return await waiting.done

    async def _next_group(self) -> _Group:
        """Nothing is being committed now, so a state read here is the one the commit will meet."""
        taken, self._waiting = self._waiting[:_LARGEST_GROUP], self._waiting[_LARGEST_GROUP:]
        group = _Group()
        decided: set[SessionId] = set()
        for waiting in sorted(taken, key=lambda waiting: waiting.decide is None):
            if waiting.decide is None:
                group.add(waiting, _proposal(waiting))
            elif waiting.session_id in decided:
                self._waiting.append(waiting)
                self._work.set()
            else:
                decided.add(waiting.session_id)
                await self._decide(waiting, waiting.decide, group)
        return group

    async def _decide(self, waiting: _Waiting, decide: Decide, group: _Group) -> None:
        try:
            state = await self.state(waiting.session_id)
            events = decide(state, self._clock.now())
        except BelayerError as error:
            waiting.refuse(error)
            return
        if not events:
            waiting.grant([])
            return
        waiting.entries = self._entries(events)
        waiting.expected_seq = state.seq
        group.add(waiting, _proposal(waiting))

    async def _commit(self, group: _Group) -> None:
        try:
            answers = await self._store.commit(group.proposals)
        except StoreError as error:
            for waiting in group.waiting:
                waiting.refuse(error)
            return
        for waiting, answer in zip(group.waiting, answers, strict=True):
            if isinstance(answer, Exception):
                waiting.refuse(answer)
                continue
            for listener in self._listeners:
                listener(answer)
            waiting.grant(answer)


def _future() -> asyncio.Future[list[Record]]:
    return asyncio.get_running_loop().create_future()


def _proposal(waiting: _Waiting) -> Proposal:
    return Proposal(
        waiting.session_id,
        waiting.entries,
        waiting.creates,
        waiting.epoch,
        waiting.expected_seq,
        waiting.needs_running,
    )
