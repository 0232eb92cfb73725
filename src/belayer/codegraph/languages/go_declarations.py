"""Read Go's declarations into facts: imports, types, functions, methods."""

import re
from collections.abc import Iterable, Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Import, Param, Shape, Trait
from belayer.codegraph.languages.draft import NOTHING, SELF, line_of, replaced
from belayer.codegraph.languages.go_types import (
    OWN_PACKAGE,
    GoNotes,
    GoWalk,
    named,
    package_name,
    speak_of,
    type_variables,
    typed,
    unwrapped,
)
from belayer.codegraph.languages.walk import Handler

TEST = re.compile(r"(Test|Benchmark|Fuzz|Example)(?![a-z])")
PARAMETERS = ("parameter_declaration", "variadic_parameter_declaration")


def imports(walk: GoWalk, node: Node) -> Expr:
    draft = walk.draft
    spec = draft.text(node.child_by_field_name("path")).strip('"`')
    name, line = draft.text(node.child_by_field_name("name")), line_of(node)
    walk.own.routes.imported(spec)
    if name == ".":
        draft.imports.append(Import(0, spec, "*", None, line))
    elif name == "_":
        draft.imports.append(Import(0, spec, None, None, line))
    else:
        alias = name or package_name(spec)
        walk.own.packages[alias] = spec
        draft.imports.append(Import(0, spec, None, alias, line))
    return NOTHING


def type_spec(walk: GoWalk, node: Node) -> Expr:
    draft = walk.draft
    variables = walk.variables
    type_variables(walk, node)
    name = draft.text(node.child_by_field_name("name"))
    body = node.child_by_field_name("type")
    kind = body.type if body is not None else ""
    shape = Shape.INTERFACE if kind == "interface_type" else Shape.CLASS
    number = draft.define(shape, name, node, traits=Trait.PART | exported(name))
    draft.locals.pop(name, None)
    if draft.scope == 0:
        walk.own.types[name] = number
    scope, draft.scope = draft.scope, number
    if body is not None:
        _members(walk, kind, body, number)
    draft.scope, walk.variables = scope, variables
    return NOTHING


def _members(walk: GoWalk, kind: str, body: Node, number: int) -> None:
    if kind == "struct_type":
        lists = [child for child in body.named_children if child.type == "field_declaration_list"]
        fields = [
            child for each in lists for child in each.named_children if child.type == "field_declaration"
        ]
        _fields(walk, fields, number)
    elif kind == "interface_type":
        for child in body.named_children:
            _interface_member(walk, child, number)
    else:
        speak_of(walk, body)


def _fields(walk: GoWalk, nodes: list[Node], number: int) -> None:
    """A struct's fields; one without a name lends its type's members. A field never hides a type or package."""
    found: list[tuple[str, Expr, int]] = []
    for node in nodes:
        kind = node.child_by_field_name("type")
        value = typed(walk, kind)
        names = [child for child in node.children if child.type == "field_identifier"]
        found.extend((walk.draft.text(child), value, line_of(child)) for child in names)
        if not names and (base := named(walk, kind)) is not NOTHING:
            walk.draft.inherit(number, base)
            found.append((str(base[-1]), value, line_of(node)))
    hidden = {name: _from_outside(walk, name) for name, _, _ in found}
    for name, value, line in found:
        walk.draft.bind(name, replaced(value, hidden) if value is not NOTHING else value, line)


def _from_outside(walk: GoWalk, name: str) -> Expr:
    """A name as the package has it."""
    spec = walk.own.packages.get(name)
    return ("import", spec, None) if spec is not None else ("import", OWN_PACKAGE, name)


def _interface_member(walk: GoWalk, node: Node, number: int) -> None:
    if node.type == "method_elem":
        name = walk.draft.text(node.child_by_field_name("name"))
        define(walk, node, Shape.METHOD, name, number, Trait.ABSTRACT | exported(name))
    elif node.type == "type_elem" and node.named_child_count == 1:
        base = named(walk, node.named_children[0])
        if base is not NOTHING:
            walk.draft.inherit(number, base)


def type_alias(walk: GoWalk, node: Node) -> Expr:
    draft = walk.draft
    kind = node.child_by_field_name("type")
    value = named(walk, kind)
    speak_of(walk, kind)
    name = draft.text(node.child_by_field_name("name"))
    if value is not NOTHING and name:
        draft.bind(name if draft.scope == 0 else draft.declare(name), value, line_of(node))
    return NOTHING


def function(walk: GoWalk, node: Node) -> Expr:
    variables = walk.variables
    type_variables(walk, node)
    name = walk.draft.text(node.child_by_field_name("name"))
    traits = exported(name)
    if walk.own.is_test and TEST.match(name):
        traits |= Trait.TEST
    inside(walk, define(walk, node, Shape.FUNCTION, name, 0, traits), node)
    walk.variables = variables
    return NOTHING


def method(walk: GoWalk, node: Node) -> Expr:
    receiver = node.child_by_field_name("receiver")
    declared = (
        next((each for each in receiver.named_children if each.type in PARAMETERS), None)
        if receiver
        else None
    )
    kind = declared.child_by_field_name("type") if declared is not None else None
    variables = walk.variables
    walk.variables = dict(variables) | dict.fromkeys(_receiver_variables(walk, kind), NOTHING)
    owner = named(walk, kind)
    parent = _owner(walk, str(owner[-1]), node) if owner is not NOTHING else 0
    name = walk.draft.text(node.child_by_field_name("name"))
    number = define(walk, node, Shape.METHOD if parent else Shape.FUNCTION, name, parent, exported(name))
    inside(walk, number, node, declared.child_by_field_name("name") if declared is not None else None)
    walk.variables = variables
    return NOTHING


def _receiver_variables(walk: GoWalk, kind: Node | None) -> Iterable[str]:
    """The names that a receiver `(t *T[K, V])` gives to the type's parameters."""
    kind = unwrapped(kind)
    arguments = kind.child_by_field_name("type_arguments") if kind is not None else None
    return [walk.draft.text(child) for child in arguments.named_children] if arguments is not None else []


def _owner(walk: GoWalk, name: str, node: Node) -> int:
    """The type that has a method: of this file, or a part of one that another file declares."""
    types = walk.own.types
    if name not in types:
        traits = Trait.PART | Trait.ABSENT | exported(name)
        types[name] = walk.draft.define(Shape.CLASS, name, node, traits=traits, parent=0)
    return types[name]


def define(walk: GoWalk, node: Node, shape: Shape, name: str, parent: int, traits: int) -> int:
    """A function of any kind, without its body. What its types speak of belongs to it already."""
    draft = walk.draft
    scope, draft.scope = draft.scope, len(draft.definitions)
    params = tuple(_params(walk, node.child_by_field_name("parameters")))
    result = _result(walk, node.child_by_field_name("result"))
    draft.scope = scope
    return draft.define(shape, name, node, params=params, result=result, traits=traits, parent=parent)


def _params(walk: GoWalk, node: Node | None) -> Iterable[Param]:
    for child in node.named_children if node is not None else ():
        if child.type not in PARAMETERS:
            continue
        value = typed(walk, child.child_by_field_name("type"))
        star = "*" if child.type == "variadic_parameter_declaration" else ""
        names = [each for each in child.named_children if each.type in ("identifier", "blank_identifier")]
        for word in [walk.draft.text(each) for each in names] or ["_"]:
            yield Param(word, None if value is NOTHING else value, None, star)


def _result(walk: GoWalk, node: Node | None) -> Expr | None:
    if node is None:
        return None
    if node.type != "parameter_list":
        value = typed(walk, node)
        return None if value is NOTHING else value
    values = tuple(param.type or NOTHING for param in _params(walk, node))
    return values[0] if len(values) == 1 else ("list", values)


def inside(walk: GoWalk, number: int, node: Node, receiver: Node | None = None) -> None:
    """Read a function's body in a scope of its own."""
    draft = walk.draft
    before = draft.enter(number)
    if receiver is not None:
        draft.bind(draft.declare(draft.text(receiver)), SELF, line_of(receiver))
    result = node.child_by_field_name("result")
    if result is not None and result.type == "parameter_list":
        for param in _params(walk, result):
            draft.bind(draft.declare(param.name), param.type or NOTHING, line_of(result))
    body = node.child_by_field_name("body")
    if body is not None:
        walk.each(body.children)
    draft.leave(before)


def exported(name: str) -> int:
    """Go gives names with a capital letter to other packages."""
    return Trait.EXPORTED if name[:1].isupper() else 0


DECLARATIONS: Mapping[str, Handler[GoNotes]] = {
    "import_spec": imports,
    "type_spec": type_spec,
    "type_alias": type_alias,
    "function_declaration": function,
    "method_declaration": method,
}
