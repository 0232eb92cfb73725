"""A web server on loopback that answers as a test tells it to, byte by byte if need be."""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes | str = b"", status: int = 200, **headers: str) -> bytes:
    """A whole response; `content_type="text/plain"` is the header Content-Type."""
    content = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(content)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in named.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + content


def beginning(content_type: str, **headers: str) -> bytes:
    """The head of a response whose body has no end that was told beforehand."""
    named = {"Content-Type": content_type} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return ("HTTP/1.1 200 OK\r\n" + "".join(f"{n}: {v}\r\n" for n, v in named.items()) + "\r\n").encode()


@dataclass(slots=True)
class Site:
    """What is served, and what was asked."""

    port: int
    scheme: str
    pages: Mapping[str, Answer]
    requests: list[str] = field(default_factory=list[str])
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    _serving: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [request.split(" ")[1] for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._answer(reader, writer))
        self._serving.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await task
        self.left.set()
        writer.transport.abort() if task.cancelled() else writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def close(self) -> None:
        """Hang up on everyone who is still there."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.requests.append(request)
        page = self.pages.get(request.split(" ")[1], answer("not here", 404))
        if isinstance(page, bytes):
            writer.write(page)
            await writer.drain()
        else:
            await page(writer)


@asynccontextmanager
async def serving(
    pages: Mapping[str, Answer] | None = None, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Site]:
    site = Site(0, "https" if tls else "http", pages or {})
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, 0), family=family, dualstack_ipv6=host == "::")
    server = await asyncio.start_server(site.serve, sock=listening, ssl=tls)
    site.port = listening.getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await site.close()
        await server.wait_closed()
