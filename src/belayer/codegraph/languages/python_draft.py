"""A Python file's facts while it is being read: scopes, names in straight-line code, calls, references."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from functools import lru_cache
from keyword import kwlist
from sys import intern
from typing import NamedTuple

from tree_sitter import Node

from belayer.codegraph.facts import (
    Binding,
    Call,
    Definition,
    Expr,
    Import,
    Mount,
    Reference,
    Route,
    Shape,
    Store,
    as_row,
)
from belayer.codegraph.languages.python_tests import is_test_file

UNKNOWN: Expr = ("any", ())
SELF: Expr = ("self",)
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__")) | {
    "reveal_type",
    "unicode",
    "xrange",
}
_KEYWORDS = frozenset(kwlist)
_VARIABLE = 0
_THING = 1  # a definition or an import
_DEEPEST = 110
_DEEPEST_BLOCK = 40
_LONGEST_NAME = 64
_MOST_WORDS = 1 << 15

Dotted = tuple[str, tuple[str, ...], str]  # the first name, those in between, the last
Fork = tuple[dict[str, Expr], set[str]]


@lru_cache(_MOST_WORDS)
def word(raw: bytes) -> str:
    """A short piece of source as text: the same object wherever it stands, so that facts are small when packed."""
    return intern(raw.decode("utf-8", "replace"))


@lru_cache(_MOST_WORDS)
def _split(raw: bytes) -> Dotted | None:
    names = [word(part) for part in raw.split(b".")]
    if len(names) == 1 or any(not name.isidentifier() or name in _KEYWORDS for name in names):
        return None
    return names[0], tuple(names[1:-1]), names[-1]


class Rules(NamedTuple):
    """What is done with each kind of node, where an expression is looked for and where a statement is."""

    expressions: Mapping[int, Callable[[Draft, Node], Expr]]
    statements: Mapping[int, Callable[[Draft, Node], object]]


class Scope:
    """A module, class, function or lambda whose body is being read."""

    __slots__ = (
        "bound",
        "changed",
        "depth",
        "is_enum",
        "live",
        "number",
        "outer",
        "parent",
        "results",
        "seen",
        "self_name",
        "shape",
        "yields",
    )

    def __init__(self, number: int, shape: Shape, parent: Scope | None, self_name: str | None) -> None:
        self.number, self.shape, self.parent, self.self_name = number, shape, parent, self_name
        self.bound: dict[str, int] = {}  # what the scope binds, and whether it is a variable
        self.live: dict[str, Expr] = {}  # the bindings that straight-line code can be sure of
        self.changed: set[str] = set()
        self.outer: set[str] = set()  # names that belong to a scope further out
        self.seen: set[Expr] = set()  # what was read in it
        self.depth = 0
        self.results: list[Expr] = []
        self.yields = False
        self.is_enum = False  # a class whose variables are its instances


class Draft:
    """The facts so far."""

    def __init__(self, path: str, source: bytes, lines: int, rules: Rules) -> None:
        self.path, self.source, self.is_test_file = path, source, is_test_file(path)
        self._expressions, self._statements = rules
        self.definitions: list[Definition] = [Definition(Shape.MODULE, "", -1, 1, lines)]
        self.bindings: list[Binding] = []
        self.stores: list[Store] = []
        self.calls: list[Call] = []
        self.imports: list[Import] = []
        self.routes: list[Route] = []
        self.mounts: list[Mount] = []
        self.starred: list[str] | None = None
        self.tags: list[str] = []
        self.has_stars = False
        self.is_typing = False  # code that only type checkers see
        self.is_broken = False
        self.scope = Scope(0, Shape.MODULE, None, None)
        self.module = self.scope
        self.scopes = {0: self.scope}
        self.line = 1
        self.reader: Scope | None = None  # the function whose signature is being read
        self._references: list[Reference] = []
        self._depth = self._block_depth = 0

    # Reading

    def read(self, node: Node | None) -> Expr:
        """What an expression stands for."""
        if node is None:
            return UNKNOWN
        if self._depth > _DEEPEST:
            self.is_broken = True
            return UNKNOWN
        self._depth += 1
        value = self._expressions[node.kind_id](self, node)
        self._depth -= 1
        return value

    def read_all(self, nodes: list[Node]) -> list[Expr]:
        """What several expressions stand for."""
        if self._depth > _DEEPEST:
            self.is_broken = True
            return [UNKNOWN] * len(nodes)
        self._depth += 1
        rules, values = self._expressions, list[Expr]()
        for node in nodes:
            values.append(rules[node.kind_id](self, node))
        self._depth -= 1
        return values

    def run(self, block: Node) -> None:
        """All statements of a block."""
        if self._block_depth > _DEEPEST_BLOCK:
            self.is_broken = True
            return
        self._block_depth += 1
        statements = self._statements
        for node in block.named_children:
            statements[node.kind_id](self, node)
        self._block_depth -= 1

    def text(self, node: Node) -> str:
        """The source of a node."""
        start, end = node.byte_range
        raw = self.source[start:end]
        return word(raw) if end - start < _LONGEST_NAME else raw.decode("utf-8", "replace")

    def dotted(self, node: Node) -> Dotted | None:
        """The names of `a.b.c`; None if the node is anything else. Its text tells all: no need to look inside."""
        start, end = node.byte_range
        return _split(self.source[start:end]) if end - start < _LONGEST_NAME else None

    # Names

    def bind(self, name: str, value: Expr, kind: int = _VARIABLE, line: int = 0) -> None:
        """A name of the current scope, or of the one it was declared to belong to, gets a value."""
        scope = self.scope
        if name in scope.outer:
            self.stores.append(Store(scope.number, ("name", name), value, line or self.line))
            return
        replaces = scope.depth == 0
        scope.live[name] = ("bound", len(self.bindings))
        scope.changed.add(name)
        scope.bound[name] = kind if replaces else max(kind, scope.bound.get(name, kind))
        self.bindings.append(as_row(Binding, (scope.number, name, value, line or self.line, replaces)))

    def bind_thing(self, name: str, value: Expr, line: int = 0) -> None:
        """A definition or an import gets its name."""
        self.bind(name, value, _THING, line)

    def hide(self, name: str, value: Expr) -> None:
        """A name that no other code can see gets a value: a comprehension's variable."""
        self.scope.live[name] = ("bound", len(self.bindings))
        self.bindings.append(Binding(self.scope.number, "<hidden>", value, self.line))

    def name(self, name: str) -> Expr:
        """A name as an expression: the one binding that can be meant, if that is plain."""
        scope = self.scope
        value = scope.live.get(name)
        if value is not None:
            return value
        return SELF if name == scope.self_name else ("name", name)

    def is_builtin(self, name: str) -> bool:
        """Whether a name is Python's own here, as far as one can tell from what was read so far."""
        return name in BUILTINS and not self._is_bound(name)

    def _is_bound(self, name: str) -> bool:
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.bound:
                return True
            scope = scope.parent
        return False

    def fork(self, *, is_loop: bool = False) -> Fork:
        """What follows may not run, or may run again; `join` ends it."""
        scope = self.scope
        before = scope.live, scope.changed
        scope.live = {} if is_loop else dict(scope.live)
        scope.changed = set()
        scope.depth += 1
        return before

    def join(self, before: Fork) -> None:
        """The ways meet again: nothing that was bound on one of them is plain."""
        scope = self.scope
        live, changed = before
        for name in scope.changed:
            live.pop(name, None)
        changed |= scope.changed
        scope.live, scope.changed = live, changed
        scope.depth -= 1

    # Calls and references

    def call(
        self,
        callee: Expr,
        node: Node,
        args: tuple[Expr, ...] = (),
        keywords: tuple[tuple[str, Expr], ...] = (),
    ) -> Expr:
        """A call at the place of a node; what it gives."""
        line, column = node.start_point
        calls = self.calls
        calls.append(as_row(Call, (self.scope.number, callee, args, keywords, line + 1, column, False, -1)))
        return ("call", len(calls) - 1)

    def operate(self, base: Expr, method: str, node: Node, args: tuple[Expr, ...] = ()) -> Expr | None:
        """What an operator calls, if its operand can be one of ours."""
        if not self._can_be_ours(base):
            return None
        return self.call(("attr", base, method), node, args)

    def _can_be_ours(self, base: Expr) -> bool:
        """Whether an expression can stand for an instance of a class of ours."""
        word = base[0]
        if word == "bound":
            number: int = base[1]
            return self.bindings[number].value[0] in _MAY_BE_OURS
        return word in _MAY_BE_OURS

    def refer(self, value: Expr, node: Node) -> None:
        """Something is read: noted once for each scope."""
        scope = self.reader or self.scope
        seen = scope.seen
        if value not in seen:
            seen.add(value)
            line, column = node.start_point
            self._references.append(as_row(Reference, (scope.number, value, line + 1, column)))

    def references(self) -> tuple[Reference, ...]:
        """What was read and can lead to something of ours."""
        return tuple(
            [
                reference
                for reference in self._references
                if reference[1][0] != "name" or self._leads_on(reference[0], reference[1][1])
            ]
        )

    def _leads_on(self, number: int, name: str) -> bool:
        scope: Scope | None = self.scopes.get(number)
        is_first = True
        while scope is not None:
            kind = scope.bound.get(name) if is_first or scope.shape is not Shape.CLASS else None
            if kind is not None:
                return kind == _THING
            is_first = False
            scope = scope.parent
        return self.has_stars and name not in BUILTINS

    # Scopes

    def define(self, shape: Shape, name: str, node: Node, self_name: str | None) -> Scope:
        """A place for a definition that stands in the current scope; its facts follow when its body was read."""
        line, column = node.start_point
        end, _ = node.end_point
        number = len(self.definitions)
        place = (shape, name, self.scope.number, line + 1, end + 1, column)
        self.definitions.append(as_row(Definition, (*place, *_UNREAD)))
        scope = Scope(number, shape, self.scope, self_name)
        self.scopes[number] = scope
        return scope


_UNREAD = Definition(Shape.MODULE, "", -1, 1, 1)[6:]
_MAY_BE_OURS = frozenset({"name", "attr", "call", "item", "self", "any", "bound", "import", "new", "wrapped"})
