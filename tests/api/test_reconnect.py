"""Whatever breaks, a client that comes back with its cursor has every event once; who goes leaves nothing behind."""

import asyncio
import gc
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from belayer.engine import Engine
from belayer.execution.run import Run
from tests.support.engines import memory_engine, until
from tests.support.servers import Address, ServerProcess, counting, serving

_BREAKS = 50
_RESTARTS = {8: "kill", 16: "stop", 24: "kill", 32: "stop", 40: "kill"}
_PATIENCE = 100.0


async def asking(run: Run) -> Any:
    return await run.ask("go", "Go on?", kind="confirm")


class Recorder:
    """A client that notes every seq it is shown, and comes back after the last."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.seqs: list[int] = []
        self.ended = False

    @property
    def cursor(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    def note(self, wire: str | bytes) -> None:
        frame = json.loads(wire)
        if frame["seq"] is not None:
            self.seqs.append(frame["seq"])
            self.ended = frame["type"] == "session" and frame["data"]["status"] == "completed"


async def watch(server: Address, recorder: Recorder, count: int) -> None:
    """Take so many frames, then break the connection without a word."""
    async with server.socket(recorder.session_id, recorder.cursor) as socket:
        for _ in range(count):
            if recorder.ended:
                return
            recorder.note(await socket.recv())
        socket.transport.abort()


async def watch_to_the_end(server: Address, recorder: Recorder) -> None:
    """Come back as often as it takes."""
    while not recorder.ended:
        with suppress(ConnectionClosed, InvalidHandshake, OSError):
            await watch(server, recorder, 1_000_000)


async def test_fifty_broken_connections_and_a_server_that_stops_and_dies_cost_no_event(
    tmp_path: Path,
) -> None:
    chance = random.Random(4)
    async with (
        asyncio.timeout(_PATIENCE),
        ServerProcess(tmp_path, "tests.support.servers:counting") as process,
        process.at.client() as client,
    ):
        given = {"workflow": "counting", "input": {"steps": 6_000}}
        started = await client.post("/api/execution/start", json=given)
        recorder = Recorder(started.json()["session_id"])
        for number in range(_BREAKS):
            if number in _RESTARTS:
                watching = asyncio.create_task(watch_to_the_end(process.at, recorder))
                await until_more(recorder, chance.randrange(20))
                await getattr(process, _RESTARTS[number])()
                watching.cancel()
                await asyncio.wait({watching})
                await process.start()
            else:
                await watch(process.at, recorder, chance.randrange(1, 60))
        assert not recorder.ended
        await watch_to_the_end(process.at, recorder)
    assert recorder.seqs == list(range(1, len(recorder.seqs) + 1))
    assert len(recorder.seqs) > 6_000


async def until_more(recorder: Recorder, count: int) -> None:
    seen = len(recorder.seqs)
    await until(lambda: len(recorder.seqs) > seen + count)


async def test_fifty_broken_event_streams_cost_no_event() -> None:
    chance = random.Random(5)
    async with memory_engine(counting) as engine, serving(engine) as server, asyncio.timeout(_PATIENCE):
        session = await engine.start(counting, 3_000)
        recorder = Recorder(session.id)
        breaks = 0
        while not recorder.ended:
            async with server.client() as client:
                await stream(client, recorder, chance.randrange(1, 60) if breaks < _BREAKS else 1_000_000)
            breaks += 1
    assert breaks > _BREAKS
    assert recorder.seqs == list(range(1, len(recorder.seqs) + 1))


async def stream(client: httpx.AsyncClient, recorder: Recorder, count: int) -> None:
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(recorder.cursor)}
    address = f"/api/execution/sessions/{recorder.session_id}/events"
    async with client.stream("GET", address, headers=headers) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                recorder.note(line.removeprefix("data: "))
                count -= 1
            if count == 0 or recorder.ended:
                return


async def hang_up(socket: ClientConnection) -> None:
    await socket.close()


async def cut(socket: ClientConnection) -> None:
    socket.transport.abort()


async def leave_unread(socket: ClientConnection) -> None:
    socket.transport.pause_reading()
    socket.transport.abort()


@pytest.mark.parametrize(("leave", "visits"), [(cut, 1_000), (hang_up, 200), (leave_unread, 200)])
async def test_many_quick_visits_leave_nothing_behind(
    leave: Callable[[ClientConnection], Awaitable[None]], visits: int
) -> None:
    async with memory_engine(asking) as engine, serving(engine) as server, asyncio.timeout(_PATIENCE):
        session = await engine.start(asking)
        await session.settled()
        await visit(server, session.id, leave)  # whatever the first visit makes for good
        await until(lambda: followers(engine) == 0)
        tasks, files = len(asyncio.all_tasks()), open_files()
        for _ in range(visits):
            await visit(server, session.id, leave)
        await until(lambda: len(asyncio.all_tasks()) <= tasks)
        gc.collect()
        await until(lambda: open_files() <= files)
        assert followers(engine) == 0


async def visit(
    server: Address, session_id: str, leave: Callable[[ClientConnection], Awaitable[None]]
) -> None:
    socket = await server.socket(session_id)
    await socket.recv()
    await leave(socket)
    await socket.wait_closed()


def followers(engine: Engine) -> int:
    return sum(len(channel.followers) for channel in engine._parts.feed._channels.values())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
