"""A store that fails for a while: what has happened is recorded once it can be, and sessions go on by themselves."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
import structlog

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Answers, Due, Proposal, Wanted
from belayer.sessions.stores.memory import MemoryStore
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.steps import DoubtRaised
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import Gate, events_of, memory_engine, reached, turns, until, while_time_flies


class TroubledStore(MemoryStore):
    """A store that refuses to write, or to say what is due, as long as it has a trouble."""

    def __init__(self) -> None:
        super().__init__()
        self.trouble: Callable[[], StoreError] | None = None
        self.reads_too = False
        self.refusals = 0

    async def commit(self, proposals: Sequence[Proposal]) -> Answers:
        return self.commit_now(proposals)

    def commit_now(self, proposals: Sequence[Proposal]) -> Answers:
        self._fail()
        return super().commit_now(proposals)

    async def due(self, limit: int) -> Due:
        if self.reads_too:
            self._fail()
        return await super().due(limit)

    async def rows(self, wanted: Wanted) -> list[SessionRow]:
        if self.reads_too:
            self._fail()
        return await super().rows(wanted)

    def _fail(self) -> None:
        if self.trouble is not None:
            self.refusals += 1
            raise self.trouble()


def kept_in_trouble() -> tuple[TroubledStore, Keeping]:
    memory, store = kept_in_memory(), TroubledStore()
    return store, Keeping(store, memory.blobs, memory.drivers)


def full() -> StoreError:
    return StoreFull("The disk is full.", "Make space.")


def busy() -> StoreError:
    return StoreBusy("Somebody holds the store.", "Wait.")


def read_only() -> StoreError:
    return StoreReadOnly("The store cannot be written.", "Give permission.")


TROUBLES = {"full": full, "busy": busy, "read-only": read_only}


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


@pytest.mark.parametrize("trouble", ["full", "busy"])
async def test_an_outcome_is_recorded_once_the_store_takes_it(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    gate, clock = Gate(), ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        store.trouble = TROUBLES[trouble]
        gate.open()
        await while_time_flies(clock, until(lambda: store.refusals > 3))
        store.trouble = None
        assert await while_time_flies(clock, session.result()) == "it"
    assert gate.through == ["it"]
    assert await events_of(keeping, session.id, DoubtRaised) == []


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_session_that_could_not_be_taken_is_taken_once_the_store_is_well(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    clock = ManualClock()
    async with memory_engine(asking, keeping=keeping, clock=clock, drives="none") as engine:
        queued = await engine.start(asking)
    store.trouble = TROUBLES[trouble]
    async with memory_engine(asking, keeping=keeping, clock=clock) as engine:
        await while_time_flies(clock, until(lambda: store.refusals > 0))
        await turns()
        store.trouble = None
        session = engine.session(queued.id)
        async with asyncio.timeout(3):
            assert (await while_time_flies(clock, session.settled())).status is Status.WAITING


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_trouble_while_a_session_ends_does_not_keep_it_from_ending(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    gate, clock = Gate(), ManualClock()

    async def workflow(run: Run) -> str:
        await gate.pass_("it")
        return "the end"

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        store.trouble = TROUBLES[trouble]
        gate.open()
        await while_time_flies(clock, until(lambda: store.refusals > 0))
        await turns()
        store.trouble = None
        async with asyncio.timeout(3):
            assert await while_time_flies(clock, session.result()) == "the end"


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_store_in_trouble_is_not_asked_without_pause(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    gate, clock = Gate(), ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        await engine.start(workflow)
        await gate.reached()
        store.trouble = TROUBLES[trouble]
        gate.open()
        await turns(2000)
        assert store.refusals < 20
        store.trouble = None


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_an_engine_opens_although_the_past_cannot_be_read(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    store.trouble, store.reads_too = TROUBLES[trouble], True
    clock = ManualClock()
    async with memory_engine(asking, keeping=keeping, clock=clock) as engine:
        await until(lambda: store.refusals > 1)
        store.trouble = None
        session = await engine.start(asking)
        assert (await while_time_flies(clock, session.settled())).status is Status.WAITING


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_an_engine_lives_on_when_it_cannot_read_what_is_due(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    clock = ManualClock()
    async with memory_engine(asking, keeping=keeping, clock=clock) as engine:
        store.trouble, store.reads_too = TROUBLES[trouble], True
        clock.advance(6)
        await until(lambda: store.refusals > 0)
        store.trouble = None
        session = await engine.start(asking)
        assert (await while_time_flies(clock, session.settled())).status is Status.WAITING


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_an_answer_that_cannot_be_recorded_is_refused_with_a_reason(trouble: str) -> None:
    store, keeping = kept_in_trouble()
    async with memory_engine(asking, keeping=keeping) as engine:
        session = await engine.start(asking)
        await session.settled()
        store.trouble = TROUBLES[trouble]
        with pytest.raises(StoreError) as refused:
            await session.answer("Ada")
        assert refused.value.hint is not None
        store.trouble = None
        await session.answer("Bob")
        assert await session.result() == "Bob"


async def test_a_workflow_that_catches_everything_does_not_take_trouble_for_a_failed_step() -> None:
    store, keeping = kept_in_trouble()
    gate, clock = Gate(), ManualClock()
    fallbacks: list[str] = []

    async def workflow(run: Run) -> str:
        try:
            return await run.step("it", act(gate.pass_), "it")
        except Exception:
            store.trouble = None
            await run.step("fallback", act(fallbacks.append), "fallback")
            return "fell back"

    async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        store.trouble = read_only
        gate.open()
        await turns()
        store.trouble = None
        await while_time_flies(clock, reached(session, Status.WAITING, Status.COMPLETED))
    assert fallbacks == []


async def test_a_workflow_that_catches_everything_does_nothing_once_its_session_was_taken_over() -> None:
    keeping, gate = kept_in_memory(), Gate()
    fallbacks: list[str] = []

    async def workflow(run: Run) -> str:
        try:
            return await run.step("it", act(gate.pass_), "it")
        except Exception:
            await run.step("fallback", act(fallbacks.append), "fallback")
            return "fell back"

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        await session.pause()
        await session.rewind(1)
        gate.open()
        await turns()
    assert fallbacks == []


async def test_the_operator_is_told_while_the_store_cannot_record() -> None:
    store, keeping = kept_in_trouble()
    gate, clock = Gate(), ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    with structlog.testing.capture_logs() as told:
        async with memory_engine(workflow, keeping=keeping, clock=clock) as engine:
            session = await engine.start(workflow)
            await gate.reached()
            store.trouble = full
            gate.open()
            await while_time_flies(clock, until(lambda: store.refusals > 0))
            store.trouble = None
            await while_time_flies(clock, session.result())
    lines = [line for line in told if line["log_level"] == "error"]
    assert lines
    assert lines[0]["hint"] == "Make space."
