"""Lets a confined program reach the hosts on its list, and no others: HTTP's CONNECT and plain HTTP.

The name is checked against the list, and the address that is then dialled against the house's own.
"""

import asyncio
import re
from contextlib import suppress

import structlog

from belayer.sandbox.sandbox import Network
from belayer.vocabulary.addresses import Address, plain_host
from belayer.vocabulary.resolving import resolved

_logger = structlog.get_logger()

_PATIENCE = 20.0
_AT_ONCE = 64
_MOST_TOLD = 20
_CHUNK = 65536
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:/\[\]@\s]+))(?::([0-9]{1,5}))?")
_ABSOLUTE = re.compile(r"http://([^/?#\s]+)([^\s#]*)", re.IGNORECASE)
# What is between the program and its proxy, and not for the other side.
_HOP = ("proxy-connection", "proxy-authorization", "connection", "keep-alive", "host")


class Refusal(Exception):
    """The request is not carried out; the program is told why."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class Proxy:
    """One program's way out."""

    def __init__(self, network: Network) -> None:
        self._hosts = frozenset(host_and_port(host) for host in network.hosts)
        self._private = network.private
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._serving: set[asyncio.Task[None]] = set()
        self._refused = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the program's, from its request to its end."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            async with self._turns:
                await self._serve(reader, writer)
        except Refusal as refusal:
            self._tell(refusal)
            writer.write(_answer(refusal))
            with suppress(OSError):
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # either side went away: the other one sees it
        finally:
            self._serving.discard(task)
            writer.close()

    def _tell(self, refusal: Refusal) -> None:
        self._refused += 1
        if self._refused <= _MOST_TOLD:
            _logger.info("a program's connection was refused", why=refusal.why)

    async def close(self) -> None:
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(set(self._serving))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_PATIENCE):
            head = await _head(reader)
            host, port, first = _wanted(head)
            away_reader, away = await self._dialled(host, port)
        try:
            if first:
                away.write(first)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as group:
                group.create_task(_carry(reader, away))
                group.create_task(_carry(away_reader, writer))
        except* OSError:
            pass
        finally:
            away.close()

    async def _dialled(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if (plain_host(host), port) not in self._hosts:
            raise Refusal("403 Forbidden", f"{host}:{port} is not on the list of hosts for this program.")
        for address in await _addresses(host, port):
            if self._private.permits(host, address, port):
                with suppress(OSError):
                    return await asyncio.open_connection(str(address), port)
            else:
                raise Refusal("403 Forbidden", f"{host}:{port} is at {address}, an address inside the house.")
        raise Refusal("502 Bad Gateway", f"{host}:{port} cannot be reached.")


def host_and_port(written: str) -> tuple[str, int]:
    """`pypi.org:443`, `[::1]:80`; without a port, 443. ValueError for anything else."""
    found = _AUTHORITY.fullmatch(written)
    if found is None or not 0 < int(found[3] or 443) < 65536:
        raise ValueError(f"{written!r} is not a host and a port")
    return plain_host(found[1] or found[2]), int(found[3] or 443)


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise Refusal("431 Request Header Fields Too Large", "The request's head is too long.") from error


def _wanted(head: bytes) -> tuple[str, int, bytes]:
    """Where the request goes, and what is to be sent there first."""
    lines = head.decode("latin-1").split("\r\n")
    method, _, rest = lines[0].partition(" ")
    target, _, version = rest.partition(" ")
    if not version.startswith("HTTP/1."):
        raise Refusal("400 Bad Request", "This is not a request for a proxy.")
    try:
        if method == "CONNECT":
            return *host_and_port(target), b""
        if absolute := _ABSOLUTE.fullmatch(target):
            host, port = host_and_port(absolute[1] if ":" in absolute[1] else f"{absolute[1]}:80")
            return host, port, _forwarded(method, absolute[1], absolute[2], lines[1:])
    except ValueError as error:
        raise Refusal("400 Bad Request", str(error)) from error
    raise Refusal("400 Bad Request", "Only CONNECT and http:// addresses are understood.")


def _forwarded(method: str, authority: str, path: str, headers: list[str]) -> bytes:
    """The request as the other side is to see it: one of this connection, which then ends."""
    kept = [line for line in headers if line and line.partition(":")[0].strip().lower() not in _HOP]
    slashed = path if path.startswith("/") else f"/{path}"
    lines = [f"{method} {slashed} HTTP/1.1", f"Host: {authority}", "Connection: close", *kept]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _addresses(host: str, port: int) -> list[Address]:
    try:
        return await resolved(host, port)
    except (OSError, UnicodeError) as error:
        raise Refusal("502 Bad Gateway", f"{host} is not known.") from error


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _answer(refusal: Refusal) -> bytes:
    body = f"Belayer: {refusal.why}\n".encode()
    head = f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode("latin-1") + body
