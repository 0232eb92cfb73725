"""Read into facts what C#'s operators and brackets make of values."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.csharp_expressions import (
    LITERALS,
    MEMBERS,
    arguments,
    is_exact,
    member,
    part,
)
from belayer.codegraph.languages.csharp_types import CSharpNotes, CSharpWalk, speak_of, typed
from belayer.codegraph.languages.draft import NOTHING, SELF, line_of
from belayer.codegraph.languages.walk import (
    Handler,
    conditional,
    item,
    one_of,
    operands,
    others,
    written_index,
)

COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


def assignment(walk: CSharpWalk, node: Node) -> Expr:
    draft = walk.draft
    left = node.child_by_field_name("left")
    value = part(walk, node.child_by_field_name("right"))
    kind = left.type if left is not None else ""
    if left is None:
        return value
    if kind == "tuple_expression":
        _unpack(walk, left, value)
    elif kind in MEMBERS:
        draft.store(member(walk, left)[2], value, line_of(node))
    elif kind != "identifier":
        draft.store(walk.expr(left), value, line_of(node))
    elif (name := draft.text(left)) in draft.locals:
        draft.assign(name, value, line_of(node))
    else:
        draft.store(("attr", SELF, name), value, line_of(node))
    return value


def _unpack(walk: CSharpWalk, node: Node, value: Expr) -> None:
    """`(var a, b) = …`."""
    draft = walk.draft
    for place, argument in enumerate(child for child in node.named_children if child.type == "argument"):
        inner = argument.children[-1]
        if inner.type == "declaration_expression":
            kind = inner.child_by_field_name("type")
            declared = typed(walk, kind) if kind is not None and kind.type != "implicit_type" else NOTHING
            name = draft.declare(draft.text(inner.child_by_field_name("name")))
            draft.bind(name, item(value, place) if declared is NOTHING else declared, line_of(inner))
        elif inner.type == "identifier" and draft.text(inner) in draft.locals:
            draft.assign(draft.text(inner), item(value, place), line_of(inner))


def binary(walk: CSharpWalk, node: Node) -> Expr:
    """An operator's result has a built-in type, save `??`."""
    operator = node.children[1].type if node.child_count > 1 else ""
    if operator == "??":
        return one_of((part(walk, node.children[0]), part(walk, node.children[-1])))
    kinds = operands(walk, node)
    if operator == "+":
        return ("literal", "string") if ("literal", "string") in kinds else NOTHING
    return ("literal", "bool") if operator in COMPARISONS else NOTHING


def cast(walk: CSharpWalk, node: Node) -> Expr:
    """`(A)x`, `x as A`: a value of the type that is claimed; a function keeps what it does."""
    kind = node.child_by_field_name("type") or node.child_by_field_name("right")
    value_node = node.child_by_field_name("value") or node.child_by_field_name("left")
    value = part(walk, value_node)
    declared = typed(walk, kind)
    return value if is_exact(value_node) or declared is NOTHING else declared


def is_type(walk: CSharpWalk, node: Node) -> Expr:
    walk.field(node, "left")
    speak_of(walk, node.child_by_field_name("right"))
    return ("literal", "bool")


def type_of(walk: CSharpWalk, node: Node) -> Expr:
    """`typeof(A)`, `default(A)`."""
    value = typed(walk, node.child_by_field_name("type"))
    return value if node.type == "default_expression" else NOTHING


def items(walk: CSharpWalk, node: Node) -> Expr:
    return ("list", tuple(walk.expr(child) for child in node.named_children if child.type != "comment"))


def tuple_(walk: CSharpWalk, node: Node) -> Expr:
    values, keywords = arguments(walk, node)
    return ("list", (*values, *(value for _, value in keywords)))


def element(walk: CSharpWalk, node: Node) -> Expr:
    """`a[b]`."""
    subscript = node.child_by_field_name("subscript")
    arguments(walk, subscript)
    text = walk.draft.text(subscript).strip("[]")
    return item(part(walk, node.child_by_field_name("expression")), written_index(text))


def with_(walk: CSharpWalk, node: Node) -> Expr:
    """`x with { A = … }`: another one of the same type."""
    children = node.named_children
    for child in children[1:]:
        for each in child.named_children[1:]:
            walk.expr(each)
    return walk.expr(children[0]) if children else NOTHING


def anonymous_object(walk: CSharpWalk, node: Node) -> Expr:
    """`new { A = x, b.C }`: an object with these fields."""
    pairs: list[tuple[object, Expr]] = []
    children = node.children
    for place, child in enumerate(children):
        if not child.is_named or child.type == "comment" or _is_key(children, place):
            continue
        key = children[place - 2] if _is_key(children, place - 2) else child
        pairs.append((walk.draft.text(key).rpartition(".")[2], walk.expr(child)))
    return ("dict", tuple(pairs))


def _is_key(children: list[Node], place: int) -> bool:
    return 0 <= place < len(children) - 1 and children[place + 1].type == "="


def string(walk: CSharpWalk, node: Node) -> Expr:
    others(walk, node)
    return LITERALS["string_literal"]


def literal(walk: CSharpWalk, node: Node) -> Expr:
    del walk
    return LITERALS[node.type]


OPERATORS: Mapping[str, Handler[CSharpNotes]] = {
    "assignment_expression": assignment,
    "binary_expression": binary,
    "cast_expression": cast,
    "as_expression": cast,
    "is_expression": is_type,
    "typeof_expression": type_of,
    "default_expression": type_of,
    "conditional_expression": conditional,
    "with_expression": with_,
    "anonymous_object_creation_expression": anonymous_object,
    "interpolated_string_expression": string,
    "initializer_expression": items,
    "collection_expression": items,
    "tuple_expression": tuple_,
    "element_access_expression": element,
    **dict.fromkeys(LITERALS, literal),
}
