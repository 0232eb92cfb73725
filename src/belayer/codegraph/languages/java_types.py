"""What Java's types and dotted names say: the classes they name, and values of them."""

import re
from typing import TypeAlias

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.draft import NOTHING, chain
from belayer.codegraph.languages.walk import Flows, Mark, Walk, instance

BOXED = frozenset(
    {"String", "Integer", "Long", "Short", "Byte", "Boolean", "Character", "Double", "Float", "Number"}
)
MAPS = frozenset({"Map", "HashMap", "TreeMap", "LinkedHashMap", "ConcurrentMap", "ConcurrentHashMap"})
# What holds or gives values of its last type argument only.
HOLDERS = frozenset({"Function", "BiFunction", "Callable", "Supplier", "Stream", "Collector", "Entry"})
FLOWS = Flows(
    items=frozenset(
        {
            "get",
            "next",
            "previous",
            "orElse",
            "orElseGet",
            "orElseThrow",
            "getFirst",
            "getLast",
            "first",
            "last",
        }
        | {"poll", "pollFirst", "pollLast", "peek", "pop", "element", "take", "join", "call", "getOrDefault"}
        | {"computeIfAbsent", "removeFirst", "removeLast", "block", "getIfAvailable", "findById", "getById"}
        | {"getReferenceById", "save", "getValue", "apply"}
    ),
    same=frozenset(
        {
            "stream",
            "parallelStream",
            "filter",
            "iterator",
            "listIterator",
            "values",
            "sorted",
            "distinct",
            "limit",
        }
        | {"skip", "toList", "collect", "reversed", "subList", "peek", "findFirst", "findAny", "max", "min"}
        | {
            "toArray",
            "takeWhile",
            "dropWhile",
            "or",
            "descendingIterator",
            "sequential",
            "parallel",
            "onClose",
            "findAll",
        }
    ),
    mapped=frozenset({"map", "flatMap", "mapToObj", "thenApply", "thenCompose", "thenApplyAsync"}),
)
PRIMITIVES = frozenset({"integral_type", "floating_point_type", "boolean_type", "void_type"})
COMMENTS = frozenset({"line_comment", "block_comment"})
TYPE_LIKE = re.compile(r"[A-Z]\w*[a-z]\w*|[A-Z]")
GENERICS = re.compile(r"<[^<>]*>")
NO_NAME = re.compile(r"/\*.*?\*/|//.*|\s|@\w+")


class JavaNotes:
    """What a Java file says of requests: methods with annotations, and the constants they may speak of."""

    def __init__(self) -> None:
        self.constants: dict[str, str] = {}
        self.mapped: list[tuple[list[Mark], list[Mark], int]] = []


JavaWalk: TypeAlias = Walk[JavaNotes]


def dotted(walk: JavaWalk, node: Node | None) -> list[str]:
    """The words of a dotted name, without comments, annotations and type arguments."""
    text = walk.draft.text(node)
    if not text.replace(".", "").isidentifier():
        text = NO_NAME.sub("", text)
        while "<" in text and (shorter := GENERICS.sub("", text)) != text:
            text = shorter
    return text.split(".")


def split(parts: list[str]) -> tuple[str, str, list[str]]:
    """Package, class and what is asked of it; a class starts with a capital letter, or is the last word."""
    at = next((place for place, word in enumerate(parts) if word[:1].isupper()), len(parts) - 1)
    return ".".join(parts[:at]), parts[at], parts[at + 1 :]


def qualified(parts: list[str]) -> Expr:
    """A dotted name of a class: from its package, or from a class that is known here."""
    if parts[0][:1].islower() and len(parts) > 1:
        package, name, inner = split(parts)
        return chain(("import", package, name), inner)
    return chain(("name", parts[0]), parts[1:])


def named(walk: JavaWalk, node: Node | None) -> Expr:
    """The class that a type names; NOTHING for what has no class of its own."""
    if node is None:
        return NOTHING
    kind = node.type
    if kind == "type_identifier":
        name = walk.draft.text(node)
        return walk.variables.get(name) or ("name", name)
    if kind == "generic_type":
        return named(walk, node.children[0])
    if kind == "scoped_type_identifier":
        return qualified(dotted(walk, node))
    return named(walk, node.children[-1]) if kind == "annotated_type" else NOTHING


def typed(walk: JavaWalk, node: Node | None) -> Expr:
    """A value of the type that is declared here. The classes that the type speaks of are noted."""
    if node is None:
        return NOTHING
    kind = node.type
    if kind == "type_identifier":
        name = walk.draft.text(node)
        if name in BOXED:
            return ("literal", name)
        bound = walk.variables.get(name)
        if bound is not None:
            return instance(bound)
        named_so = ("name", name)
        if name != "Object":
            walk.draft.refer(named_so, node)
        return ("new", named_so)
    if kind in PRIMITIVES:
        return ("literal", walk.draft.text(node)) if kind != "void_type" else NOTHING
    if kind == "array_type":
        return ("list", (typed(walk, node.child_by_field_name("element")),))
    if kind == "generic_type":
        return _generic(walk, node)
    value = named(walk, node)
    if value is not NOTHING:
        walk.draft.refer(value, node)
    return instance(value)


def typed_or_none(walk: JavaWalk, node: Node | None, holder: Node) -> Expr | None:
    """The same for a parameter or variable, which may have brackets of its own (`int a[]`)."""
    value = typed(walk, node)
    if holder.child_by_field_name("dimensions") is not None:
        value = ("list", (value,))
    return None if value is NOTHING else value


def _generic(walk: JavaWalk, node: Node) -> Expr:
    """A value of a generic type: of its class, which mostly holds or gives values of its arguments."""
    children = node.children
    base = typed(walk, children[0])
    name = walk.draft.text(children[0]).rpartition(".")[2]
    held = [_argument(walk, each) for each in children[-1].named_children]
    if name in MAPS or name in HOLDERS:
        held = held[-1:]
    held = [each for each in held if each is not NOTHING and each[0] != "literal"]
    if not held:
        return base
    return ("any", (base, ("dict", ((None, held[0]),)) if name in MAPS else ("list", tuple(held))))


def _argument(walk: JavaWalk, node: Node) -> Expr:
    if node.type == "wildcard":
        return typed(walk, node.named_children[-1]) if node.named_child_count else NOTHING
    return typed(walk, node)


def speak_of(walk: JavaWalk, node: Node | None) -> None:
    """Note the classes that a type speaks of."""
    if node is None:
        return
    kind = node.type
    if kind in ("type_identifier", "scoped_type_identifier"):
        name = walk.draft.text(node)
        if name not in BOXED and name not in walk.variables:
            walk.draft.refer(named(walk, node), node)
    elif kind not in PRIMITIVES:
        for child in node.named_children:
            speak_of(walk, child)


def type_variables(walk: JavaWalk, node: Node) -> None:
    """From here on the type parameters of this declaration are type variables."""
    parameters = node.child_by_field_name("type_parameters")
    if parameters is None:
        return
    walk.variables = dict(walk.variables)
    for parameter in parameters.named_children:
        words = [child for child in parameter.children if child.type in ("type_identifier", "identifier")]
        bound = next((child for child in parameter.children if child.type == "type_bound"), None)
        first = bound.named_children[0] if bound is not None and bound.named_child_count else None
        if words:
            walk.variables[walk.draft.text(words[0])] = named(walk, first)
