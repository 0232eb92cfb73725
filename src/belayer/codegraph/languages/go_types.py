"""What Go's types and imports say: the types they name, and values of them."""

import re
from typing import TypeAlias

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.draft import NOTHING
from belayer.codegraph.languages.go_routes import Routes
from belayer.codegraph.languages.walk import Walk, instance

BUILT_IN = frozenset(
    {"bool", "string", "error", "any", "byte", "rune", "comparable", "uintptr", "float32", "float64"}
    | {"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"}
    | {"complex64", "complex128"}
)
WRAPPED = frozenset({"pointer_type", "parenthesized_type", "type_constraint", "type_elem"})
SEQUENCES = frozenset({"slice_type", "array_type", "implicit_length_array_type"})
TYPES = frozenset(
    {"type_identifier", "qualified_type", "generic_type", "map_type", "channel_type", "function_type"}
    | {"negated_type", *WRAPPED, *SEQUENCES}
)
OWN_PACKAGE = "."  # as an import path: the package that the file belongs to
UNNAMED = frozenset({"function_type", "negated_type"})
BODIES = frozenset({"struct_type", "interface_type"})


class GoNotes:
    """What a Go file declares and imports."""

    def __init__(self, routes: Routes, *, is_test: bool) -> None:
        self.routes, self.is_test = routes, is_test
        self.types: dict[str, int] = {}  # the types of this file, by name
        self.packages: dict[str, str] = {}  # the paths of imports, by what they are called here


GoWalk: TypeAlias = Walk[GoNotes]


def named(walk: GoWalk, node: Node | None) -> Expr:
    """The type that is named, behind its pointers; NOTHING for what has no name."""
    if node is None:
        return NOTHING
    kind = node.type
    if kind == "type_identifier":
        name = walk.draft.text(node)
        return NOTHING if name in BUILT_IN else walk.variables.get(name) or ("name", name)
    if kind == "qualified_type":
        package = walk.draft.text(node.child_by_field_name("package"))
        return ("attr", ("name", package), walk.draft.text(node.child_by_field_name("name")))
    if kind == "generic_type":
        return named(walk, node.child_by_field_name("type"))
    return named(walk, node.named_children[0]) if kind in WRAPPED and node.named_child_count else NOTHING


def typed(walk: GoWalk, node: Node | None) -> Expr:
    """A value of the type that is declared here. The types that it speaks of are noted."""
    if node is None:
        return NOTHING
    kind = node.type
    if kind == "type_identifier" and (name := walk.draft.text(node)) in BUILT_IN:
        return ("literal", name)
    if kind in SEQUENCES:
        return ("list", (typed(walk, node.child_by_field_name("element")),))
    if kind == "map_type":
        speak_of(walk, node.child_by_field_name("key"))
        return ("dict", ((None, typed(walk, node.child_by_field_name("value"))),))
    if kind == "channel_type":
        return ("list", (typed(walk, node.child_by_field_name("value")),))
    if kind in WRAPPED:
        return typed(walk, node.named_children[0]) if node.named_child_count else NOTHING
    if kind == "generic_type" or kind in UNNAMED:
        speak_of(walk, node)
        return instance(named(walk, node))
    value = named(walk, node)
    if value is not NOTHING and walk.draft.text(node) not in walk.variables:
        walk.draft.refer(value, node)
    return instance(value)


def speak_of(walk: GoWalk, node: Node | None) -> None:
    """Note the named types that a type is made of."""
    if node is None:
        return
    kind = node.type
    if kind in ("type_identifier", "qualified_type"):
        name = walk.draft.text(node)
        if name not in BUILT_IN and name not in walk.variables:
            walk.draft.refer(named(walk, node), node)
    elif kind not in BODIES:
        for child in node.named_children:
            speak_of(walk, child)


def type_variables(walk: GoWalk, node: Node) -> None:
    """From here on the type parameters of this declaration are type variables."""
    parameters = node.child_by_field_name("type_parameters")
    if parameters is None:
        return
    walk.variables = dict(walk.variables)
    for parameter in parameters.named_children:
        bound = named(walk, parameter.child_by_field_name("type"))
        for child in parameter.named_children:
            if child.type == "identifier":
                walk.variables[walk.draft.text(child)] = bound


def unwrapped(node: Node | None) -> Node | None:
    """A type without its pointers and parentheses."""
    while node is not None and node.type in WRAPPED and node.named_child_count:
        node = node.named_children[0]
    return node


def package_name(spec: str) -> str:
    """What a package is called by those who import it without an alias: mostly the last word of its path."""
    parts = spec.split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    word = re.sub(r"\.v\d+$", "", parts[-1])
    return word.removesuffix("-go").removesuffix(".go").rpartition("-")[2]
