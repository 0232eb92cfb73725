"""Read a request's JSON strictly: no duplicate names, no NaN, no depth that breaks a parser, no more than fits.

A frame or body that two programs could read in two ways is refused, whatever it says.
"""

import json
from collections.abc import Callable
from typing import Any

from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from belayer.vocabulary.errors import UnfitInput
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.plain import decoded

MOST_BYTES = 2_000_000
MOST_BYTES_IMPORTED = 200_000_000
_DEEPEST = 100
_LARGEST_INT = 2**63


class UnfitJson(UnfitInput):
    """Bytes that are no JSON, or none that can be relied on."""


def strict_json(content: bytes) -> Json:
    """What the bytes say; UnfitJson if they can be read in two ways or not at all."""
    if _is_deeper(content, _DEEPEST):
        raise UnfitJson(f"The JSON is nested deeper than {_DEEPEST} levels.", "Send something flatter.")
    try:
        value = json.loads(content, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
        decoded(json.dumps(value).encode(), value)
    except UnfitJson:
        raise
    except (ValueError, RecursionError, UnicodeError) as error:
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
                    raise HTTPException(413, f"The request is larger than {self.most_bytes:,} bytes.")
                parts.append(part)
            self._body = b"".join(parts)
        return self._body

    async def json(self) -> Any:
        return strict_json(await self.body())


class StrictRoute(APIRoute):
    """A route that takes strict requests."""

    request_class: type[StrictRequest] = StrictRequest

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(self.request_class(request.scope, request.receive))

        return strictly


def _is_deeper(content: bytes, most: int) -> bool:
    """Whether brackets are nested deeper than this; counts them in texts too, which only makes it stricter."""
    depth = 0
    for byte in content:
        if byte in b"[{":
            depth += 1
            if depth > most:
                return True
        elif byte in b"]}":
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnfitJson(f"The name {twice[:100]!r} stands twice in one object.", "Give each name once.")
    return found


def _constant(name: str) -> float:
    raise UnfitJson(f"{name} is no JSON.", "Use a finite number, or null.")


def _integer(digits: str) -> int:
    if len(digits) > 20 or abs(int(digits)) > _LARGEST_INT:
        raise UnfitJson(f"The number {digits[:30]} is too large.", "Use a text for ids that are not numbers.")
    return int(digits)
