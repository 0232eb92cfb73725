"""Work that conducts further work: done once as a whole, with names of its own, and what the log knew of it before."""

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Json, Status
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import kept_in_memory
from tests.support.engines import events_of, memory_engine, reached


@act(effect="read")
async def look(what: str) -> str:
    return f"saw {what}"


async def test_what_was_made_once_is_not_made_again() -> None:
    keeping, made = kept_in_memory(), list[str]()

    async def making(run: Run) -> Json:
        async def make(inner: Run) -> Json:
            made.append(inner.place)
            return [await inner.step("a", look, "a"), await inner.step("a", look, "b")]

        first, second = await run.once("it", make), await run.once("it", make)
        await run.ask("go", "Go on?")
        return [first, second]

    async with memory_engine(making, keeping=keeping) as engine:
        session = await engine.start(making)
        await session.settled()
        await session.answer("yes")
        assert await session.result() == [["saw a", "saw b"]] * 2
    assert made == ["it", "it#2"]
    keys = [event.key for event in await events_of(keeping, session.id, StepChanged)]
    assert keys == ["it/a", "it/a#2", "it", "it#2/a", "it#2/a#2", "it#2"]


async def test_what_is_half_made_goes_on_where_it_was() -> None:
    looked: list[str] = []

    async def making(run: Run) -> Json:
        async def make(inner: Run) -> Json:
            await inner.step("a", act(effect="read")(looked.append), "a")
            return await inner.ask("b", "B?")

        return await run.once("it", make)

    async with memory_engine(making) as engine:
        session = await engine.start(making)
        await session.settled()
        await session.answer("yes")
        assert await session.result() == "yes"
    assert looked == ["a"]


async def test_large_things_that_were_made_once_are_kept_aside() -> None:
    keeping = kept_in_memory()

    async def making(run: Run) -> Json:
        async def make(_inner: Run) -> Json:
            return "x" * 1_000_000

        value = await run.once("it", make)
        await run.ask("go", "Go on?")
        assert isinstance(value, str)
        return len(value)

    async with memory_engine(making, keeping=keeping) as engine:
        session = await engine.start(making)
        await session.settled()
        await session.answer("yes")
        assert await session.result() == 1_000_000
    (event,) = await events_of(keeping, session.id, StepChanged)
    assert event.aside is not None
    assert event.output is None


async def test_a_run_knows_what_the_log_had_of_a_key_when_the_drive_began() -> None:
    seen: list[tuple[bool, bool]] = []

    async def asking(run: Run) -> Json:
        seen.append((run.knows("a"), run.ready_since("a") is not None))
        return await run.ask("a", "A?")

    async with memory_engine(asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        await session.pause()
        await session.resume()
        await session.settled()
        await session.answer("yes")
        await session.result()
    assert seen == [(False, False), (True, False), (True, True)]


async def test_of_two_that_are_ready_the_run_knows_which_was_first() -> None:
    clock, found = ManualClock(), list[bool]()

    async def sleeping(run: Run) -> None:
        long, short = run.ready_since("long"), run.ready_since("short")
        found.append(long is not None and short is not None and short < long)

        async def nap(inner: Run, seconds: float) -> None:
            await inner.within("nap").sleep(seconds)

        await run.parallel(
            "all",
            [lambda _: nap(run.line().within("long"), 200), lambda _: nap(run.line().within("short"), 100)],
        )

    async with memory_engine(sleeping, clock=clock) as engine:
        session = await engine.start(sleeping)
        await reached(session, Status.WAITING)
        clock.advance(1000)
        await session.result()
    assert found == [False, True]
