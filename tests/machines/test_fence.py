"""Several drivers who each believe that a session is theirs: the log has the lines of one at a time."""

import asyncio
import contextlib
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from belayer.sessions.decide import decide
from belayer.sessions.log import Log
from belayer.sessions.record import Record
from belayer.sessions.redact import Redactor
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Cancel, Command, Interrupt, Pause, Resume, Rewind
from belayer.vocabulary.errors import BelayerError, Fenced, Moved, NotRunning
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import Logged, SessionChanged
from tests.support.records import AT, beginning, named, taken

T = TypeVar("T")
ONE = named(1)
DRIVERS = ("ada", "bob", "eve")


@dataclass
class Driver:
    """Somebody who drives, and what they believe."""

    name: str
    log: Log
    epoch: int = -1
    acknowledged: int = 0


class FenceMachine(RuleBasedStateMachine):
    """Three processes on one store, any of which may be slow, and a person."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.writers: list[asyncio.Task[None]] = []
        self.stores: list[Store] = []

    async def open_store(self) -> Store:
        """The store as one more process has it."""
        return self.stores[0] if self.stores else MemoryStore()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        async def within_reason() -> T:
            async with asyncio.timeout(20):
                return await work

        return self.runner.run(within_reason())

    @initialize()
    def begin(self) -> None:
        self.drivers = {name: Driver(name, self.a_log()) for name in DRIVERS}
        self.person = self.a_log()
        self.store = self.stores[-1]
        self.wait(self.person.create(ONE, [beginning()]))

    def a_log(self) -> Log:
        """The log of a process of its own."""
        self.stores.append(self.wait(self.open_store()))
        log = Log(self.stores[-1], ManualClock(AT), Redactor())
        self.writers.append(self.runner.get_loop().create_task(log.run()))
        return log

    async def take(self, driver: Driver) -> None:
        row = await self.store.row(ONE)
        assert row is not None
        if row.status not in (Status.QUEUED, Status.RUNNING):
            return
        try:
            event = taken(row.epoch + 1, driver.name)
            await driver.log.append(ONE, [event], epoch=row.epoch, expected_seq=row.last_seq)
        except (Fenced, Moved):
            return
        driver.epoch = row.epoch + 1

    async def write(self, driver: Driver, *, running: bool) -> None:
        line = Logged(text=f"{driver.name} {driver.epoch} {'work' if running else 'note'}")
        try:
            await driver.log.append(ONE, [line], epoch=driver.epoch, needs_running=running)
        except (Fenced, NotRunning):
            return
        driver.acknowledged += 1

    @rule(name=st.sampled_from(DRIVERS))
    def a_driver_takes_the_session(self, name: str) -> None:
        self.wait(self.take(self.drivers[name]))

    @rule(names=st.permutations(DRIVERS))
    def all_take_the_session_at_once(self, names: list[str]) -> None:
        async def race() -> None:
            await asyncio.gather(*(self.take(self.drivers[name]) for name in names))

        self.wait(race())

    @rule(name=st.sampled_from(DRIVERS), running=st.booleans())
    def a_driver_writes(self, name: str, running: bool) -> None:
        self.wait(self.write(self.drivers[name], running=running))

    @rule(acts=st.lists(st.tuples(st.sampled_from(DRIVERS), st.booleans()), min_size=2, max_size=8))
    def all_write_and_take_at_once(self, acts: list[tuple[str, bool]]) -> None:
        async def race() -> None:
            await asyncio.gather(
                *(
                    self.take(self.drivers[name]) if taking else self.write(self.drivers[name], running=True)
                    for name, taking in acts
                )
            )

        self.wait(race())

    @rule(command=st.sampled_from([Pause(), Resume(), Interrupt(), Rewind(seq=1), Rewind(seq=2), Cancel()]))
    def a_person_commands(self, command: Command) -> None:
        async def tell() -> None:
            with contextlib.suppress(BelayerError):
                await self.person.decide(ONE, lambda state, now: decide(state, command, now))

        self.wait(tell())

    def story(self) -> list[tuple[Record, int, Status]]:
        """Each record with the epoch and the status that were in force when it was written."""
        epoch, status, story = 0, Status.QUEUED, []
        for record in self.wait(self.store.read(ONE)):  # pyright: ignore[reportArgumentType]
            story.append((record, epoch, status))
            event = record.event()
            if isinstance(event, SessionChanged):
                status = event.status
                epoch = epoch if event.epoch is None else event.epoch
        return story

    @invariant()
    def a_line_stands_only_under_the_epoch_of_its_driver(self) -> None:
        for record, epoch, _ in self.story():
            event = record.event()
            if isinstance(event, Logged):
                assert event.text.split()[1] == str(epoch)

    @invariant()
    def work_begins_only_while_the_session_runs(self) -> None:
        for record, _, status in self.story():
            event = record.event()
            if isinstance(event, Logged) and event.text.endswith("work"):
                assert status is Status.RUNNING

    @invariant()
    def every_epoch_has_one_driver(self) -> None:
        taken_by = [record.event() for record, _, _ in self.story()]
        epochs = [
            event.epoch for event in taken_by if isinstance(event, SessionChanged) and event.epoch is not None
        ]
        assert epochs == sorted(set(epochs))

    @invariant()
    def every_acknowledged_line_is_in_the_log(self) -> None:
        lines = [event.text for record, _, _ in self.story() if isinstance(event := record.event(), Logged)]
        assert len(lines) == sum(driver.acknowledged for driver in self.drivers.values())

    def teardown(self) -> None:
        for writer in self.writers:
            writer.cancel()
        if self.writers:
            self.wait(asyncio.wait(self.writers))  # pyright: ignore[reportArgumentType]
        for store in self.stores:
            self.wait(store.close())
        self.runner.close()


class SqliteFenceMachine(FenceMachine):
    """The same on a real file that each process has opened for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    async def open_store(self) -> Store:
        return await SqliteStore.open(Path(self.folder.name) / "belayer.db")

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestFenceInMemory = FenceMachine.TestCase
TestFenceInMemory.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestFenceInSqlite = SqliteFenceMachine.TestCase
TestFenceInSqlite.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
