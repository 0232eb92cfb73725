"""Read C#'s expressions into facts."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Param, Shape
from belayer.codegraph.languages.csharp_types import (
    FLOWS,
    CSharpNotes,
    CSharpWalk,
    dotted,
    from_namespace,
    named,
    not_itself,
    qualified,
    speak_of,
    typed,
    word,
)
from belayer.codegraph.languages.draft import NOTHING, SELF, SUPER, chain, line_of
from belayer.codegraph.languages.walk import (
    Handler,
    flowing,
    holds,
    item,
    one_of,
)

LITERALS: Mapping[str, Expr] = {
    "string_literal": ("literal", "string"),
    "verbatim_string_literal": ("literal", "string"),
    "raw_string_literal": ("literal", "string"),
    "integer_literal": ("literal", "int"),
    "real_literal": ("literal", "double"),
    "character_literal": ("literal", "char"),
    "boolean_literal": ("literal", "bool"),
}
EXACT = frozenset(
    {"object_creation_expression", "implicit_object_creation_expression", "lambda_expression"}
    | {"anonymous_method_expression"}
)
MEMBERS = ("member_access_expression", "conditional_access_expression")
LONGEST_NAMESPACE = 6
HELD = frozenset({"Value", "Result", "Current"})  # what a holder holds


def is_exact(node: Node | None) -> bool:
    """Whether an expression has no other type than the one it shows."""
    return node is not None and node.type in EXACT


def text_of(walk: CSharpWalk, node: Node) -> str:
    """What a string literal says."""
    return walk.draft.text(node).lstrip("@$").strip('"')


def params_of(walk: CSharpWalk, node: Node | None) -> list[tuple[Param, Node]]:
    """Parameters, and where they stand."""
    found: list[tuple[Param, Node]] = []
    children = node.children if node is not None else []
    for place, child in enumerate(children):
        if child.type in ("parameter", "implicit_parameter"):
            found.append((_param(walk, child), child))
        elif child.type == "array_type" and place + 1 < len(children):  # params T[] rest
            value = typed(walk, child.child_by_field_name("type"))
            found.append((Param(walk.draft.text(children[place + 1]), value, None, "*"), child))
    return found


def _param(walk: CSharpWalk, node: Node) -> Param:
    name = node.child_by_field_name("name") or node
    value = typed(walk, node.child_by_field_name("type"))
    has_default = any(child.type == "=" for child in node.children)
    default = LITERALS.get(node.children[-1].type, NOTHING) if has_default else None
    return Param(walk.draft.text(name), None if value is NOTHING else value, default)


def read_body(walk: CSharpWalk, node: Node | None, kind: Node | None = None) -> None:
    """A block, `=> value`, or a lambda's value."""
    if node is None:
        return
    if node.type == "block":
        walk.each(node.children)
    elif node.type == "arrow_expression_clause":
        walk.draft.give(expected(walk, node.named_children[-1] if node.named_child_count else None, kind))
    else:
        walk.draft.give(part(walk, node))


def expected(walk: CSharpWalk, node: Node | None, kind: Node | None) -> Expr:
    """A value where a type is expected: `new()` makes one of it."""
    if node is not None and node.type == "implicit_object_creation_expression":
        return _created(walk, node, named(walk, kind), kind)
    return part(walk, node)


def part(walk: CSharpWalk, node: Node | None) -> Expr:
    """What a node gives; `this` and `base` are mere words in this grammar."""
    if node is not None and not node.is_named:
        return SELF if node.type == "this" else SUPER if node.type == "base" else NOTHING
    return walk.expr(node)


def value_of(walk: CSharpWalk, node: Node) -> Expr:
    """What has the value of its last part: parentheses, an awaited value, an expression as a statement."""
    value: Expr = NOTHING
    for child in node.children:
        if child.is_named or child.type in ("this", "base"):
            value = part(walk, child)
    return value


def first_of(walk: CSharpWalk, node: Node) -> Expr:
    """What has the value of its first part: `x!`, `x++`."""
    return part(walk, node.children[0])


def variables(walk: CSharpWalk, node: Node, *, is_fixed: bool = False) -> list[str]:
    """Variables of one type: locals, or fields of the class. The names they are spoken of by."""
    draft = walk.draft
    kind = node.child_by_field_name("type")
    is_field = draft.definitions[draft.scope].shape in (Shape.CLASS, Shape.INTERFACE)
    declared = typed(walk, kind) if kind is not None and kind.type != "implicit_type" else NOTHING
    names: list[str] = []
    for child in node.children:
        if child.type != "variable_declarator":
            continue
        value_node = _initial(child)
        value = expected(walk, value_node, kind)
        name_node = child.child_by_field_name("name")
        if name_node is None or name_node.type != "identifier":
            _designate(walk, child, value)
            continue
        name = draft.text(name_node) if is_field else draft.declare(draft.text(name_node))
        names.append(name)
        if not is_exact(value_node) or (is_field and not is_fixed) or holds(declared):
            draft.bind(name, not_itself(walk, name, declared) if is_field else declared, line_of(child))
        draft.bind(name, value, line_of(child))
        walk.own.routes.bound(name, value)
    return names


def _initial(declarator: Node) -> Node | None:
    has_value = any(child.type == "=" for child in declarator.children)
    return declarator.children[-1] if has_value else None


def _designate(walk: CSharpWalk, node: Node, value: Expr) -> None:
    """`var (a, b) = …`."""
    draft = walk.draft
    holder = next((child for child in node.named_children if child.type == "tuple_pattern"), None)
    for place, child in enumerate(holder.named_children if holder is not None else ()):
        if child.type == "identifier":
            draft.bind(draft.declare(draft.text(child)), item(value, place), line_of(child))


# Names


def identifier(walk: CSharpWalk, node: Node) -> Expr:
    """A name as a value; one that is no local may be a property."""
    name = walk.draft.text(node)
    spelled = walk.draft.locals.get(name)
    if spelled is not None:
        return ("name", spelled)
    value = ("name", name)
    walk.draft.refer(value, node)
    return value


def generic_name(walk: CSharpWalk, node: Node) -> Expr:
    speak_of(walk, node.children[-1])
    return identifier(walk, node.children[0])


def access(walk: CSharpWalk, node: Node) -> Expr:
    """`a.b` that is not called: it may be a property."""
    words = _names(walk, node)
    if words is not None and len(words) > 1 and words[0] not in walk.draft.locals:
        return _outer(walk, words, node)
    place, name, value = member(walk, node)
    walk.draft.refer(value, place)
    return one_of((value, item(value[1]))) if name in HELD else value


def conditional_access(walk: CSharpWalk, node: Node) -> Expr:
    """`a?.b`, `a?[b]`."""
    binding = node.children[-1]
    if binding.type == "member_binding_expression":
        place, _, value = member(walk, node)
        walk.draft.refer(value, place)
        return value
    target = walk.field(node, "condition")
    walk.expr(binding)
    return item(target) if binding.type == "element_binding_expression" else NOTHING


def member(walk: CSharpWalk, node: Node) -> tuple[Node, str, Expr]:
    """Where, how and as what `a.b` or `a?.b` is spelled."""
    if node.type == "conditional_access_expression":
        place = node.children[-1].child_by_field_name("name") or node
        target = part(walk, node.child_by_field_name("condition"))
    else:
        place = node.child_by_field_name("name") or node
        target = _target(walk, node.child_by_field_name("expression"))
    if place.type == "generic_name" and place.child_count:
        speak_of(walk, place.children[-1])
        place = place.children[0]
    name = walk.draft.text(place)
    return place, name, ("attr", target, name)


def _target(walk: CSharpWalk, node: Node | None) -> Expr:
    """What stands before the dot of `a.b`: a value, a class, or a class with its namespace."""
    kind = node.type if node is not None else ""
    if node is None:
        return NOTHING
    if kind == "member_access_expression":
        words = _names(walk, node)
        if words is not None and words[0] not in walk.draft.locals:
            return _outer(walk, words, node)
    if kind in ("alias_qualified_name", "qualified_name"):
        return qualified(walk, dotted(walk, node))
    return ("name", word(walk, node)) if kind == "generic_name" else part(walk, node)


def _names(walk: CSharpWalk, node: Node) -> list[str] | None:
    """The words of `A.B.C`, if it is made of names with capitals only."""
    words: list[str] = []
    while node.type == "member_access_expression":
        words.append(word(walk, node.child_by_field_name("name")))
        before = node.child_by_field_name("expression")
        if before is None:
            return None
        node = before
    if node.type not in ("identifier", "alias_qualified_name"):
        return None
    words.append(dotted(walk, node)[-1])
    return words[::-1] if all(each[:1].isupper() for each in words) else None


def _outer(walk: CSharpWalk, words: list[str], node: Node) -> Expr:
    """Names that start at a class, a property or a namespace: all that it may be."""
    inner = chain(("name", words[0]), words[1:])
    walk.draft.refer(inner, node)
    places = range(1, min(len(words), LONGEST_NAMESPACE))
    outer = [chain(from_namespace(walk, words[: at + 1]), words[at + 1 :]) for at in places]
    return ("any", (inner, *outer))


# Calls


def invocation(walk: CSharpWalk, node: Node) -> Expr:
    draft = walk.draft
    function, last = node.children[0], node.children[-1]
    kind = function.type
    if kind in MEMBERS:
        return _call_member(walk, function, last)
    place = function.children[0] if kind == "generic_name" else function
    if kind in ("identifier", "generic_name"):
        name = draft.text(place)
        if name == "nameof":
            return ("literal", "string")
        callee: Expr = ("name", draft.locals.get(name, name))
        if kind == "generic_name":
            speak_of(walk, function.children[-1])
    else:
        callee = part(walk, function)
    values, keywords = arguments(walk, last)
    return draft.call(callee, values, place, keywords=keywords)


def _call_member(walk: CSharpWalk, function: Node, last: Node) -> Expr:
    place, name, callee = member(walk, function)
    values, keywords = arguments(walk, last)
    given = walk.draft.call(callee, values, place, keywords=keywords)
    target: Expr = callee[1]
    walk.own.routes.called(name, target, given, _texts(walk, last), values, line_of(place))
    return flowing(walk.draft, FLOWS, name, target, given)


def _texts(walk: CSharpWalk, holder: Node) -> list[str | None]:
    """The strings among a call's arguments."""
    inner = [
        child.named_children[-1] if child.named_child_count else child for child in holder.named_children
    ]
    return [text_of(walk, child) if child.type in LITERALS else None for child in inner]


def arguments(walk: CSharpWalk, node: Node | None) -> tuple[list[Expr], tuple[tuple[str, Expr], ...]]:
    """What the arguments of a call give: those in order, and those with names."""
    values: list[Expr] = []
    keywords: list[tuple[str, Expr]] = []
    for child in node.children if node is not None else ():
        if child.type != "argument":
            continue
        children = child.children
        value = part(walk, children[-1])
        if len(children) > 2 and children[1].type == ":":
            keywords.append((walk.draft.text(children[0]), value))
        else:
            values.append(value)
    return values, tuple(keywords)


def creation(walk: CSharpWalk, node: Node) -> Expr:
    """`new A(…) { … }`, `new A[] { … }`."""
    kind = node.child_by_field_name("type")
    if kind is None or kind.type != "array_type":
        return _created(walk, node, named(walk, kind), kind)
    made = typed(walk, kind)
    lists = [walk.expr(child) for child in node.named_children if child.type == "initializer_expression"]
    return lists[0] if lists else made


def implicit_creation(walk: CSharpWalk, node: Node) -> Expr:
    return _created(walk, node, NOTHING, None)


def _created(walk: CSharpWalk, node: Node, callee: Expr, kind: Node | None) -> Expr:
    holder = next((child for child in node.children if child.type == "argument_list"), None)
    values, keywords = arguments(walk, holder)
    given = NOTHING
    if callee is not NOTHING:
        at = kind if node.type == "object_creation_expression" and kind is not None else node
        given = walk.draft.call(callee, values, at, new=True, keywords=keywords)
    for child in node.children:
        if child.type == "initializer_expression":
            _initialize(walk, given, child)
    made = typed(walk, kind) if kind is not None and kind.type == "generic_name" else NOTHING
    return ("any", (given, made)) if holds(made) else given


def _initialize(walk: CSharpWalk, target: Expr, node: Node) -> None:
    """`{ A = 1, B = { … } }` after `new`, or the items of a collection."""
    for child in node.named_children:
        left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
        if child.type != "assignment_expression" or left is None or left.type != "identifier":
            walk.expr(child)
            continue
        field = ("attr", target, walk.draft.text(left))
        if right is not None and right.type == "initializer_expression":
            _initialize(walk, field, right)
        else:
            value = part(walk, right)
            walk.draft.store(field, value if target is not NOTHING else NOTHING, line_of(child))


def lambda_(walk: CSharpWalk, node: Node) -> Expr:
    draft = walk.draft
    row, column = node.start_point
    parameters = node.child_by_field_name("parameters")
    if parameters is not None and parameters.type == "implicit_parameter":
        params = (Param(draft.text(parameters)),)
    else:
        params = tuple(param for param, _ in params_of(walk, parameters))
    number = draft.define(Shape.LAMBDA, f"<lambda:{row + 1}:{column}>", node, params=params)
    before = draft.enter(number)
    body = node.child_by_field_name("body")
    read_body(walk, body or next((child for child in node.children if child.type == "block"), None))
    draft.leave(before)
    return ("def", number)


EXPRESSIONS: Mapping[str, Handler[CSharpNotes]] = {
    "expression_statement": value_of,
    "parenthesized_expression": value_of,
    "await_expression": value_of,
    "checked_expression": value_of,
    "ref_expression": value_of,
    "argument": value_of,
    "implicit_array_creation_expression": value_of,
    "collection_element": value_of,
    "expression_element": value_of,
    "postfix_unary_expression": first_of,
    "identifier": identifier,
    "generic_name": generic_name,
    "invocation_expression": invocation,
    "member_access_expression": access,
    "conditional_access_expression": conditional_access,
    "object_creation_expression": creation,
    "implicit_object_creation_expression": implicit_creation,
    "array_creation_expression": creation,
    "lambda_expression": lambda_,
    "anonymous_method_expression": lambda_,
}
