"""An MCP server that is reached by HTTP: at the address that a person gave, and no redirect leads to another host."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from belayer.tools.mcp.configured import WebServer
from belayer.tools.mcp.watch import MOST_BYTES, Watch

_TIMEOUTS = httpx2.Timeout(20.0, read=600.0)
# What a server may say of itself in one stream that stays open.
_MOST_IN_STREAM = 5 * MOST_BYTES
_WAITING = 16


@asynccontextmanager
async def over_http(server: WebServer, watch: Watch) -> AsyncGenerator[Any]:
    """The streams to the server."""
    headers = {name: value.get_secret_value() for name, value in server.headers.items()}
    async with (
        httpx2.AsyncClient(
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=_TIMEOUTS,
            trust_env=False,
            follow_redirects=False,
            transport=_Bounded(watch),
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MOST_BYTES) as (
            read,
            write,
        ),
        anyio.create_task_group() as group,
    ):
        inward, heard = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
        group.start_soon(_hear, read, inward, watch)
        try:
            yield heard, write
        finally:
            group.cancel_scope.cancel()
            inward.close()
            heard.close()


async def _hear(read: Any, inward: Any, watch: Watch) -> None:
    try:
        async for item in read:
            if isinstance(item, SessionMessage) and watch.lets_in(
                item.message, asyncio.get_running_loop().time()
            ):
                await inward.send(item)
            if watch.breach is not None:
                return
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # nobody listens any more
    finally:
        watch.over.set()
        inward.close()


class _Bounded(httpx2.AsyncHTTPTransport):
    """Counts what comes in, before anything is made of it."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(trust_env=False)
        self._watch = watch

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            self._watch.breaks("packing", "It packed an answer although it was asked not to.")
            raise httpx2.RemoteProtocolError("packed", request=request)
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        most = _MOST_IN_STREAM if request.method == "GET" else MOST_BYTES
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(stream, most, self._watch),
            extensions=response.extensions,
        )


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, watch: Watch) -> None:
        self._stream = stream
        self._left = most
        self._most = most
        self._watch = watch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                self._watch.breaks("message", f"It sent an answer of more than {self._most:,} bytes.")
                raise httpx2.StreamError("too much")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
