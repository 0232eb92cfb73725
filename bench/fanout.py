"""A thousand clients watch one session: how long after an append each has the event, beside a bare broadcast.

`python -m bench.fanout` starts, round by round, our server and then a bare `websockets` one, each in a process of its
own, with the same clients in another. Every event carries the monotonic time just before it was appended (or, at the
bare server, broadcast); the clients compare it with the time at which they have it.
"""

import argparse
import asyncio
import gc
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast

import uvloop
from rich.console import Console
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.asyncio.server import serve as serve_bare

from belayer import Run, open_engine
from belayer.api.serve import serve
from belayer.settings import Settings
from belayer.vocabulary.events.lifecycle import Logged
from bench.memory import rss_bytes
from bench.table import Figure, Row, Wanted, show

OURS, BARE = "Belayer", "bare broadcast"
TOKEN = "only the benchmark knows it"
PADDING = "x" * 150
WARM_UP = 50
SENT_AT = re.compile(rb'"text":"(\d{19})')

Emit = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Load:
    """How many watch, how much comes, for how long."""

    followers: int = 1_000
    a_second: int = 100
    seconds: int = 10


@dataclass(frozen=True, slots=True)
class Found:
    """One round of one server: milliseconds from append to client, bytes per idle connection, events a second."""

    p50: float
    p99: float
    longest: float
    memory: float
    a_second: float


async def following(load: Load, rounds: int) -> list[Row]:
    """The promises about followers, measured."""
    found: dict[str, list[Found]] = {OURS: [], BARE: []}
    for _ in range(rounds):
        for name, results in found.items():
            results.append(await asyncio.to_thread(_round, name, load))
            print(name, results[-1], file=sys.stderr)
    ours, bare = found[OURS], found[BARE]
    bare_p99 = median(one.p99 for one in bare)
    what = f"{load.followers:,} followers at {load.a_second} events/s, from append to client"
    return [
        Row(
            f"{what}, half of all",
            Figure(median(one.p50 for one in ours), "ms"),
            Wanted("at most", 100.0, "ms"),
            {BARE: Figure(median(one.p50 for one in bare), "ms")},
        ),
        Row(
            f"{what}, 99 of 100 (100 ms, or 1.5 times the bare broadcast)",
            Figure(median(one.p99 for one in ours), "ms"),
            Wanted("at most", max(100.0, 1.5 * bare_p99), "ms"),
            {BARE: Figure(bare_p99, "ms")},
        ),
        Row(
            f"{load.followers:,} followers, events appended",
            Figure(median(one.a_second for one in ours), "events/s"),
            Wanted("at least", 0.95 * load.a_second, "events/s"),
            {BARE: Figure(median(one.a_second for one in bare), "events/s")},
        ),
        Row(
            "memory of an idle connection",
            Figure(median(one.memory for one in ours) / 1_000, "KB"),
            Wanted("at most", 50.0, "KB"),
            {BARE: Figure(median(one.memory for one in bare) / 1_000, "KB")},
        ),
    ]


def _round(name: str, load: Load) -> Found:
    """A server and its clients, each in a process of its own, led by lines on their standard input."""
    with _child("serve", name, load) as server:
        address = _line(server)
        with _child("watch", json.dumps(address), load) as clients:
            for moment in ("warm", "connected"):
                assert _line(clients) == moment
                _tell(server, moment)
                assert _line(server) == moment
                _tell(clients, "go on")
            _tell(server, "emit")
            produced = _line(server)
            _tell(clients, str(produced["events"]))
            seen = _line(clients)
    return Found(seen["p50"], seen["p99"], seen["longest"], produced["memory"], produced["a_second"])


def _child(what: str, given: str, load: Load) -> subprocess.Popen[str]:
    numbers = [str(load.followers), str(load.a_second), str(load.seconds)]
    command = [sys.executable, "-m", "bench.fanout", what, given, *numbers]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _line(child: subprocess.Popen[str]) -> Any:
    assert child.stdout is not None
    return json.loads(child.stdout.readline())


def _tell(child: subprocess.Popen[str], what: str) -> None:
    assert child.stdin is not None
    child.stdin.write(what + "\n")
    child.stdin.flush()


async def serving(name: str, load: Load) -> None:
    """Serve, and when told so emit events and say how it went."""
    server = _belayer() if name == OURS else _bare()
    async with server as (address, emit):
        _say(address)
        before = await _memory_when("warm")
        memory = (await _memory_when("connected") - before) / load.followers
        await _told("emit")
        events = load.a_second * load.seconds
        began = time.monotonic()
        for number in range(events):
            await asyncio.sleep(max(0.0, began + number / load.a_second - time.monotonic()))
            await emit(f"{time.monotonic_ns():019d}{PADDING}")
        taken = time.monotonic() - began
        _say({"events": events, "memory": memory, "a_second": events / taken})
        await asyncio.to_thread(sys.stdin.read)


async def _memory_when(moment: str) -> int:
    await _told(moment)
    gc.collect()
    found = rss_bytes()
    _say(moment)
    return found


@asynccontextmanager
async def _belayer() -> AsyncGenerator[tuple[dict[str, Any], Emit]]:
    """Our server on a session to which the benchmark appends lines."""

    async def waiting(run: Run) -> None:
        await run.ask("go", "Go on?")

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        settings = Settings(home=Path(folder), port=0, session_timeout=0)
        async with open_engine(settings=settings, workflows=[waiting]) as engine:
            session = await engine.start(waiting)
            state = await session.settled()
            listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            serving = asyncio.create_task(serve(engine, settings, TOKEN, listening.set_result))
            port = int((await listening).rpartition(":")[2])

            async def emit(text: str) -> None:
                await engine._parts.log.append(session.id, [Logged(text=text)])

            yield {"port": port, "path": f"/ws/execution/{session.id}?after={state.seq}"}, emit
            serving.cancel()
            await asyncio.wait({serving})


@asynccontextmanager
async def _bare() -> AsyncGenerator[tuple[dict[str, Any], Emit]]:
    """Nothing but a broadcast of the same frames."""
    connections: set[ServerConnection] = set()

    async def follow(connection: ServerConnection) -> None:
        connections.add(connection)
        try:
            await connection.wait_closed()
        finally:
            connections.discard(connection)

    async def emit(text: str) -> None:
        frame = {
            "seq": 1,
            "session_id": "0" * 36,
            "type": "log",
            "stage": None,
            "timestamp": "2026-01-01T00:00:00.000000Z",
            "data": {"text": text, "level": "info"},
        }
        broadcast(connections, json.dumps(frame, separators=(",", ":")))

    async with serve_bare(follow, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield {"port": port, "path": "/"}, emit


class Client(asyncio.Protocol):
    """As little of a client as there can be: shakes hands, finds the times in what comes, answers no ping."""

    def __init__(self, request: bytes, latencies: "array[float]") -> None:
        self._request = request
        self._latencies = latencies
        self._rest = b""
        self.events = 0
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        content = self._rest + data
        if not self.accepted.done():
            head, ended, content = content.partition(b"\r\n\r\n")
            if not ended:
                self._rest = head
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self.accepted.set_result(None)
        end = 0
        for found in SENT_AT.finditer(content):
            self._latencies.append((now - int(found[1])) / 1e6)
            self.events += 1
            end = found.end()
        self._rest = content[end:][-100:]


async def watching(address: dict[str, Any], load: Load) -> None:
    """Connect, take what comes, say how long it took to come."""
    request = (
        f"GET {address['path']} HTTP/1.1\r\nHost: 127.0.0.1:{address['port']}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        f"Authorization: Bearer {TOKEN}\r\n\r\n"
    ).encode()
    latencies = array("d")

    async def connected(count: int) -> list[Client]:
        clients: list[Client] = []
        for _ in range(count):
            _, client = await asyncio.get_running_loop().create_connection(
                lambda: Client(request, latencies), "127.0.0.1", address["port"]
            )
            await client.accepted
            clients.append(client)
        return clients

    warm = await connected(WARM_UP)
    _say("warm")
    await _told("go on")
    clients = warm + await connected(load.followers)
    _say("connected")
    await _told("go on")
    events = int(await asyncio.to_thread(sys.stdin.readline))
    while any(client.events < events for client in clients):
        await asyncio.sleep(0.1)
    ordered = sorted(latencies)
    _say({"p50": _at(ordered, 0.5), "p99": _at(ordered, 0.99), "longest": ordered[-1]})


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)


async def _told(what: str) -> None:
    line = await asyncio.to_thread(sys.stdin.readline)
    assert line.strip() == what, line


def _as_child(what: str, given: str, numbers: Sequence[str]) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    load = Load(*map(int, numbers))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serving(given, load) if what == "serve" else watching(json.loads(given), load))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--followers", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rows = asyncio.run(following(Load(given.followers, seconds=given.seconds), given.rounds))
    show(rows, Console(width=140))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("serve", "watch"):
        _as_child(sys.argv[1], sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main())
