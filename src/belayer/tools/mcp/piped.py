"""An MCP server as a child process: no variable of ours in its environment, bounded lines, and nothing left of it."""

import asyncio
import os
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from belayer.tools.mcp.configured import LocalServer
from belayer.tools.mcp.watch import MOST_BYTES, Watch

_CHUNK = 64 * 1024
_LEAVING_SECONDS = 1.0
_WAITING = 16
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"

Begun = Callable[[int], None]


@asynccontextmanager
async def piped(server: LocalServer, home: Path, watch: Watch, begun: Begun) -> AsyncGenerator[Any]:
    """The streams to a server that runs for as long as the block lasts. `begun` hears which session it leads."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=_CHUNK, loop=loop),
        server.command,
        *server.args,
        env=_environment(server.env, home),
        cwd=server.cwd or home,
        start_new_session=True,
    )
    process = Process(transport, protocol, loop)
    inward, read = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
    write, outward = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    try:
        begun(process.pid)
        async with anyio.create_task_group() as group:
            group.start_soon(_hear, process, inward, watch)
            group.start_soon(_hear_words, process, watch)
            group.start_soon(_say, process, outward, watch)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()
    finally:
        for stream in (inward, read, write, outward):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _end(process)
            watch.exit_code = process.returncode
            transport.close()


def _environment(given: Mapping[str, Any], home: Path) -> dict[str, str]:
    """What the server may know: where programs are, a folder of its own, and what a person gave it."""
    own = {"PATH": os.pathsep.join(os.get_exec_path()) or _USUAL_PATH, "HOME": str(home), "TMPDIR": str(home)}
    return {**own, "LANG": "C.UTF-8", **{name: value.get_secret_value() for name, value in given.items()}}


async def _hear(process: Process, inward: Any, watch: Watch) -> None:
    """Take in its messages, a line each."""
    assert process.stdout is not None
    line = bytearray()
    try:
        while watch.breach is None and (chunk := await process.stdout.read(_CHUNK)):
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                line += piece
                await _take(bytes(line), inward, watch)
                line.clear()
            line += rest
            if len(line) > MOST_BYTES:
                watch.breaks("message", f"It sent a message of more than {MOST_BYTES:,} bytes.")
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        pass  # nobody listens any more
    finally:
        watch.over.set()
        inward.close()


async def _take(line: bytes, inward: Any, watch: Watch) -> None:
    if not line.strip() or watch.breach is not None:
        return
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        watch.hear_garbage()
        return
    if watch.lets_in(message, asyncio.get_running_loop().time()):
        await inward.send(SessionMessage(message))


async def _hear_words(process: Process, watch: Watch) -> None:
    assert process.stderr is not None
    while said := await process.stderr.read(_CHUNK):
        watch.hear_words(said)


async def _say(process: Process, outward: Any, watch: Watch) -> None:
    assert process.stdin is not None
    with suppress(OSError, anyio.ClosedResourceError, anyio.EndOfStream):
        while True:
            message = await outward.receive()
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode(errors="replace") + b"\n")
            await process.stdin.drain()
    watch.over.set()


async def _end(process: Process) -> None:
    """It is asked to leave, then told to, then made to; whatever it started goes with it."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    for sign in (None, signal.SIGTERM):
        if sign is not None:
            _signal(process.pid, sign)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVING_SECONDS):
                await process.wait()
                break
    _signal(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(_LEAVING_SECONDS):
            await process.wait()


def _signal(leader: int, sign: signal.Signals) -> None:
    """To the server and all that it started: it leads a session of its own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, sign)
