"""Agents that use Belayer by the real MCP client: over stdio and HTTP, with or without a person behind them."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from belayer.api.door import Door, Doorkeeper
from belayer.api.mcp import mount_mcp
from belayer.engine import Engine
from belayer.execution.run import Run
from tests.support.engines import settings

TOKEN = "a token that only tests know"
SERVER = "import typer; from belayer.cli.commands.mcp import mcp; typer.run(mcp)"
NOTE_PID = 'echo $$ > "$0"; exec "$@"'
PATIENCE = 60
"""Seconds after which nothing more is expected to happen. A guard against hangs."""


@dataclass
class Person:
    """Somebody behind a client who says what they were told to say, and remembers what they were shown."""

    says: list[types.ElicitResult | types.ErrorData] = field(default_factory=list[Any])
    shown: list[types.ElicitRequestFormParams] = field(default_factory=list[Any])

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        self.shown.append(params)
        return self.says.pop(0)


def accepts(**content: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content)


DECLINES = types.ElicitResult(action="decline")
DISMISSES = types.ElicitResult(action="cancel")


@asynccontextmanager
async def over_stdio(home: Path, mode: str, person: Person | None, **env: str) -> AsyncGenerator[Client]:
    """A client that has started a server of its own on the home, whose process id is in `home/pid`."""
    home.mkdir(exist_ok=True)
    server = StdioServerParameters(
        command="sh",
        args=["-c", NOTE_PID, str(home / "pid"), sys.executable, "-c", SERVER, "--home", str(home)],
        env={"BELAYER_GRACE": "0", **env},
        cwd=home,
    )
    async with Client(
        server, mode=mode, elicitation_callback=person, read_timeout_seconds=PATIENCE
    ) as client:
        yield client


@asynccontextmanager
async def over_http(url: str, mode: str, person: Person | None, token: str = TOKEN) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with create_mcp_http_client(headers=headers) as http:
        wire = streamable_http_client(url, http_client=http)
        async with Client(
            wire, mode=mode, elicitation_callback=person, read_timeout_seconds=PATIENCE
        ) as client:
            yield client


@asynccontextmanager
async def mounted(engine: Engine, home: Path, **changes: Any) -> AsyncGenerator[str]:
    """The address of an app that has nothing but the door and MCP, on a port of its own."""
    app = FastAPI()
    mount_mcp(app, engine, settings(home, **{"max_sessions": 0, **changes}), TOKEN)
    config = uvicorn.Config("", port=0, log_config=None, timeout_graceful_shutdown=1)
    listening = config.bind_socket()
    port = listening.getsockname()[1]
    config.app = Doorkeeper(app, Door.of(TOKEN, "127.0.0.1", port))
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await serving


async def questions(run: Run, count: int = 3) -> list[Any]:
    return [await run.ask(f"question/{number}", f"Number {number}?") for number in range(count)]


def step(id_: str, tool: str, **params: Any) -> dict[str, Any]:
    return {"id": id_, "tool": tool, "params": params}


def plan(*steps: dict[str, Any], title: str = "a plan") -> dict[str, Any]:
    return {"title": title, "steps": list(steps)}


ASKS = plan(step("colour", "request_input", prompt="Which colour?"))
SLEEPS = plan(step("nap", "wait", seconds=3600))


def deletes(folder: Path) -> dict[str, Any]:
    """A plan that asks before it does great harm, in this workspace."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.txt").write_text("a")
    return {"plan": plan(step("gone", "files.delete", path="docs", folder=True)), "workspace": str(folder)}


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """How a tool refuses: as a problem with what to do, and never with a traceback."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    text = text_of(result)
    assert "Traceback" not in text
    assert len(text) < 5_000
    problem = result.structured_content
    assert isinstance(problem, dict)
    assert problem["detail"] in text
    assert problem["hint"]
    assert problem["hint"] in text
    return problem


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text
