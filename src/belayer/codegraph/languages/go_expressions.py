"""Read Go's statements and expressions into facts."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Shape
from belayer.codegraph.languages.draft import NOTHING, line_of
from belayer.codegraph.languages.go_declarations import define, inside
from belayer.codegraph.languages.go_types import (
    SEQUENCES,
    GoNotes,
    GoWalk,
    named,
    speak_of,
    typed,
    unwrapped,
)
from belayer.codegraph.languages.walk import (
    Handler,
    instance,
    item,
    one_of,
    only,
    operands,
    written_index,
)

LITERALS: Mapping[str, Expr] = {
    "interpreted_string_literal": ("literal", "string"),
    "raw_string_literal": ("literal", "string"),
    "int_literal": ("literal", "int"),
    "float_literal": ("literal", "float64"),
    "imaginary_literal": ("literal", "complex128"),
    "rune_literal": ("literal", "rune"),
    "true": ("literal", "bool"),
    "false": ("literal", "bool"),
}
COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
EXACT = frozenset({"composite_literal", "func_literal"})
FUNCTIONS = frozenset({"func_literal", "identifier", "selector_expression"})


# Names


def identifier(walk: GoWalk, node: Node) -> Expr:
    """A name as a value; a name of the package that is not called is spoken of."""
    name = walk.draft.text(node)
    spelled = walk.draft.locals.get(name)
    if spelled is not None:
        return ("name", spelled)
    value = ("name", name)
    if name not in walk.own.packages:
        walk.draft.refer(value, node)
    return value


def _operand(walk: GoWalk, node: Node) -> Expr:
    """What stands before a dot: a package's name is no value of its own."""
    if node.type == "identifier":
        name = walk.draft.text(node)
        return ("name", walk.draft.locals.get(name, name))
    return walk.expr(node)


def selector(walk: GoWalk, node: Node) -> Expr:
    target, field = node.children[0], node.children[-1]
    value = ("attr", _operand(walk, target), walk.draft.text(field))
    if target.type == "identifier" and walk.draft.text(target) not in walk.draft.locals:
        walk.draft.refer(value, field)
    return value


# Calls


def call(walk: GoWalk, node: Node) -> Expr:
    function, last = node.children[0], node.children[-1]
    kind = function.type
    if kind == "identifier":
        return _call_name(walk, function, last)
    if kind == "selector_expression":
        return _call_attribute(walk, function, last)
    callee = walk.expr(function)
    if kind == "index_expression" and function.children[0].type in ("identifier", "selector_expression"):
        callee = one_of(
            (callee, walk.expr(function.children[0]))
        )  # one of several, or a generic one for a type
    given = walk.draft.call(callee, arguments(walk, last), function)
    is_conversion = kind == "parenthesized_expression" and "*" in walk.draft.text(function)[:2]
    return one_of((given, instance(callee))) if is_conversion else given


def _call_name(walk: GoWalk, function: Node, last: Node) -> Expr:
    draft = walk.draft
    name = draft.text(function)
    spelled = draft.locals.get(name)
    if spelled is None and name in ("new", "make", "append"):
        return _built_in(walk, name, last)
    if spelled is None and name in walk.own.types:  # a conversion
        draft.refer(("name", name), function)
        arguments(walk, last)
        return ("new", ("name", name))
    return draft.call(("name", spelled or name), arguments(walk, last), function)


def _built_in(walk: GoWalk, name: str, holder: Node) -> Expr:
    if name == "append":
        values = arguments(walk, holder)
        return one_of((values[0], ("list", tuple(values[1:])))) if values else NOTHING
    nodes = [child for child in holder.named_children if child.type != "comment"]
    for child in nodes[1:]:
        walk.expr(child)
    if not nodes:
        return NOTHING
    return instance(walk.expr(nodes[0])) if nodes[0].type == "identifier" else typed(walk, nodes[0])


def _call_attribute(walk: GoWalk, function: Node, last: Node) -> Expr:
    routes = walk.own.routes
    target, field = function.children[0], function.children[-1]
    word = walk.draft.text(field)
    value = _operand(walk, target)
    pending = routes.within(word, value, last)
    values = arguments(walk, last)
    routes.leave(pending)
    given = walk.draft.call(("attr", value, word), values, field)
    routes.called(word, value, given, last, values)
    return given


def arguments(walk: GoWalk, node: Node) -> list[Expr]:
    """What the arguments of a call give; a type among them gives nothing."""
    table = walk.table
    values: list[Expr] = []
    for child in node.children:
        handler = table.get(child.kind_id)
        if handler is not None:
            values.append(handler(walk, child))
        elif child.is_named and child.type != "comment":
            speak_of(walk, child)
            values.append(NOTHING)
    return values


def conversion(walk: GoWalk, node: Node) -> Expr:
    """`[]byte(x)`, or `Generic[int](x)`: a function as well as a type."""
    kind = node.child_by_field_name("type")
    value = walk.field(node, "operand")
    if kind is not None and kind.type == "generic_type":
        speak_of(walk, kind.child_by_field_name("type_arguments"))
        return walk.draft.call(named(walk, kind), (value,), node)
    return typed(walk, kind)


def instantiation(walk: GoWalk, node: Node) -> Expr:
    return walk.expr(node.children[0])


def closure(walk: GoWalk, node: Node) -> Expr:
    row, column = node.start_point
    number = define(walk, node, Shape.LAMBDA, f"<func:{row + 1}:{column}>", walk.draft.scope, 0)
    walk.own.routes.entered(number)
    inside(walk, number, node)
    return ("def", number)


# Other expressions


def composite(walk: GoWalk, node: Node) -> Expr:
    kind = node.child_by_field_name("type")
    speak_of(walk, kind)
    return _composed(walk, kind, node.child_by_field_name("body"))


def _composed(walk: GoWalk, kind: Node | None, body: Node | None) -> Expr:
    """The value of `T{…}`, `[]T{…}`, `map[K]T{…}`; inner braces may leave out their type."""
    elements = [child for child in body.named_children if child.type != "comment"] if body is not None else []
    kind = unwrapped(kind)
    if kind is not None and kind.type in SEQUENCES:
        inner = kind.child_by_field_name("element")
        return ("list", tuple(_element(walk, inner, child)[1] for child in elements))
    if kind is not None and kind.type == "map_type":
        inner = kind.child_by_field_name("value")
        return ("dict", tuple(_element(walk, inner, child) for child in elements))
    value = instance(named(walk, kind))
    for child in elements:
        _field_value(walk, value, child)
    return value


def _element(walk: GoWalk, kind: Node | None, node: Node) -> tuple[object, Expr]:
    """The key (if it is written) and the value of an element of a list or map."""
    key: object = None
    if node.type == "keyed_element" and node.named_child_count:
        parts = node.named_children
        key, node = _key(walk, parts[0]), parts[-1]
    inner = node.named_children[0] if node.type == "literal_element" and node.named_child_count else node
    return key, _composed(walk, kind, inner) if inner.type == "literal_value" else walk.expr(inner)


def _key(walk: GoWalk, node: Node) -> object:
    inner = node.named_children[0] if node.named_child_count else node
    if inner.type == "interpreted_string_literal":
        return walk.draft.text(inner)[1:-1]
    walk.expr(inner)
    return None


def _field_value(walk: GoWalk, target: Expr, node: Node) -> None:
    """A struct's field gets a value; functions are worth to be remembered."""
    parts = node.named_children
    if node.type != "keyed_element" or not parts:
        walk.expr(node)
        return
    inner = parts[-1].named_children[0] if parts[-1].named_child_count else parts[-1]
    value = _composed(walk, None, inner) if inner.type == "literal_value" else walk.expr(inner)
    if inner.type in FUNCTIONS and target is not NOTHING:
        walk.draft.store(("attr", target, walk.draft.text(parts[0])), value, line_of(node))


def index(walk: GoWalk, node: Node) -> Expr:
    inner = node.child_by_field_name("index")
    text = walk.draft.text(inner)
    walk.expr(inner)
    items = walk.field(node, "operand")
    if inner is not None and inner.type == "interpreted_string_literal":
        return item(items, text[1:-1])
    return item(items, written_index(text))


def sliced(walk: GoWalk, node: Node) -> Expr:
    children = node.named_children
    for child in children[1:]:
        walk.expr(child)
    return walk.expr(children[0]) if children else NOTHING


def unary(walk: GoWalk, node: Node) -> Expr:
    operator = node.children[0].type
    value = walk.expr(node.children[-1])
    if operator == "<-":
        return item(value)
    return value if operator in ("&", "*") else NOTHING


def assertion(walk: GoWalk, node: Node) -> Expr:
    walk.field(node, "operand")
    return typed(walk, node.child_by_field_name("type"))


def binary(walk: GoWalk, node: Node) -> Expr:
    """An operator's result has a built-in type."""
    operator = node.children[1].type if node.child_count > 1 else ""
    operands(walk, node)
    return ("literal", "bool") if operator in COMPARISONS else NOTHING


def literal(walk: GoWalk, node: Node) -> Expr:
    del walk
    return LITERALS[node.type]


def is_exact(node: Node) -> bool:
    """Whether an expression has no other type than the one it shows."""
    if node.type == "unary_expression" and node.children[0].type == "&":
        node = node.children[-1]
    return node.type in EXACT


EXPRESSIONS: Mapping[str, Handler[GoNotes]] = {
    "expression_statement": only,
    "parenthesized_expression": only,
    "variadic_argument": only,
    "literal_element": only,
    "identifier": identifier,
    "call_expression": call,
    "type_conversion_expression": conversion,
    "type_instantiation_expression": instantiation,
    "selector_expression": selector,
    "func_literal": closure,
    "composite_literal": composite,
    "index_expression": index,
    "slice_expression": sliced,
    "unary_expression": unary,
    "type_assertion_expression": assertion,
    "binary_expression": binary,
    **dict.fromkeys(LITERALS, literal),
}
