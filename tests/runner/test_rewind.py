"""Back to an earlier event, or on from it in another session; what was left behind counts no more."""

import pytest

from belayer.engine import Session
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import BadCursor, IllegalTransition
from belayer.vocabulary.events.event import Json, Status, StepStatus
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import Gate, damage_of, events_of, memory_engine, reached, records_of, turns, until


class Greeting:
    """Ask, then greet."""

    def __init__(self) -> None:
        self.greeted: list[str] = []

    async def greeting(self, run: Run) -> list[Json]:
        await run.step("look", act(self.greeted.append), "look")
        name = await run.ask("name", "Your name?")
        await run.checkpoint("named")
        await run.step("greet", act(self.greeted.append), name)
        return [name, await run.ask("more", "More?")]


async def seq_of(keeping: Keeping, session: Session, type_: str, number: int = 0) -> int:
    """The sequence number of the so-manieth event of a type."""
    found = [record.seq for record in await records_of(keeping, session.id) if record.type == type_]
    return found[number]


async def told(session: Session, *answers: str) -> None:
    for answer in answers:
        await reached(session, Status.WAITING)
        await session.answer(answer)


async def test_a_rewound_session_asks_again_and_goes_on_with_the_new_answer() -> None:
    greeting, keeping = Greeting(), kept_in_memory()
    async with memory_engine(greeting.greeting, keeping=keeping) as engine:
        session = await engine.start(greeting.greeting)
        await told(session, "Ada", "no")
        await reached(session, Status.COMPLETED)
        await session.rewind(await seq_of(keeping, session, "request_input") - 1)
        await session.resume()
        await told(session, "Bob", "yes")
        assert (await reached(session, Status.COMPLETED)).result == ["Bob", "yes"]
        assert await damage_of(engine) == []
    assert greeting.greeted == ["look", "Ada", "Bob"]


async def test_a_rewind_leaves_the_session_paused() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        await reached(session, Status.WAITING)
        assert (await session.rewind(1)).status is Status.PAUSED
        await turns()
        assert (await session.state()).status is Status.PAUSED


async def test_a_rewind_to_a_checkpoint_keeps_what_came_before_it() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        await told(session, "Ada", "no")
        ((seq, name),) = (await reached(session, Status.COMPLETED)).checkpoints.items()
        assert name == "named"
        await session.rewind(seq)
        await session.resume()
        await told(session, "yes")
        assert (await reached(session, Status.COMPLETED)).result == ["Ada", "yes"]
    assert greeting.greeted == ["look", "Ada", "Ada"]


async def test_a_session_can_be_rewound_again_and_again() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        for name in ("a", "b", "c"):
            await told(session, name, "no")
            assert (await reached(session, Status.COMPLETED)).result == [name, "no"]
            await session.rewind(1)
            await session.resume()
        await told(session, "d", "no")
        assert (await reached(session, Status.COMPLETED)).result == ["d", "no"]
        assert await damage_of(engine) == []


async def test_a_rewind_behind_an_earlier_rewind_brings_nothing_back() -> None:
    greeting, keeping = Greeting(), kept_in_memory()
    async with memory_engine(greeting.greeting, keeping=keeping) as engine:
        session = await engine.start(greeting.greeting)
        await told(session, "Ada", "no")
        await reached(session, Status.COMPLETED)
        dropped = await seq_of(keeping, session, "user_response")
        await session.rewind(1)
        await session.rewind(dropped)
        state = await session.state()
        assert state.answered == {}
        await session.resume()
        await told(session, "Bob", "yes")
        assert (await reached(session, Status.COMPLETED)).result == ["Bob", "yes"]


@pytest.mark.parametrize("beyond", [0, 1, 1000])
async def test_a_rewind_to_where_nothing_is_is_refused(beyond: int) -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        before = await reached(session, Status.WAITING)
        with pytest.raises(BadCursor) as refused:
            await session.rewind(before.seq + beyond)
        assert refused.value.hint is not None
        assert (await session.state()).seq == before.seq


async def test_a_running_session_cannot_be_rewound() -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        with pytest.raises(IllegalTransition) as refused:
            await session.rewind(1)
        assert "pause" in (refused.value.hint or "")
        gate.open()
        assert await session.result() == "it"


async def test_a_step_still_under_way_when_its_session_is_rewound_records_nothing() -> None:
    gate, keeping = Gate(), kept_in_memory()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        await session.pause()
        await session.rewind(1)
        gate.open()
        await until(lambda: gate.through == ["it"])
        await turns()
        changed = await events_of(keeping, session.id, StepChanged)
        assert StepStatus.COMPLETED not in {event.status for event in changed}
        await session.resume()
        assert (await reached(session, Status.COMPLETED)).result == "it"


async def test_a_session_resumed_after_a_rewind_waits_for_nobody_but_its_old_step() -> None:
    gate = Gate()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await gate.reached()
        await session.pause()
        await session.rewind(1)
        await session.resume()
        await turns()
        gate.open()
        assert (await reached(session, Status.COMPLETED)).result == "it"
        assert await damage_of(engine) == []


async def test_a_fork_has_the_history_and_goes_its_own_way() -> None:
    greeting, keeping = Greeting(), kept_in_memory()
    async with memory_engine(greeting.greeting, keeping=keeping) as engine:
        session = await engine.start(greeting.greeting)
        await told(session, "Ada")
        await reached(session, Status.WAITING)
        fork = await session.fork()
        await fork.resume()
        await told(fork, "from the fork")
        await told(session, "from the first")
        assert (await reached(fork, Status.COMPLETED)).result == ["Ada", "from the fork"]
        assert (await reached(session, Status.COMPLETED)).result == ["Ada", "from the first"]
        assert await damage_of(engine) == []
    assert greeting.greeted == ["look", "Ada"]


async def test_a_fork_does_nothing_until_it_is_resumed() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        await reached(session, Status.WAITING)
        fork = await session.fork(1)
        await turns()
        state = await fork.state()
        assert state.status is Status.PAUSED
        assert state.forked_from is not None
        assert (state.forked_from.session_id, state.forked_from.seq) == (session.id, 1)
    assert greeting.greeted == ["look"]


async def test_a_fork_leaves_its_origin_as_it_was() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        before = await reached(session, Status.WAITING)
        await session.fork()
        assert (await session.state()).seq == before.seq


async def test_a_fork_of_a_rewound_session_sees_what_the_session_sees() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        session = await engine.start(greeting.greeting)
        await told(session, "Ada", "no")
        await reached(session, Status.COMPLETED)
        await session.rewind(1)
        fork = await session.fork()
        await fork.resume()
        await told(fork, "Bob", "yes")
        assert (await reached(fork, Status.COMPLETED)).result == ["Bob", "yes"]


async def test_a_fork_rewound_to_before_its_own_beginning_is_still_a_fork() -> None:
    greeting, clock = Greeting(), ManualClock()
    async with memory_engine(greeting.greeting, clock=clock) as engine:
        session = await engine.start(greeting.greeting, idempotency_key="the one")
        await reached(session, Status.WAITING)
        clock.advance(1)
        fork = await session.fork()
        state = await fork.rewind(1)
        assert state.forked_from is not None
        assert state.idempotency_key is None
        assert await damage_of(engine) == []


async def test_a_fork_at_every_event_can_be_brought_to_an_end() -> None:
    greeting, clock = Greeting(), ManualClock()
    async with memory_engine(greeting.greeting, clock=clock) as engine:
        session = await engine.start(greeting.greeting)
        await told(session, "Ada", "no")
        last = (await reached(session, Status.COMPLETED)).seq
        for seq in range(1, last + 1):
            fork = await session.fork(seq)
            await fork.resume()
            while (state := await reached(fork, Status.WAITING, Status.COMPLETED)).status is Status.WAITING:
                request = next(iter(state.pending.values()))
                doubtful = getattr(request, "purpose", "") == "in_doubt"
                await fork.answer("did not happen" if doubtful else "again", request.request_id)
            assert isinstance(state.result, list)
        assert await damage_of(engine) == []


async def test_a_rewind_to_every_event_can_be_brought_to_an_end() -> None:
    greeting = Greeting()
    async with memory_engine(greeting.greeting) as engine:
        first = await engine.start(greeting.greeting)
        await told(first, "Ada", "no")
        last = (await reached(first, Status.COMPLETED)).seq
        for seq in range(1, last):
            session = await first.fork()
            await session.rewind(seq)
            await session.resume()
            while (
                state := await reached(session, Status.WAITING, Status.COMPLETED)
            ).status is Status.WAITING:
                request = next(iter(state.pending.values()))
                doubtful = getattr(request, "purpose", "") == "in_doubt"
                await session.answer("did not happen" if doubtful else "again", request.request_id)
        assert await damage_of(engine) == []
