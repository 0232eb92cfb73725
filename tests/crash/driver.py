"""A process made to be killed: drives reference sessions in a folder, answers what they ask, says what it saw.

`python -m tests.crash.driver HOME` forks a driver for every number of sessions that it reads, prints the driver's
process id, and at the next line waits for its end and prints its exit code. So the modules are imported once, and
every driver is a process of its own that can be killed. A driver appends `session seq` to HOME/acknowledged for every
event it was told of, and leaves HOME/done behind once all its sessions have ended.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from belayer.sessions.feed import Frame
from belayer.vocabulary.clock import SystemClock, Timer
from belayer.wiring import open_engine
from tests.support.engines import settings
from tests.support.reference import FileWorld, Reference, attend

_FASTER = 50.0


class FastClock(SystemClock):
    """The machine's clock for dates; whoever waits is called sooner."""

    def monotonic(self) -> float:
        return time.monotonic() * _FASTER

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds / _FASTER, call)


async def drive(home: Path, sessions: int) -> None:
    """Start or find the sessions and see them all to their end."""
    world = FileWorld(home / "world")
    reference = Reference(world, nap=0.05, linger=0.003).reference
    acknowledged = os.open(home / "acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def seen(frame: Frame) -> None:
        if frame.seq is not None:
            os.write(acknowledged, f"{frame.session_id} {frame.seq}\n".encode())

    async def see_through(number: int) -> None:
        session = await engine.start(reference, idempotency_key=f"session {number}")
        await attend(engine, session.id, world, seen)

    async with (
        open_engine(workflows=[reference], settings=settings(home), clock=FastClock()) as engine,
        asyncio.TaskGroup() as group,
    ):
        for number in range(sessions):
            group.create_task(see_through(number))
    (home / "done").touch()


def main(home: Path) -> None:
    for sessions in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(drive(home, int(sessions)))
            os._exit(0)
        print(child, flush=True)
        sys.stdin.readline()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
