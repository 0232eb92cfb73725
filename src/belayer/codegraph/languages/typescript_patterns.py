"""Names and patterns that get a value, and the names of properties."""

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Import
from belayer.codegraph.languages.typescript_reading import DEEPEST, Reading
from belayer.codegraph.languages.typescript_values import UNKNOWN, as_key, item_of, one_of, property_of


def bind_pattern(
    r: Reading, node: Node, value: Expr | None, line: int, *, is_lexical: bool = False, is_new: bool = True
) -> None:
    """A name or a pattern gets a value. `is_new` declares its names; without it they are assigned."""
    kind = node.type
    if kind in ("identifier", "shorthand_property_identifier_pattern"):
        _bind_name(r, r.text(node), value, line, is_lexical=is_lexical, is_new=is_new)
    elif r.depth < DEEPEST:
        r.depth += 1
        _bind_parts(r, node, value, line, is_lexical=is_lexical, is_new=is_new)
        r.depth -= 1


def _bind_parts(
    r: Reading, node: Node, value: Expr | None, line: int, *, is_lexical: bool, is_new: bool
) -> None:
    kind = node.type
    if kind == "object_pattern":
        for child in node.named_children:
            _bind_property(r, child, value, line, is_lexical=is_lexical, is_new=is_new)
    elif kind == "array_pattern":
        _bind_items(r, node, value, line, is_lexical=is_lexical, is_new=is_new)
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        default = r.visit(right) if right is not None else None
        if left is not None:
            bind_pattern(r, left, one_of(value, default), line, is_lexical=is_lexical, is_new=is_new)
    elif kind in ("member_expression", "subscript_expression"):
        target = r.visit(node)
        if target is not None and value is not None:
            r.store(target, value, line)


def _bind_name(
    r: Reading, word: str, value: Expr | None, line: int, *, is_lexical: bool, is_new: bool
) -> None:
    if not is_new:
        r.assign(word, value or UNKNOWN, line)
        return
    name = r.declare(word, is_lexical=is_lexical)
    r.bind(name, value, line)
    if value is not None and value[0] == "import":
        spec, member = str(value[1]), value[2]
        r.imported[name] = spec, member if isinstance(member, str) else None
        if isinstance(member, str):
            r.imports.append(Import(r.scope, spec, member, name, line))


def _bind_property(
    r: Reading, node: Node, value: Expr | None, line: int, *, is_lexical: bool, is_new: bool
) -> None:
    kind = node.type
    if kind == "shorthand_property_identifier_pattern":
        held = property_of(value, r.text(node))
        bind_pattern(r, node, held, line, is_lexical=is_lexical, is_new=is_new)
    elif kind == "pair_pattern":
        key, target = node.child_by_field_name("key"), node.child_by_field_name("value")
        if key is not None and target is not None:
            held = property_of(value, key_of(r, key))
            bind_pattern(r, target, held, line, is_lexical=is_lexical, is_new=is_new)
    elif kind == "object_assignment_pattern":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        default = r.visit(right) if right is not None else None
        if left is not None:
            held = one_of(property_of(value, r.text(left)), default)
            bind_pattern(r, left, held, line, is_lexical=is_lexical, is_new=is_new)
    elif kind == "rest_pattern" and node.named_children:
        bind_pattern(r, node.named_children[0], value, line, is_lexical=is_lexical, is_new=is_new)


def _bind_items(
    r: Reading, node: Node, value: Expr | None, line: int, *, is_lexical: bool, is_new: bool
) -> None:
    index = 0
    for child in node.children:
        if child.type == ",":
            index += 1
        elif child.type == "rest_pattern" and child.named_children:
            rest: Expr | None = ("slice", value, index, None) if value else None
            bind_pattern(r, child.named_children[0], rest, line, is_lexical=is_lexical, is_new=is_new)
        elif child.is_named and child.type != "comment":
            held = item_of(value, index)
            bind_pattern(r, child, held, line, is_lexical=is_lexical, is_new=is_new)


def key_of(r: Reading, node: Node) -> object:
    """The name of a property: a str, an int, or None if it is computed from what is not written there."""
    kind = node.type
    if kind in (
        "property_identifier",
        "private_property_identifier",
        "identifier",
        "shorthand_property_identifier",
    ):
        return r.text(node)
    if kind == "string":
        return as_key(r.text(node)[1:-1])
    if kind == "number":
        return as_key(r.text(node))
    if kind == "computed_property_name" and node.named_children:
        inner = node.named_children[0]
        if inner.type in ("string", "number"):
            return key_of(r, inner)
        if inner.type == "member_expression" and r.text(inner).startswith("Symbol."):
            return f"[{r.text(inner)}]"
        value = r.visit(inner)
        return value[1] if value is not None and value[0] == "key" else None
    return None


def member_name(r: Reading, node: Node) -> str:
    key = key_of(r, node)
    return str(key) if key is not None else r.text(node)[:60]
