"""A web server on loopback that keeps what is asked of it, with its body, and answers as a test tells it to."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.site import Answer, answer


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)


def _fine(_asked: Asked) -> Answer:
    return answer("ok")


@dataclass
class Receiver:
    """What came in. `answers` are given first; then it is `otherwise`."""

    answers: list[Answer] = field(default_factory=list[Answer])
    otherwise: Callable[[Asked], Answer] = _fine
    asked: list[Asked] = field(default_factory=list[Asked])
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            asked = await _read(reader)
            self.asked.append(asked)
            given = self.answers.pop(0) if self.answers else self.otherwise(asked)
            if isinstance(given, bytes):
                writer.write(given)
                await writer.drain()
            else:
                await given(writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def receiving(
    *answers: Answer, otherwise: Callable[[Asked], Answer] = _fine, listening: socket.socket | None = None
) -> AsyncGenerator[Receiver]:
    """A receiver for as long as the block lasts, on a socket that listens already, if one is given."""
    receiver = Receiver(list(answers), otherwise)
    listening = listening.dup() if listening else socket.create_server(("127.0.0.1", 0))
    receiver.port = listening.getsockname()[1]
    tasks: list[asyncio.Task[None]] = []
    server = await asyncio.start_server(
        lambda reader, writer: tasks.append(asyncio.create_task(receiver.serve(reader, writer))),
        sock=listening,
    )
    try:
        async with server:
            yield receiver
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    parts = urlsplit(target)
    query = {
        name: values[0] for name, values in parse_qs(parts.query, strict_parsing=bool(parts.query)).items()
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, parts.path, query, headers, body)
