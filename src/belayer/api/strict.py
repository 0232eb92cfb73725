"""Read a request's JSON strictly: no duplicate names, no NaN, no depth that breaks a parser, no more than fits.

A frame or body that two programs could read in two ways is refused, whatever it says.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from email.message import Message
from math import isfinite
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from belayer.vocabulary.errors import ResourceShort, UnfitInput
from belayer.vocabulary.events.event import Json

MOST_BYTES = 2_000_000
MOST_BYTES_IMPORTED = 200_000_000
_DEEPEST = 100
_INTEGERS = range(-(2**63), 2**63)
_MOST_DIGITS = 20
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKET = bytes(byte for byte in range(256) if byte not in b"[]{}")


class UnfitJson(UnfitInput):
    """Bytes that are no JSON, or none that can be relied on."""


class RequestTooLarge(ResourceShort):
    """A request with more bytes than are read."""


class WrongMediaType(UnfitInput):
    """A request that does not say that it is JSON."""


def strict_json(content: bytes) -> Json:
    """What the bytes say; UnfitJson if they can be read in two ways or not at all."""
    if _is_deeper(content, _DEEPEST):
        raise UnfitJson(f"The JSON is nested deeper than {_DEEPEST} levels.", "Send something flatter.")
    try:
        value = json.loads(
            content.decode(),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_number,
            parse_int=_integer,
        )
        json.dumps(value, ensure_ascii=False).encode()  # fails where half a character is escaped
    except (ValueError, RecursionError) as error:
        raise UnfitJson(f"This is no JSON: {error}.", "Send valid UTF-8 JSON.") from error
    return value


class StrictRequest(Request):
    """A request whose JSON is read strictly and within limits."""

    most_bytes = MOST_BYTES

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            parts: list[bytes] = []
            size = 0
            async for part in self.stream():
                size += len(part)
                if size > self.most_bytes:
                    raise RequestTooLarge(
                        f"The request is larger than {self.most_bytes:,} bytes. Nothing was done.",
                        "Send less.",
                    )
                parts.append(part)
            self._body = b"".join(parts)
        return self._body

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = strict_json(await self.body())
        return self._json

    async def read(self) -> None:
        """Read the JSON now, or refuse it."""
        if not await self.body():
            return
        if not _is_json(self.headers.get("content-type", "")):
            raise WrongMediaType(
                "The request does not say that it is JSON.", "Send `Content-Type: application/json`."
            )
        await self.json()


class StrictRoute(APIRoute):
    """A route that takes strict requests."""

    request_class: type[StrictRequest] = StrictRequest

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            strict = self.request_class(request.scope, request.receive)
            if self.body_field is not None:
                await (
                    strict.read()
                )  # here, because FastAPI would hide a refusal of ours behind one of its own
            return await handle(strict)

        return strictly


def _is_json(content_type: str) -> bool:
    message = Message()
    message["content-type"] = content_type
    return message.get_content_type() == "application/json"


def _is_deeper(content: bytes, most: int) -> bool:
    """Whether brackets outside of texts are nested deeper than this."""
    depth = 0
    for byte in _TEXT.sub(b"", content).translate(None, _NO_BRACKET):
        depth += 1 if byte in b"[{" else -1
        if depth > most:
            return True
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise UnfitJson(f"The name {twice[:100]!r} stands twice in one object.", "Give each name once.")
    return found


def _constant(name: str) -> float:
    raise UnfitJson(f"{name} is no JSON.", "Use a finite number, or null.")


def _number(digits: str) -> float:
    if not isfinite(number := float(digits)):
        raise UnfitJson(f"The number {digits[:30]} is too large.", "Use a finite number, or a text.")
    return number


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS or int(digits) not in _INTEGERS:
        raise UnfitJson(f"The number {digits[:30]} is too large.", "Use a text for ids that are not numbers.")
    return int(digits)
