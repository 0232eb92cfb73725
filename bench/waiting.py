"""What ten thousand sessions cost while they wait for a person. In a process of its own: memory is ours alone.

Prints one JSON object: bytes and processor share while all wait, and how long an answer takes to be acted on.
"""

import asyncio
import gc
import json
import sys
import time
from pathlib import Path

from belayer import Act, Effect, Run, Session, open_engine
from belayer.settings import Settings
from bench.memory import cpu_seconds, rss_bytes

WARM_UP = 500
IDLE_SECONDS = 10.0
ANSWERS = 200


async def measure(folder: Path, sessions: int) -> dict[str, float]:
    """Memory per waiting session, processor seconds per second of waiting, seconds from answer to result."""

    async def work(number: int) -> int:
        return number

    act = Act("work", work, effect=Effect.READ)

    async def walk(run: Run, number: int) -> object:
        await run.step("before", act, number)
        answer = await run.ask("go", "Go on?")
        await run.step("after", act, number)
        return answer

    settings = Settings(home=folder, session_timeout=0)
    async with open_engine(settings=settings, workflows=[walk]) as engine:

        async def wait_for(count: int) -> list[Session]:
            begun = [await engine.start(walk, number) for number in range(count)]
            for session in begun:
                await session.settled()
            return begun

        await wait_for(WARM_UP)
        gc.collect()
        before = rss_bytes()
        waiting = await wait_for(sessions)
        chosen = waiting[:: max(sessions // ANSWERS, 1)]
        del waiting
        gc.collect()
        memory = rss_bytes() - before
        cpu = cpu_seconds()
        await asyncio.sleep(IDLE_SECONDS)
        cpu = cpu_seconds() - cpu
        taken = [await _answered(session) for session in chosen]
    return {
        "bytes": memory / sessions,
        "cpu": cpu / IDLE_SECONDS,
        "resume": sorted(taken)[len(taken) // 2],
        "resume_p95": sorted(taken)[len(taken) * 95 // 100],
    }


async def _answered(session: Session) -> float:
    request_id = next(iter((await session.state()).pending))
    started = time.perf_counter()
    await session.answer("yes", request_id)
    await session.result()
    return time.perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), int(sys.argv[2])))))
