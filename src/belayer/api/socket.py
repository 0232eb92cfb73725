"""A session over a WebSocket: what was missed, what is being written, what comes; and what its people say to it."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI, WebSocket, WebSocketDisconnect

from belayer.api.asked import TheEngine
from belayer.api.cursor import cursor_in
from belayer.api.fanout import BROKEN, Backlog, Batch, Ending, Fanout
from belayer.api.line import EXTENSION, Line
from belayer.api.problems import UnfitRequest
from belayer.api.wire import ack, command_in, object_in, read_frame, refusal
from belayer.engine import Engine
from belayer.vocabulary.errors import BadCursor, BelayerError, RateLimited
from belayer.vocabulary.ids import SessionId

router = APIRouter()

_BAD_CURSOR = Ending(4400, "bad cursor")
FRAMES_A_SECOND = 50
FRAMES_AT_ONCE = 100
BYTES_LIKE_A_FRAME = 20_000


def stream_live(app: FastAPI, fanout: Fanout) -> None:
    """Have the app stream over WebSocket and SSE, through this fan-out."""
    app.state.fanout = fanout
    app.include_router(router)


@router.websocket("/ws/execution/{session_id}")
async def follow(websocket: WebSocket, session_id: str, engine: TheEngine) -> None:
    """Follow a session after `?after=SEQ`, and tell it things. An unknown session is refused before the handshake."""
    found = await engine.find(session_id[:200])
    with suppress(WebSocketDisconnect):
        try:
            after = await cursor_in(engine, found, websocket.query_params.get("after"))
        except BadCursor as error:
            await _turn_away(websocket, error)
        else:
            await _talk(websocket, engine, found, after)


async def _turn_away(websocket: WebSocket, error: BadCursor) -> None:
    """Say so inside the connection: a browser does not show a page why a handshake failed."""
    await websocket.accept()
    await websocket.send_text(refusal(None, error))
    await websocket.close(_BAD_CURSOR.code, _BAD_CURSOR.reason)


async def _talk(websocket: WebSocket, engine: Engine, session_id: SessionId, after: int) -> None:
    await websocket.accept()
    line: Line | None = websocket.scope.get("extensions", {}).get(EXTENSION)
    outlet = Backlog() if line is None else Direct(line)
    fanout: Fanout = websocket.app.state.fanout
    try:
        async with asyncio.TaskGroup() as group:
            telling = group.create_task(_tell(websocket, fanout, session_id, after, outlet))
            await _listen(websocket, engine, session_id)
            telling.cancel()
    except* WebSocketDisconnect:
        pass
    finally:
        fanout.leave(session_id, outlet)


@dataclass(frozen=True, slots=True, eq=False)
class Direct:
    """An outlet that writes to the client's connection itself: no task wakes up for it."""

    line: Line

    def take(self, batch: Batch) -> bool:
        return self.line.write(batch.frames)

    def end(self, ending: Ending) -> None:
        self.line.hang_up(ending.code, ending.reason)


async def _tell(
    websocket: WebSocket, fanout: Fanout, session_id: SessionId, after: int, outlet: Backlog | Direct
) -> None:
    """Send what was missed, at the client's pace; then what comes, unless the outlet does so by itself."""
    try:
        async with aclosing(fanout.missed(session_id, after, outlet)) as missed:
            async for batch in missed:
                await _send(websocket, outlet, batch)
    except BelayerError as error:
        await websocket.send_text(refusal(None, error))
        await websocket.close(BROKEN.code, BROKEN.reason)
        return
    if isinstance(outlet, Backlog):
        async for batch in outlet.batches():
            if batch is not None:
                await _send(websocket, outlet, batch)
        if outlet.ending is not None:
            await websocket.close(outlet.ending.code, outlet.ending.reason)


async def _send(websocket: WebSocket, outlet: Backlog | Direct, batch: Batch) -> None:
    if isinstance(outlet, Direct):
        await outlet.line.drained()
        outlet.line.write(batch.frames)
        await outlet.line.drained()
    else:
        for _, wire in batch.told:
            await websocket.send_text(wire.decode())


async def _listen(websocket: WebSocket, engine: Engine, session_id: SessionId) -> None:
    """Carry out what the client sends, one frame after the other, until it goes."""
    allowance = Allowance(FRAMES_A_SECOND, FRAMES_AT_ONCE)
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text: str | None = message.get("text")
        size = len(text or message.get("bytes") or "")
        allowed = allowance.takes(1 + size // BYTES_LIKE_A_FRAME, asyncio.get_running_loop().time())
        await websocket.send_text(await _answer(engine, session_id, text, allowed=allowed))


async def _answer(engine: Engine, session_id: SessionId, text: str | None, *, allowed: bool) -> str:
    content: dict[str, Any] = {}
    try:
        if text is None:
            raise UnfitRequest("A frame must be text; this one was binary.", "Send JSON as a text frame.")
        if allowed or len(text) < BYTES_LIKE_A_FRAME:
            content = object_in(text)
        if not allowed:
            raise RateLimited(
                f"More than {FRAMES_A_SECOND} frames a second came; this one was not carried out.",
                "Wait a second, then send it again.",
            )
        command = command_in(read_frame(content))
        if command is not None:
            await engine.tell(session_id, command)
    except Exception as error:  # noqa: BLE001 - the API's own door: a frame never ends the connection
        return refusal(content.get("id"), error)
    return ack(content.get("id"))


@dataclass(slots=True)
class Allowance:
    """So much a second, and so much at once. Pure: told the time, it answers."""

    a_second: float
    at_once: float
    _left: float | None = None
    _since: float = 0.0

    def takes(self, much: float, now: float) -> bool:
        """Whether this is within the allowance; if so, it is used up."""
        left = self.at_once if self._left is None else self._left
        left = min(self.at_once, left + (now - self._since) * self.a_second)
        fits = left >= much
        self._left, self._since = left - much if fits else left, now
        return fits
