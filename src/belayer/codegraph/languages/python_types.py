"""Python's annotations: which classes a value is said to be of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.python_draft import SELF, Draft
from belayer.codegraph.languages.python_grammar import KINDS, parser

if TYPE_CHECKING:
    from belayer.codegraph.languages.python_expressions import Expressions


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LISTS = _words(
    """
    list List set Set frozenset FrozenSet tuple Tuple Sequence MutableSequence Iterable Iterator Collection deque Deque
    AbstractSet MutableSet Generator AsyncIterator AsyncIterable AsyncGenerator KeysView ValuesView Reversible
    """
)
_DICTS = _words("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict Counter ChainMap")
_TRANSPARENT = _words(
    """
    Optional Union Annotated Final ClassVar Required NotRequired ReadOnly Awaitable TypeGuard Literal Unpack InitVar
    """
)
_CLASSES = frozenset({"type", "Type"})
_SILENT = _words(
    """
    int str float bool bytes bytearray complex object None Any Callable Literal LiteralString NoReturn Never AnyStr
    Hashable Sized Text memoryview range TypeVar ParamSpec Concatenate list List dict Dict set Set tuple Tuple frozenset
    Sequence Mapping Iterable Iterator Path Decimal datetime date time timedelta UUID
    """
)
_ANYTHING: Expr = ("literal", "object")
_FIRST_ONLY = frozenset({"Annotated", "Generator", "AsyncGenerator"})
_LONGEST = 200
_DEEPEST = 12


class Types:
    """Reads annotations into a draft."""

    def __init__(self, draft: Draft, expressions: Expressions) -> None:
        self._draft, self._expressions = draft, expressions

    def read(self, node: Node | None, depth: int = 0) -> Expr | None:
        """An instance of what an annotation names; None if it says nothing of use."""
        if node is None or depth > _DEEPEST:
            return None
        kind = node.type
        if kind == "identifier":
            return self._named(node)
        if kind == "attribute":
            return ("new", self._expressions.read(node))
        if kind == "member_type":
            return ("new", self._expressions.callee(node))
        if kind in ("generic_type", "subscript"):
            return self._generic(node, depth)
        if kind in ("union_type", "binary_operator"):
            return self._union(node.named_children, depth)
        if kind == "string":
            return self._quoted(node, depth)
        if (
            kind in ("type", "parenthesized_expression", "constrained_type", "splat_type")
            and node.named_children
        ):
            return self.read(node.named_children[0], depth + 1)
        return None

    def _named(self, node: Node) -> Expr:
        name = self._draft.text(node)
        if name == "Self":
            return SELF
        if name in _SILENT:
            return _ANYTHING
        value: Expr = ("name", name)
        self._draft.refer(value, node)
        return ("new", value)

    def _generic(self, node: Node, depth: int) -> Expr | None:
        children = node.named_children
        head = children[0] if children else node
        name = self._draft.text(head).rpartition(".")[2] if head.end_byte - head.start_byte < _LONGEST else ""
        args = self._arguments(children[1:])
        types = [self.read(arg, depth + 1) for arg in args]
        known = tuple(each for each in types if each is not None)
        if name in _LISTS:
            return ("list", known[:1] if name in _FIRST_ONLY else known)
        if name in _DICTS:
            return ("dict", tuple((None, each) for each in known[-1:]))
        if name in _CLASSES:
            return known[0][1] if known and known[0][0] == "new" else None
        if name in _TRANSPARENT:
            kept = known[:1] if name in _FIRST_ONLY else tuple(each for each in known if each != _ANYTHING)
            return ("any", kept) if len(kept) != 1 else kept[0]
        if name == "Coroutine":
            return known[-1] if known else None
        return self.read(head, depth + 1)

    @staticmethod
    def _arguments(nodes: list[Node]) -> list[Node]:
        found: list[Node] = []
        for node in nodes:
            is_group = node.kind_id in (KINDS["type_parameter"], KINDS["tuple"], KINDS["expression_list"])
            found.extend(node.named_children if is_group else [node])
        return found

    def _union(self, nodes: list[Node], depth: int) -> Expr | None:
        types = [self.read(node, depth + 1) for node in nodes]
        known = tuple(each for each in types if each is not None and each != _ANYTHING)
        if not known:
            return _ANYTHING if any(types) else None
        return known[0] if len(known) == 1 else ("any", known)

    def _quoted(self, node: Node, depth: int) -> Expr | None:
        """A forward reference: the annotation that the string holds."""
        content = [child for child in node.named_children if child.kind_id == KINDS["string_content"]]
        if len(content) != 1 or content[0].end_byte - content[0].start_byte > _LONGEST:
            return None
        text = self._draft.source[content[0].start_byte : content[0].end_byte].strip()
        return self._parsed(text, node, depth)

    def _parsed(self, text: bytes, node: Node, depth: int) -> Expr | None:
        words = text.decode("utf-8", "replace")
        if all(part.isidentifier() for part in words.split(".")):
            return self._dotted(words.split("."), node)
        draft = self._draft
        source, draft.source = draft.source, text
        root = parser().parse(text).root_node
        statement = root.named_children[0] if root.named_children else None
        inner = statement.named_children[0] if statement is not None and statement.named_children else None
        found = self.read(inner, depth + 1)
        draft.source = source
        return found

    def _dotted(self, names: list[str], node: Node) -> Expr:
        if names == ["Self"]:
            return SELF
        if names[-1] in _SILENT:
            return _ANYTHING
        value: Expr = ("name", names[0])
        for name in names[1:]:
            value = ("attr", value, name)
        self._draft.refer(value, node)
        return ("new", value)
