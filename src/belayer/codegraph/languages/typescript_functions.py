"""Functions of TypeScript and JavaScript: their names, parameters and bodies."""

from tree_sitter import Node

from belayer.codegraph.facts import Binding, Expr, Param, Shape, Store
from belayer.codegraph.languages.typescript_frameworks import tag_function
from belayer.codegraph.languages.typescript_patterns import bind_pattern
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_types import type_name, type_of
from belayer.codegraph.languages.typescript_values import ASYNC, GENERATOR, SELF

FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function", "function"))
_PROMOTES = frozenset(("accessibility_modifier", "readonly", "override_modifier"))


def place_name(node: Node) -> str:
    """What something without a name is called."""
    row, column = node.start_point
    return f"<lambda:{row + 1}:{column}>"


def function(
    r: Reading, node: Node, name: str | None = None, *, this: Expr | None = None, traits: int = 0
) -> Expr:
    """A function expression or arrow, called `name` if it has no name of its own."""
    own = node.child_by_field_name("name")
    label = r.text(own) if own is not None else name
    number = r.define(Shape.FUNCTION if label else Shape.LAMBDA, label or place_name(node), node)
    if own is not None:
        r.declared[number].add(r.text(own))
        r.bindings.append(Binding(number, r.text(own), ("def", number), r.definitions[number].line))
    is_arrow = node.type == "arrow_function"
    read_function(r, node, number, r.this if is_arrow else this or ("new", ("def", number)), traits)
    return ("def", number)


def function_declaration(r: Reading, node: Node) -> Expr | None:
    """`function f() {}`: hoisted, so its name means it in the whole scope."""
    own = node.child_by_field_name("name")
    label = r.text(own) if own is not None else place_name(node)
    number = r.define(Shape.FUNCTION, label, node)
    if own is not None:
        r.bindings.append(Binding(r.scope, r.declare(label), ("def", number), r.definitions[number].line))
    read_function(r, node, number, ("new", ("def", number)), 0)
    return ("def", number)


def function_signature(r: Reading, node: Node) -> Expr | None:
    """An overload, which the function itself follows, or the whole of it in a file of declarations."""
    if r.path.endswith((".d.ts", ".d.mts", ".d.cts")):
        return function_declaration(r, node)
    return None


def read_function(r: Reading, node: Node, number: int, this: Expr, traits: int) -> None:
    """The parameters and the body of a definition that was begun."""
    before = r.enter(number, this)
    if node.type != "arrow_function":
        r.own = number
    draft = r.definitions[number]
    draft.traits |= traits | _traits_of(node)
    type_parameters(r, node)
    _parameters(r, node)
    result = node.child_by_field_name("return_type")
    if result is not None:
        draft.result = type_of(r, result)
    _body(r, node.child_by_field_name("body"))
    tag_function(draft)
    r.leave(before)


def _traits_of(node: Node) -> int:
    if node.type in ("generator_function", "generator_function_declaration"):
        return GENERATOR | (ASYNC if node.children[0].type == "async" else 0)
    return ASYNC if node.children and node.children[0].type == "async" else 0


def _body(r: Reading, body: Node | None) -> None:
    if body is None:
        return
    if body.type == "statement_block":
        r.visit_all(body.named_children)
        return
    value = r.visit(body)
    if value is not None:
        r.definitions[r.scope].returns.append(value)


def type_parameters(r: Reading, node: Node) -> None:
    """`<T extends Foo>`: where T is spoken of, Foo is known."""
    holder = node.child_by_field_name("type_parameters")
    for child in holder.named_children if holder is not None else ():
        name, constraint = child.child_by_field_name("name"), child.child_by_field_name("constraint")
        if name is None or constraint is None or not constraint.named_children:
            continue
        meant = type_name(r, constraint.named_children[-1])
        if meant is not None and meant[0] == "name":
            r.renames = {**r.renames, r.text(name): str(meant[1])}


def _parameters(r: Reading, node: Node) -> None:
    single = node.child_by_field_name("parameter")
    if single is not None:
        r.definitions[r.scope].params.append(Param(r.declare(r.text(single))))
        return
    holder = node.child_by_field_name("parameters")
    if holder is None:
        return
    nodes = [child for child in holder.named_children if child.type not in ("comment", "ERROR")]
    for index, child in enumerate(nodes):
        _parameter(r, child, index)


def _parameter(r: Reading, node: Node, index: int) -> None:
    pattern: Node | None = node
    kind, default = None, None
    if node.type in ("required_parameter", "optional_parameter"):
        pattern = node.child_by_field_name("pattern")
        kind, default = node.child_by_field_name("type"), node.child_by_field_name("value")
        r.visit_all(child for child in node.named_children if child.type == "decorator")
    elif node.type == "assignment_pattern":
        pattern, default = node.child_by_field_name("left"), node.child_by_field_name("right")
    declared = type_of(r, kind)
    if pattern is None:
        return
    if pattern.type == "this":
        r.this = declared or r.this
        return
    star = ""
    if pattern.type == "rest_pattern" and pattern.named_children:
        pattern, star = pattern.named_children[0], "*"
    name = r.declare(r.text(pattern)) if pattern.type == "identifier" else f"<{index}>"
    value = r.visit(default) if default is not None else None
    r.definitions[r.scope].params.append(Param(name, declared, value, star))
    if pattern.type != "identifier":
        bind_pattern(r, pattern, ("name", name), node.start_point[0] + 1)
    elif any(child.type in _PROMOTES for child in node.children):
        _promote(r, name, declared, node.start_point[0] + 1)


def _promote(r: Reading, name: str, declared: Expr | None, line: int) -> None:
    """`constructor(private a: A)`: the parameter becomes a field."""
    if declared is not None:
        r.bindings.append(Binding(r.definitions[r.scope].parent, name, declared, line))
    else:
        r.stores.append(Store(r.scope, ("attr", SELF, name), ("name", name), line))
