"""Read Java's statements into facts: what they declare, and for how long."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.draft import NOTHING, line_of
from belayer.codegraph.languages.java_expressions import is_exact
from belayer.codegraph.languages.java_types import JavaNotes, JavaWalk, typed, typed_or_none
from belayer.codegraph.languages.walk import Handler, give, holds, item, one_of, only, scoped


def local(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    kind = node.child_by_field_name("type")
    is_inferred = draft.text(kind) == "var"
    for child in node.children:
        if child.type != "variable_declarator":
            continue
        value_node = child.child_by_field_name("value")
        value = walk.expr(value_node)
        name, line = draft.declare(draft.text(child.child_by_field_name("name"))), line_of(child)
        declared = NOTHING if is_inferred else typed_or_none(walk, kind, child) or NOTHING
        if declared != value and (not is_exact(value_node) or holds(declared)):
            draft.bind(name, declared, line)
        draft.bind(name, value, line)
    return NOTHING


def for_each(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    names = draft.locals
    draft.locals = dict(names)
    items = walk.field(node, "value")
    kind = node.child_by_field_name("type")
    value = item(items) if draft.text(kind) == "var" else typed(walk, kind)
    draft.bind(draft.declare(draft.text(node.child_by_field_name("name"))), value, line_of(node))
    walk.field(node, "body")
    draft.locals = names
    return NOTHING


def resource(walk: JavaWalk, node: Node) -> Expr:
    """A resource of `try (…)`: it is closed at the end."""
    draft = walk.draft
    kind, value_node = node.child_by_field_name("type"), node.child_by_field_name("value")
    name_node = node.child_by_field_name("name")
    if name_node is None:
        return draft.call(("attr", only(walk, node), "close"), (), node)
    value = walk.expr(value_node)
    name, line = draft.declare(draft.text(name_node)), line_of(node)
    if draft.text(kind) != "var" and not is_exact(value_node):
        draft.bind(name, typed(walk, kind), line)
    draft.bind(name, value, line)
    return draft.call(("attr", ("name", name), "close"), (), node)


def caught(walk: JavaWalk, node: Node) -> Expr:
    kinds = next((child for child in node.children if child.type == "catch_type"), None)
    values = [typed(walk, child) for child in kinds.named_children] if kinds is not None else []
    name = walk.draft.declare(walk.draft.text(node.child_by_field_name("name")))
    walk.draft.bind(name, one_of(values), line_of(node))
    return NOTHING


def type_pattern(walk: JavaWalk, node: Node) -> Expr:
    """`case Circle c`, and a part of `case Pair(Left a, var b)`."""
    parts = node.named_children
    if len(parts) >= 2:
        name = walk.draft.declare(walk.draft.text(parts[-1]))
        if walk.draft.text(parts[-2]) != "var":
            walk.draft.bind(name, typed(walk, parts[-2]), line_of(node))
    return NOTHING


def switch(walk: JavaWalk, node: Node) -> Expr:
    walk.field(node, "condition")
    body = node.child_by_field_name("body")
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    values: list[Expr] = []
    for rule in body.named_children if body is not None else ():
        if rule.type == "switch_rule":
            values.append(_rule(walk, rule))
        else:
            walk.each(rule.children)
    walk.draft.locals = names
    return one_of(values)


def _rule(walk: JavaWalk, node: Node) -> Expr:
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    value = only(walk, node)
    walk.draft.locals = names
    return value


STATEMENTS: Mapping[str, Handler[JavaNotes]] = {
    "block": scoped,
    "for_statement": scoped,
    "try_statement": scoped,
    "try_with_resources_statement": scoped,
    "catch_clause": scoped,
    "enhanced_for_statement": for_each,
    "local_variable_declaration": local,
    "resource": resource,
    "catch_formal_parameter": caught,
    "return_statement": give,
    "type_pattern": type_pattern,
    "record_pattern_component": type_pattern,
    "switch_expression": switch,
}
