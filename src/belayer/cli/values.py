"""What a person types, as what it means: input for a workflow, an answer of the kind asked for, an age. Pure."""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast, get_type_hints

import typer
from pydantic import ValidationError

from belayer.vocabulary.errors import Refused
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import InputRequested

_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def json_or_text(text: str) -> Json:
    """JSON if it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextmanager
def unfit_refused() -> Generator[None]:
    """Refuse what a command cannot hold, such as a name that is too long."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = ".".join(str(part) for part in first["loc"])
        raise Refused(
            f"{f'The {what}' if what else 'This'} cannot be taken: {first['msg']}.",
            "Correct it, then try again.",
        ) from error


def pairs_from(pairs: Sequence[str]) -> dict[str, str]:
    """Every `-i NAME=VALUE`, by name."""
    given: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE.", param_hint="-i")
        given[name] = value
    return given


def value_for(call: Callable[..., Any], name: str, text: str) -> Json:
    """What a typed value is for this parameter: a version like 1.2 stays a text where a text is wanted."""
    value = json_or_text(text)
    wants_text = get_type_hints(call).get(name) in (str, Path, str | None, Path | None)
    return text if wants_text and not isinstance(value, str) and value is not None else value


def object_from(text: str | None) -> dict[str, Json]:
    """The object that `--input JSON` is."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"This is not JSON: {error}.", param_hint="--input") from error
    if not isinstance(value, dict):
        raise typer.BadParameter('Give an object, like {"name": "Ada"}.', param_hint="--input")
    return cast("dict[str, Json]", value)


def answer_from(request: InputRequested, text: str) -> Json:
    """The answer that a typed text stands for. Whether it fits is the session's to say."""
    match request.kind:
        case "text" | "file":
            return text
        case "confirm":
            return _yes_or_no(text)
        case "choice":
            return _choice(request.choices, text, by_letter=request.purpose == "failure")
        case "form":
            return json_or_text(text)


def _yes_or_no(text: str) -> Json:
    word = text.strip().lower()
    return True if word in _YES else False if word in _NO else text


def changes_from(text: str, params: Mapping[str, Json]) -> dict[str, Json]:
    """Parameters after a typed change: one as NAME=VALUE, or all as a JSON object. ValueError says what is wrong."""
    name, equals, value = text.partition("=")
    if equals and name.strip().isidentifier():
        return {**params, name.strip(): json_or_text(value.strip())}
    try:
        whole = json.loads(text)
    except ValueError as error:
        raise ValueError(f"This is neither NAME=VALUE nor JSON: {error}.") from error
    if not isinstance(whole, dict):
        raise ValueError('This is not an object like {"path": "a.txt"}.')
    return cast("dict[str, Json]", whole)


def _choice(choices: Sequence[str], text: str, *, by_letter: bool) -> Json:
    """A choice by its text, by its number, perhaps by its first letter, or as an object with more to say."""
    if text in choices:
        return text
    word = text.strip()
    if word.isdecimal() and 1 <= int(word) <= len(choices):
        return choices[int(word) - 1]
    same = [choice for choice in choices if choice.lower() == word.lower()]
    if by_letter and len(word) == 1:
        same = [choice for choice in choices if choice[:1] == word.lower()]
    return same[0] if len(same) == 1 else json_or_text(text)


def field_from(schema: dict[str, Json], text: str) -> Json:
    """The value that a typed text stands for in a form's field."""
    match schema.get("type"):
        case "string" | None:
            return text
        case "boolean":
            return _yes_or_no(text)
        case "array" if not text.lstrip().startswith("["):
            return [part.strip() for part in text.split(",")]
        case "integer" | "number" | "array" | "object":
            return json_or_text(text)
        case _:
            return text


def age_from(text: str) -> timedelta:
    """An age like 30d, 12h or 2w."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise typer.BadParameter(f"{text!r} is not an age. Write it like 30d, 12h or 90m.")
    return timedelta(**{_UNITS[found[2]]: float(found[1])})
