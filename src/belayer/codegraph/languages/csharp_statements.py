"""Read C#'s statements, patterns and queries into facts."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.csharp_expressions import value_of, variables
from belayer.codegraph.languages.csharp_types import CSharpNotes, CSharpWalk, typed
from belayer.codegraph.languages.draft import NOTHING, line_of
from belayer.codegraph.languages.walk import Handler, item, one_of, others, scoped


def conditional_source(walk: CSharpWalk, node: Node) -> Expr:
    """`#if X`: what is in it, not its condition."""
    condition = node.child_by_field_name("condition")
    place = condition.start_byte if condition is not None else -1
    walk.each(child for child in node.children if child.start_byte != place)
    return NOTHING


def local(walk: CSharpWalk, node: Node) -> Expr:
    is_used = any(child.type == "using" for child in node.children)
    for child in node.children:
        if child.type == "variable_declaration":
            _declared(walk, child, is_used=is_used)
    return NOTHING


def use(walk: CSharpWalk, node: Node) -> Expr:
    """`using (var x = …) …`."""
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    for child in node.children:
        if child.type == "variable_declaration":
            _declared(walk, child, is_used=True)
        elif child.is_named:
            walk.expr(child)
    walk.draft.locals = names
    return NOTHING


def _declared(walk: CSharpWalk, node: Node, *, is_used: bool) -> None:
    """Variables; those that are used are disposed of at the end."""
    for name in variables(walk, node):
        if is_used:
            walk.draft.call(("attr", ("name", name), "Dispose"), (), node)


def declaration(walk: CSharpWalk, node: Node) -> Expr:
    variables(walk, node)
    return NOTHING


def for_each(walk: CSharpWalk, node: Node) -> Expr:
    draft = walk.draft
    names = draft.locals
    draft.locals = dict(names)
    items = walk.field(node, "right")
    kind, left = node.child_by_field_name("type"), node.child_by_field_name("left")
    declared = typed(walk, kind) if kind is not None and kind.type != "implicit_type" else NOTHING
    if left is not None and left.type == "identifier":
        value = item(items) if declared is NOTHING else declared
        draft.bind(draft.declare(draft.text(left)), value, line_of(left))
    elif left is not None:
        for place, child in enumerate(left.named_children):
            draft.bind(draft.declare(draft.text(child)), item(item(items), place), line_of(child))
    walk.field(node, "body")
    draft.locals = names
    return NOTHING


def declared_name(walk: CSharpWalk, node: Node) -> Expr:
    """A name that a pattern, a catch or an out argument declares."""
    kind, name = node.child_by_field_name("type"), node.child_by_field_name("name")
    value = typed(walk, kind) if kind is not None and kind.type != "implicit_type" else NOTHING
    for child in node.named_children:
        if child.type in ("property_pattern_clause", "positional_pattern_clause"):
            others(walk, child)
    if name is not None:
        spelled = walk.draft.declare(walk.draft.text(name))
        walk.draft.bind(spelled, value, line_of(node))
        return ("name", spelled)
    return NOTHING


def subpattern(walk: CSharpWalk, node: Node) -> Expr:
    for child in node.named_children[1:]:
        walk.expr(child)
    return NOTHING


def give(walk: CSharpWalk, node: Node) -> Expr:
    walk.draft.give(value_of(walk, node))
    return NOTHING


def from_clause(walk: CSharpWalk, node: Node) -> Expr:
    draft = walk.draft
    items = walk.expr(node.named_children[-1]) if node.named_child_count else NOTHING
    name = node.child_by_field_name("name")
    if name is not None:
        declared = typed(walk, node.child_by_field_name("type"))
        value = item(items) if declared is NOTHING else declared
        draft.bind(draft.declare(draft.text(name)), value, line_of(node))
    return NOTHING


def let_clause(walk: CSharpWalk, node: Node) -> Expr:
    parts = node.named_children
    if len(parts) > 1:
        value = walk.expr(parts[-1])
        walk.draft.bind(walk.draft.declare(walk.draft.text(parts[0])), value, line_of(node))
    return NOTHING


def query(walk: CSharpWalk, node: Node) -> Expr:
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    found: Expr = NOTHING
    for child in node.named_children:
        value = value_of(walk, child) if child.type == "select_clause" else walk.expr(child)
        found = value if child.type == "select_clause" else found
    walk.draft.locals = names
    return ("list", (found,))


def switch(walk: CSharpWalk, node: Node) -> Expr:
    """`x switch { … }`."""
    values: list[Expr] = []
    for child in node.named_children:
        if child.type == "switch_expression_arm" and child.named_child_count:
            values.append(_arm(walk, child.named_children))
        else:
            walk.expr(child)
    return one_of(values)


def _arm(walk: CSharpWalk, parts: list[Node]) -> Expr:
    names = walk.draft.locals
    walk.draft.locals = dict(names)
    for part in parts[:-1]:
        walk.expr(part)
    value = walk.expr(parts[-1])
    walk.draft.locals = names
    return value


STATEMENTS: Mapping[str, Handler[CSharpNotes]] = {
    "block": scoped,
    "for_statement": scoped,
    "catch_clause": scoped,
    "switch_section": scoped,
    "preproc_if": conditional_source,
    "preproc_elif": conditional_source,
    "local_declaration_statement": local,
    "using_statement": use,
    "variable_declaration": declaration,
    "foreach_statement": for_each,
    "declaration_pattern": declared_name,
    "recursive_pattern": declared_name,
    "var_pattern": declared_name,
    "catch_declaration": declared_name,
    "declaration_expression": declared_name,
    "subpattern": subpattern,
    "return_statement": give,
    "yield_statement": give,
    "from_clause": from_clause,
    "let_clause": let_clause,
    "query_expression": query,
    "switch_expression": switch,
}
