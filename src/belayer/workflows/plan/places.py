"""Where something stands in a plan, in words; and strangers' text made fit to stand in a message. Pure."""

import difflib
import json
import re
from collections.abc import Iterable
from itertools import islice
from typing import cast

from belayer.vocabulary.events.event import Json

Path = tuple[str | int, ...]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_LONGEST = 60
_MOST_SHOWN = 10
_MOST_COMPARED = 200


def written(path: Path) -> str:
    """The path as one would write it: steps[2].params.url."""
    parts = [_part(part) for part in path]
    return "".join(parts).removeprefix(".") or "plan"


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _NAME.fullmatch(part) else f"[{quoted(part)}]"


def quoted(text: str) -> str:
    """The text in quotes, cut when it is long, with nothing in it that cannot be seen."""
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return '"' + visible(short.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def visible(text: str) -> str:
    """The text on one line: what moves the cursor, hides or turns other text around is shown by its number."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def listed(names: Iterable[str]) -> str:
    """The first names, in quotes."""
    names = list(names)
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return (", ".join(map(quoted, names[:_MOST_SHOWN])) or "nothing") + more


def kind_of(value: object) -> str:
    """What a JSON value is."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


def closest(name: str, known: Iterable[str]) -> str:
    """A suggestion to end a sentence with, or nothing."""
    close = difflib.get_close_matches(name[:_LONGEST], list(islice(known, _MOST_COMPARED)), 1)
    return f" (did you mean {quoted(close[0])}?)" if close else ""


def unfit(value: Json, levels: int = 50) -> str | None:
    """Why a value is not one that a plan can hold. Not recursive: it may be hostile."""
    layer: list[Json] = [value]
    for _ in range(levels + 1):
        if any(isinstance(one, int) and not -(2**63) <= one < 2**63 for one in layer):
            return "a whole number goes beyond 64 bits; make it a text"
        containers = [one for one in layer if isinstance(one, dict | list)]
        if not containers:
            return None
        layer = [inner for outer in containers for inner in _inside(outer)]
    return f"lists and objects lie more than {levels} deep"


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return cast("dict[str, Json]", value).values()
    return cast("list[Json]", value) if isinstance(value, list) else ()
