"""A real server on a loopback port, for tests that talk to it as anybody would.

In this process, around an engine that the test holds:

    async with memory_engine(workflow) as engine, serving(engine) as server, server.client() as client:
        response = await client.get("/api/execution/sessions")
        async with server.socket(session_id, after=3) as socket:
            frame = json.loads(await socket.recv())

In a process of its own, to be stopped, killed and started again on the same home, port and token:

    async with ServerProcess(tmp_path, "tests.support.servers:counting") as server:
        await server.kill()
        await server.start()

`client` is an httpx client that sends the token; `stranger` is one that does not.
"""

import asyncio
import importlib
import json
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
from websockets.asyncio.client import connect

from belayer.api.serve import serve
from belayer.api.token import cookie_for, token_in
from belayer.engine import Engine
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.events.event import Effect
from belayer.wiring import open_engine
from tests.support.engines import settings

TOKEN = "a-token-that-only-tests-know"
_PATIENCE = 60.0
"""Seconds after which a server is not expected to start or stop any more. A guard against hangs."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and what opens its door."""

    url: str
    token: str

    @property
    def port(self) -> int:
        return httpx.URL(self.url).port or 80

    @property
    def authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def cookie(self) -> dict[str, str]:
        """What a browser sends after its first visit."""
        return {"Cookie": f"belayer={cookie_for(self.token)}"}

    def client(self, **options: Any) -> httpx.AsyncClient:
        """A client that may come in."""
        return httpx.AsyncClient(
            **{
                "base_url": self.url,
                "headers": self.authorization,
                "timeout": _PATIENCE,
                "trust_env": False,
                **options,
            }
        )

    def stranger(self, **options: Any) -> httpx.AsyncClient:
        """A client without the token."""
        return self.client(**{"headers": {}, **options})

    def socket(self, session_id: str, after: object = None, **options: Any) -> connect:
        """A WebSocket to a session: `async with` it, or await it. Options are those of `websockets`' connect."""
        query = "" if after is None else f"?after={after}"
        return self.socket_at(f"/ws/execution/{session_id}{query}", **options)

    def socket_at(self, path: str, **options: Any) -> connect:
        """A WebSocket to any path."""
        given = {
            "additional_headers": self.authorization,
            "compression": None,
            "proxy": None,
            "ping_interval": None,
            "max_size": None,
            "open_timeout": _PATIENCE,
            **options,
        }
        return connect(f"ws{self.url.removeprefix('http')}{path}", **given)


@asynccontextmanager
async def serving(engine: Engine, token: str = TOKEN, **changes: Any) -> AsyncGenerator[Address]:
    """A server around the engine, in this process, on a port of its own. `changes` are settings."""
    began: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    chosen = settings(**{"port": 0, "max_sessions": 0, **changes})
    task = asyncio.create_task(serve(engine, chosen, token, began.set_result))
    try:
        await asyncio.wait({task, began}, return_when=asyncio.FIRST_COMPLETED, timeout=_PATIENCE)
        if task.done():
            task.result()
        yield Address(began.result(), token)
    finally:
        task.cancel()
        await asyncio.wait({task})


@dataclass(slots=True)
class ServerProcess:
    """A server in a process of its own, driving the workflows that `module:name` names, if any.

    After `stop` (SIGTERM: it drains) or `kill` (SIGKILL), `start` brings it back on the same port.
    """

    home: Path
    workflows: str = ""
    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    port: int = 0
    process: subprocess.Popen[str] | None = None

    @property
    def at(self) -> Address:
        return Address(f"http://127.0.0.1:{self.port}", token_in(self.home))

    async def start(self) -> None:
        """Return once it takes requests."""
        given = json.dumps({"port": self.port, "max_sessions": 0, **self.changes})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.servers", str(self.home), self.workflows, given],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = await asyncio.wait_for(asyncio.to_thread(self.process.stdout.readline), _PATIENCE)
        assert line, "the server did not start"
        self.port = int(line.rpartition(":")[2])

    async def stop(self) -> int:
        """Ask it to end; its exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> int:
        """End it in the middle of whatever it does."""
        return await self._end(signal.SIGKILL)

    async def _end(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        code = await asyncio.to_thread(self.process.wait, _PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None
        return code

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process is not None:
            await self.kill()


@act(effect=Effect.READ)
async def count(number: int) -> int:
    return number


async def counting(run: Run, steps: int) -> int:
    """A workflow that does many small steps, so that there is always something to follow. Goes on after a crash."""
    for number in range(steps):
        await run.step(f"count/{number}", count, number)
    return steps


async def _main(home: Path, workflows: str, given: dict[str, Any]) -> None:
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    chosen = settings(home, **given)
    known: list[Callable[..., Any]] = []
    for name in filter(None, workflows.split(",")):
        module, _, attribute = name.partition(":")
        known.append(getattr(importlib.import_module(module), attribute))
    async with open_engine(settings=chosen, workflows=known) as engine:
        await serve(engine, chosen, token_in(home), lambda url: print(url, flush=True))


if __name__ == "__main__":
    try:
        asyncio.run(_main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))
    except asyncio.CancelledError:
        sys.exit(0)
