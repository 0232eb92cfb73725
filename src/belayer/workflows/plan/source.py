"""A plan's text as data, with the line of everything in it. YAML and JSON mean the same here.

A plain word is what it would be in JSON, or else a text: `no`, `0755`, `12:30` and dates stay as they were written.
What could hide or multiply something (aliases, tags, the same key twice) is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from belayer.vocabulary.errors import PlanProblem, UnfitPlan
from belayer.vocabulary.events.event import Json
from belayer.workflows.plan.places import Path, quoted, visible
from belayer.workflows.plan.plan import DEEPEST

_MOST_BYTES = 1_000_000
# What is written in a megabyte can still be half a million values.
_MOST_VALUES = 100_000
_LARGEST = 2**63
_SPACE = re.compile(r"[ \t\n\r]*")
_JSON_BEGINS = re.compile(r'\s*\{\s*["}]')
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[+-]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS: Mapping[str, Json] = {"": None, "~": None, "null": None, "true": True, "false": False}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """What a plan's text says, and on which line it says so."""

    data: Json
    places: Mapping[Path, int] = field(default_factory=dict[Path, int])

    def line_of(self, path: Path) -> int | None:
        """The line of a place, or of what it would stand in."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return None


def read_plan(text: str, name: str = "plan") -> Source:
    """Read a plan's text, or raise UnfitPlan with the line that cannot be taken."""
    text = text.removeprefix("\ufeff")
    if len(text.encode(errors="replace")) > _MOST_BYTES:
        raise _refusal(name, None, f"the text is larger than {_MOST_BYTES // 1_000_000} MB")
    return _read_json(text, name) if _JSON_BEGINS.match(text) else _read_yaml(text, name)


def _refusal(name: str, line: int | None, what: str) -> UnfitPlan:
    return UnfitPlan([PlanProblem(visible(name) if line is None else f"{visible(name)}, line {line}", what)])


def _number(text: str) -> int | float:
    """A number that every reader of the log can hold; ValueError with the reason otherwise."""
    value = int(text) if len(text) <= len(str(_LARGEST)) + 1 and text.lstrip("-").isdecimal() else float(text)
    if text.lstrip("-").isdecimal() and not -_LARGEST <= value < _LARGEST:
        raise ValueError("a whole number goes beyond 64 bits; write it in quotes")
    if abs(value) == float("inf"):
        raise ValueError("a number is too large; write it in quotes")
    return value


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a number that a plan can hold; write it in quotes if it is a text")


class _Reading:
    """What both forms have in common: limits, lines, and keys that come only once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[Path, int] = {}
        self._values = 0

    def meet(self, path: Path, line: int) -> None:
        """Count a value. A member's place is where its key stands."""
        self._values += 1
        if self._values > _MOST_VALUES:
            raise self.refusal(line, f"there are more than {_MOST_VALUES:,} values from here on")
        self.places.setdefault(path, line)

    def enter(self, path: Path, line: int) -> None:
        self.meet(path, line)
        if len(path) >= DEEPEST:
            raise self.refusal(line, f"lists and objects lie more than {DEEPEST} deep")

    def key(self, members: Mapping[str, Json], key: str, path: Path, line: int) -> Path:
        """The path of a member that is about to be read."""
        if key in members:
            first = self.places[*path, key]
            raise self.refusal(
                line, f"the key {quoted(key)} stands here for the second time; first on line {first}"
            )
        self.places[*path, key] = line
        return (*path, self.text(key, line))

    def text(self, text: str, line: int) -> str:
        if _SURROGATE.search(text):
            raise self.refusal(line, "a text has half a character in it (a lone surrogate)")
        return text

    def refusal(self, line: int, what: str) -> UnfitPlan:
        return _refusal(self.name, line, what)


def _read_json(text: str, name: str) -> Source:
    reading = _Reading(name)
    try:
        return Source(_JsonText(text, reading).document(), reading.places)
    except json.JSONDecodeError as error:
        what = f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        raise reading.refusal(error.lineno, what) from error


class _JsonText:
    """JSON with lines. Scalars are left to the standard library; JSONDecodeError on bad syntax."""

    def __init__(self, text: str, reading: _Reading) -> None:
        self._text = text
        self._reading = reading
        self._at = 0
        self._line, self._counted = 1, 0
        self._scalars = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_no_number)

    def document(self) -> Json:
        value = self._value((), self._skip())
        self._skip()
        if self._at < len(self._text):
            raise self._bad("Extra text after the end")
        return value

    def _value(self, path: Path, line: int) -> Json:
        match self._text[self._at : self._at + 1]:
            case "{":
                self._reading.enter(path, line)
                return self._object(path)
            case "[":
                self._reading.enter(path, line)
                return self._list(path)
            case _:
                self._reading.meet(path, line)
                return self._scalar(line)

    def _object(self, path: Path) -> Json:
        members: dict[str, Json] = {}
        while self._more("}", first=not members):
            line = self._skip()
            if self._text[self._at : self._at + 1] != '"':
                raise self._bad("Expecting a name in double quotes")
            key = str(self._scalar(line))
            inner = self._reading.key(members, key, path, line)
            self._skip()
            self._expect(":")
            members[key] = self._value(inner, self._skip())
        return members

    def _list(self, path: Path) -> Json:
        items: list[Json] = []
        while self._more("]", first=not items):
            items.append(self._value((*path, len(items)), self._skip()))
        return items

    def _more(self, closing: str, *, first: bool) -> bool:
        """Step over what stands before the next member; False over the closing bracket."""
        self._at += first  # the opening bracket
        self._skip()
        if self._text[self._at : self._at + 1] == closing:
            self._at += 1
            return False
        if not first:
            self._expect(",")
        return True

    def _expect(self, sign: str) -> None:
        if self._text[self._at : self._at + 1] != sign:
            raise self._bad(f"Expecting {sign}")
        self._at += 1

    def _scalar(self, line: int) -> Json:
        try:
            value, self._at = self._scalars.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            raise self._reading.refusal(line, str(error)) from error
        return self._reading.text(value, line) if isinstance(value, str) else value

    def _skip(self) -> int:
        """Step over white space; the line of what follows."""
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _bad(self, what: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(what, self._text, self._at)


def _read_yaml(text: str, name: str) -> Source:
    reading = _Reading(name)
    if unreadable := _UNREADABLE.search(text):
        line = text.count("\n", 0, unreadable.start()) + 1
        raise reading.refusal(line, f"the character {quoted(unreadable[0])} does not belong in a plan")
    try:
        return Source(_YamlText(text, reading).document(), reading.places)
    except yaml.MarkedYAMLError as error:
        last = text.count("\n") + 1
        line = min(error.problem_mark.line + 1, last) if error.problem_mark else last
        raise reading.refusal(line, f"this is not YAML: {visible(str(error.problem))}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise _refusal(name, None, "this is not YAML that can be read") from error


class _YamlText:
    """YAML without its surprises, read event by event: nothing is built before it has been looked at."""

    def __init__(self, text: str, reading: _Reading) -> None:
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        self._events = cast("Iterator[yaml.Event]", cast("Any", yaml).parse(text, Loader=loader))
        self._reading = reading

    def document(self) -> Json:
        next(self._events)
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise self._reading.refusal(1, "there is nothing in it")
        value = self._node(next(self._events), ())
        next(self._events)
        another = next(self._events)
        if not isinstance(another, yaml.StreamEndEvent):
            raise self._refusal(another, "a second document begins; a plan is one document")
        return value

    def _node(self, event: yaml.Event, path: Path) -> Json:
        self._look_at(event)
        line = _line(event)
        if isinstance(event, yaml.MappingStartEvent):
            self._reading.enter(path, line)
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            self._reading.enter(path, line)
            return self._sequence(path)
        self._reading.meet(path, line)
        return self._scalar(event)

    def _look_at(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refusal(
                event, "anchors (&) and aliases (*) are not taken; write it out, or in quotes if a text"
            )
        if event.tag is not None:
            raise self._refusal(
                event, "tags (!) are not taken; leave it out, or write in quotes if it is a text"
            )

    def _mapping(self, path: Path) -> Json:
        members: dict[str, Json] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            inner = self._reading.key(members, key, path, _line(event))
            members[key] = self._node(next(self._events), inner)
        return members

    def _key(self, event: yaml.Event) -> str:
        self._look_at(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refusal(event, 'a key is not a text; a reference stands in quotes: "{{input.name}}"')
        key = self._scalar(event)
        if not isinstance(key, str):
            raise self._refusal(event, "a key is not a text; write it in quotes")
        if key == "<<" and _is_plain(event):
            raise self._refusal(event, "merge keys (<<) are not taken; write the members out")
        return key

    def _sequence(self, path: Path) -> Json:
        items: list[Json] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return items

    def _scalar(self, event: Any) -> Json:
        text: str = event.value
        if not _is_plain(event):
            return self._reading.text(text, _line(event))
        if text in _WORDS:
            return _WORDS[text]
        try:
            if _NO_NUMBER.fullmatch(text):
                return _no_number(text)
            return _number(text) if _NUMBER.fullmatch(text) else self._reading.text(text, _line(event))
        except ValueError as error:
            raise self._refusal(event, str(error)) from error

    def _refusal(self, event: yaml.Event, what: str) -> UnfitPlan:
        return self._reading.refusal(_line(event), what)


def _line(event: Any) -> int:
    return event.start_mark.line + 1


def _is_plain(event: Any) -> bool:
    """Whether a scalar stands there without quotes and is no block of text."""
    return bool(event.implicit[0])
