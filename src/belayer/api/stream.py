"""A session's events as Server-Sent Events: what was missed, then what comes, the same bytes as everywhere."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from fastapi import Request
from starlette.responses import StreamingResponse

from belayer.engine import Engine
from belayer.sessions.feed import Frame, TooSlow
from belayer.vocabulary.ids import SessionId

AS_EVENTS = "text/event-stream"


def event_stream(engine: Engine, session_id: SessionId, request: Request, after: int) -> StreamingResponse:
    """The stream; `Last-Event-ID` says where a client that comes back was."""
    last = request.headers.get("last-event-id", "")
    cursor = int(last) if last.isdecimal() and len(last) < 16 else after
    return StreamingResponse(
        _frames(engine, session_id, cursor), media_type=AS_EVENTS, headers={"Cache-Control": "no-store"}
    )


async def _frames(engine: Engine, session_id: SessionId, after: int) -> AsyncIterator[bytes]:
    try:
        async with aclosing(engine.follow(session_id, after)) as frames:
            async for frame in frames:
                yield _told(frame)
    except TooSlow:
        return


def _told(frame: Frame) -> bytes:
    number = b"id: %d\n" % frame.seq if frame.seq is not None else b""
    return b"%sdata: %s\n\n" % (number, frame.wire)
