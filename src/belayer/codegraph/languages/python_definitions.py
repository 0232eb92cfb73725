"""Python's functions and classes: their signatures, their decorators, and what kind of thing they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Param, Shape, Trait
from belayer.codegraph.languages.python_draft import ENUM, UNKNOWN, Draft, Scope
from belayer.codegraph.languages.python_expressions import Expressions
from belayer.codegraph.languages.python_grammar import FIELDS, KINDS
from belayer.codegraph.languages.python_tests import class_tags, is_test_class, is_test_file, is_test_function

_NAME, _BODY, _PARAMETERS, _RETURN = (FIELDS[name] for name in ("name", "body", "parameters", "return_type"))
_VALUE, _SUPERCLASSES, _DEFINITION = (FIELDS[name] for name in ("value", "superclasses", "definition"))
_SILENT_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "abstractmethod", "overload", "override", "final"}
)
_PROPERTIES = frozenset(
    {"property", "cached_property", "abstractproperty", "hybrid_property", "classproperty"}
)
_ACCESSORS = frozenset({"setter", "getter", "deleter"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
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


class Definitions:
    """Reads definitions into a draft. It is told how to read a body."""

    def __init__(self, draft: Draft, expressions: Expressions, read: Callable[[Node], None]) -> None:
        self._draft, self._expressions, self._read = draft, expressions, read
        self._is_test_file = is_test_file(draft.path)

    def decorated(self, node: Node) -> None:
        decorators = [child.named_children[0] for child in node.named_children if _is_decorator(child)]
        inner = node.child_by_field_id(_DEFINITION)
        if inner is not None and inner.kind_id == KINDS["class_definition"]:
            self.class_(inner, decorators)
        elif inner is not None:
            self.function(inner, decorators)

    def function(self, node: Node, decorators: Iterable[Node] = ()) -> None:
        draft, outer = self._draft, self._draft.scope
        name_node, listed = node.child_by_field_id(_NAME), node.child_by_field_id(_PARAMETERS)
        name = draft.text(name_node) if name_node is not None else ""
        applied = [self._expressions.callee(each) for each in decorators]
        words = [self._last(each) for each in decorators]
        is_method = outer.shape is Shape.CLASS
        is_static = "staticmethod" in words
        takes_self = is_method and not is_static
        scope = draft.define(Shape.METHOD if is_method else Shape.FUNCTION, name, node, None)
        draft.reader = scope.number
        params = self._expressions.params(listed, skips_first=takes_self)
        result = self._expressions.types.read(node.child_by_field_id(_RETURN))
        draft.reader = -1
        self_name = self._expressions.self_name(listed) if takes_self else self._inherited(outer, params)
        scope.self_name = self_name
        self._expressions.enter(scope, params)
        if takes_self and self_name is not None:
            scope.bound[self_name] = 0
        self._body(scope, node.child_by_field_id(_BODY))
        fact = draft.definitions[scope.number]
        traits = self._traits(name, words, scope, node, is_method)
        draft.definitions[scope.number] = fact._replace(
            params=params,
            decorators=tuple(applied),
            returns=tuple(scope.results),
            result=result,
            traits=traits,
            tags=_function_tags(words),
        )
        self._bind_function(name, scope, applied, words, list(decorators))

    @staticmethod
    def _inherited(outer: Scope, params: tuple[Param, ...]) -> str | None:
        if outer.shape is Shape.CLASS or any(param.name == outer.self_name for param in params):
            return None
        return outer.self_name

    def _body(self, scope: Scope, body: Node | None) -> None:
        draft = self._draft
        outer, draft.scope = draft.scope, scope
        if body is not None:
            self._read(body)
        draft.scope = outer

    def _traits(self, name: str, words: list[str], scope: Scope, node: Node, is_method: bool) -> int:
        is_property = any(word in _PROPERTIES or word in _ACCESSORS for word in words)
        is_async = bool(node.children) and node.children[0].type == "async"
        return (
            _STATIC * ("staticmethod" in words)
            | _CLASS_METHOD * ("classmethod" in words or name in _IMPLICIT_CLASS_METHODS)
            | _PROPERTY * is_property
            | _ABSTRACT * ("abstractmethod" in words or self._is_stub(node, is_method))
            | _ASYNC * is_async
            | _GENERATOR * scope.yields
            | _CONSTRUCTOR * (is_method and name in _CONSTRUCTORS)
            | _TEST * self._is_test(name, is_method, words)
        )

    def _is_test(self, name: str, is_method: bool, words: list[str]) -> bool:
        if "fixture" in words:
            return False
        outer = self._draft.scope
        in_class = is_method and "test" in self._draft.definitions[outer.number].tags
        is_plain = self._is_test_file and outer is self._draft.module
        return is_test_function(name) and (in_class or is_plain)

    def _is_stub(self, node: Node, is_method: bool) -> bool:
        """Whether a method leaves it to others: `raise NotImplementedError`, or `...` in a protocol."""
        body = node.child_by_field_id(_BODY)
        if not is_method or body is None:
            return False
        statements = [child for child in body.named_children if child.kind_id != KINDS["comment"]]
        if statements and self._is_docstring(statements[0]):
            statements = statements[1:]
        if len(statements) != 1:
            return not statements and self._in_protocol()
        text = self._draft.source[statements[0].start_byte : statements[0].start_byte + 40]
        return text.startswith(b"raise NotImplementedError") or (
            text in (b"...", b"pass") and self._in_protocol()
        )

    def _in_protocol(self) -> bool:
        return self._draft.definitions[self._draft.scope.number].shape is Shape.INTERFACE

    @staticmethod
    def _is_docstring(node: Node) -> bool:
        return (
            node.kind_id == KINDS["expression_statement"]
            and node.named_children[0].kind_id == KINDS["string"]
        )

    def _bind_function(
        self, name: str, scope: Scope, applied: list[Expr], words: list[str], nodes: list[Node]
    ) -> None:
        draft = self._draft
        value: Expr = ("def", scope.number)
        if "overload" in words:
            return
        for callee, word, node in reversed(list(zip(applied, words, nodes, strict=True))):
            if word in _ACCESSORS and callee[0] == "attr":
                return
            if word not in _SILENT_DECORATORS and word not in _PROPERTIES:
                value = draft.call(callee, node, (value,))
        whole: Expr = ("wrapped", ("def", scope.number), value) if value[0] == "call" else value
        draft.bind_thing(name, whole, draft.definitions[scope.number].line)

    def class_(self, node: Node, decorators: Iterable[Node] = ()) -> None:
        draft = self._draft
        name_node = node.child_by_field_id(_NAME)
        name = draft.text(name_node) if name_node is not None else ""
        applied = [self._expressions.callee(each) for each in decorators]
        bases, words = self._bases(node.child_by_field_id(_SUPERCLASSES))
        shape = Shape.INTERFACE if "Protocol" in words else Shape.CLASS
        scope = draft.define(shape, name, node, None)
        scope.shape = Shape.CLASS
        tests = is_test_class(name, words, in_test_file=self._is_test_file)
        tags = class_tags(words, is_test=tests)
        draft.definitions[scope.number] = draft.definitions[scope.number]._replace(bases=bases, tags=tags)
        if _ENUMS.intersection(words):
            scope.outer = ENUM
        self._body(scope, node.child_by_field_id(_BODY))
        value: Expr = ("def", scope.number)
        for callee, each in reversed(list(zip(applied, decorators, strict=True))):
            value = draft.call(callee, each, (value,))
        whole: Expr = ("wrapped", ("def", scope.number), value) if value[0] == "call" else value
        draft.definitions[scope.number] = draft.definitions[scope.number]._replace(decorators=tuple(applied))
        draft.bind_thing(name, whole, draft.definitions[scope.number].line)

    def _bases(self, node: Node | None) -> tuple[tuple[Expr, ...], list[str]]:
        bases: list[Expr] = []
        words: list[str] = []
        for child in node.named_children if node is not None else ():
            if child.kind_id == KINDS["keyword_argument"]:
                self._expressions.read(child.child_by_field_id(_VALUE))
                continue
            if child.kind_id == KINDS["comment"]:
                continue
            inner = child.child_by_field_id(_VALUE) if child.kind_id == KINDS["subscript"] else child
            value = self._expressions.callee(inner) if inner is not None else UNKNOWN
            words.append(
                self._draft.text(inner).rpartition(".")[2] if inner is not None and _is_short(inner) else ""
            )
            if words[-1] not in ("Protocol", "Generic", "ABC", "object", "NamedTuple", "TypedDict"):
                bases.append(value)
        return tuple(bases), words

    def _last(self, decorator: Node) -> str:
        """The last name of a decorator: `fixture` for `@pytest.fixture(scope="session")`."""
        node = decorator
        if node.kind_id == KINDS["call"]:
            node = node.named_children[0]
        return self._draft.text(node).rpartition(".")[2] if _is_short(node) else ""


def _function_tags(words: list[str]) -> tuple[str, ...]:
    return ("fixture",) if "fixture" in words else ()


def _is_decorator(node: Node) -> bool:
    return node.kind_id == KINDS["decorator"] and bool(node.named_children)


def _is_short(node: Node) -> bool:
    return node.end_byte - node.start_byte < 120
