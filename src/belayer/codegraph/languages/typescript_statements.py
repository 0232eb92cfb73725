"""The statements of TypeScript and JavaScript: declarations, imports and exports, and which way the code goes."""

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.typescript_classes import is_certain, named
from belayer.codegraph.languages.typescript_patterns import bind_pattern
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_types import type_of
from belayer.codegraph.languages.typescript_values import GENERATOR, STRING, one_of

_LEAVES = frozenset(("return_statement", "throw_statement", "break_statement", "continue_statement"))


# ---- variables


def lexical_declaration(r: Reading, node: Node) -> Expr | None:
    for child in node.named_children:
        if child.type == "variable_declarator":
            _declarator(r, child, is_lexical=True)
    return None


def variable_declaration(r: Reading, node: Node) -> Expr | None:
    for child in node.named_children:
        if child.type == "variable_declarator":
            _declarator(r, child, is_lexical=False)
    return None


def _declarator(r: Reading, node: Node, *, is_lexical: bool) -> None:
    target, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None:
        return
    kind = node.child_by_field_name("type")
    declared = type_of(r, kind) if kind is not None else None
    value, exported = None, r.exports.get("=")
    if value_node is not None:
        value = named(r, value_node, r.text(target)) if target.type == "identifier" else r.visit(value_node)
    if r.exports.get("=") is not exported and target.type == "identifier":  # const app = module.exports = {}
        r.exports["="] = r.exports["default"] = ("name", r.text(target))
    known = value if value is not None and is_certain(r, value) else one_of(value, declared)
    if value_node is not None and value_node.type == "new_expression" and _is_map(r, value_node):
        r.maps.add(r.text(target))
    bind_pattern(r, target, known, node.start_point[0] + 1, is_lexical=is_lexical)


def _is_map(r: Reading, node: Node) -> bool:
    made = node.child_by_field_name("constructor")
    return made is not None and made.type == "identifier" and r.text(made) in ("Map", "WeakMap")


# ---- the way


def block(r: Reading, node: Node) -> Expr | None:
    """A block: what `let`, `const` and `class` declare in it is known in all of it, and nowhere else."""
    before = r.open_block()
    children = node.named_children
    for child in children:
        if child.type in ("lexical_declaration", "class_declaration"):
            for name in _declared_by(r, child):
                r.declare(name, is_lexical=True)
    r.visit_all(children)
    r.close_block(before)
    return None


def _declared_by(r: Reading, node: Node) -> list[str]:
    if node.type == "class_declaration":
        own = node.child_by_field_name("name")
        return [r.text(own)] if own is not None else []
    names: list[str] = []
    for child in node.named_children:
        target = child.child_by_field_name("name") if child.type == "variable_declarator" else None
        if target is not None and target.type == "identifier":
            names.append(r.text(target))
    return names


def if_statement(r: Reading, node: Node) -> Expr | None:
    condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    if condition is not None:
        r.visit(condition)
    mark = len(r.journal)
    r.branch += 1
    if then is not None:
        r.visit(then)
    first = r.undo(mark)
    if other is not None:
        r.visit_all(other.named_children)
    r.branch -= 1
    if not first and len(r.journal) == mark:
        return None
    if then is not None and _leaves(then):
        return None
    if other is not None and other.named_children and _leaves(other.named_children[-1]):
        r.undo(mark)
        for name, number in first.items():
            r.follow(name, number)
    else:
        r.join(mark, first, node.end_point[0] + 1)
    return None


def _leaves(node: Node) -> bool:
    """Whether the code does not go on after this."""
    if node.type == "statement_block":
        children = node.named_children
        return bool(children) and children[-1].type in _LEAVES
    return node.type in _LEAVES


def loop(r: Reading, node: Node) -> Expr | None:
    """A body that may run again: what it binds may be there from the start, or never."""
    before = _open_loop(r)
    r.visit_all(node.named_children)
    _close_loop(r, before)
    return None


_Loop = tuple[dict[str, int], list[tuple[str, int | None]], tuple[int, dict[str, str]]]


def _open_loop(r: Reading) -> _Loop:
    before = r.flow, r.journal, r.open_block()
    r.flow, r.journal = {}, []
    r.branch += 1
    return before


def _close_loop(r: Reading, before: _Loop) -> None:
    changed = {name for name, _ in r.journal}
    r.flow, r.journal, block = before
    r.close_block(block)
    r.branch -= 1
    for name in sorted(changed & r.flow.keys()):
        r.follow(name, None)


def for_in_statement(r: Reading, node: Node) -> Expr | None:
    """`for (const x of xs)`: x is an item of xs; with `in`, a key."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    body, kind = node.child_by_field_name("body"), node.child_by_field_name("kind")
    operator = node.child_by_field_name("operator")
    source = r.visit(right) if right is not None else None
    item: Expr | None = STRING
    if operator is not None and operator.type == "of":
        item = _iterated(r, source, right, left) if source is not None and right is not None else None
    before = _open_loop(r)
    if left is not None:
        is_lexical = kind is not None and kind.type != "var"
        line = node.start_point[0] + 1
        bind_pattern(r, left, item, line, is_lexical=is_lexical, is_new=kind is not None)
    if body is not None:
        r.visit(body)
    _close_loop(r, before)
    return None


def _iterated(r: Reading, source: Expr, node: Node, target: Node | None) -> Expr:
    """What an iteration gives. An object with an iterator of its own is asked for it; of a map come its pairs."""
    item: Expr = ("item", source, None)
    if source[0] in ("list", "dict", "key", "literal"):
        return item
    given = r.call(("attr", source, "[Symbol.iterator]"), (), node)
    following = r.call(("attr", given, "next"), (), node)
    one: Expr = ("any", (item, ("item", given, None), ("attr", following, "value")))
    if target is None or target.type != "array_pattern" or len(target.named_children) != 2:
        return one
    return ("list", (("item", one, 0), ("any", (("item", one, 1), item))))


def try_statement(r: Reading, node: Node) -> Expr | None:
    """What is tried may have happened when it is caught, or not."""
    body, caught = node.child_by_field_name("body"), node.child_by_field_name("handler")
    last = node.child_by_field_name("finalizer")
    mark = len(r.journal)
    r.branch += 1
    if body is not None:
        r.visit(body)
    if caught is not None:
        tried = r.undo(mark)
        for name in tried:
            r.follow(name, None)
        r.visit(caught)
        if caught.named_children and _leaves(caught.named_children[-1]):
            r.undo(mark)
            for name, number in tried.items():
                r.follow(name, number)
        else:
            r.forget(mark)
    r.branch -= 1
    if last is not None:
        r.visit_all(last.named_children)
    return None


def catch_clause(r: Reading, node: Node) -> Expr | None:
    before = r.open_block()
    caught, body = node.child_by_field_name("parameter"), node.child_by_field_name("body")
    if caught is not None:
        bind_pattern(r, caught, None, node.start_point[0] + 1, is_lexical=True)
    if body is not None:
        r.visit(body)
    r.close_block(before)
    return None


def switch_statement(r: Reading, node: Node) -> Expr | None:
    """One case or another, or one after another."""
    value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
    if value is not None:
        r.visit(value)
    mark, before = len(r.journal), r.open_block()
    r.branch += 1
    for case in body.named_children if body is not None else ():
        r.visit_all(case.named_children)
        r.forget(mark)
    r.branch -= 1
    r.close_block(before)
    return None


def return_statement(r: Reading, node: Node) -> Expr | None:
    value = None
    for child in node.named_children:
        if child.type != "comment":
            value = r.visit(child)
    draft = r.definitions[r.scope]
    if value is not None and not draft.traits & GENERATOR and value not in draft.returns:
        draft.returns.append(value)
    return None
