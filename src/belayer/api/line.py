"""uvicorn's WebSocket connection, which also takes frames that are encoded already: once for all who follow.

Server frames are not masked, so the same bytes go to every client. Nobody waits for a client that does not read: it is
told to come back, and cut off if it does not go.
"""

from typing import Any, Protocol, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

EXTENSION = "belayer.line"
RESTARTS = 1012
MOST_UNSENT = 1_000_000
_SECONDS_TO_SAY_GOODBYE = 10.0
_SECONDS_AT_THE_END = 1.0


class Line(Protocol):
    """A client's connection, as the fan-out uses it."""

    def write(self, frames: bytes) -> bool:
        """Send encoded frames without waiting; False if the client has not read enough of what it was sent before."""
        ...

    async def drained(self) -> None:
        """Return once the client has read most of what it was sent."""
        ...

    def hang_up(self, code: int, reason: str) -> None:
        """Say why, and close; at once if the client does not listen."""
        ...


def encoded(text: bytes) -> bytes:
    """A text as a frame that a server sends."""
    return Frame(Opcode.TEXT, text).serialize(mask=False)


class LineProtocol(WebSocketsSansIOProtocol):
    """A connection that the app finds in `scope["extensions"]` as a Line."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            cast("dict[str, Any]", self.scope)["extensions"][EXTENSION] = self

    def write(self, frames: bytes) -> bool:
        if not self._is_open():
            return True  # it is on its way out already
        if self.transport.get_write_buffer_size() > MOST_UNSENT:
            return False
        self.transport.write(frames)
        return True

    async def drained(self) -> None:
        await self.writable.wait()

    def hang_up(self, code: int, reason: str) -> None:
        if not self._is_open():
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(_SECONDS_TO_SAY_GOODBYE, self.transport.abort)

    async def send(self, message: Any) -> None:
        """What the app still says after the line was hung up is not heard."""
        await self.writable.wait()
        if self.close_sent and self.handshake_complete and self.initial_response is None:
            return
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = (
                True  # refused in full: uvicorn need not complain that it was not accepted
            )

    def shutdown(self) -> None:
        """The server stops: a client is to come back later."""
        if self.handshake_complete:
            self.hang_up(RESTARTS, "restart")
            self.stop_keepalive()
        else:
            super().shutdown()
        self.loop.call_later(_SECONDS_AT_THE_END, self.transport.abort)

    def keepalive_timeout(self) -> None:
        """A client that answers no ping reads nothing either: there is no point in waiting for it."""
        super().keepalive_timeout()
        self.transport.abort()

    def _is_open(self) -> bool:
        return (
            self.handshake_complete
            and not self.close_sent
            and self.conn.state is State.OPEN
            and not self.transport.is_closing()
        )
