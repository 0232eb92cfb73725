"""Plain JSON: what can be recorded, sent and read again without loss."""

from typing import cast

from pydantic_core import PydanticSerializationError, from_json, to_json

from belayer.vocabulary.errors import Unrecordable
from belayer.vocabulary.events.event import Json

# The parser gives up at 200 levels, and a value lies some levels deep in its event.
_SURELY_SHALLOW = 100
_ROOM = b"[" * 16


def encoded(value: object) -> bytes:
    """The value as JSON text. Not yet checked for numbers that JSON has no form for: `decoded` does that."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise _unrecordable(value, error) from error


def decoded(content: bytes, value: object = None) -> Json:
    """What the JSON text says; `value` is what it was made from, for the message."""
    try:
        if content.count(b"[") + content.count(b"{") > _SURELY_SHALLOW:
            from_json(_ROOM + content + _ROOM.replace(b"[", b"]"))  # fails where an event around it would
        return from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise _unrecordable(value, error) from error


def ordered(value: object) -> object:
    """The same with every set as a list in an order of its own, so that equal values have equal JSON."""
    match value:
        case set() | frozenset():
            return sorted(cast("set[object]", value), key=encoded)
        case dict():
            return {key: ordered(item) for key, item in cast("dict[object, object]", value).items()}
        case list() | tuple():
            return [ordered(item) for item in cast("list[object]", value)]
        case _:
            return value


def plain(value: object) -> Json:
    """The value as the log would give it back."""
    return decoded(encoded(value), value)


def _unrecordable(value: object, error: Exception) -> Unrecordable:
    return Unrecordable(
        f"A value of type {type(value).__name__} cannot be kept in the log: {error}",
        "Pass and return what JSON can hold: texts, finite numbers, lists, dictionaries, models.",
    )
