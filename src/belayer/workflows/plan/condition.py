"""Whether a step is to be run: `steps.a.output.count > 3 and not steps.b.output.ok`. Pure; nothing is run as code.

A member that is not there counts as null. Values are compared as JSON: true is not 1, and a text is not a number.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never

from belayer.vocabulary.errors import LogicError, PlanProblem, UnfitPlan
from belayer.vocabulary.events.event import Json
from belayer.workflows.plan.places import kind_of, quoted
from belayer.workflows.plan.template import Reference, Scope, read_reference, read_text, resolve

_DEEPEST = 50
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?(?![A-Za-z0-9_.])")
_COMPARISON = re.compile(r"==|!=|<=|>=|<|>|in\b|not\s+in\b")
_BRACED = re.compile(r"\s*\{\{(.*)\}\}\s*", re.DOTALL)
_WORDS: Mapping[str, Json] = {"true": True, "false": False, "null": None}
_INSTEAD = {
    "=": "write ==",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    "{": "leave the braces out",
    "}": "leave the braces out",
}
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Constant:
    value: Json


@dataclass(frozen=True, slots=True)
class Negation:
    term: "Term"


@dataclass(frozen=True, slots=True)
class Every:
    terms: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class Some:
    terms: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    left: "Term"
    sign: str
    right: "Term"


Term = Constant | Reference | Negation | Every | Some | Comparison


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that can be asked whether it holds."""

    term: Term

    def references(self) -> list[Reference]:
        """Everything it looks at."""
        return list(_references(self.term))

    def holds(self, scope: Scope) -> bool:
        """Whether it holds; LogicError when it compares what cannot be compared."""
        return bool(_value(self.term, scope))


def parse(text: str | bool) -> Condition:
    """Read a condition, or raise UnfitPlan with the position of what is wrong."""
    return Condition(Constant(text)) if isinstance(text, bool) else Condition(_Parser(text).whole())


class _Parser:
    """Reads or, and, not, comparisons and parentheses, loosest first."""

    def __init__(self, text: str) -> None:
        braced = _BRACED.fullmatch(text)
        self._text = text[: braced.end(1)] if braced else text
        self._at = braced.start(1) if braced else 0
        self._depth = 0

    def whole(self) -> Term:
        term = self._either()
        if self._next():
            raise self._unexpected()
        return term

    def _either(self) -> Term:
        terms = self._joined("or", self._all)
        return terms[0] if len(terms) == 1 else Some(terms)

    def _all(self) -> Term:
        terms = self._joined("and", self._negated)
        return terms[0] if len(terms) == 1 else Every(terms)

    def _joined(self, word: str, part: Callable[[], Term]) -> tuple[Term, ...]:
        terms = [part()]
        while self._word() == word:
            self._at += len(word)
            terms.append(part())
        return tuple(terms)

    def _negated(self) -> Term:
        if self._word() != "not":
            return self._compared()
        self._at += len("not")
        return Negation(self._deeper(self._negated))

    def _compared(self) -> Term:
        left = self._operand()
        sign = self._sign()
        if sign is None:
            return left
        term = Comparison(left, sign, self._operand())
        if self._sign():
            raise self._bad("two comparisons in a row; write `a < b and b < c`")
        return term

    def _sign(self) -> str | None:
        self._next()
        found = _COMPARISON.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return " ".join(found[0].split())

    def _operand(self) -> Term:
        sign = self._next()
        if sign == "(":
            return self._bracketed()
        if sign in ("'", '"'):
            return Constant(self._reads(read_text))
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            return Constant(float(number[0]) if number[2] or number[3] else int(number[0]))
        word = self._word()
        if word in _WORDS:
            self._at += len(word)
            return Constant(_WORDS[word])
        if word in ("steps", "input"):
            return self._reads(read_reference)
        raise self._unexpected()

    def _bracketed(self) -> Term:
        self._at += 1
        term = self._deeper(self._either)
        if self._next() != ")":
            raise self._bad("a closing ) is missing")
        self._at += 1
        return term

    def _deeper(self, part: Callable[[], Term]) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._bad(f"it is nested more than {_DEEPEST} deep")
        term = part()
        self._depth -= 1
        return term

    def _reads(self, read: Callable[[str, int], tuple[_Read, int]]) -> _Read:
        try:
            value, self._at = read(self._text, self._at)
        except UnfitPlan as error:
            raise self._bad(error.problems[0].what) from error
        return value

    def _next(self) -> str:
        """Step over white space; the sign that follows, or nothing at the end."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _word(self) -> str:
        self._next()
        word = _WORD.match(self._text, self._at)
        return word[0] if word else ""

    def _unexpected(self) -> UnfitPlan:
        sign, word = self._next(), self._word()
        if not sign:
            return self._bad("it ends too early")
        if sign in _INSTEAD:
            return self._bad(f"{quoted(sign)} is not known here; {_INSTEAD[sign]}")
        if word and word not in ("and", "or", "not", "in"):
            return self._bad(
                f"{quoted(word)} is not known; a text stands in quotes, a reference begins with steps. or input."
            )
        return self._bad(f"{quoted(self._text[self._at :])} does not belong here")

    def _bad(self, what: str) -> UnfitPlan:
        return UnfitPlan(
            [PlanProblem("when", f"the condition cannot be read at character {self._at + 1}: {what}")]
        )


def _references(term: Term) -> Iterator[Reference]:
    match term:
        case Reference():
            yield term
        case Negation():
            yield from _references(term.term)
        case Every() | Some():
            for inner in term.terms:
                yield from _references(inner)
        case Comparison():
            yield from _references(term.left)
            yield from _references(term.right)
        case Constant():
            pass
        case _:
            assert_never(term)


def _value(term: Term, scope: Scope) -> Json:
    match term:
        case Constant():
            return term.value
        case Reference():
            return _or_null(term, scope)
        case Negation():
            return not _value(term.term, scope)
        case Every():
            return all(_value(inner, scope) for inner in term.terms)
        case Some():
            return any(_value(inner, scope) for inner in term.terms)
        case Comparison():
            return _compare(_value(term.left, scope), term.sign, _value(term.right, scope))
        case _:
            assert_never(term)


def _or_null(reference: Reference, scope: Scope) -> Json:
    try:
        return resolve(reference, scope)
    except LogicError:
        return None


def _compare(left: Json, sign: str, right: Json) -> bool:
    match sign:
        case "==":
            return _same(left, right)
        case "!=":
            return not _same(left, right)
        case "in":
            return _within(left, right)
        case "not in":
            return not _within(left, right)
        case _:
            return _ordered(left, sign, right)


def _same(left: Json, right: Json) -> bool:
    """Equal as JSON."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return kind_of(left) == kind_of(right) and left == right


def _within(item: Json, whole: Json) -> bool:
    match whole:
        case list():
            return any(_same(item, one) for one in whole)
        case dict():
            return isinstance(item, str) and item in whole
        case str() if isinstance(item, str):
            return item in whole
        case None:
            return False
        case _:
            raise _unlike(item, "in", whole)


def _ordered(left: Json, sign: str, right: Json) -> bool:
    if not ((isinstance(left, str) and isinstance(right, str)) or (_is_number(left) and _is_number(right))):
        raise _unlike(left, sign, right)
    return _ORDERS[sign](left, right)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unlike(left: Json, sign: str, right: Json) -> LogicError:
    return LogicError(
        f"The condition asks for {kind_of(left)} {sign} {kind_of(right)}, which has no answer; the step was not run.",
        "Compare numbers with numbers and texts with texts; what is not there counts as null.",
    )
