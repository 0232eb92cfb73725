"""Classes, interfaces, type aliases and enums of TypeScript and JavaScript, with their members."""

from tree_sitter import Node

from belayer.codegraph.facts import Binding, Expr, Shape, Store
from belayer.codegraph.languages.typescript_frameworks import decorated_class, decorated_method
from belayer.codegraph.languages.typescript_functions import (
    FUNCTIONS,
    function,
    place_name,
    read_function,
    type_parameters,
)
from belayer.codegraph.languages.typescript_patterns import member_name
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_types import type_name, type_of
from belayer.codegraph.languages.typescript_values import (
    ABSTRACT,
    ASYNC,
    CONSTRUCTOR,
    GENERATOR,
    PROPERTY,
    SELF,
    STATIC,
    inside,
    number_of,
    one_of,
)

_MODIFIERS = {
    "static": STATIC,
    "get": PROPERTY,
    "set": PROPERTY,
    "async": ASYNC,
    "*": GENERATOR,
    "abstract": ABSTRACT,
}


def class_declaration(r: Reading, node: Node) -> Expr | None:
    own = node.child_by_field_name("name")
    if own is None:
        return class_of(r, node, "default")
    name = r.declare(r.text(own), is_lexical=True)
    value = class_of(r, node, r.text(own))
    r.bindings.append(Binding(r.scope, name, value, node.start_point[0] + 1))
    return value


def class_of(r: Reading, node: Node, name: str | None = None) -> Expr:
    """A class: its bases, decorators and members."""
    own = node.child_by_field_name("name")
    label = r.text(own) if own is not None else name or place_name(node).replace("lambda", "class")
    number = r.define(Shape.CLASS, label, node)
    draft = r.definitions[number]
    if node.type == "abstract_class_declaration":
        draft.traits |= ABSTRACT
    _heritage(r, node, number)
    decorators = [*r.decorators, *(child for child in node.children if child.type == "decorator")]
    r.decorators = []
    _decorate(r, number, decorators)
    before = r.enter(number, ("new", ("def", number)))
    if own is not None and node.type == "class":
        r.declared[number].add(label)
    type_parameters(r, node)
    prefix = decorated_class(r, number, decorators)
    body = node.child_by_field_name("body")
    if body is not None:
        _members(r, body, number, prefix)
    r.leave(before)
    return ("def", number)


def _heritage(r: Reading, node: Node, number: int) -> None:
    bases = r.definitions[number].bases
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    for clause in heritage.named_children if heritage is not None else ():
        if clause.type == "implements_clause":
            bases.extend(base for child in clause.named_children if (base := type_name(r, child)))
        elif clause.type == "extends_clause":
            value = clause.child_by_field_name("value")
            bases.extend([base] if value is not None and (base := r.visit(value)) else [])
        elif clause.type != "comment":
            bases.extend([base] if (base := r.visit(clause)) else [])


def _decorate(r: Reading, number: int, decorators: list[Node]) -> None:
    """A decorator is called with what it stands on."""
    for node in decorators:
        value = r.visit(node.named_children[0]) if node.named_children else None
        if value is not None:
            r.definitions[number].decorators.append(value)
            r.call(value, (("def", number),), node)


def _members(r: Reading, body: Node, number: int, prefix: str | None) -> None:
    pending: list[Node] = []
    for child in body.named_children:
        kind = child.type
        if kind == "decorator":
            pending.append(child)
            continue
        if kind == "method_definition":
            _method(r, child, number, pending, prefix)
        elif kind in ("public_field_definition", "field_definition"):
            _field(r, child, number)
        elif kind == "abstract_method_signature" or (kind == "method_signature" and r.path.endswith(".d.ts")):
            signature(r, child)
        elif kind == "class_static_block":
            r.this, held = ("def", number), r.this
            r.visit_all(child.named_children)
            r.this = held
        if kind != "comment":
            pending = []


def _method(r: Reading, node: Node, number: int, decorators: list[Node], prefix: str | None) -> None:
    key_node = node.child_by_field_name("name")
    name = member_name(r, key_node) if key_node is not None else place_name(node)
    method = r.define(Shape.METHOD, name, node)
    traits = modifiers(node)
    if name == "constructor":
        traits |= CONSTRUCTOR
    decorators = decorators + [child for child in node.children if child.type == "decorator"]
    _decorate(r, method, decorators)
    decorated_method(r, method, decorators, prefix)
    read_function(r, node, method, ("def", number) if traits & STATIC else SELF, traits)


def modifiers(node: Node) -> int:
    """What stands before a member's name."""
    traits = 0
    for child in node.children:
        if child.is_named and child.type not in (
            "accessibility_modifier",
            "override_modifier",
            "decorator",
            "comment",
        ):
            break
        traits |= _MODIFIERS.get(child.type, 0)
    return traits


def _field(r: Reading, node: Node, number: int) -> None:
    key_node = node.child_by_field_name("name") or node.child_by_field_name("property")
    if key_node is None:
        return
    name, is_static = member_name(r, key_node), bool(modifiers(node) & STATIC)
    held, r.this = r.this, ("def", number) if is_static else r.this
    for child in node.named_children:
        if child.type == "decorator":
            r.visit_all(child.named_children)
    value_node = node.child_by_field_name("value")
    declared = type_of(r, node.child_by_field_name("type"))
    value = _field_value(r, value_node, name, number, is_static=is_static) if value_node is not None else None
    r.this = held
    known = value if value is not None and is_certain(r, value) else one_of(value, declared)
    line = node.start_point[0] + 1
    if value is not None and value == ("name", name):  # a bare name is never the field itself
        r.stores.append(Store(r.definitions[number].parent, ("attr", ("def", number), name), value, line))
    elif known is not None:
        r.bindings.append(Binding(number, name, known, line))


def _field_value(r: Reading, node: Node, name: str, number: int, *, is_static: bool) -> Expr | None:
    if node.type not in FUNCTIONS:
        return named(r, node, name)
    method = r.define(Shape.METHOD, name, node)
    traits = STATIC if is_static else 0
    read_function(r, node, method, ("def", number) if is_static else SELF, traits)
    return ("def", method)


def is_certain(r: Reading, value: Expr) -> bool:
    """Whether a value needs no declared type beside it."""
    if value[0] == "call":
        return r.calls[number_of(value)].new
    return value[0] in ("def", "dict", "key", "literal")


def named(r: Reading, node: Node, name: str) -> Expr | None:
    """The value of an expression; what is defined in it without a name is called by this one."""
    kind = node.type
    if kind in FUNCTIONS:
        return function(r, node, name)
    if kind == "class":
        return class_of(r, node, name)
    if kind in ("object", "call_expression"):
        r.hint = name
    return r.visit(node)


def interface(r: Reading, node: Node) -> Expr | None:
    own = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if own is None or body is None:
        return None
    number = _shape_of(r, node, r.text(own), body)
    for clause in node.named_children:
        if clause.type == "extends_type_clause":
            bases = (type_name(r, child) for child in clause.named_children)
            r.definitions[number].bases.extend(base for base in bases if base is not None)
    return None


def type_alias(r: Reading, node: Node) -> Expr | None:
    """An object type is an interface by another name; any other alias stands for what it says."""
    own, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if own is None or value is None:
        return None
    name = r.text(own)
    if value.type == "object_type":
        _shape_of(r, node, name, value)
        return None
    said = type_of(r, value)
    if said is not None:
        meant = inside(said) if said[0] == "new" else said
        r.pending_types.append((r.scope, name, meant, node.start_point[0] + 1))
    return None


def _shape_of(r: Reading, node: Node, name: str, body: Node) -> int:
    number = r.define(Shape.INTERFACE, name, node)
    before = r.enter(number, ("new", ("def", number)))
    type_parameters(r, node)
    for child in body.named_children:
        if child.type == "method_signature":
            signature(r, child)
        elif child.type == "property_signature":
            key, declared = child.child_by_field_name("name"), type_of(r, child.child_by_field_name("type"))
            if key is not None and declared is not None:
                r.bindings.append(Binding(number, member_name(r, key), declared, child.start_point[0] + 1))
    r.leave(before)
    return number


def signature(r: Reading, node: Node) -> None:
    """A method without a body."""
    key = node.child_by_field_name("name")
    if key is not None:
        method = r.define(Shape.METHOD, member_name(r, key), node)
        read_function(r, node, method, SELF, modifiers(node) | ABSTRACT)


def enum(r: Reading, node: Node) -> Expr | None:
    own, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if own is None:
        return None
    name = r.declare(r.text(own), is_lexical=True)
    number = r.define(Shape.CLASS, r.text(own), node)
    r.definitions[number].tags.append("enum")
    r.bindings.append(Binding(r.scope, name, ("def", number), node.start_point[0] + 1))
    for child in body.named_children if body is not None else ():
        key = child.child_by_field_name("name") if child.type == "enum_assignment" else child
        value = child.child_by_field_name("value") if child.type == "enum_assignment" else None
        if key is not None and key.type != "comment":
            held = (r.visit(value) if value is not None else None) or ("literal", "number")
            r.bindings.append(Binding(number, member_name(r, key), held, child.start_point[0] + 1))
    return ("def", number)
