"""Read C#'s declarations into facts: usings, namespaces, classes, methods, properties, fields."""

from collections.abc import Mapping

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Import, Param, Shape, Trait
from belayer.codegraph.languages.csharp_expressions import (
    LITERALS,
    arguments,
    expected,
    is_exact,
    params_of,
    read_body,
    text_of,
    variables,
)
from belayer.codegraph.languages.csharp_routes import is_test, tags_of
from belayer.codegraph.languages.csharp_types import (
    TYPES,
    CSharpNotes,
    CSharpWalk,
    dotted,
    from_namespace,
    named,
    not_itself,
    spec_of,
    type_variables,
    typed,
    word,
)
from belayer.codegraph.languages.draft import NOTHING, SELF, SUPER, line_of
from belayer.codegraph.languages.walk import Handler, Mark, holds, one_of

SHAPES = {"interface_declaration": Shape.INTERFACE, "delegate_declaration": Shape.INTERFACE}
WORDS = {
    "public": Trait.EXPORTED.value,
    "static": Trait.STATIC.value,
    "abstract": Trait.ABSTRACT.value,
    "async": Trait.ASYNC.value,
    "partial": Trait.PART.value,
}


def using(walk: CSharpWalk, node: Node) -> Expr:
    """`using A.B;`, `using static A.B;`, `using X = A.B;`, each maybe global."""
    kinds = {child.type for child in node.children}
    names = [child for child in node.named_children if child.type in TYPES]
    if not names:
        return NOTHING
    line, parts = line_of(node), dotted(walk, names[-1])
    if "=" in kinds:
        value = one_of((from_namespace(walk, parts), ("import", spec_of(walk, parts), None)))
        walk.draft.bind(walk.draft.text(names[0]), value, line)
    elif "static" in kinds:
        spec = spec_of(walk, parts[:-1])
        walk.draft.imports.append(Import(0, spec, parts[-1], None, line))
        walk.draft.bind("*", ("import", spec, parts[-1]), line)
    else:
        walk.draft.imports.append(Import(0, spec_of(walk, parts), "*", None, line))
        walk.own.shared.extend([".".join(parts)] if "global" in kinds else [])
    return NOTHING


def namespace(walk: CSharpWalk, node: Node) -> Expr:
    """A namespace with a body, or one for the rest of the file."""
    before = walk.namespace
    words = dotted(walk, node.child_by_field_name("name"))
    walk.namespace = ".".join([before, *words] if before else words)
    walk.own.namespaces.append(walk.namespace)
    body = node.child_by_field_name("body")
    if body is not None:
        walk.each(body.children)
        walk.namespace = before
    return NOTHING


def type_declaration(walk: CSharpWalk, node: Node) -> Expr:
    """A class, struct, record, interface, enum or delegate."""
    draft = walk.draft
    name = draft.text(node.child_by_field_name("name"))
    outer, marks = walk.variables, walk.marks
    traits, walk.marks = modifiers(walk, node)
    type_variables(walk, node)
    number = draft.define(
        SHAPES.get(node.type, Shape.CLASS),
        name,
        node,
        bases=_bases(walk, node),
        decorators=tuple(("name", each.name) for each in walk.marks),
        traits=traits,
        tags=tags_of(name, walk.marks),
    )
    scope, draft.scope = draft.scope, number
    if node.type != "delegate_declaration":
        _primary(walk, node, name)
    body = node.child_by_field_name("body")
    walk.each(body.children if body is not None else ())
    draft.scope, walk.variables, walk.marks = scope, outer, marks
    return NOTHING


def _bases(walk: CSharpWalk, node: Node) -> tuple[Expr, ...]:
    kinds = [kind for child in node.children if child.type == "base_list" for kind in child.named_children]
    found = [
        named(
            walk, kind.child_by_field_name("type") if kind.type == "primary_constructor_base_type" else kind
        )
        for kind in kinds
    ]
    return tuple(base for base in found if base is not NOTHING)


def _primary(walk: CSharpWalk, node: Node, name: str) -> None:
    """A primary constructor: its parameters are known in the whole class."""
    draft = walk.draft
    params = next((child for child in node.children if child.type == "parameter_list"), None)
    if params is None:
        return
    found = params_of(walk, params)
    for param, place in found:
        draft.bind(param.name, param.type or NOTHING, line_of(place))
    own = tuple(param for param, _ in found)
    number = draft.define(Shape.METHOD, name, params, params=own, traits=Trait.CONSTRUCTOR)
    before = draft.enter(number)
    holder = _base_arguments(node)
    if holder is not None:
        values, keywords = arguments(walk, holder)
        draft.call(SUPER, values, holder, keywords=keywords)
    draft.leave(before)


def _base_arguments(node: Node) -> Node | None:
    """What a primary constructor passes to its base class's."""
    for child in node.children:
        if child.type == "base_list":
            for part in child.named_children:
                inner = part.named_children if part.type == "primary_constructor_base_type" else (part,)
                for each in inner:
                    if each.type == "argument_list":
                        return each
    return None


def modifiers(walk: CSharpWalk, node: Node) -> tuple[int, list[Mark]]:
    """The traits and attributes that stand before a declaration."""
    traits = 0
    found: list[Mark] = []
    for child in node.children:
        if child.type == "modifier":
            traits |= WORDS.get(walk.draft.text(child), 0)
        elif child.type == "attribute_list":
            found.extend(_attribute(walk, each) for each in child.named_children if each.type == "attribute")
    return traits, found


def _attribute(walk: CSharpWalk, node: Node) -> Mark:
    name_node = node.child_by_field_name("name")
    parts = dotted(walk, name_node)
    name = parts[-1].removesuffix("Attribute")
    if name_node is not None and len(parts) == 1:
        walk.draft.refer(("any", (("name", name), ("name", f"{name}Attribute"))), name_node)
    holders = [child for child in node.named_children if child.type == "attribute_argument_list"]
    values = [each for holder in holders for each in holder.named_children if each.named_child_count == 1]
    texts = [
        text_of(walk, each.named_children[0]) for each in values if each.named_children[0].type in LITERALS
    ]
    return Mark(name, {"value": tuple(texts)})


def method(walk: CSharpWalk, node: Node) -> Expr:
    """A method, operator, destructor or local function."""
    outer = walk.variables
    traits, marks = modifiers(walk, node)
    type_variables(walk, node)
    kind = node.child_by_field_name("returns") or node.child_by_field_name("type")
    body = node.child_by_field_name("body")
    if body is None and not traits & Trait.PART:
        traits |= Trait.ABSTRACT
    if is_test(marks):
        traits |= Trait.TEST
    number = _callable(walk, node, _name(walk, node), traits & ~Trait.PART, kind, marks)
    walk.own.routes.controller(walk.draft.scope, number, walk.marks, marks)
    _inside(walk, number, kind, body)
    walk.variables = outer
    return NOTHING


def _name(walk: CSharpWalk, node: Node) -> str:
    if node.type == "operator_declaration":
        return f"operator {walk.draft.text(node.child_by_field_name('operator'))}"
    if node.type == "conversion_operator_declaration":
        return f"operator {word(walk, node.child_by_field_name('type'))}"
    own = walk.draft.text(node.child_by_field_name("name"))
    return f"~{own}" if node.type == "destructor_declaration" else own


def _callable(
    walk: CSharpWalk, node: Node, name: str, traits: int, kind: Node | None, marks: list[Mark]
) -> int:
    """A method without its body. What its types speak of belongs to it already."""
    draft = walk.draft
    owner, draft.scope = draft.scope, len(draft.definitions)
    params = params_of(walk, node.child_by_field_name("parameters"))
    result = typed(walk, kind)
    draft.scope = owner
    first = params[0][1].children if params else []
    if any(child.type == "modifier" and draft.text(child) == "this" for child in first):
        traits |= Trait.EXTENSION
    return draft.define(
        Shape.FUNCTION if node.type == "local_function_statement" else Shape.METHOD,
        name,
        node,
        params=tuple(param for param, _ in params),
        decorators=tuple(("name", each.name) for each in marks),
        result=None if result is NOTHING else result,
        traits=traits,
    )


def _inside(walk: CSharpWalk, number: int, kind: Node | None, body: Node | None) -> None:
    """Read a body in a scope of its own."""
    before = walk.draft.enter(number)
    read_body(walk, body, kind)
    walk.draft.leave(before)


def local_function(walk: CSharpWalk, node: Node) -> Expr:
    walk.draft.locals.pop(walk.draft.text(node.child_by_field_name("name")), None)
    return method(walk, node)


def constructor(walk: CSharpWalk, node: Node) -> Expr:
    draft = walk.draft
    traits, marks = modifiers(walk, node)
    is_static = bool(traits & Trait.STATIC)
    name = ".cctor" if is_static else draft.text(node.child_by_field_name("name"))
    number = _callable(walk, node, name, traits | (0 if is_static else Trait.CONSTRUCTOR), None, marks)
    bases = draft.definitions[draft.scope].bases
    first = next((child for child in node.children if child.type == "constructor_initializer"), None)
    before = draft.enter(number)
    if first is not None:
        _chained(walk, first)
    elif bases and not is_static:
        draft.call(SUPER, (), node)
    draft.leave(before)
    _inside(walk, number, None, node.child_by_field_name("body"))
    return NOTHING


def _chained(walk: CSharpWalk, node: Node) -> None:
    """`: base(…)` and `: this(…)`."""
    is_base = any(child.type == "base" for child in node.children)
    holder = next((child for child in node.children if child.type == "argument_list"), None)
    values, keywords = arguments(walk, holder)
    walk.draft.call(SUPER if is_base else SELF, values, node, keywords=keywords)


def property_(walk: CSharpWalk, node: Node) -> Expr:
    """A property that computes is a method; one that only keeps a value is a field."""
    draft = walk.draft
    traits, marks = modifiers(walk, node)
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    name = "this[]" if node.type == "indexer_declaration" else draft.text(node.child_by_field_name("name"))
    parts = _accessors(node)
    if value is not None and value.type == "arrow_expression_clause":
        _computed(walk, node, node, name, traits, marks)
    elif parts:
        for part in parts:
            _computed(walk, node, part, name, traits, marks)
    elif traits & Trait.ABSTRACT or draft.definitions[draft.scope].shape is Shape.INTERFACE:
        _computed(walk, node, node, name, traits | Trait.ABSTRACT, marks)
    else:
        declared = not_itself(walk, name, typed(walk, kind))
        if not is_exact(value) or holds(declared):
            draft.bind(name, declared, line_of(node))
        draft.bind(name, expected(walk, value, kind), line_of(node))
    return NOTHING


def _accessors(node: Node) -> list[Node]:
    """The accessors that do something."""
    holder = node.child_by_field_name("accessors")
    children = holder.named_children if holder is not None else []
    return [child for child in children if child.child_by_field_name("body") is not None]


def _computed(walk: CSharpWalk, whole: Node, part: Node, name: str, traits: int, marks: list[Mark]) -> None:
    """What a property (or one accessor of it) does, as a method; what sets it takes the value."""
    kind = whole.child_by_field_name("type")
    result = typed(walk, kind)
    word_node = part.child_by_field_name("name") if part is not whole else None
    is_setter = word_node is not None and word_node.type != "get"
    params = [param for param, _ in params_of(walk, whole.child_by_field_name("parameters"))]
    if is_setter:
        params.append(Param("value", None if result is NOTHING else result))
    number = walk.draft.define(
        Shape.METHOD,
        name,
        part,
        params=tuple(params),
        decorators=tuple(("name", each.name) for each in marks),
        result=None if is_setter or result is NOTHING else result,
        traits=traits | Trait.PROPERTY,
    )
    _inside(walk, number, kind, part.child_by_field_name("body") or part.child_by_field_name("value"))


def field(walk: CSharpWalk, node: Node) -> Expr:
    modifiers(walk, node)
    words = {walk.draft.text(child) for child in node.children if child.type == "modifier"}
    for child in node.children:
        if child.type == "variable_declaration":
            variables(walk, child, is_fixed=bool(words & {"readonly", "const"}))
    return NOTHING


def enum_member(walk: CSharpWalk, node: Node) -> Expr:
    name = walk.draft.text(node.child_by_field_name("name"))
    walk.draft.bind(name, ("new", ("def", walk.draft.scope)), line_of(node))
    return NOTHING


DECLARATIONS: Mapping[str, Handler[CSharpNotes]] = {
    "using_directive": using,
    "namespace_declaration": namespace,
    "file_scoped_namespace_declaration": namespace,
    "class_declaration": type_declaration,
    "struct_declaration": type_declaration,
    "record_declaration": type_declaration,
    "interface_declaration": type_declaration,
    "enum_declaration": type_declaration,
    "delegate_declaration": type_declaration,
    "method_declaration": method,
    "operator_declaration": method,
    "conversion_operator_declaration": method,
    "destructor_declaration": method,
    "local_function_statement": local_function,
    "constructor_declaration": constructor,
    "property_declaration": property_,
    "indexer_declaration": property_,
    "event_declaration": property_,
    "field_declaration": field,
    "event_field_declaration": field,
    "enum_member_declaration": enum_member,
}
