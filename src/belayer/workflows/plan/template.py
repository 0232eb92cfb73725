r"""Fill in what earlier steps gave: `{{steps.fetch.output.items[0].name}}`, `{{input.city}}`. Pure.

A text that is nothing but one reference becomes the value itself; elsewhere the value stands as text. What was filled
in is never looked at again. `\{{` is a plain `{{`, and `\\{{` a backslash before a reference.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from belayer.vocabulary.errors import LogicError, PlanProblem, UnfitPlan
from belayer.vocabulary.events.event import Json, StepStatus
from belayer.vocabulary.plain import encoded
from belayer.workflows.plan.places import Path, kind_of, listed, quoted, written

Part = Literal["output", "status", "problem", "input"]

# A megabyte of references to a megabyte of output would be more than a machine holds.
_MOST_BYTES = 10_000_000
_ID = r"[A-Za-z_][A-Za-z0-9_-]{0,63}(?![A-Za-z0-9_-])"
_BEGINNING = re.compile(rf"steps\.({_ID})\.(output|status|problem\.detail)(?![A-Za-z0-9_-])|input\.({_ID})")
_MEMBER = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\.(0|[1-9][0-9]{0,8})(?![A-Za-z0-9_-])")
_INDEX = re.compile(r"\[\s*(0|[1-9][0-9]{0,8})\s*\]")
_KEY = re.compile(r"\[\s*(?=[\"'])")
_KEY_END = re.compile(r"\s*\]")
_SINGLE = re.compile(r"'((?:[^'\\]|\\['\\])*)'")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON = json.JSONDecoder()
_START = re.compile(r"\s*")
_CLOSING = re.compile(r"\s*\}\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reference asks for. `at` is the path of the text it stands in."""

    text: str
    part: Part
    name: str
    path: Path = ()
    at: Path = ()

    @property
    def step(self) -> str | None:
        """The id of the step it is about, if it is about a step."""
        return None if self.part == "input" else self.name


@dataclass(frozen=True, slots=True)
class Scope:
    """What is there to refer to: the steps that have ended, and the inputs. Problems are told by their detail."""

    outputs: Mapping[str, Json] = field(default_factory=dict[str, Json])
    statuses: Mapping[str, str] = field(default_factory=dict[str, str])
    inputs: Mapping[str, Json] = field(default_factory=dict[str, Json])
    problems: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Scan:
    """What is in a tree of parameters: references, texts that cannot be read and why, texts that will change."""

    references: list[Reference] = field(default_factory=list[Reference])
    faults: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])
    templated: set[Path] = field(default_factory=set[Path])


def scan(value: Json) -> Scan:
    """Look at every text in the value."""
    found = Scan()
    for at, text in _texts(value, ()):
        if "{{" not in text:
            continue
        found.templated.add(at)
        try:
            pieces = _pieces(text)
        except UnfitPlan as error:
            found.faults.append((at, error.problems[0].what))
        else:
            found.references.extend(replace(one, at=at) for one in pieces if isinstance(one, Reference))
    return found


def references(value: Json) -> list[Reference]:
    """Every reference in the value, with the path of the text it stands in."""
    return scan(value).references


def render(value: Json, scope: Scope) -> Json:
    """The value with every reference filled in; LogicError when there is nothing to fill in."""
    return _Rendering(scope).of(value)


def resolve(reference: Reference, scope: Scope) -> Json:
    """What the reference stands for; LogicError that says what there is instead."""
    value = _root(reference, scope)
    for depth in range(len(reference.path)):
        value = _member(value, reference, depth)
    return value


def read_reference(text: str, start: int) -> tuple[Reference, int]:
    """The reference that begins there, and where it ends; UnfitPlan when none does."""
    beginning = _BEGINNING.match(text, start)
    if beginning is None:
        raise unreadable(
            f"{quoted(text[start:])} begins no reference: write steps.ID.output, steps.ID.status,"
            " steps.ID.problem.detail or input.NAME"
        )
    step, part, name = beginning.groups()
    if part in ("status", "problem.detail"):
        kind: Part = "status" if part == "status" else "problem"
        return Reference(beginning[0], kind, step), beginning.end()
    path, end = _read_path(text, beginning.end())
    return Reference(text[start:end], "output" if step else "input", step or name, path), end


def read_text(text: str, start: int) -> tuple[str, int]:
    """The text in quotes that begins there, and where it ends; UnfitPlan when it is not closed."""
    try:
        if single := _SINGLE.match(text, start):
            value, end = re.sub(r"\\(.)", r"\1", single[1]), single.end()
        else:
            value, end = _JSON.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise unreadable(
            f"the text {quoted(text[start:])} is not closed, or has something odd in it"
        ) from error
    if _SURROGATE.search(value):
        raise unreadable("a text has half a character in it (a lone surrogate)")
    return value, end


def unreadable(what: str) -> UnfitPlan:
    """A single problem, for `check` to put in its place."""
    return UnfitPlan([PlanProblem("template", what)])


def _read_path(text: str, end: int) -> tuple[Path, int]:
    path: list[str | int] = []
    while True:
        if member := _MEMBER.match(text, end):
            path.append(member[1] if member[1] is not None else int(member[2]))
            end = member.end()
        elif index := _INDEX.match(text, end):
            path.append(int(index[1]))
            end = index.end()
        elif key := _KEY.match(text, end):
            value, end = read_text(text, key.end())
            closed = _KEY_END.match(text, end)
            if closed is None:
                raise unreadable(f"{quoted(text[key.start() :])} lacks its closing ]")
            path.append(value)
            end = closed.end()
        else:
            return tuple(path), end


def _texts(value: Json, at: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*at, index))


def _pieces(text: str) -> list[str | Reference]:
    """The text cut into what stays and what is to be filled in."""
    pieces: list[str | Reference] = []
    end = 0
    while (opening := text.find("{{", end)) >= 0:
        before = text[end:opening]
        slashes = len(before) - len(before.rstrip("\\"))
        pieces.append(before[: len(before) - (slashes + 1) // 2])
        end = opening + 2
        if slashes % 2:
            pieces.append("{{")
        else:
            reference, end = _braced(text, end)
            pieces.append(reference)
    return [piece for piece in (*pieces, text[end:]) if piece]


def _braced(text: str, start: int) -> tuple[Reference, int]:
    space = _START.match(text, start)
    reference, end = read_reference(text, space.end() if space else start)
    closing = _CLOSING.match(text, end)
    if closing is None:
        raise unreadable(
            f"{quoted('{{' + text[start:])} is no reference: after {quoted(reference.text)} comes"
            f" {quoted(text[end:])} instead of }}}}; write \\{{{{ for plain braces"
        )
    return reference, closing.end()


class _Rendering:
    """One value being filled in, up to a size."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._room = _MOST_BYTES
        self._known: dict[str, tuple[Json, str]] = {}

    def of(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._text(value) if "{{" in value else value
        if isinstance(value, dict):
            return {key: self.of(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner) for inner in value]
        return value

    def _text(self, text: str) -> Json:
        pieces = _pieces(text)
        if len(pieces) == 1 and isinstance(pieces[0], Reference):
            return self._filled(pieces[0])[0]
        return "".join(piece if isinstance(piece, str) else self._filled(piece)[1] for piece in pieces)

    def _filled(self, reference: Reference) -> tuple[Json, str]:
        """The value, and how it stands in a text."""
        if reference.text not in self._known:
            value = resolve(reference, self._scope)
            self._known[reference.text] = value, value if isinstance(value, str) else encoded(value).decode()
        value, text = self._known[reference.text]
        self._room -= len(text)
        if self._room < 0:
            raise LogicError(
                f"The parameters become larger than {_MOST_BYTES // 1_000_000} MB once they are filled in"
                f" (at {_shown(reference)}), so the step was not run.",
                "Refer to a part of the output, or let the step read it from a file.",
            )
        return value, text


def _root(reference: Reference, scope: Scope) -> Json:
    name = reference.name
    match reference.part:
        case "input":
            if name not in scope.inputs:
                raise _nothing(
                    reference, f"there is no input {quoted(name)}; there is: {listed(scope.inputs)}"
                )
            return scope.inputs[name]
        case "output":
            if name not in scope.outputs:
                raise _nothing(reference, f"{_standing(name, scope)}, so it has no output")
            return scope.outputs[name]
        case "status":
            if name not in scope.statuses:
                raise _nothing(reference, _standing(name, scope))
            return scope.statuses[name]
        case "problem":
            if name not in scope.problems:
                raise _nothing(reference, f"{_standing(name, scope)}, so it has no problem to tell")
            return scope.problems[name]


def _standing(step: str, scope: Scope) -> str:
    status = scope.statuses.get(step)
    if status is None:
        return f"the step {quoted(step)} has not ended"
    return (
        f"the step {quoted(step)} was skipped"
        if status == StepStatus.SKIPPED
        else f"the step {quoted(step)} {status}"
    )


def _member(value: Json, reference: Reference, depth: int) -> Json:
    part = reference.path[depth]
    if isinstance(value, dict) and str(part) in value:
        return value[str(part)]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    root = ("input", reference.name) if reference.part == "input" else ("steps", reference.name, "output")
    where = quoted(written((*root, *reference.path[:depth])))
    if isinstance(value, dict):
        raise _nothing(reference, f"{where} has no member {quoted(str(part))}; it has: {listed(value)}")
    if isinstance(value, list) and isinstance(part, int):
        raise _nothing(reference, f"{where} has no item {part}; it has {len(value)}, counted from 0")
    wanted = f"item {part}" if isinstance(part, int) else f"member {quoted(part)}"
    raise _nothing(reference, f"{where} is {kind_of(value)} and has no {wanted}")


def _nothing(reference: Reference, why: str) -> LogicError:
    return LogicError(
        f"{_shown(reference)} cannot be filled in: {why}.",
        "Correct the reference, or the step that should give it.",
    )


def _shown(reference: Reference) -> str:
    return quoted("{{" + reference.text + "}}")
