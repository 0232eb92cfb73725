"""A Python file's facts while it is being read: scopes, names in straight-line code, calls, references."""

from __future__ import annotations

import builtins
from collections.abc import Generator
from contextlib import contextmanager

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
)

UNKNOWN: Expr = ("any", ())
SELF: Expr = ("self",)
ENUM = {"<enum>"}  # marks a class whose variables are its instances
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__")) | {
    "reveal_type",
    "unicode",
    "xrange",
}
_VARIABLE = 0
_THING = 1  # a definition or an import


class Scope:
    """A module, class, function or lambda whose body is being read."""

    __slots__ = (
        "bound",
        "changed",
        "depth",
        "live",
        "number",
        "outer",
        "parent",
        "results",
        "self_name",
        "shape",
        "yields",
    )

    def __init__(self, number: int, shape: Shape, parent: Scope | None, self_name: str | None) -> None:
        self.number, self.shape, self.parent, self.self_name = number, shape, parent, self_name
        self.bound: dict[str, int] = {}  # what the scope binds, and whether it is a variable
        self.live: dict[str, int] = {}  # the bindings that straight-line code can be sure of
        self.changed: set[str] = set()
        self.outer: set[str] = set()  # names that belong to a scope further out
        self.depth = 0
        self.results: list[Expr] = []
        self.yields = False


class Draft:
    """The facts so far."""

    def __init__(self, path: str, source: bytes, lines: int) -> None:
        self.path, self.source = path, source
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
        self.is_broken = False
        self.scope = Scope(0, Shape.MODULE, None, None)
        self.module = self.scope
        self.scopes = {0: self.scope}
        self.line = 1
        self.reader = -1  # the function whose signature is being read
        self._read: dict[tuple[int, Expr], tuple[int, int]] = {}
        self._words: dict[bytes, str] = {}

    def text(self, node: Node) -> str:
        """The source of a node; a word is decoded once."""
        start, end = node.byte_range
        raw = self.source[start:end]
        word = self._words.get(raw)
        if word is None:
            word = raw.decode("utf-8", "replace")
            if len(raw) < 64:
                self._words[raw] = word
        return word

    # Names

    def bind(self, name: str, value: Expr, kind: int = _VARIABLE, line: int = 0) -> None:
        """A name of the current scope, or of the one it was declared to belong to, gets a value."""
        scope = self.scope
        if name in scope.outer:
            self.stores.append(Store(scope.number, ("name", name), value, line or self.line))
            return
        replaces = scope.depth == 0
        scope.live[name] = len(self.bindings)
        scope.changed.add(name)
        scope.bound[name] = kind if replaces else max(kind, scope.bound.get(name, kind))
        self.bindings.append(Binding(scope.number, name, value, line or self.line, replaces))

    def bind_thing(self, name: str, value: Expr, line: int = 0) -> None:
        """A definition or an import gets its name."""
        self.bind(name, value, _THING, line)

    def hidden(self, value: Expr) -> Expr:
        """A value that no other code can name: a comprehension's variable."""
        self.bindings.append(Binding(self.scope.number, "<hidden>", value, self.line))
        return ("bound", len(self.bindings) - 1)

    def name(self, name: str) -> Expr:
        """A name as an expression: the one binding that can be meant, if that is plain."""
        scope = self.scope
        number = scope.live.get(name)
        if number is not None:
            return ("bound", number)
        if name == scope.self_name:
            return SELF
        return ("name", name)

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

    @contextmanager
    def branch(self, *, is_loop: bool = False) -> Generator[None]:
        """Code that may not run, or may run again: afterwards nothing it bound is plain."""
        scope = self.scope
        live, changed = scope.live, scope.changed
        scope.live = {} if is_loop else dict(live)
        scope.changed = set()
        scope.depth += 1
        yield
        scope.depth -= 1
        for name in scope.changed:
            live.pop(name, None)
        scope.live = live
        scope.changed = changed | scope.changed

    @contextmanager
    def inner(self) -> Generator[None]:
        """Names that end with a comprehension."""
        scope = self.scope
        live = scope.live
        scope.live = dict(live)
        yield
        scope.live = live

    # Calls and references

    def call(
        self,
        callee: Expr,
        node: Node,
        args: tuple[Expr, ...] = (),
        keywords: tuple[tuple[str, Expr], ...] = (),
    ) -> Expr:
        """A call at the place of a node; what it gives."""
        row, column = node.start_point
        self.calls.append(Call(self.scope.number, callee, args, keywords, row + 1, column))
        return ("call", len(self.calls) - 1)

    def operate(self, base: Expr, method: str, node: Node, args: tuple[Expr, ...] = ()) -> Expr | None:
        """What an operator calls, if its operand can be one of ours."""
        if not self.can_be_ours(base):
            return None
        return self.call(("attr", base, method), node, args)

    def can_be_ours(self, base: Expr) -> bool:
        """Whether an expression can stand for an instance of a class of ours."""
        word = base[0]
        if word == "bound":
            number: int = base[1]
            return self.bindings[number].value[0] in _MAY_BE_OURS
        return word in _MAY_BE_OURS

    def refer(self, value: Expr, node: Node) -> None:
        """Something is read: noted once for each scope."""
        key = (self.scope.number if self.reader < 0 else self.reader, value)
        if key not in self._read:
            row, column = node.start_point
            self._read[key] = (row + 1, column)

    def references(self) -> tuple[Reference, ...]:
        """What was read and can lead to something of ours."""
        return tuple(
            Reference(scope, value, line, column)
            for (scope, value), (line, column) in self._read.items()
            if value[0] != "name" or self._leads_on(scope, value[1])
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
        row, column = node.start_point
        end, _ = node.end_point
        number = len(self.definitions)
        self.definitions.append(Definition(shape, name, self.scope.number, row + 1, end + 1, column))
        scope = Scope(number, shape, self.scope, self_name)
        self.scopes[number] = scope
        return scope


_MAY_BE_OURS = frozenset({"name", "attr", "call", "item", "self", "any", "bound", "import", "new", "wrapped"})
