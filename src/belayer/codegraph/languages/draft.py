"""Facts while a file is being read: what typed languages share (scopes, locals, text). It knows no grammar."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from tree_sitter import Node

from belayer.codegraph.facts import (
    Binding,
    Call,
    Definition,
    Export,
    Expr,
    Facts,
    Import,
    Param,
    Reference,
    Route,
    Shape,
    Store,
)

NOTHING: Expr = ("any", ())
SELF: Expr = ("self",)
SUPER: Expr = ("super",)
LONGEST_CHAIN = 32
APART = (Shape.MODULE, Shape.CLASS, Shape.INTERFACE)


class Draft:
    """One file's facts, growing. `scope` is the definition being read, `locals` its names as they are spelled out.

    A name that a function declares twice, in two blocks, is two names: the second is spelled `x~2`.
    """

    def __init__(self, path: str, language: str, source: bytes) -> None:
        self.path, self.language, self.source = path, language, source
        self.definitions = [Definition(Shape.MODULE, "", -1, 1, source.count(b"\n") + 1)]
        self.bindings: list[Binding] = []
        self.stores: list[Store] = []
        self.calls: list[Call] = []
        self.references: list[Reference] = []
        self.imports: list[Import] = []
        self.exports: list[Export] | None = None
        self.routes: list[Route] = []
        self.is_broken = False
        self.scope = 0
        self.locals: dict[str, str] = {}
        self.functions: set[Expr] = (
            set()
        )  # expressions that are functions for sure: whoever gets one calls it
        self._declared: set[tuple[int, str]] = set()
        self._returns: dict[int, list[Expr]] = {}
        self._referred: set[tuple[int, Expr]] = set()
        self._words: dict[bytes, str] = {}

    def text(self, node: Node | None) -> str:
        """The source of a small node; a word is decoded once per file."""
        if node is None:
            return ""
        raw = self.source[node.start_byte : node.end_byte]
        word = self._words.get(raw)
        if word is None:
            word = self._words[raw] = raw.decode("utf-8", "replace")
        return word

    def define(
        self,
        shape: Shape,
        name: str,
        node: Node,
        *,
        params: tuple[Param, ...] = (),
        bases: tuple[Expr, ...] = (),
        decorators: tuple[Expr, ...] = (),
        result: Expr | None = None,
        traits: int = 0,
        tags: tuple[str, ...] = (),
        parent: int | None = None,
    ) -> int:
        """A new definition in the present scope (or in `parent`); its number."""
        row, column = node.start_point
        inside = self.scope if parent is None else parent
        end = node.end_point[0] + 1
        self.definitions.append(
            Definition(
                shape, name, inside, row + 1, end, column, params, bases, decorators, (), result, traits, tags
            )
        )
        return len(self.definitions) - 1

    def inherit(self, number: int, base: Expr) -> None:
        """A class that was begun has one more base."""
        old = self.definitions[number]
        self.definitions[number] = old._replace(bases=(*old.bases, base))

    def declare(self, name: str) -> str:
        """A local of the present scope: the name to speak of it by, from here to the end of the block.

        What the blocks of a class or the statements of a program declare is kept apart from its members.
        """
        is_apart = self.definitions[self.scope].shape in APART
        spelled, count = (f"{name}~1" if is_apart else name), 1
        while (self.scope, spelled) in self._declared:
            count += 1
            spelled = f"{name}~{count}"
        self._declared.add((self.scope, spelled))
        self.locals[name] = spelled
        return spelled

    def enter(self, number: int) -> tuple[int, dict[str, str]]:
        """Go into a function's body: what is known around stays known. Gives what `leave` needs."""
        before = self.scope, self.locals
        self.scope, self.locals = number, dict(self.locals)
        for param in self.definitions[number].params:
            self._declared.add((number, param.name))
            self.locals[param.name] = param.name
        return before

    def leave(self, before: tuple[int, dict[str, str]]) -> None:
        self.scope, self.locals = before

    def is_declared(self, scope: int, name: str) -> bool:
        """Whether a scope has a parameter or local of this name."""
        return (scope, name) in self._declared

    def around(self, scope: int) -> Iterator[int]:
        """A scope and those around it, the module left out."""
        while scope > 0:
            yield scope
            scope = self.definitions[scope].parent

    def bind(self, name: str, value: Expr, line: int) -> None:
        if value is not NOTHING:
            self.bindings.append(Binding(self.scope, name, value, line))

    def assign(self, name: str, value: Expr, line: int) -> None:
        """A variable that was declared before, here or in a scope around this one, gets a value."""
        spelled = self.locals.get(name, name)
        if self.is_declared(self.scope, spelled):
            self.bind(spelled, value, line)
        else:
            self.store(("name", spelled), value, line)

    def store(self, target: Expr, value: Expr, line: int) -> None:
        is_worth_it = value is not NOTHING or target[0] == "attr"  # storing an attribute may call a setter
        if is_worth_it and target[0] in ("name", "attr", "item"):
            self.stores.append(Store(self.scope, target, value, line))

    def call(
        self,
        callee: Expr,
        args: Sequence[Expr],
        at: Node,
        *,
        new: bool = False,
        keywords: tuple[tuple[str, Expr], ...] = (),
    ) -> Expr:
        """Note a call at this place; the expression that stands for what it gives."""
        row, column = at.start_point
        number = len(self.calls)
        self.calls.append(Call(self.scope, callee, tuple(args), keywords, row + 1, column, new))
        for arg in args:
            if arg[0] == "def" or (self.functions and arg in self.functions):
                items = (("item", callee[1], None),) if callee[0] == "attr" else ()
                self.calls.append(Call(self.scope, arg, items, (), row + 1, column, unless=number))
        return ("call", number)

    def refer(self, value: Expr, at: Node) -> None:
        """Note that something is spoken of, once per scope."""
        if (self.scope, value) not in self._referred:
            self._referred.add((self.scope, value))
            row, column = at.start_point
            self.references.append(Reference(self.scope, value, row + 1, column))

    def give(self, value: Expr) -> None:
        """The present scope may give this value."""
        if value is not NOTHING:
            self._returns.setdefault(self.scope, []).append(value)

    def facts(self, package: str) -> Facts:
        for number, values in self._returns.items():
            self.definitions[number] = self.definitions[number]._replace(returns=tuple(values))
        return Facts(
            path=self.path,
            language=self.language,
            definitions=tuple(self.definitions),
            bindings=tuple(self.bindings),
            stores=tuple(self.stores),
            calls=tuple(self.calls),
            references=tuple(self.references),
            imports=tuple(self.imports),
            exports=tuple(self.exports) if self.exports is not None else None,
            routes=tuple(self.routes),
            package=package,
            is_broken=self.is_broken,
        )


def line_of(node: Node) -> int:
    """The line that a node starts in. (A Point's own attributes break the interpreter in tree-sitter 0.26.)"""
    return node.start_point[0] + 1


def chain(start: Expr, names: Sequence[str]) -> Expr:
    """`start.a.b.c`; NOTHING for a chain that nobody would write."""
    if len(names) > LONGEST_CHAIN:
        return NOTHING
    for name in names:
        start = ("attr", start, name)
    return start


def replaced(value: Expr, names: Mapping[str, Expr]) -> Expr:
    """An expression of a type with other expressions in place of some names."""
    if not value or value[0] == "import":
        return value
    if value[0] == "name":
        return names.get(str(value[1]), value)
    inner: list[object] = list(value)
    for place, part in enumerate(inner):
        if isinstance(part, tuple):
            inner[place] = replaced(cast("Expr", part), names)
    return tuple(inner)


def nearest(paths: Iterable[str], to: str) -> tuple[str, ...]:
    """These paths without `to` itself, those in the nearest folders first."""
    return tuple(path for path in _by_distance(tuple(paths), to.rpartition("/")[0]) if path != to)


@lru_cache(1024)
def _by_distance(paths: tuple[str, ...], folder: str) -> tuple[str, ...]:
    own = folder.split("/") if folder else []
    return tuple(sorted(paths, key=lambda path: (-_shared(own, path), path)))


def _shared(folders: list[str], path: str) -> int:
    """How many leading folders a path has in common."""
    count = 0
    for mine, other in zip(folders, path.split("/")[:-1], strict=False):
        if mine != other:
            break
        count += 1
    return count
