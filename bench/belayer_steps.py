"""Belayer's own side of the step benchmarks, through the public API, with the payload and promises the peers have."""

import asyncio
import time
from pathlib import Path

from belayer import Act, Effect, Run, open_engine
from belayer.settings import Settings

# How many sessions run at once; the default of 16 is for steps that cost something.
AT_ONCE = 256


async def sequential(folder: Path, steps: int, payload: str, *, effect: Effect = Effect.READ) -> list[float]:
    """Seconds per durable step in one session of `steps` steps."""
    taken: list[float] = []

    async def work(_: int) -> str:
        return payload

    act = Act("work", work, effect=effect, idempotent=True)

    async def walk(run: Run) -> None:
        before = time.perf_counter()
        for number in range(steps):
            await run.step("work", act, number)
            now = time.perf_counter()
            taken.append(now - before)
            before = now

    async with open_engine(folder, workflows=[walk]) as engine:
        await (await engine.start(walk)).result()
    return taken


async def many(folder: Path, sessions: int, steps: int, payload: str) -> float:
    """Seconds for `sessions` sessions of `steps` durable steps each, from the first start to the last result."""

    async def work(_: int) -> str:
        return payload

    act = Act("work", work, effect=Effect.READ)

    async def walk(run: Run) -> None:
        for number in range(steps):
            await run.step("work", act, number)

    settings = Settings(home=folder, concurrency=AT_ONCE)
    async with open_engine(settings=settings, workflows=[walk]) as engine:
        started = time.perf_counter()
        begun = await asyncio.gather(*(engine.start(walk) for _ in range(sessions)))
        await asyncio.gather(*(session.result() for session in begun))
        return time.perf_counter() - started


async def replay(folder: Path, steps: int, payload: str) -> float:
    """Seconds from the answer to the end for a session that has `steps` recorded steps to replay first."""

    async def work(_: int) -> str:
        return payload

    act = Act("work", work, effect=Effect.READ)

    async def walk(run: Run) -> None:
        for number in range(steps):
            await run.step("work", act, number)
        await run.ask("go", "Go on?")

    async with open_engine(folder, workflows=[walk]) as engine:
        session = await engine.start(walk)
        await session.settled()
        request_id = next(iter((await session.state()).pending))
        started = time.perf_counter()
        await session.answer("yes", request_id)
        await session.result()
        return time.perf_counter() - started


async def bytes_per_step(folder: Path, steps: int, payload: str) -> float:
    """What a step adds to the files of the store, once the log is folded into the main file."""
    await sequential(folder, 10, payload)
    before = _size(folder)
    await sequential(folder, steps, payload)
    return (_size(folder) - before) / steps


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
