"""What a server says its tools take, as parameters of ours: its JSON Schema, checked before anything is sent.

The schema is a stranger's, so checking it must come to an end: work is counted, patterns run in linear time, and
nothing is looked up elsewhere. What is not understood here is left to the server, which checks for itself.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar, TypeGuard, cast

import re2
from pydantic import ConfigDict, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from belayer.tools.charsets import cleaned
from belayer.tools.tool import Params

Path = tuple[str | int, ...]
Found = Iterator[tuple[Path, str]]

_MOST_WORK = 20_000
_DEEPEST = 60
_MOST_PROBLEMS = 20
_LONGEST = 200
_COMPOSED = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties", "unevaluatedProperties", "if")


def is_number(value: Any) -> TypeGuard[float]:
    """Whether this is a number in JSON: neither true nor endless."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or isfinite(value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and value == int(value),
    "number": is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_BOUNDS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "minimum": (operator.lt, "at least"),
    "maximum": (operator.gt, "at most"),
    "exclusiveMinimum": (operator.le, "more than"),
    "exclusiveMaximum": (operator.ge, "less than"),
}


class ServerParams(Params):
    """What a tool of a server takes. `takes` is the server's own schema."""

    model_config = ConfigDict(frozen=True, extra="allow")

    takes: ClassVar[Mapping[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _fits(cls, given: Any) -> Any:
        found = problems(given, cls.takes)
        if found:
            raise ValidationError.from_exception_data(cls.__name__, [_told(*one) for one in found])
        return given

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        return dict(cls.takes)

    def arguments(self) -> dict[str, Any]:
        """What is sent."""
        return dict(self.model_extra or {})


def params_for(schema: Mapping[str, Any]) -> type[ServerParams]:
    """The parameters that a schema describes."""
    return type("ServerParams", (ServerParams,), {"takes": closed(schema), "__module__": __name__})


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that knows its names: where it says nothing of others, a wrong name is a mistake."""
    made = {"type": "object", **schema}
    says_more = any(word in schema for word in ("additionalProperties", *_COMPOSED))
    return made if says_more or not schema.get("properties") else {**made, "additionalProperties": False}


def problems(value: Any, schema: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """What is wrong with a value, and where. Pure."""
    found: list[tuple[Path, str]] = []
    try:
        for one in _Check(schema).value(value, schema, (), 0):
            found.append(one)
            if len(found) == _MOST_PROBLEMS:
                break
    except _TooMuch:
        return [((), "this cannot be checked: what the server wants is too complicated")]
    return found


class _TooMuch(Exception):
    """More work than checking is worth."""


class _Check:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST_WORK

    def value(self, value: Any, schema: Any, at: Path, depth: int) -> Found:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _TooMuch
        if schema is False:
            yield at, "nothing may stand here"
        if not isinstance(schema, dict):
            return
        rules = cast("dict[str, Any]", schema)
        if "$ref" in rules:
            yield from self.value(value, self._referred(rules["$ref"]), at, depth + 1)
        wrong = _wrong_kind(value, rules)
        if wrong is not None:
            yield at, wrong
            return
        yield from self._composed(value, rules, at, depth)
        match value:
            case dict():
                yield from self._members(cast("dict[str, Any]", value), rules, at, depth)
            case list():
                yield from self._items(cast("list[Any]", value), rules, at, depth)
            case str():
                yield from _of_text(value, rules, at)
            case int() | float() if not isinstance(value, bool):
                yield from _of_number(value, rules, at)
            case _:
                pass

    def _fits(self, value: Any, schema: Any, depth: int) -> bool:
        return next(self.value(value, schema, (), depth + 1), None) is None

    def _composed(self, value: Any, rules: dict[str, Any], at: Path, depth: int) -> Found:
        for part in _list(rules.get("allOf")):
            yield from self.value(value, part, at, depth + 1)
        some = _list(rules.get("anyOf"))
        if some and not any(self._fits(value, part, depth) for part in some):
            yield at, "this fits none of the forms that it may have"
        one = _list(rules.get("oneOf"))
        if one and sum(self._fits(value, part, depth) for part in one) != 1:
            yield at, "this must fit exactly one of the forms that it may have"
        if "not" in rules and self._fits(value, rules["not"], depth):
            yield at, "this has a form that it must not have"
        if "if" in rules:
            then = "then" if self._fits(value, rules["if"], depth) else "else"
            yield from self.value(value, rules.get(then, True), at, depth + 1)

    def _members(self, value: dict[str, Any], rules: dict[str, Any], at: Path, depth: int) -> Found:
        known = _dict(rules.get("properties"))
        for name in _list(rules.get("required")):
            if isinstance(name, str) and name not in value:
                yield (*at, name), "this is missing"
        patterns = {
            key: rule for key, rule in _dict(rules.get("patternProperties")).items() if _compiled(key)
        }
        unread = len(patterns) < len(_dict(rules.get("patternProperties")))
        for name, member in value.items():
            here, fitting = (*at, name), [rule for key, rule in patterns.items() if _matches(key, name)]
            if name in known:
                fitting.append(known[name])
            if not fitting and not unread and rules.get("additionalProperties") is False:
                yield here, f"there is no such parameter; there are: {_names(known)}"
            elif not fitting and not unread:
                fitting.append(rules.get("additionalProperties", True))
            for rule in fitting:
                yield from self.value(member, rule, here, depth + 1)
            if "propertyNames" in rules and not self._fits(name, rules["propertyNames"], depth):
                yield here, "this name does not fit"
        yield from _in_number(len(value), rules, at, "Properties", "members")

    def _items(self, value: list[Any], rules: dict[str, Any], at: Path, depth: int) -> Found:
        first, rest = _list(rules.get("prefixItems")), rules.get("items", True)
        if isinstance(rest, list):
            first, rest = cast("list[Any]", rest), rules.get("additionalItems", True)
        for place, item in enumerate(value):
            rule = first[place] if place < len(first) else rest
            yield from self.value(item, rule, (*at, place), depth + 1)
        yield from _in_number(len(value), rules, at, "Items", "items")
        if rules.get("uniqueItems") is True and self._has_doubles(value):
            yield at, "its items must differ"

    def _has_doubles(self, value: list[Any]) -> bool:
        seen: set[str] = set()
        for item in value:
            self._left -= 1
            shape = repr(_comparable(item))
            if shape in seen:
                return True
            seen.add(shape)
        return False

    def _referred(self, reference: Any) -> Any:
        """What a reference within the schema stands for; one that leads elsewhere says nothing."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return True
        place: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            match place:
                case dict() if key in place:
                    place = cast("dict[str, Any]", place)[key]
                case list() if key.isdecimal() and int(key) < len(cast("list[Any]", place)):
                    place = cast("list[Any]", place)[int(key)]
                case _:
                    return True
        return place


def _wrong_kind(value: Any, rules: dict[str, Any]) -> str | None:
    kinds = [kind for kind in _list(rules.get("type"), one=True) if isinstance(kind, str) and kind in _TYPES]
    if kinds and not any(_TYPES[kind](value) for kind in kinds):
        return f"this must be of type {' or '.join(kinds)}"
    if "const" in rules and _comparable(rules["const"]) != _comparable(value):
        return f"this must be {_short(rules['const'])}"
    choices = rules.get("enum")
    if isinstance(choices, list):
        known = cast("list[Any]", choices)
        if _comparable(value) not in [_comparable(one) for one in known]:
            return f"this must be one of: {', '.join(_short(one) for one in known[:20])}"
    return None


def _of_text(value: str, rules: dict[str, Any], at: Path) -> Found:
    yield from _in_number(len(value), rules, at, "Length", "characters")
    pattern = rules.get("pattern")
    if isinstance(pattern, str) and _compiled(pattern) and not _matches(pattern, value):
        yield at, f"this does not fit the pattern {_short(pattern)}"


def _of_number(value: float, rules: dict[str, Any], at: Path) -> Found:
    for word, (fails, what) in _BOUNDS.items():
        bound = rules.get(word)
        if is_number(bound) and fails(value, bound):
            yield at, f"this must be {what} {bound}"
    step = rules.get("multipleOf")
    if is_number(step) and step > 0 and not _is_multiple(value, step):
        yield at, f"this must be a multiple of {step}"


def _in_number(count: int, rules: dict[str, Any], at: Path, word: str, what: str) -> Found:
    least, most = rules.get(f"min{word}"), rules.get(f"max{word}")
    if is_number(least) and count < least:
        yield at, f"this must have at least {least} {what}"
    if is_number(most) and count > most:
        yield at, f"this must have at most {most} {what}"


def _is_multiple(value: float, step: float) -> bool:
    try:
        return Decimal(str(value)) % Decimal(str(step)) == 0
    except InvalidOperation:  # numbers too far apart to tell
        return True


def _comparable(value: Any) -> Any:
    """The value so that it equals what JSON says is equal: 1 is 1.0, and neither is true."""
    match value:
        case bool():
            return ("bool", value)
        case dict():
            members = cast("dict[str, Any]", value).items()
            return ("dict", sorted((name, _comparable(member)) for name, member in members))
        case list():
            return ("list", [_comparable(item) for item in cast("list[Any]", value)])
        case int() | float():
            return ("number", float(value) if abs(value) < 2**53 else value)
        case _:
            return (type(value).__name__, value)


@lru_cache(1_000)
def _compiled(pattern: str) -> "re2.Pattern | None":
    """The pattern, if it is one that runs in linear time."""
    try:
        return re2.compile(pattern) if len(pattern) <= 1_000 else None
    except re2.error:
        return None


def _matches(pattern: str, text: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and compiled.search(text) is not None


def _list(value: Any, *, one: bool = False) -> Sequence[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    return [value] if one and value is not None else []


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _names(known: Mapping[str, Any]) -> str:
    return ", ".join(cleaned(name)[:60] for name in list(known)[:20]) or "none"


def _short(value: Any) -> str:
    return cleaned(repr(value))[:_LONGEST]


def _told(at: Path, what: str) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError("unfit", "{what}", {"what": what}), loc=at, input=None)
