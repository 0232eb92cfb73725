"""Object literals, and what is assigned to members: properties, prototypes, what CommonJS exports."""

from tree_sitter import Node

from belayer.codegraph.facts import Binding, Expr, Shape
from belayer.codegraph.languages.typescript_classes import modifiers, named
from belayer.codegraph.languages.typescript_expressions import (
    chain,
    mention,
    subscript_expression,
    through,
)
from belayer.codegraph.languages.typescript_functions import FUNCTIONS, function, read_function
from belayer.codegraph.languages.typescript_patterns import bind_pattern, key_of
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_values import (
    LONGEST_KEY,
    MODULE,
    OBJECT,
    PROPERTY,
    UNKNOWN,
    attr_of,
    inside,
    number_of,
    one_of,
    pairs,
)


def object_(r: Reading, node: Node) -> Expr | None:
    """An object literal. If its functions say `this`, the object gets a name for them to say."""
    row, column = node.start_point
    own: Expr = ("name", f"{OBJECT}{row + 1}:{column}>")
    value = _literal(r, node, own)
    if own not in r.this_used:
        return value
    r.bindings.append(Binding(r.scope, str(own[1]), value, row + 1))
    return own


def _literal(r: Reading, node: Node, this: Expr) -> Expr:
    """An object literal's properties; `this` is what its functions call so."""
    prefix, r.hint = r.hint, None
    r.depth += 1
    items = [item for child in node.named_children for item in _property(r, child, prefix, this)]
    r.depth -= 1
    return ("dict", tuple(_last_of_each(items) if len({key for key, _ in items}) < len(items) else items))


def _last_of_each(items: list[tuple[object, Expr]]) -> list[tuple[object, Expr]]:
    """Of two properties of one name the last one counts."""
    last = {key: number for number, (key, _) in enumerate(items) if key is not None}
    return [item for number, item in enumerate(items) if item[0] is None or last[item[0]] == number]


def _property(r: Reading, node: Node, prefix: str | None, own: Expr) -> list[tuple[object, Expr]]:
    kind = node.type
    if kind == "pair":
        key_node, value_node = node.child_by_field_name("key"), node.child_by_field_name("value")
        if key_node is None or value_node is None:
            return []
        key = key_of(r, key_node)
        value = _pair_value(r, value_node, _label(prefix, key), own)
        mention(r, value, value_node)
        return [(key, value)] if key != "__proto__" else [(None, ("spread", value))]
    if kind == "shorthand_property_identifier":
        value = r.name(r.text(node))
        mention(r, value, node)
        return [(r.text(node), value)]
    if kind == "method_definition":
        return _literal_method(r, node, prefix, own)
    if kind == "spread_element":
        return [(None, ("spread", through(r, node) or UNKNOWN))]
    return []


def _label(prefix: str | None, key: object) -> str | None:
    if key is None:
        return None
    return f"{prefix}.{key}" if prefix else str(key)


def _pair_value(r: Reading, node: Node, label: str | None, own: Expr) -> Expr:
    if node.type in FUNCTIONS and node.type != "arrow_function":
        return function(r, node, label, this=own)
    return (named(r, node, label) if label else r.visit(node)) or UNKNOWN


def _literal_method(r: Reading, node: Node, prefix: str | None, own: Expr) -> list[tuple[object, Expr]]:
    key_node = node.child_by_field_name("name")
    key = key_of(r, key_node) if key_node is not None else None
    traits = modifiers(node)
    label = _label(prefix, key) or "<method>"
    number = r.define(Shape.FUNCTION, label, node)
    read_function(r, node, number, own, traits & ~PROPERTY)
    tokens = {child.type for child in node.children[:3]}
    if "set" in tokens:
        return []
    if "get" in tokens:
        return [(key, r.call(("def", number), (), node))]
    return [(key, ("def", number))]


def assignment_expression(r: Reading, node: Node) -> Expr | None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return None
    line = node.start_point[0] + 1
    if left.type == "identifier":
        value = named(r, right, r.text(left))
        r.assign(r.text(left), value or UNKNOWN, line)
        return value
    if left.type in ("member_expression", "subscript_expression"):
        return _assign_member(r, left, right, line)
    value = r.visit(right)
    bind_pattern(r, left, value, line, is_new=False)
    return value


def augmented_assignment(r: Reading, node: Node) -> Expr | None:
    """`a ||= b` may bind; sums give nothing to follow."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None:
        return None
    value, before = r.visit(right), r.visit(left)
    if value is None or operator is None or operator.type not in ("||=", "&&=", "??="):
        return None
    line = node.start_point[0] + 1
    if left.type == "identifier":
        r.assign(r.text(left), one_of(before, value) or UNKNOWN, line)
    elif before is not None:
        r.store(before, value, line)
    return one_of(before, value)


def _assign_member(r: Reading, left: Node, right: Node, line: int) -> Expr | None:
    """`a.b = e`, `exports.b = e`, `A.prototype = {…}`."""
    target = chain(r, left) if left.type == "member_expression" else subscript_expression(r, left)
    value = _member_value(r, left, right, target)
    if target is None or value is None:
        return value
    if target == MODULE:
        _export_module(r, value)
    elif target[0] == "attr" and target[2] == "__proto__":
        set_prototype(r, inside(target), value, line)
    elif target[0] == "attr" and target[1] == MODULE and r.names.get("exports") == MODULE:
        r.export(str(target[2]), value)
    elif _is_prototype(r, left):
        _prototype(r, target, value, line)
    else:
        r.store(target, value, line)
    return value


def _member_value(r: Reading, left: Node, right: Node, target: Expr | None) -> Expr | None:
    """The value, with functions named after the member, and with what `this` is in a prototype's function."""
    if target is None:
        return r.visit(right)
    if right.type == "object" and _is_prototype(r, left):
        r.hint = str(target[1]) if target[0] == "name" else None
        return _literal(r, right, ("new", r.always(target)))
    word = str(target[2]) if target[0] == "attr" else "exports" if target == MODULE else None
    holder = r.always(inside(target)) if target[0] == "attr" else None
    if right.type not in FUNCTIONS or right.type == "arrow_function":
        is_nameless = word is None or (target == MODULE and right.type == "object")
        return r.visit(right) if is_nameless else named(r, right, str(word))
    if target[0] == "item":
        return function(r, right, this=_holder_of_item(r, left, target))
    text = r.text(left)
    if ".prototype." in text and holder is not None:
        label = text.replace(".prototype.", ".") if len(text) < LONGEST_KEY else word
        return function(r, right, label, this=("new", holder))
    if holder is not None and holder[0] == "name" and len(text) < LONGEST_KEY:
        return function(r, right, text, this=holder)
    return function(
        r, right, word, this=holder if isinstance(holder, tuple) and holder[0] == "self" else None
    )


def _holder_of_item(r: Reading, left: Node, target: Expr) -> Expr | None:
    """What `this` is in the function of `A.prototype[name] = …` or `app[name] = …`."""
    of, holder = left.child_by_field_name("object"), r.always(inside(target))
    if of is None or holder[0] != "name":
        return None
    return ("new", holder) if _is_prototype(r, of) else holder


def _is_prototype(r: Reading, left: Node) -> bool:
    return left.type == "member_expression" and r.text(left).endswith(".prototype")


def set_prototype(r: Reading, child: Expr, base: Expr, line: int) -> None:
    """A class or function gets a base; an object has what the other one has."""
    if not r.inherit(child, base):
        r.store(("item", child, None), ("spread", base), line)


def _export_module(r: Reading, value: Expr) -> None:
    """`module.exports = e`: what the module is; an object's properties are its exports."""
    r.export("=", value)
    r.export("default", value)
    value = written(r, value)
    for key, held in pairs(value) if value[0] == "dict" else ():
        if isinstance(key, str):
            r.export(key, held)
        elif held[0] == "spread" and inside(held)[0] == "import" and inside(held)[2] is None:
            r.pass_on(str(inside(held)[1]))


def written(r: Reading, value: Expr) -> Expr:
    """An object literal by what is written in it, if it was just read and has a name of its own."""
    if value[0] == "name" and str(value[1]).startswith(OBJECT):
        return next((binding.value for binding in reversed(r.bindings) if binding.name == value[1]), value)
    return value


def _prototype(r: Reading, holder: Expr, value: Expr, line: int) -> None:
    """`A.prototype = {…}` gives A's instances these members; `= new B()` and Object.create(B.prototype) its base."""
    if value[0] == "dict":
        for key, held in pairs(value):
            if key is not None:
                r.store(attr_of(holder, key), held, line)
        return
    base = value
    if value[0] == "call" and r.calls[number_of(value)].new:
        base = r.calls[number_of(value)].callee
    r.inherit(holder, base)
