"""Read Go's statements into facts: what they declare, and for how long."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.draft import NOTHING, line_of
from belayer.codegraph.languages.go_expressions import is_exact
from belayer.codegraph.languages.go_types import TYPES, GoNotes, GoWalk, typed
from belayer.codegraph.languages.walk import Handler, item, one_of, scoped, statements


def _local(walk: GoWalk, node: Node) -> str:
    """The name to speak of a variable by: the package's own, or a new local."""
    name = walk.draft.text(node)
    return name if walk.draft.scope == 0 else walk.draft.declare(name)


def _values(walk: GoWalk, node: Node | None) -> list[tuple[Node, Expr]]:
    """The expressions of a list (or the only one), and what they give."""
    if node is None:
        return []
    nodes = node.named_children if node.type == "expression_list" else [node]
    return [(child, walk.expr(child)) for child in nodes if child.type != "comment"]


def _targets(node: Node) -> list[Node]:
    left = node.child_by_field_name("left")
    return [child for child in left.named_children if child.type != "comment"] if left is not None else []


def _shared_out(count: int, values: list[tuple[Node, Expr]]) -> list[Expr]:
    """What each of so many variables gets: one value each, or the parts of a single call."""
    if len(values) == 1 and count > 1:
        node, value = values[0]
        if node.type == "call_expression":
            return [item(value, place) for place in range(count)]
        return [value] + [NOTHING] * (count - 1)
    found = [value for _, value in values]
    return found + [NOTHING] * (count - len(found))


def short_declaration(walk: GoWalk, node: Node) -> Expr:
    values = _values(walk, node.child_by_field_name("right"))
    targets = _targets(node)
    for target, value in zip(targets, _shared_out(len(targets), values), strict=False):
        if target.type == "identifier":
            name = _local(walk, target)
            walk.draft.bind(name, value, line_of(target))
            walk.own.routes.bound(name, value)
    return NOTHING


def assignment(walk: GoWalk, node: Node) -> Expr:
    values = _values(walk, node.child_by_field_name("right"))
    targets = _targets(node)
    for target, value in zip(targets, _shared_out(len(targets), values), strict=False):
        _assign(walk, target, value)
    return NOTHING


def _assign(walk: GoWalk, target: Node, value: Expr) -> None:
    if target.type == "identifier":
        walk.draft.assign(walk.draft.text(target), value, line_of(target))
    else:
        walk.draft.store(walk.expr(target), value, line_of(target))


def variables(walk: GoWalk, node: Node) -> Expr:
    """`var` and `const`."""
    kind = node.child_by_field_name("type")
    values = _values(walk, node.child_by_field_name("value"))
    names = [child for child in node.children if child.type == "identifier"]
    declared = typed(walk, kind)
    for place, (child, value) in enumerate(zip(names, _shared_out(len(names), values), strict=False)):
        name = _local(walk, child)
        if not (place < len(values) and is_exact(values[place][0])):
            walk.draft.bind(name, declared, line_of(child))
        walk.draft.bind(name, value, line_of(child))
        walk.own.routes.bound(name, value)
    return NOTHING


def range_clause(walk: GoWalk, node: Node) -> Expr:
    items = walk.field(node, "right")
    targets = _targets(node)
    is_new = any(child.type == ":=" for child in node.children)
    for place, target in enumerate(targets):
        value = item(items) if place == len(targets) - 1 else NOTHING
        if is_new and target.type == "identifier":
            walk.draft.bind(_local(walk, target), value, line_of(target))
        else:
            _assign(walk, target, value)
    return NOTHING


def received(walk: GoWalk, node: Node) -> Expr:
    """`case v, ok := <-ch`."""
    value = walk.field(node, "right")
    for place, target in enumerate(_targets(node)):
        if target.type == "identifier":
            walk.draft.bind(_local(walk, target), value if place == 0 else NOTHING, line_of(target))
    return NOTHING


def type_switch(walk: GoWalk, node: Node) -> Expr:
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    walk.field(node, "initializer")
    value = walk.field(node, "value")
    alias = node.child_by_field_name("alias")
    word = alias.named_children[0] if alias is not None and alias.named_child_count else None
    for child in node.named_children:
        if child.type in ("type_case", "default_case"):
            _case(walk, child, word, value)
    walk.draft.locals = names
    return NOTHING


def _case(walk: GoWalk, node: Node, word: Node | None, value: Expr) -> None:
    """A case of a type switch: there the variable has that type."""
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    known = one_of([typed(walk, child) for child in node.named_children if child.type in TYPES])
    if word is not None:
        walk.draft.bind(_local(walk, word), value if known is NOTHING else known, line_of(node))
    walk.each(child for child in node.children if child.type not in TYPES)
    walk.draft.locals = names


def give(walk: GoWalk, node: Node) -> Expr:
    values = [value for child in node.named_children for _, value in _values(walk, child)]
    if values:
        walk.draft.give(values[0] if len(values) == 1 else ("list", tuple(values)))
    return NOTHING


STATEMENTS: Mapping[str, Handler[GoNotes]] = {
    "var_spec": variables,
    "const_spec": variables,
    "block": scoped,
    "if_statement": scoped,
    "for_statement": scoped,
    "expression_switch_statement": scoped,
    "expression_case": scoped,
    "default_case": scoped,
    "communication_case": scoped,
    "type_switch_statement": type_switch,
    "short_var_declaration": short_declaration,
    "assignment_statement": assignment,
    "range_clause": range_clause,
    "receive_statement": received,
    "return_statement": give,
    "statement_list": statements,
}
