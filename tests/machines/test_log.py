"""The log against a simple model: whatever is appended, refused, crashed or restarted, its promises hold."""

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

from belayer.sessions.decide import decide
from belayer.sessions.log import Log
from belayer.sessions.record import Record, check_chain
from belayer.sessions.redact import Redactor
from belayer.sessions.rows import from_state
from belayer.sessions.state import fold
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import (
    Answer,
    Approve,
    Cancel,
    Command,
    Expire,
    Interrupt,
    MakeCheckpoint,
    Pause,
    Reject,
    Resume,
    Rewind,
    Wake,
)
from belayer.vocabulary.errors import BelayerError, StoreFull
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import Logged
from belayer.vocabulary.ids import SessionId
from tests.support.records import AT, Watched, approval, asked, beginning, named, now_is, question, taken

T = TypeVar("T")

commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Answer, request_id=st.just(asked(1)), value=st.sampled_from(["yes", "no"])),
    st.builds(Approve, request_id=st.just(asked(2)), digest=st.sampled_from(["d1", "d0"])),
    st.builds(Reject, request_id=st.just(asked(2)), digest=st.just("d1")),
    st.sampled_from([Pause(), Resume(), Interrupt(), Cancel(), Expire(), Wake()]),
    st.builds(MakeCheckpoint, name=st.just("here")),
    st.builds(Rewind, seq=st.integers(1, 12)),
)


class LogMachine(RuleBasedStateMachine):
    """Sessions, drivers, people and crashes on one log."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock(AT)
        self.acknowledged: dict[SessionId, dict[int, Record]] = {}
        self.refused: set[str] = set()
        self.lines = 0

    async def open_store(self) -> Store:
        return MemoryStore()

    async def open_again(self) -> Store:
        """The store as another process has it."""
        return self.store.as_store()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        async def within_reason() -> T:
            async with asyncio.timeout(20):
                return await work

        return self.runner.run(within_reason())

    @initialize()
    def begin(self) -> None:
        self.store = Watched(self.wait(self.open_store()))
        self.theirs = self.wait(self.open_again())
        self.start_log()

    def start_log(self) -> None:
        self.log = Log(self.store.as_store(), self.clock, Redactor())
        self.writer = self.runner.get_loop().create_task(self.log.run())

    def stop_log(self) -> None:
        self.writer.cancel()
        self.wait(asyncio.wait({self.writer}))  # pyright: ignore[reportArgumentType]

    def line(self) -> Logged:
        """A line that stands nowhere else."""
        self.lines += 1
        return Logged(text=f"line {self.lines}")

    async def try_to(
        self, session_id: SessionId, work: Coroutine[Any, Any, list[Record]], text: str = ""
    ) -> None:
        """Remember what was acknowledged, and what must never be found."""
        try:
            for record in await work:
                self.acknowledged[session_id][record.seq] = record
        except StoreFull:
            if self.store.strikes == "before":
                self.refused.add(text)
        except BelayerError:
            self.refused.add(text)

    async def epoch(self, session_id: SessionId) -> int:
        row = await self.store.row(session_id)
        return row.epoch if row else 0

    @rule(target=sessions, waits=st.booleans())
    def create(self, waits: bool) -> Any:
        session_id = named(len(self.acknowledged) + 1)
        if session_id in self.acknowledged or len(self.acknowledged) >= 3:
            return multiple()
        self.acknowledged[session_id] = {}
        events = [beginning(), question(1), approval(2), now_is(Status.WAITING if waits else Status.QUEUED)]
        self.wait(self.try_to(session_id, self.log.create(session_id, events)))
        if not self.acknowledged[session_id]:
            del self.acknowledged[session_id]
            return multiple()
        return session_id

    @rule(session_id=sessions)
    def create_again(self, session_id: SessionId) -> None:
        self.wait(self.try_to(session_id, self.log.create(session_id, [beginning("forged")]), "forged"))

    @rule(session_id=sessions, behind=st.integers(0, 2), running=st.booleans())
    def a_driver_appends(self, session_id: SessionId, behind: int, running: bool) -> None:
        line = self.line()
        if behind:
            self.refused.add(line.text)

        async def append() -> None:
            epoch = await self.epoch(session_id) - behind
            work = self.log.append(session_id, [line, line], epoch=epoch, needs_running=running)
            await self.try_to(session_id, work, line.text)

        self.wait(append())

    @rule(session_id=sessions)
    def a_driver_takes_over(self, session_id: SessionId) -> None:
        async def take() -> None:
            epoch = await self.epoch(session_id)
            await self.try_to(session_id, self.log.append(session_id, [taken(epoch + 1)], epoch=epoch))

        self.wait(take())

    @rule(session_id=sessions, command=commands)
    def a_person_commands(self, session_id: SessionId, command: Command) -> None:
        self.clock.advance(60)
        work = self.log.decide(session_id, lambda state, now: decide(state, command, now))
        self.wait(self.try_to(session_id, work))

    @rule(session_id=sessions, asked_for=st.lists(commands | st.none(), min_size=2, max_size=6))
    def many_want_something_at_once(self, session_id: SessionId, asked_for: list[Command | None]) -> None:
        async def all_at_once() -> None:
            works: list[Coroutine[Any, Any, None]] = []
            for command in asked_for:
                if command is None:
                    line = self.line()
                    works.append(self.try_to(session_id, self.log.append(session_id, [line]), line.text))
                else:
                    deciding = self.log.decide(
                        session_id, lambda state, now, command=command: decide(state, command, now)
                    )
                    works.append(self.try_to(session_id, deciding))
            await asyncio.gather(*works)

        self.wait(all_at_once())

    @rule(session_id=sessions)
    def another_process_appends(self, session_id: SessionId) -> None:
        line = self.line()

        async def append() -> None:
            other = Log(self.theirs, self.clock, Redactor())
            writer = asyncio.create_task(other.run())
            await self.try_to(session_id, other.append(session_id, [line]), line.text)
            writer.cancel()

        self.wait(append())

    @rule(strikes=st.sampled_from(["before", "after"]))
    def the_disk_fills(self, strikes: Any) -> None:
        self.store.trouble, self.store.strikes = StoreFull("full"), strikes

    @rule()
    def space_returns(self) -> None:
        self.store.trouble = None

    @rule()
    def the_process_restarts(self) -> None:
        self.stop_log()
        self.start_log()

    def records(self, session_id: SessionId) -> list[Record]:
        return self.wait(self.store.read(session_id))

    @invariant()
    def numbers_have_no_gaps_and_the_chain_holds(self) -> None:
        for session_id in self.acknowledged:
            records = self.records(session_id)
            assert [record.seq for record in records] == list(range(1, len(records) + 1))
            check_chain(records)

    @invariant()
    def what_was_acknowledged_is_there_for_ever(self) -> None:
        for session_id, acknowledged in self.acknowledged.items():
            records = {record.seq: record for record in self.records(session_id)}
            assert all(records[seq] == record for seq, record in acknowledged.items())

    @invariant()
    def what_was_refused_is_nowhere(self) -> None:
        for session_id in self.acknowledged:
            texts = {
                event.text
                for event in map(Record.event, self.records(session_id))
                if isinstance(event, Logged)
            }
            assert not texts & self.refused

    @invariant()
    def the_list_says_what_the_log_says(self) -> None:
        for session_id in self.acknowledged:
            records = self.records(session_id)
            row = self.wait(self.store.row(session_id))
            assert row == from_state(fold(session_id, records), records[-1].hash)

    @invariant()
    def the_log_knows_the_state(self) -> None:
        for session_id in self.acknowledged:
            assert self.wait(self.log.state(session_id)) == fold(session_id, self.records(session_id))

    async def close(self) -> None:
        await self.store.close()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.stop_log()
            self.wait(self.close())
        self.runner.close()


class SqliteLogMachine(LogMachine):
    """The same on a real file."""

    async def open_store(self) -> Store:
        self.folder = tempfile.TemporaryDirectory()
        return await SqliteStore.open(Path(self.folder.name) / "belayer.db")

    async def open_again(self) -> Store:
        return await SqliteStore.open(Path(self.folder.name) / "belayer.db")

    async def close(self) -> None:
        await self.theirs.close()
        await super().close()

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestLogInMemory = LogMachine.TestCase
TestLogInMemory.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestLogInSqlite = SqliteLogMachine.TestCase
TestLogInSqlite.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
