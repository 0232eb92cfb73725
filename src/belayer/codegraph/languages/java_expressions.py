"""Read Java's statements and expressions into facts."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Param, Shape
from belayer.codegraph.languages.draft import NOTHING, SELF, SUPER, chain, line_of
from belayer.codegraph.languages.java_types import (
    COMMENTS,
    FLOWS,
    TYPE_LIKE,
    JavaNotes,
    JavaWalk,
    dotted,
    named,
    qualified,
    speak_of,
    typed,
    typed_or_none,
)
from belayer.codegraph.languages.walk import (
    Handler,
    conditional,
    flowing,
    holds,
    item,
    one_of,
    only,
    operands,
    others,
    written_index,
)

LITERALS: Mapping[str, Expr] = {
    "string_literal": ("literal", "String"),
    "decimal_integer_literal": ("literal", "int"),
    "hex_integer_literal": ("literal", "int"),
    "octal_integer_literal": ("literal", "int"),
    "binary_integer_literal": ("literal", "int"),
    "decimal_floating_point_literal": ("literal", "double"),
    "hex_floating_point_literal": ("literal", "double"),
    "character_literal": ("literal", "char"),
    "true": ("literal", "boolean"),
    "false": ("literal", "boolean"),
}
METHOD_HANDLES = frozenset({"findStatic", "findVirtual", "findSpecial", "findConstructor"})
REFLECTION = METHOD_HANDLES | {
    "newInstance",
    "getConstructor",
    "getDeclaredConstructor",
    "getMethod",
    "getDeclaredMethod",
    "forName",
    "cast",
    "findGetter",
    "findStaticGetter",
}
COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
EXACT = frozenset({"object_creation_expression", "lambda_expression", "method_reference"})
TYPES = ("type_identifier", "generic_type", "scoped_type_identifier", "array_type")


def is_exact(node: Node | None) -> bool:
    """Whether an expression has no other type than the one it shows."""
    return node is not None and node.type in EXACT


def params_of(walk: JavaWalk, node: Node | None) -> list[tuple[Param, Node]]:
    """The parameters of a method, lambda or record, and where they stand."""
    found: list[tuple[Param, Node]] = []
    for child in node.children if node is not None else ():
        kind = child.type
        if kind == "formal_parameter":
            name = walk.draft.text(child.child_by_field_name("name"))
            found.append((Param(name, typed_or_none(walk, child.child_by_field_name("type"), child)), child))
        elif kind == "spread_parameter":
            found.append((_rest(walk, child), child))
        elif kind == "identifier":
            found.append((Param(walk.draft.text(child)), child))
    return found


def _rest(walk: JavaWalk, node: Node) -> Param:
    parts = [child for child in node.named_children if child.type != "modifiers"]
    name = parts[-1].child_by_field_name("name") if parts else None
    return Param(walk.draft.text(name), typed(walk, parts[0] if parts else None), None, "*")


# Names


def identifier(walk: JavaWalk, node: Node) -> Expr:
    name = walk.draft.text(node)
    return ("name", walk.draft.locals.get(name, name))


def this(walk: JavaWalk, node: Node) -> Expr:
    del walk, node
    return SELF


def super_(walk: JavaWalk, node: Node) -> Expr:
    del walk, node
    return SUPER


def access(walk: JavaWalk, node: Node) -> Expr:
    """`a.b`, `Outer.this`, `some.package.Type`."""
    children = node.children
    first, field = children[0], children[-1]
    if field.type == "this":
        return ("new", qualified(dotted(walk, first)))
    if first.type == "this":
        return ("attr", SELF, walk.draft.text(field))
    words = _names(walk, node)
    if words is not None and words[0] not in walk.draft.locals:
        return _outer(walk, words, node)
    return ("attr", walk.expr(first), walk.draft.text(field))


def _names(walk: JavaWalk, node: Node) -> list[str] | None:
    """The words of `a.b.c`, if it is made of names only."""
    words: list[str] = []
    while node.type == "field_access":
        children = node.children
        words.append(walk.draft.text(children[-1]))
        node = children[0]
    if node.type != "identifier":
        return None
    words.append(walk.draft.text(node))
    return words[::-1]


def _outer(walk: JavaWalk, words: list[str], node: Node) -> Expr:
    """Names that start at a class, a field or a package."""
    first = words[0]
    if TYPE_LIKE.fullmatch(first):
        walk.draft.refer(("name", first), node)
    elif len(words) > 2 and first.islower():
        at = next((place for place, word in enumerate(words) if TYPE_LIKE.fullmatch(word)), 0)
        if at and all(word.islower() for word in words[:at]):
            return chain(("import", ".".join(words[:at]), words[at]), words[at + 1 :])
    return chain(("name", first), words[1:])


def class_literal(walk: JavaWalk, node: Node) -> Expr:
    speak_of(walk, node.children[0])
    return named(walk, node.children[0])


# Calls


def invocation(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    children = node.children
    name = children[-2] if len(children) > 1 else node
    if name.type != "identifier":
        name = node.child_by_field_name("name") or node
    word = draft.text(name)
    if children[0].start_byte == name.start_byte:
        return draft.call(("name", word), arguments(walk, node), name)
    target = _object(walk, children)
    values = arguments(walk, node)
    given = draft.call(("attr", target, word), values, name)
    if word in REFLECTION:
        return _reflected(walk, node, word, target, values, given)
    return flowing(draft, FLOWS, word, target, given)


def _object(walk: JavaWalk, children: list[Node]) -> Expr:
    """What a method is called on."""
    first = children[0]
    if len(children) > 4 and any(child.type == "super" for child in children[1:-1]):
        return ("any", (qualified(dotted(walk, first)),))  # Interface.super.method()
    if first.type == "identifier":
        name = walk.draft.text(first)
        spelled = walk.draft.locals.get(name)
        if spelled is None and name[:1].isupper():
            walk.draft.refer(("name", name), first)
        return ("name", spelled or name)
    return walk.expr(first)


def arguments(walk: JavaWalk, node: Node) -> list[Expr]:
    """What the arguments of a call give."""
    last = node.children[-1]
    if last.type != "argument_list":
        found = node.child_by_field_name("arguments")
        if found is None:
            return []
        last = found
    table = walk.table
    values: list[Expr] = []
    for child in last.children:
        handler = table.get(child.kind_id)
        if handler is not None:
            values.append(handler(walk, child))
        elif child.is_named and child.type not in COMMENTS:
            values.append(NOTHING)
    return values


def _reflected(walk: JavaWalk, node: Node, word: str, target: Expr, values: list[Expr], given: Expr) -> Expr:
    """What reflection gives when everything it needs is written there."""
    holder = node.child_by_field_name("arguments")
    nodes = (
        [child for child in holder.named_children if child.type not in COMMENTS] if holder is not None else []
    )
    texts = [walk.draft.text(child)[1:-1] for child in nodes if child.type == "string_literal"]
    if word == "newInstance":
        return one_of((given, walk.draft.call(target, values, node, new=True)))
    if word in ("getConstructor", "getDeclaredConstructor"):
        return one_of((given, target))
    if word == "findConstructor":
        return one_of((given, *values[:1]))
    if word == "cast":
        return one_of((given, ("new", target)))
    if not texts:
        return given
    if word == "forName":
        return one_of((given, qualified(texts[0].replace("$", ".").split("."))))
    if word in ("findGetter", "findStaticGetter"):
        return _getter(walk, node, values[0] if word == "findStaticGetter" else ("new", values[0]), texts[0])
    return one_of((given, ("attr", values[0] if word in METHOD_HANDLES else target, texts[0])))


def _getter(walk: JavaWalk, node: Node, holder: Expr, name: str) -> Expr:
    """A handle that gives a field is a function that does."""
    draft = walk.draft
    row, column = node.start_point
    number = draft.define(Shape.LAMBDA, f"<lambda:{row + 1}:{column}>", node)
    before = draft.enter(number)
    draft.give(("attr", holder, name))
    draft.leave(before)
    return ("def", number)


def creation(walk: JavaWalk, node: Node) -> Expr:
    """`new A(…)`, `new A(…) { … }`, `outer.new Inner(…)`."""
    kind = node.child_by_field_name("type")
    callee = named(walk, kind)
    if node.children[0].type != "new":
        callee = ("attr", walk.expr(node.children[0]), walk.draft.text(kind))
    values: list[Expr] = []
    body: Node | None = None
    for child in node.children:
        if child.type == "argument_list":
            values = arguments(walk, node) if child == node.children[-1] else _listed(walk, child)
        elif child.type == "class_body":
            body = child
    if body is not None:
        callee = anonymous(walk, node, body, callee)
    made = typed(walk, kind) if kind is not None and kind.type == "generic_type" else NOTHING
    given = walk.draft.call(callee, values, kind or node, new=True)
    return ("any", (given, made)) if holds(made) else given


def _listed(walk: JavaWalk, node: Node) -> list[Expr]:
    return [walk.expr(child) for child in node.named_children if child.type not in COMMENTS]


def anonymous(walk: JavaWalk, node: Node, body: Node, parent: Expr) -> Expr:
    """A class without a name, that extends or implements another."""
    draft = walk.draft
    row, column = node.start_point
    marks, walk.marks = walk.marks, []
    bases = (parent,) if parent is not NOTHING else ()
    number = draft.define(Shape.CLASS, f"<anonymous:{row + 1}:{column}>", node, bases=bases)
    scope, draft.scope = draft.scope, number
    walk.each(body.children)
    draft.scope, walk.marks = scope, marks
    return ("def", number)


def lambda_(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    row, column = node.start_point
    parameters = node.child_by_field_name("parameters")
    if parameters is not None and parameters.type == "identifier":
        params = (Param(draft.text(parameters)),)
    else:
        params = tuple(param for param, _ in params_of(walk, parameters))
    number = draft.define(Shape.LAMBDA, f"<lambda:{row + 1}:{column}>", node, params=params)
    before = draft.enter(number)
    body = node.child_by_field_name("body")
    if body is not None and body.type == "block":
        walk.each(body.children)
    else:
        draft.give(walk.expr(body))
    draft.leave(before)
    return ("def", number)


def method_reference(walk: JavaWalk, node: Node) -> Expr:
    """`A::b`, `this::b`, `x.y::b`, `A::new`."""
    parts = [child for child in node.children if child.type not in COMMENTS]
    first, last = parts[0], parts[-1]
    target = named(walk, first) if first.type in TYPES else walk.expr(first)
    if target is NOTHING:
        return NOTHING
    if last.type == "new":
        return _constructor_reference(walk, node, target)
    value = ("attr", target, walk.draft.text(last))
    walk.draft.refer(value, node)
    walk.draft.functions.add(value)
    return value


def _constructor_reference(walk: JavaWalk, node: Node, target: Expr) -> Expr:
    """`A::new` is a function that makes an A of whatever it is given."""
    draft = walk.draft
    row, column = node.start_point
    number = draft.define(
        Shape.LAMBDA, f"<lambda:{row + 1}:{column}>", node, params=(Param("args", None, None, "*"),)
    )
    before = draft.enter(number)
    draft.give(draft.call(target, (), node, new=True, keywords=(("*", ("name", "args")),)))
    draft.leave(before)
    return ("def", number)


# Other expressions


def assignment(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    left = node.child_by_field_name("left")
    value = walk.field(node, "right")
    if left is None:
        return value
    if left.type != "identifier":
        draft.store(walk.expr(left), value, line_of(node))
    elif (name := draft.text(left)) in draft.locals:
        draft.assign(name, value, line_of(node))
    else:
        draft.store(("attr", SELF, name), value, line_of(node))
    return value


def binary(walk: JavaWalk, node: Node) -> Expr:
    """An operator's result has a built-in type."""
    operator = node.children[1].type if node.child_count > 1 else ""
    kinds = operands(walk, node)
    if operator == "+":
        return ("literal", "String") if ("literal", "String") in kinds else NOTHING
    return ("literal", "boolean") if operator in COMPARISONS else NOTHING


def instance_of(walk: JavaWalk, node: Node) -> Expr:
    others(walk, node)
    kind, name = node.child_by_field_name("right"), node.child_by_field_name("name")
    value = typed(walk, kind)
    if name is not None:
        walk.draft.bind(walk.draft.declare(walk.draft.text(name)), value, line_of(node))
    return ("literal", "boolean")


def cast(walk: JavaWalk, node: Node) -> Expr:
    """A value of the type that is claimed; a function keeps what it does."""
    kind, value_node = node.child_by_field_name("type"), node.child_by_field_name("value")
    value = walk.expr(value_node)
    declared = typed(walk, kind)
    return value if is_exact(value_node) or declared is NOTHING else declared


def array(walk: JavaWalk, node: Node) -> Expr:
    return ("list", tuple(_listed(walk, node)))


def array_creation(walk: JavaWalk, node: Node) -> Expr:
    value = node.child_by_field_name("value")
    made = typed(walk, node.child_by_field_name("type"))
    for child in node.named_children:
        if child.type == "dimensions_expr":
            others(walk, child)
    return array(walk, value) if value is not None else ("list", (made,))


def array_access(walk: JavaWalk, node: Node) -> Expr:
    index = node.child_by_field_name("index")
    walk.expr(index)
    return item(walk.field(node, "array"), written_index(walk.draft.text(index)))


def string(walk: JavaWalk, node: Node) -> Expr:
    if node.child_count > 3:
        others(walk, node)
    return LITERALS["string_literal"]


def literal(walk: JavaWalk, node: Node) -> Expr:
    del walk
    return LITERALS[node.type]


EXPRESSIONS: Mapping[str, Handler[JavaNotes]] = {
    "expression_statement": only,
    "parenthesized_expression": only,
    "identifier": identifier,
    "method_invocation": invocation,
    "object_creation_expression": creation,
    "field_access": access,
    "method_reference": method_reference,
    "lambda_expression": lambda_,
    "assignment_expression": assignment,
    "binary_expression": binary,
    "instanceof_expression": instance_of,
    "cast_expression": cast,
    "ternary_expression": conditional,
    "array_initializer": array,
    "array_creation_expression": array_creation,
    "array_access": array_access,
    "class_literal": class_literal,
    "this": this,
    "super": super_,
    **dict.fromkeys(LITERALS, literal),
    "string_literal": string,
}
