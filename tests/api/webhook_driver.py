"""A process made to be killed: `python -m tests.api.webhook_driver HOME URL` has a session that asks, and tells of it.

With `silent` as a third word it tells nothing any more once the session begins.
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from belayer.api.webhooks import receiver_of, sending_webhooks
from belayer.engine import Engine
from belayer.execution.run import Run
from belayer.sessions.record import Record
from belayer.sessions.redact import Redactor
from belayer.sessions.store import Changes, Mark
from belayer.vocabulary.ids import SessionId
from belayer.wiring import open_engine
from tests.api.receiver import SECRET
from tests.support.engines import settings


async def asking(run: Run) -> str:
    return str(await run.ask("it", "Which?"))


@dataclass(frozen=True, slots=True)
class Reader:
    """What webhooks are made from."""

    engine: Engine

    async def written_last(self) -> Mark:
        return await self.engine._parts.store.written_last()

    async def changed_since(self, mark: Mark) -> Changes:
        return await self.engine._parts.store.changed_since(mark)

    async def records(self, session_id: SessionId) -> list[Record]:
        return await self.engine.records(session_id)


async def main(home: Path, url: str, silent: bool) -> None:
    receiver = receiver_of(url, SecretStr(SECRET))
    async with open_engine(workflows=[asking], settings=settings(home)) as engine:
        sending = sending_webhooks(Reader(engine), receiver, home, "http://here", Redactor())
        await sending.__aenter__()
        while not (home / "webhooks.json").exists():
            await asyncio.sleep(0.01)
        if silent:
            await sending.__aexit__(None, None, None)
        await (await engine.start(asking, title="Which one", idempotency_key="once")).settled()
        print("settled", flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], "silent" in sys.argv))
