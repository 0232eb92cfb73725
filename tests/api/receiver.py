"""A receiver of webhooks on loopback: checks every signature with the library, and answers as a test tells it to."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from standardwebhooks.webhooks import Webhook

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".ljust(44, "A")
HANGS = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request as it came."""

    headers: dict[str, str]
    body: str

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def told(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def type(self) -> str:
        return self.told["type"]

    def is_signed(self) -> bool:
        """Whether the signature fits, whatever the time is here."""
        at = datetime.fromtimestamp(int(self.headers["webhook-timestamp"]), UTC)
        return Webhook(SECRET).sign(self.id, at, self.body) == self.headers["webhook-signature"]

    def verify(self) -> Any:
        """What the library says to a receiver who knows the secret; raises if anything is wrong."""
        return Webhook(SECRET).verify(self.body, self.headers)


@dataclass(slots=True)
class Receiver:
    """What came. `statuses` are given in turn, the last for ever; HANGS never answers."""

    statuses: list[int] = field(default_factory=lambda: [204])
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    head: str = ""
    port: int = 0
    scheme: str = "http"
    at_once: int = 0
    most_at_once: int = 0
    _serving: set["asyncio.Task[Any]"] = field(default_factory=set["asyncio.Task[Any]"])

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hooks?key=1"

    @property
    def types(self) -> list[str]:
        return [delivery.type for delivery in self.deliveries]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            await self._answer(reader, writer)
        self.at_once -= 1
        writer.close()

    async def close(self) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(_header(line) for line in head[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        self.deliveries.append(Delivery(headers, body.decode()))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status == HANGS:
            await reader.read()
            return
        writer.write(f"HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n{self.head}\r\n".encode())
        await writer.drain()


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(": ")
    return name.lower(), value


@asynccontextmanager
async def receiving(
    *statuses: int, head: str = "", tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncGenerator[Receiver]:
    receiver = Receiver(list(statuses) or [204], head=head, scheme="https" if tls else "http")
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", port, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        await receiver.close()
