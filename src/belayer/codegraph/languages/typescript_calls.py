"""Calls of TypeScript and JavaScript, written as calls, as `new`, as templates and as JSX."""

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Import
from belayer.codegraph.languages.typescript_builtins import (
    bound_call,
    built_in_call,
    built_in_method,
    built_in_new,
    follow_resolve,
    is_library,
    names_its_function,
    only_wraps,
)
from belayer.codegraph.languages.typescript_drafts import Written
from belayer.codegraph.languages.typescript_expressions import (
    chain,
    mention,
    operand,
    substitutions,
    through,
)
from belayer.codegraph.languages.typescript_frameworks import ROUTED, framework_call, test_call
from belayer.codegraph.languages.typescript_functions import FUNCTIONS, function
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_types import container, type_arguments
from belayer.codegraph.languages.typescript_values import (
    MODULE,
    MODULE_NAME,
    STRING,
    SUPER,
    TEST,
    UNKNOWN,
    attr_of,
    inside,
    one_of,
)
from belayer.codegraph.languages.typescript_words import BUILT_IN, MADE

_BOUND = frozenset(("call", "apply", "bind"))


def call_expression(r: Reading, node: Node) -> Expr | None:
    hint, r.hint = r.hint, None
    callee_node, arguments_node = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if callee_node is None or arguments_node is None:
        return operand(r, node)
    kind = callee_node.type
    holder, word, at = None, "", callee_node
    if kind == "member_expression":
        parts = callee_node.children
        at = parts[-1]
        word = r.text(at)
        holder = _held_function(r, parts[0], arguments_node) if word in _BOUND else None
        holder = holder or chain(r, parts[0])
        callee = MODULE if word == "exports" and holder == MODULE_NAME else attr_of(holder, word)
    elif kind == "identifier":
        word = r.text(callee_node)
        module = _required(r, arguments_node) if word == "require" else None
        if module is not None:
            return module
        callee = r.name(word)
    elif kind == "super":
        callee = attr_of(SUPER, "constructor")
    elif kind == "import":
        return _required(r, arguments_node) or operand(r, arguments_node)
    else:
        callee = r.visit(callee_node) or UNKNOWN
    said = node.child_by_field_name("type_arguments") if len(node.children) > 2 else None
    r.depth += 1
    written = _arguments(r, arguments_node, callee_node, holder, word, hint)
    r.depth -= 1
    number = len(r.calls)
    value = r.call(callee, written.args, at, written.spread)
    return _given(r, written, number, value, said, node)


def _held_function(r: Reading, node: Node, arguments: Node) -> Expr | None:
    """`(function () {…}).call(o)`: o is what the function calls `this`."""
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    first = arguments.named_children[0] if arguments.named_children else None
    if node.type != "function_expression" or first is None or first.type not in ("this", "identifier"):
        return None
    return function(r, node, this=chain(r, first))


def _given(
    r: Reading, written: Written, number: int, value: Expr, said: Node | None, node: Node
) -> Expr | None:
    """What a call gives: its own result, or what the built-in of this name makes of its arguments."""
    word, holder = written.word, written.holder
    other = None
    if holder is None:
        other = built_in_call(r, written, number) if word in BUILT_IN else None
    else:
        if word in ROUTED:
            other = framework_call(r, written, node)
        if word in _BOUND:
            other = bound_call(r, written, number)
        other = other or built_in_method(r, written, number)
    if said is not None:
        types = type_arguments(r, said)
        other = one_of(other, types[0]) if len(types) == 1 else other
    if written.has_functions:
        _call_functions(r, written, number)
    if other is None:
        return value
    return other if is_library(holder) else one_of(value, other)


def _call_functions(r: Reading, written: Written, number: int) -> None:
    """A function that stands in a call of something unknown is called by it, unless that is said already."""
    called = {call.callee for call in r.calls[number:]}
    for arg, node in zip(written.args, written.nodes, strict=False):
        if arg[0] != "def" or arg in called:
            continue
        if only_wraps(written.word):
            r.refer(arg, node)
        else:
            r.call(arg, (), node, unless=number)


def _required(r: Reading, arguments: Node) -> Expr | None:
    """`require("x")`, `import("x")`: the module, if it is written there which."""
    parts = [child for child in arguments.named_children if child.type != "comment"]
    if not parts or parts[0].type != "string":
        return None
    spec = r.text(parts[0])[1:-1]
    r.imports.append(Import(r.scope, spec, None, None, arguments.start_point[0] + 1))
    r.is_module = True
    return ("import", spec, None)


def _arguments(
    r: Reading, node: Node, callee: Node, holder: Expr | None, word: str, hint: str | None
) -> Written:
    if node.type == "template_string":
        return Written(callee, holder, word, (STRING, *substitutions(r, node)), (), ())
    nodes: list[Node] = []
    args: list[Expr] = []
    behind: list[Expr] = []  # from the first spread on
    has_functions = False
    for child in node.named_children:
        kind = child.type
        if kind == "comment":
            continue
        nodes.append(child)
        if kind == "identifier":
            value = r.name(r.text(child))
            mention(r, value, child)
        elif kind in FUNCTIONS:
            value = _argument_function(
                r, child, callee, holder, word, None if has_functions else hint, nodes[0]
            )
            has_functions = True
        elif kind == "spread_element":
            behind.append(("spread", through(r, child) or UNKNOWN))
            continue
        else:
            value = r.visit(child) or UNKNOWN
            mention(r, value, child)
        (behind if behind else args).append(value)
    return Written(callee, holder, word, tuple(args), _spread(behind), tuple(nodes), has_functions)


def _spread(behind: list[Expr]) -> tuple[tuple[str, Expr], ...]:
    """The arguments from the first spread on, as one."""
    if not behind:
        return ()
    return (("*", inside(behind[0]) if len(behind) == 1 else ("list", tuple(behind))),)


def _argument_function(
    r: Reading, node: Node, callee: Node, holder: Expr | None, word: str, hint: str | None, first: Node
) -> Expr:
    """A function that is written as an argument: a test's, one that gets its name by the call, or one without."""
    title = test_call(r, callee, first)
    if title is not None:
        return function(r, node, title, traits=TEST)
    return function(r, node, hint if hint and names_its_function(holder, word) else None)


def new_expression(r: Reading, node: Node) -> Expr | None:
    constructor, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
    if constructor is None:
        return None
    callee = chain(r, constructor)
    said = type_arguments(r, node.child_by_field_name("type_arguments"))
    word = r.text(constructor) if constructor.type == "identifier" else ""
    start = len(r.calls)
    if arguments is not None:
        written = _arguments(r, arguments, constructor, None, word, None)
    else:
        written = Written(constructor, None, word, (), (), ())
    if word == "Promise":
        follow_resolve(r, written, start)
    number = len(r.calls)
    value = r.call(callee, written.args, constructor, written.spread, new=True)
    other = one_of(built_in_new(r, written, number), container(word, said)) if word in MADE else None
    if written.has_functions:
        _call_functions(r, written, number)
    return other or value


def jsx_element(r: Reading, node: Node) -> Expr | None:
    opening = node.child_by_field_name("open_tag")
    inside = [value for child in node.named_children[1:-1] if (value := r.visit(child)) is not None]
    return _element(r, opening, inside) if opening is not None else None


def jsx_self_closing(r: Reading, node: Node) -> Expr | None:
    return _element(r, node, [])


def jsx_expression(r: Reading, node: Node) -> Expr | None:
    value = through(r, node)
    if value is not None:
        mention(r, value, node)
    return value


def _element(r: Reading, node: Node, children: list[Expr]) -> Expr | None:
    """A component is called with its properties; `div` is not."""
    r.definitions[r.scope].has_jsx = True
    properties: list[tuple[object, Expr]] = []
    for child in node.named_children:
        if child.type == "jsx_attribute":
            properties.extend(_attribute(r, child))
        elif child.type == "jsx_expression":
            properties.append((None, ("spread", through(r, child) or UNKNOWN)))
    if children:
        properties.append(("children", one_of(None, None, *children) or UNKNOWN))
    name = node.child_by_field_name("name")
    if name is None or (name.type == "identifier" and not r.text(name)[:1].isupper()):
        return None
    if name.type not in ("identifier", "member_expression"):
        return None
    r.call(chain(r, name), (("dict", tuple(properties)),), name)
    return None


def _attribute(r: Reading, node: Node) -> list[tuple[object, Expr]]:
    parts = node.named_children
    if len(parts) < 2:
        return []
    value = r.visit(parts[1])
    return [(r.text(parts[0]), value)] if value is not None else []
