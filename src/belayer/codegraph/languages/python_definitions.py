"""Python's functions and classes: their signatures, their decorators, and what kind of thing they are."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from belayer.codegraph.facts import Definition, Expr, Param, Shape, Trait, as_row
from belayer.codegraph.languages.python_draft import UNKNOWN, Draft, Scope
from belayer.codegraph.languages.python_expressions import callee_of
from belayer.codegraph.languages.python_grammar import fields, kinds
from belayer.codegraph.languages.python_parameters import parameters, self_name, without_self
from belayer.codegraph.languages.python_tests import class_tags, is_test_class, is_test_function
from belayer.codegraph.languages.python_types import annotated

_NAME, _BODY, _PARAMETERS, _RETURN = fields("name body parameters return_type")
_VALUE, _SUPERCLASSES, _DEFINITION = fields("value superclasses definition")
_CLASS, _DECORATOR, _CALL, _COMMENT, _SUBSCRIPT = kinds("class_definition decorator call comment subscript")
_KEYWORD, _EXPRESSION, _STRING = kinds("keyword_argument expression_statement string")
_SILENT_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "abstractmethod", "overload", "override", "final"}
)
_PROPERTIES = frozenset(
    {"property", "cached_property", "abstractproperty", "hybrid_property", "classproperty"}
)
_ACCESSORS = frozenset({"setter", "getter", "deleter"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_SILENT_BASES = frozenset({"Protocol", "Generic", "ABC", "object", "NamedTuple", "TypedDict"})
_LONGEST_NAME = 120
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_STATIC, _CLASS_METHOD, _PROPERTY, _ABSTRACT, _ASYNC, _GENERATOR, _CONSTRUCTOR, _TEST = (
    int(each)
    for each in (
        Trait.STATIC,
        Trait.CLASS_METHOD,
        Trait.PROPERTY,
        Trait.ABSTRACT,
        Trait.ASYNC,
        Trait.GENERATOR,
        Trait.CONSTRUCTOR,
        Trait.TEST,
    )
)


def decorated(draft: Draft, node: Node) -> None:
    """A function or class with its decorators."""
    decorators = [child.named_children[0] for child in node.named_children if _is_decorator(child)]
    inner = node.child_by_field_id(_DEFINITION)
    if inner is not None and inner.kind_id == _CLASS:
        class_(draft, inner, decorators)
    elif inner is not None:
        function(draft, inner, decorators)


def function(draft: Draft, node: Node, decorators: Sequence[Node] = ()) -> None:
    """A function or method."""
    outer = draft.scope
    name_node, listed = node.child_by_field_id(_NAME), node.child_by_field_id(_PARAMETERS)
    name = draft.text(name_node) if name_node is not None else ""
    applied, words = _applied(draft, decorators) if decorators else ([], [])
    is_method = outer.shape is Shape.CLASS
    takes_self = is_method and "staticmethod" not in words
    scope = draft.define(Shape.METHOD if is_method else Shape.FUNCTION, name, node, None)
    draft.reader = scope
    params = parameters(draft, listed)
    result = annotated(draft, node.child_by_field_id(_RETURN))
    draft.reader = None
    if takes_self:
        params = without_self(params)
        scope.self_name = self_name(draft, listed)
    else:
        scope.self_name = _inherited(outer, params)
    _enter(scope, params, takes_self=takes_self)
    body = node.child_by_field_id(_BODY)
    _read_body(draft, scope, body)
    traits = _traits(draft, name, words, scope, node, is_method=is_method)
    if is_method and body is not None and _is_stub(draft, body):
        traits |= _ABSTRACT
    place = draft.definitions[scope.number][:6]
    tags = ("fixture",) if "fixture" in words else ()
    signature = (params, (), tuple(applied), tuple(scope.results), result, traits, tags)
    draft.definitions[scope.number] = as_row(Definition, (*place, *signature))
    _bind_function(draft, name, scope, applied, words, decorators)


def _applied(draft: Draft, decorators: Sequence[Node]) -> tuple[list[Expr], list[str]]:
    """What the decorators are, and their last names."""
    return [callee_of(draft, each) for each in decorators], [_last(draft, each) for each in decorators]


def _inherited(outer: Scope, params: tuple[Param, ...]) -> str | None:
    if outer.shape is Shape.CLASS or any(param.name == outer.self_name for param in params):
        return None
    return outer.self_name


def _enter(scope: Scope, params: tuple[Param, ...], *, takes_self: bool) -> None:
    """A function's parameters are names of its scope."""
    for param in params:
        scope.bound[param.name] = 0
    if takes_self and scope.self_name is not None:
        scope.bound[scope.self_name] = 0


def _read_body(draft: Draft, scope: Scope, body: Node | None) -> None:
    outer, draft.scope = draft.scope, scope
    if body is not None:
        draft.run(body)
    draft.scope = outer


def _traits(draft: Draft, name: str, words: list[str], scope: Scope, node: Node, *, is_method: bool) -> int:
    traits = _GENERATOR if scope.yields else 0
    if draft.source.startswith(b"async", node.start_byte):
        traits |= _ASYNC
    if name in _IMPLICIT_CLASS_METHODS:
        traits |= _CLASS_METHOD
    if is_method and name in _CONSTRUCTORS:
        traits |= _CONSTRUCTOR
    if is_test_function(name) and "fixture" not in words and _is_run(draft, is_method=is_method):
        traits |= _TEST
    for word in words:
        traits |= _TRAITS.get(word, 0)
    return traits


_TRAITS = {
    "staticmethod": _STATIC,
    "classmethod": _CLASS_METHOD,
    "abstractmethod": _ABSTRACT,
    **dict.fromkeys(_PROPERTIES | _ACCESSORS, _PROPERTY),
}


def _is_run(draft: Draft, *, is_method: bool) -> bool:
    """Whether functions with the name of a test are tests here."""
    outer = draft.scope
    in_class = is_method and "test" in draft.definitions[outer.number].tags
    return in_class or (draft.is_test_file and outer is draft.module)


def _is_stub(draft: Draft, body: Node) -> bool:
    """Whether a method leaves it to others: `raise NotImplementedError`, or `...` in a protocol."""
    found: Node | None = None
    is_first = True
    for child in body.named_children:
        if child.kind_id == _COMMENT or (is_first and _is_docstring(child)):
            is_first = is_first and child.kind_id == _COMMENT
            continue
        if found is not None:
            return False
        found, is_first = child, False
    if found is None:
        return _in_protocol(draft)
    text = draft.source[found.start_byte : found.end_byte]
    return text.startswith(b"raise NotImplementedError") or (
        text in (b"...", b"pass") and _in_protocol(draft)
    )


def _in_protocol(draft: Draft) -> bool:
    return draft.definitions[draft.scope.number].shape is Shape.INTERFACE


def _is_docstring(node: Node) -> bool:
    return node.kind_id == _EXPRESSION and node.named_children[0].kind_id == _STRING


def _bind_function(
    draft: Draft, name: str, scope: Scope, applied: list[Expr], words: list[str], nodes: Sequence[Node]
) -> None:
    value: Expr = ("def", scope.number)
    if "overload" in words:
        return
    for callee, word, node in reversed(list(zip(applied, words, nodes, strict=True))):
        if word in _ACCESSORS and callee[0] == "attr":
            return
        if word not in _SILENT_DECORATORS and word not in _PROPERTIES:
            value = draft.call(callee, node, (value,))
    _bind(draft, name, scope, value)


def _bind(draft: Draft, name: str, scope: Scope, value: Expr) -> None:
    whole: Expr = ("wrapped", ("def", scope.number), value) if value[0] == "call" else value
    draft.bind_thing(name, whole, draft.definitions[scope.number].line)


def class_(draft: Draft, node: Node, decorators: Sequence[Node] = ()) -> None:
    """A class."""
    name_node = node.child_by_field_id(_NAME)
    name = draft.text(name_node) if name_node is not None else ""
    applied = [callee_of(draft, each) for each in decorators]
    bases, words = _bases(draft, node.child_by_field_id(_SUPERCLASSES))
    shape = Shape.INTERFACE if "Protocol" in words else Shape.CLASS
    scope = draft.define(shape, name, node, None)
    scope.shape = Shape.CLASS
    scope.is_enum = not _ENUMS.isdisjoint(words)
    tags = class_tags(words, is_test=is_test_class(name, words, in_test_file=draft.is_test_file))
    fact = draft.definitions[scope.number]._replace(bases=bases, tags=tags, decorators=tuple(applied))
    draft.definitions[scope.number] = fact
    _read_body(draft, scope, node.child_by_field_id(_BODY))
    value: Expr = ("def", scope.number)
    for callee, each in reversed(list(zip(applied, decorators, strict=True))):
        value = draft.call(callee, each, (value,))
    _bind(draft, name, scope, value)


def _bases(draft: Draft, node: Node | None) -> tuple[tuple[Expr, ...], list[str]]:
    bases: list[Expr] = []
    words: list[str] = []
    for child in node.named_children if node is not None else ():
        kind = child.kind_id
        if kind == _KEYWORD:
            draft.read(child.child_by_field_id(_VALUE))
            continue
        if kind == _COMMENT:
            continue
        inner = child.child_by_field_id(_VALUE) if kind == _SUBSCRIPT else child
        value = callee_of(draft, inner) if inner is not None else UNKNOWN
        words.append(_last_name(draft, inner) if inner is not None else "")
        if words[-1] not in _SILENT_BASES:
            bases.append(value)
    return tuple(bases), words


def _last(draft: Draft, decorator: Node) -> str:
    """The last name of a decorator: `fixture` for `@pytest.fixture(scope="session")`."""
    is_call = decorator.kind_id == _CALL
    return _last_name(draft, decorator.named_children[0] if is_call else decorator)


def _last_name(draft: Draft, node: Node) -> str:
    is_short = node.end_byte - node.start_byte < _LONGEST_NAME
    return draft.text(node).rpartition(".")[2] if is_short else ""


def _is_decorator(node: Node) -> bool:
    return node.kind_id == _DECORATOR and bool(node.named_children)
