"""Belayer from Python: start a workflow, watch it, answer it, take its result. Run it with `python examples/api.py`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from belayer import Run, Status, act, open_engine


@act(effect="read")
def measure(text: str) -> int:
    return len(text.split())


async def review(run: Run, text: str) -> dict[str, object]:
    """A workflow is an ordinary async function; whatever it does to the world goes through its run."""
    words = await run.step("measure", measure, text)
    verdict = await run.ask("verdict", f"{words} words. Good enough?", kind="confirm")
    return {"words": words, "good": verdict}


async def main(home: Path) -> object:
    # Everything is kept in `home`. Leave the block at any time: a session goes on the next time it is opened.
    async with open_engine(home, workflows=[review]) as engine:
        session = await engine.start(review, "Agents climb; you hold the rope.", title="A short review")

        # Follow it live, each event with the state it leads to, until it waits for somebody.
        async for state, frame in engine.watch(session.id):
            if frame.seq is not None:
                print(f"{frame.seq:>3}  {state.status}")
            if state.status is Status.WAITING:
                break

        # A second, a month or a restart later: the answer takes it up at the same line.
        await session.answer(True)
        result = await session.result()
        print(result)
        return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else folder)))
