"""When the server stops, those who watch are told first; then the engine drains; nothing is lost."""

import asyncio
import json
import socket as sockets
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from belayer.api.serve import serve
from belayer.execution.run import Run
from belayer.vocabulary.errors import ConfigurationError
from tests.support.engines import Gate, memory_engine, settings
from tests.support.servers import TOKEN, ServerProcess, serving

_PATIENCE = 60.0


async def asking(run: Run) -> Any:
    return await run.ask("go", "Go on?", kind="confirm")


async def read_out(socket: ClientConnection) -> list[str]:
    """Everything that comes until the connection is closed."""
    seen: list[str] = []
    with suppress(ConnectionClosed):
        while True:
            seen.append(str(await socket.recv()))
    return seen


async def test_sockets_are_told_to_come_back() -> None:
    async with memory_engine(asking) as engine, asyncio.timeout(_PATIENCE):
        session = await engine.start(asking)
        await session.settled()
        async with serving(engine) as server:
            watching = await server.socket(session.id)
            await watching.recv()
            idle = await server.socket(session.id, 4)
        for socket in (watching, idle):
            await read_out(socket)
            assert (socket.close_code, socket.close_reason) == (1012, "restart")


async def test_event_streams_end() -> None:
    async with memory_engine(asking) as engine, asyncio.timeout(_PATIENCE):
        session = await engine.start(asking)
        await session.settled()
        async with serving(engine) as server:
            client = server.client()
            address = f"/api/execution/sessions/{session.id}/events"
            request = client.build_request("GET", address, headers={"Accept": "text/event-stream"})
            response = await client.send(request, stream=True)
        lines = [line async for line in response.aiter_lines()]
        assert [line for line in lines if line.startswith("id: ")] == ["id: 1", "id: 2", "id: 3", "id: 4"]
        await client.aclose()


async def test_who_does_not_listen_does_not_keep_the_server() -> None:
    async with memory_engine(asking) as engine, asyncio.timeout(_PATIENCE):
        session = await engine.start(asking)
        await session.settled()
        async with serving(engine) as server:
            deaf = await server.socket(session.id)
            deaf.transport.pause_reading()
        deaf.transport.abort()


async def test_who_watches_is_told_before_the_engine_drains() -> None:
    """A step under way gets its grace while its followers are gone already."""
    gate = Gate()

    async def held(run: Run) -> str:
        return await run.step("hold", gate.pass_, "it")

    async with memory_engine(held) as engine, asyncio.timeout(_PATIENCE):
        session = await engine.start(held)
        async with serving(engine) as server:
            socket = await server.socket(session.id)
            await gate.reached()
        await read_out(socket)
        assert socket.close_code == 1012
        assert gate.stopped == []
        gate.open()
        assert await session.result() == "it"


async def test_after_a_polite_stop_everything_that_was_seen_is_there(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(_PATIENCE),
        ServerProcess(tmp_path, "tests.support.servers:counting") as process,
        process.at.client() as client,
    ):
        given = {"workflow": "counting", "input": {"steps": 100_000}}
        session_id = (await client.post("/api/execution/start", json=given)).json()["session_id"]
        async with process.at.socket(session_id) as socket:
            stopping = asyncio.create_task(process.stop())
            seen = await read_out(socket)
            assert socket.close_code == 1012
        assert await stopping == 0
        await process.start()
        async with process.at.socket(session_id) as socket:
            again = [str(await socket.recv()) for _ in seen]
            socket.transport.abort()  # a polite goodbye would have to read on
    durable = [frame for frame in seen if json.loads(frame)["seq"] is not None]
    assert again[: len(durable)] == durable


async def test_a_port_that_is_taken_is_named() -> None:
    with sockets.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with memory_engine() as engine:
            with pytest.raises(ConfigurationError, match=str(port)):
                await serve(engine, settings(port=port), TOKEN, lambda url: None)
