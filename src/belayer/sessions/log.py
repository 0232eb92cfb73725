"""The only writer. Every append that waits at one moment shares one transaction and one fsync."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from belayer.sessions.record import Entry, Record, check_chain, in_force
from belayer.sessions.redact import Redactor
from belayer.sessions.state import SessionState, advance, fold, needs_fold
from belayer.sessions.store import Answers, Proposal, Store
from belayer.vocabulary.clock import Clock
from belayer.vocabulary.errors import (
    BelayerError,
    CorruptLog,
    EngineClosed,
    Moved,
    StoreError,
    UnknownSession,
)
from belayer.vocabulary.events.catalog import AnyEvent, from_data, to_data
from belayer.vocabulary.events.people import Said
from belayer.vocabulary.ids import SessionId

Decide = Callable[[SessionState, datetime], Sequence[AnyEvent]]
Listener = Callable[[Sequence[Record]], None]

_STATES_KEPT = 32
_PAGE = 5_000
_LARGEST_GROUP = 2_000
_MOST_IN_A_ROW = 16


@dataclass(slots=True)
class _Waiting:
    """An append that waits for its turn. It is made even if its appender is cancelled and no longer looks."""

    proposal: Proposal
    done: asyncio.Future[list[Record]]
    decide: Decide | None = None

    def grant(self, records: list[Record]) -> None:
        if not self.done.done():
            self.done.set_result(records)

    def refuse(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Log:
    """Appends events, tells its listeners what was committed, and knows the state that follows from it."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor) -> None:
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._waiting: list[_Waiting] = []
        self._work = asyncio.Event()
        self._flushing = False
        self._committing = False
        self._closed = False
        self._alone: SessionId | None = None
        self._in_a_row = 0
        self._states: OrderedDict[SessionId, SessionState] = OrderedDict()
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Have the listener called with the records of every commit, before their appenders go on."""
        self._listeners.append(listener)

    async def create(self, session_id: SessionId, events: Sequence[AnyEvent]) -> list[Record]:
        return await self._propose(Proposal(session_id, self._entries(events), creates=True))

    async def adopt(self, session_id: SessionId, entries: Sequence[Entry]) -> list[Record]:
        """Create a session from entries that were written elsewhere: a fork or an import."""
        return await self._propose(Proposal(session_id, tuple(entries), creates=True))

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
        return await self._propose(Proposal(session_id, entries, False, epoch, expected_seq, needs_running))

    async def decide(self, session_id: SessionId, decide: Decide) -> list[Record]:
        """Append what `decide` makes of the state as it is at the moment of the commit."""
        while True:
            await self.state(session_id)
            try:
                return await self._enqueue(_Waiting(Proposal(session_id, ()), _future(), decide))
            except Moved:
                continue  # another process was faster

    async def said_after(self, session_id: SessionId, seq: int) -> list[tuple[int, str]]:
        """What people told the session since, with the seq of each."""
        records = in_force(await self._store.read(session_id, seq))
        events = [(record.seq, record.event()) for record in records if record.type == "message"]
        return [(at, event.text) for at, event in events if isinstance(event, Said)]

    async def state(self, session_id: SessionId) -> SessionState:
        """The state now. Owned by the log: look, do not touch, do not keep over an await."""
        state = self._states.pop(session_id, None) or SessionState(session_id)
        while page := await self._store.read(session_id, state.seq, _PAGE):
            check_chain(page, state.seq, state.last_hash)
            if needs_fold(page):
                state = fold(session_id, await self._store.read(session_id, 0, page[-1].seq))
            else:
                advance(state, page)
        if state.seq == 0:
            raise UnknownSession(f"There is no session {session_id}.", "List the sessions with `belayer ls`.")
        self._states[session_id] = state
        while len(self._states) > _STATES_KEPT:
            self._states.popitem(last=False)
        return state

    async def run(self) -> None:
        """Commit whatever cannot be committed at once, for as long as this runs."""
        try:
            while True:
                await self._work.wait()
                self._work.clear()
                while self._waiting:
                    self._committing = True
                    try:
                        await self._commit(await self._next_group())
                    finally:
                        self._committing = False
        finally:
            self._closed = True
            self._refuse(self._waiting, _closed())

    def entry(self, event: AnyEvent) -> Entry:
        """The form in which an event is stored."""
        data = to_data(event)
        clean = self._redactor.data(data)
        if clean is not data:
            event, data = _without_secrets(event, data, clean)
        return Entry(event.type, type(event).version, self._clock.micros(), data, None, event)

    def _entries(self, events: Sequence[AnyEvent]) -> tuple[Entry, ...]:
        return tuple([self.entry(event) for event in events])

    async def _propose(self, proposal: Proposal) -> list[Record]:
        if not self._closed and self._is_alone(proposal.session_id):
            answers = self._store.commit_now((proposal,))
            if answers is not None:
                return self._told(answers[0])
        return await self._enqueue(_Waiting(proposal, _future()))

    def _is_alone(self, session_id: SessionId) -> bool:
        """Whether nobody is there to share a commit with. Asked anew now and then, which gives others a turn."""
        if session_id != self._alone or self._waiting or self._committing or self._in_a_row >= _MOST_IN_A_ROW:
            return False
        self._in_a_row += 1
        return True

    async def _enqueue(self, waiting: _Waiting) -> list[Record]:
        if self._closed:
            raise _closed()
        self._waiting.append(waiting)
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)
        return await waiting.done

    def _flush(self) -> None:
        """Everything that became ready in this turn of the loop has enqueued by now: commit it, or let `run` do so."""
        self._flushing = False
        if self._committing:
            return
        self._in_a_row = 0
        self._alone = self._waiting[0].proposal.session_id if len(self._waiting) == 1 else None
        if len(self._waiting) > _LARGEST_GROUP or any(waiting.decide for waiting in self._waiting):
            self._work.set()
            return
        try:
            answers = self._store.commit_now([waiting.proposal for waiting in self._waiting])
        except StoreError as error:
            self._refuse(self._taken(), error)
            return
        if answers is None:
            self._work.set()
        else:
            self._tell(self._taken(), answers)

    def _taken(self) -> list[_Waiting]:
        """As many as share one commit, from now on no longer waiting."""
        taken, self._waiting = self._waiting[:_LARGEST_GROUP], self._waiting[_LARGEST_GROUP:]
        return taken

    async def _next_group(self) -> list[_Waiting]:
        """Nothing is being committed now, so a state read here is the one the commit will meet."""
        group: list[_Waiting] = []
        decided: set[SessionId] = set()
        for waiting in sorted(self._taken(), key=lambda waiting: waiting.decide is None):
            session_id = waiting.proposal.session_id
            if waiting.decide is None:
                group.append(waiting)
            elif session_id in decided:
                self._waiting.append(waiting)
            else:
                decided.add(session_id)
                group += await self._decided(waiting, waiting.decide)
        return group

    async def _decided(self, waiting: _Waiting, decide: Decide) -> list[_Waiting]:
        try:
            state = await self.state(waiting.proposal.session_id)
            entries = self._entries(decide(state, self._clock.now()))
        except Exception as error:  # noqa: BLE001 - whatever a decider does wrong is its caller's to know
            waiting.refuse(error)
            return []
        if not entries:
            waiting.grant([])
            return []
        waiting.proposal = Proposal(state.id, entries, expected_seq=state.seq)
        return [waiting]

    async def _commit(self, group: list[_Waiting]) -> None:
        if not group:
            return
        try:
            answers = await self._store.commit([waiting.proposal for waiting in group])
        except StoreError as error:
            self._refuse(group, error)
        else:
            self._tell(group, answers)

    def _refuse(self, group: list[_Waiting], error: BelayerError) -> None:
        for waiting in group:
            waiting.refuse(error)

    def _tell(self, group: list[_Waiting], answers: Answers) -> None:
        for waiting, answer in zip(group, answers, strict=True):
            try:
                waiting.grant(self._told(answer))
            except BelayerError as error:
                waiting.refuse(error)

    def _told(self, answer: list[Record] | BelayerError) -> list[Record]:
        """The records, once the listeners know them; or the refusal, raised."""
        if isinstance(answer, BelayerError):
            raise answer
        for listener in self._listeners:
            listener(answer)
        return answer


def _without_secrets(event: AnyEvent, data: bytes, clean: bytes) -> tuple[AnyEvent, bytes]:
    """The event as it may be stored. A secret that is one of our own words cannot be kept out, and is none."""
    try:
        return from_data("", 0, event.type, type(event).version, clean), clean
    except CorruptLog:
        return event, data


def _closed() -> EngineClosed:
    return EngineClosed(
        "The engine was closed, so nothing more is recorded.", "Open it again and ask once more."
    )


def _future() -> asyncio.Future[list[Record]]:
    return asyncio.get_running_loop().create_future()
