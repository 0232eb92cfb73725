"""One walk over a file's tree: what is done with a node is told by a table of its kinds. It knows no language."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.draft import NOTHING, Draft

ERROR_KIND = 0xFFFF  # the number tree-sitter gives to what it could not parse

S = TypeVar("S")


class Handler(Protocol[S]):
    """What is done with a kind of nodes."""

    def __call__(self, walk: "Walk[S]", node: Node, /) -> Expr: ...


class Mark(NamedTuple):
    """An annotation or attribute, and the words of its values; a word that starts with `$` names a constant."""

    name: str
    values: Mapping[str, tuple[str, ...]]


class Flows(NamedTuple):
    """Methods of containers that give an item, the same items again, or what a function makes of them."""

    items: frozenset[str]
    same: frozenset[str]
    mapped: frozenset[str]


class Walk(Generic[S]):
    """Where a walk is: the draft it writes, what is around the present node, and the language's own notes."""

    def __init__(self, draft: Draft, table: Mapping[int, Handler[S]], own: S) -> None:
        self.draft, self.table, self.own = draft, table, own
        self.variables: dict[str, Expr] = {}  # type variables and what bounds them
        self.marks: list[Mark] = []  # of the class around
        self.namespace = ""

    def each(self, nodes: Iterable[Node]) -> None:
        """Read these one by one; one that nests too deep to be followed is left out."""
        draft, table = self.draft, self.table
        scope, names = draft.scope, draft.locals
        variables, marks, namespace = self.variables, self.marks, self.namespace
        for node in nodes:
            handler = table.get(node.kind_id)
            if handler is not None:
                try:
                    handler(self, node)
                except RecursionError:
                    draft.is_broken = True
                    draft.scope, draft.locals = scope, names
                    self.variables, self.marks, self.namespace = variables, marks, namespace

    def expr(self, node: Node | None) -> Expr:
        """What a node gives; NOTHING where nobody can say."""
        if node is None:
            return NOTHING
        handler = self.table.get(node.kind_id)
        return handler(self, node) if handler is not None else NOTHING

    def field(self, node: Node, name: str) -> Expr:
        """What a field of a node gives."""
        return self.expr(node.child_by_field_name(name))


class Parsing(Generic[S]):
    """A grammar and what is done with its kinds of nodes, made when the first file is read."""

    def __init__(
        self, language: Callable[[], object], handlers: Mapping[str, Handler[S]], idle: Collection[str]
    ) -> None:
        self._language, self._handlers, self._idle = language, handlers, idle

    @cached_property
    def parser(self) -> Parser:
        return Parser(self._grammar)

    @cached_property
    def table(self) -> Mapping[int, Handler[S]]:
        """What to do with each kind of node, by the kind's number; nothing for tokens and for idle kinds."""
        doings: dict[int, Handler[S]] = {ERROR_KIND: others}
        for number in range(self._grammar.node_kind_count):
            kind = self._grammar.node_kind_for_id(number)
            if kind and self._grammar.node_kind_is_named(number) and kind not in self._idle:
                doings[number] = self._handlers.get(kind, others)
        return doings

    @cached_property
    def _grammar(self) -> Grammar:
        return Grammar(self._language())


def others(walk: Walk[S], node: Node) -> Expr:
    """What says nothing itself: its parts may."""
    table = walk.table
    for child in node.children:
        handler = table.get(child.kind_id)
        if handler is not None:
            handler(walk, child)
    return NOTHING


def statements(walk: Walk[S], node: Node) -> Expr:
    """Parts that are left out one by one when they cannot be followed."""
    walk.each(node.children)
    return NOTHING


def only(walk: Walk[S], node: Node) -> Expr:
    """What has the value of its last part: parentheses, an expression as a statement."""
    table = walk.table
    value: Expr = NOTHING
    for child in node.children:
        handler = table.get(child.kind_id)
        if handler is not None:
            value = handler(walk, child)
    return value


def scoped(walk: Walk[S], node: Node) -> Expr:
    """What may declare names for itself and what is in it."""
    draft = walk.draft
    names = draft.locals
    draft.locals = dict(names)
    walk.each(node.children)
    draft.locals = names
    return NOTHING


def conditional(walk: Walk[S], node: Node) -> Expr:
    """`a ? b : c`."""
    walk.field(node, "condition")
    return one_of((walk.field(node, "consequence"), walk.field(node, "alternative")))


def give(walk: Walk[S], node: Node) -> Expr:
    """`return x`, `yield return x`."""
    walk.draft.give(only(walk, node))
    return NOTHING


def operands(walk: Walk[S], node: Node) -> list[Expr]:
    """What the operands of `a + b + c` give; long chains are followed without nesting."""
    found: list[Expr] = []
    while True:
        children = node.children
        found.append(walk.expr(children[-1]))
        if children[0].type != "binary_expression":
            found.append(walk.expr(children[0]))
            return found
        node = children[0]


def one_of(values: Iterable[Expr]) -> Expr:
    """An expression for one of these, without those that say nothing."""
    known = [value for value in values if value is not NOTHING]
    if len(known) == 1:
        return known[0]
    return ("any", tuple(known)) if known else NOTHING


def instance(kind: Expr) -> Expr:
    """A value of this type."""
    return ("new", kind) if kind is not NOTHING else NOTHING


def item(items: Expr, key: int | str | None = None) -> Expr:
    """One of these, or the one at this place."""
    return ("item", items, key) if items is not NOTHING else NOTHING


def flowing(draft: Draft, flows: Flows, name: str, target: Expr, given: Expr) -> Expr:
    """What a method call gives; where the method may be a container's, also what comes out of the container."""
    found = [given]
    if name in flows.items:
        found.append(("item", target, None))
    if name in flows.same:
        found.append(target)
    number = len(draft.calls) - 1
    if name in flows.mapped and draft.calls[number].unless == given[1]:
        found.append(("list", (("call", number),)))
    return one_of(found)


def holds(declared: Expr) -> bool:
    """Whether a declared type tells what is in its values: that is worth to know beside what makes one."""
    return declared[0] in ("any", "list", "dict") and declared is not NOTHING


def written_index(text: str) -> int | None:
    """The number that an index is written as."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 9 else None
