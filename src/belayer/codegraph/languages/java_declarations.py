"""Read Java's declarations into facts: imports, classes, methods, constructors, fields."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Import, Param, Shape, Trait
from belayer.codegraph.languages.draft import NOTHING, SELF, SUPER, chain, line_of
from belayer.codegraph.languages.java_annotations import is_test, tags_of, tests_all_methods
from belayer.codegraph.languages.java_expressions import anonymous, arguments, is_exact, params_of
from belayer.codegraph.languages.java_types import (
    NO_NAME,
    TYPE_LIKE,
    JavaNotes,
    JavaWalk,
    dotted,
    named,
    qualified,
    split,
    type_variables,
    typed,
    typed_or_none,
)
from belayer.codegraph.languages.walk import Handler, Mark, holds, scoped

SHAPES = {"interface_declaration": Shape.INTERFACE, "annotation_type_declaration": Shape.INTERFACE}
PARENTS = ("superclass", "super_interfaces", "extends_interfaces")
WORDS = {"public": Trait.EXPORTED.value, "static": Trait.STATIC.value, "abstract": Trait.ABSTRACT.value}


def package(walk: JavaWalk, node: Node) -> Expr:
    names = [child for child in node.children if child.type in ("scoped_identifier", "identifier")]
    walk.namespace = ".".join(dotted(walk, names[-1])) if names else ""
    return NOTHING


def imports(walk: JavaWalk, node: Node) -> Expr:
    words = NO_NAME.sub(" ", walk.draft.text(node)).rstrip("; ").split()
    parts, line = "".join(words).split("."), line_of(node)
    first = parts[0].removeprefix("import")
    is_static = "static" in words[1:2]
    parts[0] = first.removeprefix("static") if is_static else first
    is_all = parts[-1] == "*"
    if is_all and not is_static and not TYPE_LIKE.fullmatch(parts[-2]):
        walk.draft.imports.append(Import(0, ".".join(parts[:-1]), "*", None, line))
        return NOTHING
    package_name, name, inner = split(parts[:-1] if is_all else parts)
    walk.draft.imports.append(Import(0, package_name, name, None, line))
    walk.draft.bind(parts[-1], chain(("import", package_name, name), inner), line)
    return NOTHING


def type_declaration(walk: JavaWalk, node: Node) -> Expr:
    """A class, interface, enum, record or annotation."""
    draft = walk.draft
    variables, marks = walk.variables, walk.marks
    traits, walk.marks = modifiers(walk, node)
    type_variables(walk, node)
    number = draft.define(
        SHAPES.get(node.type, Shape.CLASS),
        draft.text(node.child_by_field_name("name")),
        node,
        bases=_bases(walk, node),
        decorators=tuple(("name", each.name) for each in walk.marks),
        traits=traits,
        tags=tags_of(walk.marks),
    )
    body = node.child_by_field_name("body")
    scope, draft.scope = draft.scope, number
    if node.type == "record_declaration":
        _components(walk, node, body)
    walk.each(body.children if body is not None else ())
    draft.scope, walk.variables, walk.marks = scope, variables, marks
    return NOTHING


def _bases(walk: JavaWalk, node: Node) -> tuple[Expr, ...]:
    parts = [part for child in node.children if child.type in PARENTS for part in child.named_children]
    kinds = [
        kind for part in parts for kind in (part.named_children if part.type == "type_list" else (part,))
    ]
    found = [named(walk, kind) for kind in kinds]
    return tuple(base for base in found if base is not NOTHING)


def _components(walk: JavaWalk, node: Node, body: Node | None) -> None:
    """A record's fields, and the accessors that it has without writing them."""
    draft = walk.draft
    members = body.children if body is not None else []
    written = {
        draft.text(child.child_by_field_name("name"))
        for child in members
        if child.type == "method_declaration"
    }
    for param, place in params_of(walk, node.child_by_field_name("parameters")):
        draft.bind(param.name, param.type or NOTHING, line_of(place))
        if param.name not in written:
            draft.define(Shape.METHOD, param.name, place, result=param.type, traits=Trait.EXPORTED)


def modifiers(walk: JavaWalk, node: Node) -> tuple[int, list[Mark]]:
    """The traits and annotations that stand before a declaration."""
    first = node.children[0] if node.child_count else None
    if first is None or first.type != "modifiers":
        return 0, []
    traits = 0
    found: list[Mark] = []
    for child in first.children:
        kind = child.type
        if kind in ("marker_annotation", "annotation"):
            found.append(_annotation(walk, child))
        else:
            traits |= WORDS.get(kind, 0)
    return traits, found


def _annotation(walk: JavaWalk, node: Node) -> Mark:
    name_node = node.child_by_field_name("name")
    parts = dotted(walk, name_node)
    if parts[-1] != "Override" and name_node is not None:
        walk.draft.refer(qualified(parts), name_node)
    values: dict[str, tuple[str, ...]] = {}
    holder = node.child_by_field_name("arguments")
    for each in holder.named_children if holder is not None else ():
        if each.type == "element_value_pair":
            key = walk.draft.text(each.child_by_field_name("key"))
            values[key] = tuple(_words(walk, each.child_by_field_name("value")))
        else:
            values["value"] = tuple(_words(walk, each))
    return Mark(parts[-1], values)


def _words(walk: JavaWalk, node: Node | None) -> list[str]:
    """The strings and names that an annotation's value is made of."""
    if node is None:
        return []
    if node.type == "string_literal":
        return [walk.draft.text(node)[1:-1]]
    if node.type in ("identifier", "field_access"):
        return ["$" + walk.draft.text(node)]
    found = [word for child in node.named_children for word in _words(walk, child)]
    return ["".join(found)] if node.type == "binary_expression" else found


def method(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    variables = walk.variables
    traits, marks = modifiers(walk, node)
    type_variables(walk, node)
    body = node.child_by_field_name("body")
    if body is None:
        traits |= Trait.ABSTRACT
    name = draft.text(node.child_by_field_name("name"))
    if is_test(marks) or (_is_suite(walk, name) and traits & Trait.EXPORTED and not traits & Trait.STATIC):
        traits |= Trait.TEST
    number = _callable(walk, node, name, traits, marks)
    if marks:
        walk.own.mapped.append((walk.marks, marks, number))
    _inside(walk, number, body)
    walk.variables = variables
    return NOTHING


def _is_suite(walk: JavaWalk, name: str) -> bool:
    """Whether the class around makes a test of this method: TestNG by its annotation, JUnit 3 by its base."""
    bases = walk.draft.definitions[walk.draft.scope].bases
    is_case = any(base[0] == "name" and str(base[1]).endswith("TestCase") for base in bases)
    return tests_all_methods(walk.marks) or (is_case and name.startswith("test"))


def _callable(walk: JavaWalk, node: Node, name: str, traits: int, marks: list[Mark]) -> int:
    """A method without its body. What its types speak of belongs to it already."""
    draft = walk.draft
    owner, draft.scope = draft.scope, len(draft.definitions)
    params = params_of(walk, node.child_by_field_name("parameters"))
    result = typed(walk, node.child_by_field_name("type"))
    draft.scope = owner
    return draft.define(
        Shape.METHOD,
        name,
        node,
        params=tuple(param for param, _ in params),
        decorators=tuple(("name", each.name) for each in marks),
        result=None if result is NOTHING else result,
        traits=traits,
    )


def _inside(walk: JavaWalk, number: int, body: Node | None) -> None:
    """Read a method's body in a scope of its own."""
    if body is not None:
        before = walk.draft.enter(number)
        walk.each(body.children)
        walk.draft.leave(before)


def constructor(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    variables = walk.variables
    traits, marks = modifiers(walk, node)
    type_variables(walk, node)
    name = draft.text(node.child_by_field_name("name"))
    number = _callable(walk, node, name, traits | Trait.CONSTRUCTOR, marks)
    if node.type == "compact_constructor_declaration":
        accessors = [
            each for each in draft.definitions[draft.scope + 1 : number] if each.parent == draft.scope
        ]
        params = tuple(Param(each.name, each.result) for each in accessors)
        draft.definitions[number] = draft.definitions[number]._replace(params=params)
    body = node.child_by_field_name("body")
    if body is not None and draft.definitions[draft.scope].bases and not _chains(body):
        before = draft.enter(number)
        draft.call(SUPER, (), node)
        draft.leave(before)
    _inside(walk, number, body)
    walk.variables = variables
    return NOTHING


def _chains(body: Node) -> bool:
    """Whether a constructor starts with this(…) or super(…)."""
    return any(child.type == "explicit_constructor_invocation" for child in body.children)


def other_constructor(walk: JavaWalk, node: Node) -> Expr:
    """`this(…)` and `super(…)`."""
    which = node.child_by_field_name("constructor")
    walk.field(node, "object")
    is_super = which is not None and which.type == "super"
    return walk.draft.call(SUPER if is_super else SELF, arguments(walk, node), which or node)


def field(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    kind = node.child_by_field_name("type")
    is_final = b"final" in draft.source[node.start_byte : kind.start_byte] if kind is not None else False
    modifiers(walk, node)
    for child in node.children:
        if child.type != "variable_declarator":
            continue
        name, value_node = draft.text(child.child_by_field_name("name")), child.child_by_field_name("value")
        if value_node is not None and value_node.type == "string_literal":
            walk.own.constants[name] = draft.text(value_node)[1:-1]
        value, declared = walk.expr(value_node), typed_or_none(walk, kind, child) or NOTHING
        if declared != value and (not (is_final and is_exact(value_node)) or holds(declared)):
            draft.bind(name, declared, line_of(child))
        draft.bind(name, value, line_of(child))
    return NOTHING


def enum_constant(walk: JavaWalk, node: Node) -> Expr:
    draft = walk.draft
    body = node.child_by_field_name("body")
    made: Expr = ("def", draft.scope)
    values = arguments(walk, node)
    if body is not None:
        made = anonymous(walk, node, body, made)
    value = draft.call(made, values, node, new=True)
    draft.bind(draft.text(node.child_by_field_name("name")), value, line_of(node))
    return NOTHING


DECLARATIONS: Mapping[str, Handler[JavaNotes]] = {
    "package_declaration": package,
    "import_declaration": imports,
    "class_declaration": type_declaration,
    "interface_declaration": type_declaration,
    "enum_declaration": type_declaration,
    "record_declaration": type_declaration,
    "annotation_type_declaration": type_declaration,
    "method_declaration": method,
    "annotation_type_element_declaration": method,
    "constructor_declaration": constructor,
    "compact_constructor_declaration": constructor,
    "explicit_constructor_invocation": other_constructor,
    "field_declaration": field,
    "constant_declaration": field,
    "enum_constant": enum_constant,
    "static_initializer": scoped,
}
