"""The only way from a browser to the network: it resolves, checks and dials for it, so nothing changes in between.

SOCKS5, because then every scheme takes the same road (http, https, WebSocket) and nothing of what passes is read.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from types import TracebackType
from typing import Self

import httpcore

from belayer.tools.charsets import cleaned
from belayer.tools.dialling import Dialler
from belayer.vocabulary.errors import (
    AddressBlocked,
    BelayerError,
    LimitReached,
    PolicyDenied,
    TransientError,
)

_HERE = "127.0.0.1"
_CHUNK = 64 * 1024
_CONNECT_SECONDS = 10.0
_MOST_CONNECTIONS = 200
_MOST_TROUBLES = 100
_VERSION, _CONNECT, _NO_PASSWORD = 5, 1, b"\x05\x00"
_DONE, _FORBIDDEN, _UNREACHABLE, _NOT_DONE_HERE = 0, 2, 4, 7
_USUAL_PORTS = (80, 443)
_BROKEN = (OSError, asyncio.IncompleteReadError, httpcore.NetworkError, httpcore.TimeoutException)

Place = tuple[str, int]


class Gateway:
    """A proxy on loopback for one session's pages. It knows what it refused, and counts what it lets in."""

    def __init__(self, dialler: Dialler, most_bytes: int, own_ports: set[int]) -> None:
        self._dialler = dialler
        self._most_bytes = most_bytes
        self._left = most_bytes
        self._own_ports = own_ports
        self.when_full: Callable[[BelayerError], None] | None = None
        self.lets_load: Callable[[str], bool] | None = None
        self._server: asyncio.Server | None = None
        self._port = 0
        self._serving: set[asyncio.Task[None]] = set()
        self._troubles: dict[Place, BelayerError] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, _HERE, 0)
        self._port = self._server.sockets[0].getsockname()[1]
        self._own_ports.add(self._port)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._own_ports.discard(self._port)
        self._server.close()
        self._hang_up()
        await asyncio.gather(*self._serving, return_exceptions=True)

    @property
    def address(self) -> str:
        return f"socks5://{_HERE}:{self._port}"

    def refill(self) -> None:
        """As much may come in again as at first, and what went wrong is forgotten."""
        self._left = self._most_bytes
        self._troubles.clear()

    def trouble_at(self, host: str, port: int) -> BelayerError | None:
        """Why a place was not reached, if that was tried."""
        return self._troubles.get((host, port))

    def refused(self) -> list[str]:
        """What to say of the places that were not reached because they may not be."""
        found = [(f"{host}:{port}", why) for (host, port), why in self._troubles.items()]
        inside = [place for place, why in found if isinstance(why, AddressBlocked)]
        ruled = [place for place, why in found if isinstance(why, PolicyDenied)]
        return [
            *(f"{place} is inside the house, so the page was not let there." for place in inside),
            *(f"The rules do not let {place} be loaded, so the page was not let there." for place in ruled),
        ]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            if len(self._serving) <= _MOST_CONNECTIONS and self._left >= 0:
                await self._connect(reader, writer)
        except (*_BROKEN, asyncio.CancelledError):
            pass  # either side may leave at any time, and so may we
        finally:
            self._serving.discard(task)
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_CONNECT_SECONDS):
            place = await _asked_for(reader, writer)
        if place is None:
            _say(writer, _NOT_DONE_HERE)
            return
        try:
            stream = await self._dialled(*place)
        except BelayerError as why:
            self._remember(place, why)
            _say(writer, _FORBIDDEN if isinstance(why, AddressBlocked | PolicyDenied) else _UNREACHABLE)
            await writer.drain()
            return
        _say(writer, _DONE)
        await self._carry(reader, writer, stream)

    async def _dialled(self, host: str, port: int) -> httpcore.AsyncNetworkStream:
        if port in self._own_ports:
            raise AddressBlocked(
                f"{host}:{port} is a door of Belayer itself. Nothing was sent to it.", "Use another port."
            )
        if self.lets_load is not None and not self.lets_load(_as_rules_see_it(host, port)):
            raise PolicyDenied(f"The rules do not let {host} be loaded.", "See them with `belayer policy`.")
        try:
            return await self._dialler.connect_tcp(host, port, _CONNECT_SECONDS)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            raise TransientError(
                f"{host}:{port} cannot be reached ({error or 'it did not answer in time'}).",
                "Check the host and port, or try again later.",
            ) from error

    def _remember(self, place: Place, why: BelayerError) -> None:
        if len(self._troubles) < _MOST_TROUBLES:
            self._troubles[place] = why

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stream: httpcore.AsyncNetworkStream
    ) -> None:
        async def up() -> None:
            while data := await reader.read(_CHUNK):
                await stream.write(data)

        async def down() -> None:
            while data := await stream.read(_CHUNK):
                self._count(len(data))
                writer.write(data)
                await writer.drain()

        try:
            await _until_one_ends(up, down)
        finally:
            with suppress(*_BROKEN):
                await stream.aclose()

    def _count(self, received: int) -> None:
        had, self._left = self._left, self._left - received
        if self._left < 0 <= had:
            self._hang_up()
            if self.when_full is not None:
                self.when_full(_too_much(self._most_bytes))

    def _hang_up(self) -> None:
        for task in self._serving:
            task.cancel()


def _as_rules_see_it(host: str, port: int) -> str:
    written = f"[{host}]" if ":" in host else host
    return host if port in _USUAL_PORTS else f"{written}:{port}"


def _too_much(most: int) -> LimitReached:
    return LimitReached(
        "transfer", f"The page loaded more than {most:,} bytes and was closed.", "Open a smaller page."
    )


async def _asked_for(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Place | None:
    """The place that the client wants to be connected with; None if it wants something else."""
    version, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    if version != _VERSION:
        return None
    writer.write(_NO_PASSWORD)
    version, command, _, kind = await reader.readexactly(4)
    host = await _host(reader, kind)
    port = int.from_bytes(await reader.readexactly(2), "big")
    return (host, port) if (version, command) == (_VERSION, _CONNECT) and host and port else None


async def _host(reader: asyncio.StreamReader, kind: int) -> str:
    match kind:
        case 1:
            return str(IPv4Address(await reader.readexactly(4)))
        case 3:
            (length,) = await reader.readexactly(1)
            return cleaned((await reader.readexactly(length)).decode("ascii", "replace"))
        case 4:
            return str(IPv6Address(await reader.readexactly(16)))
        case _:
            return ""


def _say(writer: asyncio.StreamWriter, reply: int) -> None:
    writer.write(bytes((_VERSION, reply, 0, 1, 0, 0, 0, 0, 0, 0)))


async def _until_one_ends(*ways: Callable[[], Awaitable[None]]) -> None:
    """Do all of them until the first has come to its end."""

    async def then_stop(way: Callable[[], Awaitable[None]]) -> None:
        await way()
        raise _Over

    try:
        async with asyncio.TaskGroup() as group:
            for way in ways:
                group.create_task(then_stop(way))
    except* (_Over, *_BROKEN):
        pass


class _Over(Exception):
    """One of several ways came to its end."""
