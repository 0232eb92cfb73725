"""What a TypeScript annotation says of a value: the instance, list or object that is to be expected there."""

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_values import NUMBER, SELF, STRING, one_of
from belayer.codegraph.languages.typescript_words import DICTS, LISTS, SAME

_LITERALS: dict[str, Expr] = {"string": STRING, "number": NUMBER, "boolean": ("literal", "boolean")}
_DEEPEST_TYPE = 40


def type_of(r: Reading, node: Node | None, depth: int = 0) -> Expr | None:
    """What a type (or an annotation with its colon) says of a value, or nothing. The names in it are referred to."""
    if node is None or depth > _DEEPEST_TYPE:
        return None
    kind = node.type
    if kind == "type_identifier":
        return _instance(r, type_name(r, node), node)
    if kind == "predefined_type":
        return _LITERALS.get(r.text(node))
    if kind in (
        "type_annotation",
        "parenthesized_type",
        "readonly_type",
        "optional_type",
        "rest_type",
        "constraint",
    ):
        return type_of(r, _last(node), depth + 1)
    if kind == "generic_type":
        return _generic(r, node, depth)
    if kind == "array_type":
        item = type_of(r, _first(node), depth + 1)
        return ("list", (item,)) if item else ("literal", "array")
    if kind in ("union_type", "intersection_type"):
        return one_of(None, None, *(type_of(r, child, depth + 1) for child in node.named_children))
    if kind == "object_type":
        return _object(r, node, depth)
    if kind == "tuple_type":
        return ("list", tuple(type_of(r, child, depth + 1) or ("any", ()) for child in node.named_children))
    if kind == "nested_type_identifier":
        return _instance(r, type_name(r, node), node)
    return _rare(r, node, kind, depth)


def _rare(r: Reading, node: Node, kind: str, depth: int) -> Expr | None:
    if kind == "type_query":
        inner = _first(node)
        return type_name(r, inner) if inner is not None else None
    if kind == "this_type":
        return SELF
    if kind == "lookup_type":
        held = type_of(r, _first(node), depth + 1)
        key = _last(node)
        text = r.text(key).strip("'\"") if key is not None else ""
        return ("attr", held, text) if held and text.isidentifier() else None
    if kind in ("template_literal_type", "literal_type"):
        return STRING if r.text(node)[:1] in "'\"`" else None
    if kind in ("member_expression", "call_expression"):
        value = r.visit(node)  # import("x").Foo
        return ("new", value) if value else None
    if kind in ("function_type", "constructor_type", "conditional_type", "mapped_type_clause"):
        for child in node.named_children:
            type_of(r, child, depth + 1)
    if kind in ("formal_parameters", "required_parameter", "optional_parameter"):
        for child in node.named_children:
            type_of(r, child, depth + 1)
    return None


def type_name(r: Reading, node: Node, depth: int = 0) -> Expr | None:
    """The class or interface that a type's name means: Foo, ns.Foo, Foo<T>."""
    kind = node.type
    if depth > _DEEPEST_TYPE:
        return None
    if kind in ("identifier", "type_identifier"):
        return ("name", r.renames.get(r.text(node), r.text(node)))
    if kind in ("nested_type_identifier", "nested_identifier", "member_expression"):
        holder, last = _first(node), _last(node)
        inner = type_name(r, holder, depth + 1) if holder is not None else None
        return ("attr", inner, r.text(last)) if inner and last is not None else None
    if kind == "generic_type":
        first = _first(node)
        arguments = node.child_by_field_name("type_arguments")
        for child in arguments.named_children if arguments is not None else ():
            type_of(r, child, depth + 1)
        return type_name(r, first, depth + 1) if first is not None else None
    return None


def type_arguments(r: Reading, node: Node | None) -> list[Expr | None]:
    """What the arguments in `f<A, B>()` say."""
    return [type_of(r, child, 1) for child in node.named_children] if node is not None else []


def container(name: str, arguments: list[Expr | None]) -> Expr | None:
    """What the well-known generic types hold."""
    if name in LISTS:
        return ("list", (arguments[0],)) if arguments and arguments[0] else None
    if name in DICTS:
        return ("dict", ((None, arguments[-1]),)) if arguments and arguments[-1] else None
    return None


def _generic(r: Reading, node: Node, depth: int) -> Expr | None:
    first = _first(node)
    arguments_node = node.child_by_field_name("type_arguments")
    if first is None:
        return None
    arguments = (
        [type_of(r, c, depth + 1) for c in arguments_node.named_children]
        if arguments_node is not None
        else []
    )
    name = r.text(first)
    if name in SAME:
        return arguments[0] if arguments else None
    if name in LISTS or name in DICTS:
        return container(name, arguments)
    return _instance(r, type_name(r, first), first)


def _object(r: Reading, node: Node, depth: int) -> Expr | None:
    """An inline object type: its properties by name."""
    items: list[tuple[object, Expr]] = []
    for child in node.named_children:
        if child.type not in ("property_signature", "index_signature"):
            continue
        value = type_of(r, child.child_by_field_name("type"), depth + 1)
        name = child.child_by_field_name("name")
        if value and name is not None:
            items.append((r.text(name).strip("'\"") if child.type == "property_signature" else None, value))
    return ("dict", tuple(items))


def _instance(r: Reading, name: Expr | None, node: Node) -> Expr | None:
    if name is None:
        return None
    r.refer(name, node)
    return ("new", name)


def _first(node: Node) -> Node | None:
    for child in node.named_children:
        if child.type != "comment":
            return child
    return None


def _last(node: Node) -> Node | None:
    for child in reversed(node.named_children):
        if child.type != "comment":
            return child
    return None
