"""What the expressions of TypeScript and JavaScript give, and the calls and stores that they make on the way."""

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.typescript_classes import class_of
from belayer.codegraph.languages.typescript_functions import function
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_types import type_arguments, type_of
from belayer.codegraph.languages.typescript_values import (
    LONGEST_CHAIN,
    LONGEST_KEY,
    MODULE,
    MODULE_NAME,
    NUMBER,
    STRING,
    SUPER,
    UNKNOWN,
    as_key,
    attr_of,
    inside,
    number_of,
    one_of,
)

_READABLE = frozenset(("name", "attr", "def", "import", "bound"))
_KEYS = frozenset(("name", "bound", "attr", "key", "item"))
_CHOICES = frozenset(("||", "??", "&&"))


def identifier(r: Reading, node: Node) -> Expr | None:
    """A name that is read. That an imported thing is spoken of at all is worth an edge."""
    word = r.text(node)
    value = r.name(word)
    if word in r.imported and value[0] == "name":
        r.refer(value, node)
    return value


def this(r: Reading, _node: Node) -> Expr | None:
    r.this_used.add(r.this)
    return r.this


def super_(_r: Reading, _node: Node) -> Expr | None:
    return SUPER


def string(r: Reading, node: Node) -> Expr | None:
    start, end = node.start_byte, node.end_byte
    if end - start > LONGEST_KEY or b" " in r.source[start:end]:
        return STRING
    return ("key", as_key(r.text(node)[1:-1]))


def number(r: Reading, node: Node) -> Expr | None:
    key = as_key(r.text(node)) if node.end_byte - node.start_byte < 9 else ""
    return ("key", key) if isinstance(key, int) else NUMBER


def literal(_r: Reading, node: Node) -> Expr | None:
    return ("literal", "boolean" if node.type in ("true", "false") else "RegExp")


def template_string(r: Reading, node: Node) -> Expr | None:
    return STRING if substitutions(r, node) else string(r, node)


def substitutions(r: Reading, node: Node) -> list[Expr]:
    """What stands in the `${…}` of a template: a tag is called with it."""
    return [
        through(r, child) or UNKNOWN for child in node.named_children if child.type == "template_substitution"
    ]


def chain(r: Reading, node: Node) -> Expr:
    """`a.b.c` as it stands, without saying that it is spoken of: what a call or another chain starts from."""
    properties: list[str] = []
    kind = node.type
    while kind == "member_expression":
        parts = node.children
        properties.append(r.text(parts[-1]))
        node = parts[0]
        kind = node.type
    if kind == "identifier":
        value = r.name(r.text(node))
    else:
        value = r.visit(node) or UNKNOWN
    if not properties:
        return value
    if len(properties) > LONGEST_CHAIN:
        return UNKNOWN
    if value == MODULE_NAME and properties[-1] == "exports":
        value = MODULE
        properties.pop()
        r.is_module = True
    for word in reversed(properties):
        if word != "prototype":  # an instance sees what its class was given
            value = attr_of(value, word)
    return value


def member_expression(r: Reading, node: Node) -> Expr | None:
    value = chain(r, node)
    base = value
    while base[0] == "attr":
        base = inside(base)
    if base[0] == "name" and base[1] in r.imported:
        r.refer(value, node)
    elif value[0] == "attr":
        r.reads.append((r.scope, value, node))
    return value


def subscript_expression(r: Reading, node: Node) -> Expr | None:
    holder, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    if holder is None:
        return None
    value = chain(r, holder)
    key = r.visit(index) if index is not None else None
    if key is not None and key[0] == "bound" and r.bindings[number_of(key)].value[0] == "key":
        key = r.bindings[number_of(key)].value
    if key is not None and key[0] == "key":
        return attr_of(value, key[1])
    return ("item", value, key if key is not None and key[0] in _KEYS else None)


def through(r: Reading, node: Node) -> Expr | None:
    """What only wraps an expression: parentheses, await, `!`."""
    value = None
    for child in node.named_children:
        value = r.visit(child) if child.type != "comment" else value
    return value


def statement(r: Reading, node: Node) -> Expr | None:
    """An expression that is a statement."""
    r.visit(node.children[0])
    return None


def sequence(r: Reading, node: Node) -> Expr | None:
    value = None
    for child in node.named_children:
        value = r.visit(child)
    return value


def as_expression(r: Reading, node: Node) -> Expr | None:
    """`e as T`: what e is, and a T."""
    parts = [child for child in node.named_children if child.type != "comment"]
    if not parts:
        return None
    value = r.visit(parts[0])
    said = type_of(r, parts[-1]) if len(parts) > 1 else None
    return value if value is not None and value[0] in ("def", "dict", "list") else one_of(value, said)


def type_assertion(r: Reading, node: Node) -> Expr | None:
    parts = node.named_children
    said = type_arguments(r, parts[0]) if parts else []
    return one_of(r.visit(parts[-1]) if len(parts) > 1 else None, None, *said)


def binary_expression(r: Reading, node: Node) -> Expr | None:
    """Long sums lean to the left: followed in a loop, not by recursion."""
    operands: list[tuple[Node, str]] = []
    while node.type == "binary_expression":
        parts = node.children
        if len(parts) != 3:
            parts = [part for part in parts if part.type != "comment"]
        if len(parts) != 3:
            break
        operands.append((parts[2], parts[1].type))
        node = parts[0]
    if node.type == "binary_expression":  # it is broken
        return operand(r, node)
    value = r.visit(node)
    for right, operator in reversed(operands):
        if operator in _CHOICES:
            value = _choice(r, value, right, operator)
        else:
            value = _sum(value, r.visit(right)) if operator == "+" else r.visit(right) and None
    return value


def _choice(r: Reading, value: Expr | None, right: Node, operator: str) -> Expr | None:
    """What stands behind `||`, `??` and `&&` may not be reached."""
    mark = len(r.journal)
    r.branch += 1
    other = r.visit(right)
    r.branch -= 1
    r.forget(mark)
    return other if operator == "&&" else one_of(value, other)


def _sum(one: Expr | None, other: Expr | None) -> Expr | None:
    """Two strings that are written there may make a key."""
    if one is None or other is None or one[0] != "key" or other[0] != "key":
        return None
    text = f"{one[1]}{other[1]}"
    return ("key", text) if len(text) < LONGEST_KEY else STRING


def ternary_expression(r: Reading, node: Node) -> Expr | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) < 3:
        r.visit_all(parts)
        return None
    r.visit(parts[0])
    mark = len(r.journal)
    r.branch += 1
    value = one_of(r.visit(parts[1]), r.visit(parts[2]))
    r.branch -= 1
    r.forget(mark)
    return value


def operand(r: Reading, node: Node) -> Expr | None:
    """An operator whose result is no value that anything is looked up in."""
    r.visit_all(node.named_children)
    return None


def yield_expression(r: Reading, node: Node) -> Expr | None:
    value = through(r, node)
    draft = r.definitions[r.scope]
    if value is not None:
        is_all = any(child.type == "*" for child in node.children)
        draft.returns.append(("item", value, None) if is_all else value)
    return None


def function_value(r: Reading, node: Node) -> Expr | None:
    return function(r, node)


def class_value(r: Reading, node: Node) -> Expr | None:
    return class_of(r, node)


def array(r: Reading, node: Node) -> Expr | None:
    items: list[Expr] = []
    for child in node.named_children:
        if child.type == "spread_element":
            items.append(("spread", through(r, child) or UNKNOWN))
        elif child.type != "comment":
            value = r.value(child)
            mention(r, value, child)
            items.append(value)
    return ("list", tuple(items))


def mention(r: Reading, value: Expr, node: Node) -> None:
    """A function or class that is passed on is used, even if nobody here calls it."""
    if value[0] in _READABLE and value[0] != "bound":
        r.refer(value, node)
