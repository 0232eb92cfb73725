"""A session's events as Server-Sent Events: what was missed, then what comes, the same bytes as everywhere."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog
from fastapi import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from belayer.api.cursor import cursor_in
from belayer.api.fanout import Backlog, Fanout
from belayer.engine import Engine
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.ids import SessionId

_logger = structlog.get_logger()

AS_EVENTS = "text/event-stream"
_HEARTBEAT = 15.0
_STILL_HERE = b": still here\n\n"


def event_stream(engine: Engine, session_id: SessionId, request: Request, after: int) -> StreamingResponse:
    """The stream; `Last-Event-ID` says where a client that comes back was."""
    return EventStream(engine, session_id, request.headers.get("last-event-id") or after)


class EventStream(StreamingResponse):
    """Open until the client leaves or the server stops; one that is too slow is cut off, and comes back."""

    def __init__(self, engine: Engine, session_id: SessionId, cursor: str | int) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(_nothing(), media_type=AS_EVENTS, headers=headers)
        self._engine = engine
        self._session_id = session_id
        self._cursor = cursor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        after = await cursor_in(self._engine, self._session_id, self._cursor)
        async with aclosing(_told(scope["app"].state.fanout, self._session_id, after)) as told:
            self.body_iterator = told
            await super().__call__(scope, receive, send)


async def _told(fanout: Fanout, session_id: SessionId, after: int) -> AsyncGenerator[bytes]:
    outlet = Backlog()
    try:
        async with aclosing(fanout.missed(session_id, after, outlet)) as missed:
            async for batch in missed:
                yield batch.events
        async for batch in outlet.batches(_HEARTBEAT):
            yield _STILL_HERE if batch is None else batch.events
    except BelayerError as error:
        _logger.warning("stream cut off", session=session_id, error=error.detail)
    finally:
        fanout.leave(session_id, outlet)


async def _nothing() -> AsyncGenerator[bytes]:
    return
    yield
