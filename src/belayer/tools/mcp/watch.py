"""What comes from a server, before it is believed: counted, held to its bounds, and what it asks for is noted."""

import asyncio
from dataclasses import dataclass, field

from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from belayer.execution.limits import Bucket, Rate
from belayer.tools.charsets import cleaned
from belayer.vocabulary.errors import BelayerError, LimitReached

Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError

MOST_BYTES = 10_000_000
MOST_GARBAGE = 100
_WORDS = 2_000
_MOST_NOTES = 200
_MESSAGES = Rate(calls=2_000, seconds=1.0)
_OF_USE = ("notifications/progress", "notifications/cancelled")
_ASKS = {
    "elicitation/create": "asks a person",
    "sampling/createMessage": "asks for a model's answer",
    "roots/list": "asks for folders",
}


@dataclass(slots=True)
class Watch:
    """One connection's manners so far."""

    server: str
    exit_code: int | None = None
    breach: BelayerError | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    has_changed: bool = False
    asked: list[str] = field(default_factory=list[str])
    words: bytearray = field(default_factory=bytearray)
    garbage: int = 0
    heard: int = 0
    _bucket: Bucket | None = None

    def lets_in(self, message: Message, now: float) -> bool:
        """Whether the message is of use. It is counted in any case."""
        self.heard += 1
        if self._bucket is None:
            self._bucket = Bucket(_MESSAGES, float(_MESSAGES.calls), now)
        if self._bucket.take(now) > 1.0:
            self.breaks("messages", f"It sent more than {_MESSAGES.calls:,} messages a second.")
        match message:
            case JSONRPCRequest():
                self.note(message.method, (message.params or {}).get("message"))
                return True
            case JSONRPCNotification():
                self.has_changed = self.has_changed or message.method == "notifications/tools/list_changed"
                return message.method in _OF_USE
            case _:
                return True

    def breaks(self, limit: str, what: str) -> None:
        """It went beyond a bound: nothing more is heard from it."""
        if self.breach is None:
            self.breach = LimitReached(
                limit,
                f"The MCP server {self.server} was stopped. {what}",
                "It is started again when it is needed; look at what it does.",
            )
        self.over.set()

    def hear_garbage(self) -> None:
        """A line that is no message."""
        self.garbage += 1
        if self.garbage > MOST_GARBAGE:
            self.breaks("garbage", f"More than {MOST_GARBAGE} lines of what it wrote were no messages.")

    def hear_words(self, said: bytes) -> None:
        """What it says to whoever started it; the last of it is kept."""
        self.words += said
        del self.words[:-_WORDS]

    def last_words(self) -> str:
        """The end of what it said, for a person to read."""
        return " ".join(cleaned(self.words.decode(errors="replace")).split())[-500:]

    def note(self, method: str, message: object) -> None:
        """The server asks for something that it does not get."""
        asks = _ASKS.get(method)
        if asks is None or len(self.asked) >= _MOST_NOTES:
            return
        what = f" ({' '.join(cleaned(message).split())[:300]!r})" if isinstance(message, str) else ""
        self.asked.append(f"The server {self.server} {asks}{what}; this was declined.")
