"""Python's annotations: which classes a value is said to be of."""

from __future__ import annotations

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.python_draft import SELF, Draft
from belayer.codegraph.languages.python_grammar import kinds, parser


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
_IDENTIFIER, _STRING, _CONTENT = kinds("identifier string string_content")
_WHOLE = frozenset(kinds("attribute member_type"))
_GENERIC = frozenset(kinds("generic_type subscript"))
_UNION = frozenset(kinds("union_type binary_operator"))
_AROUND = frozenset(kinds("type parenthesized_expression constrained_type splat_type"))
_GROUPS = frozenset(kinds("type_parameter tuple expression_list"))


def annotated(draft: Draft, node: Node | None, depth: int = 0) -> Expr | None:
    """An instance of what an annotation names; None if it says nothing of use."""
    if node is None or depth > _DEEPEST:
        return None
    kind = node.kind_id
    if kind in _AROUND:
        inner = node.named_children
        return annotated(draft, inner[0], depth + 1) if inner else None
    if kind == _IDENTIFIER:
        return _named(draft, node)
    if kind in _WHOLE:
        return ("new", draft.read(node))
    if kind in _GENERIC:
        return _generic(draft, node, depth)
    if kind in _UNION:
        return _union(draft, node.named_children, depth)
    return _quoted(draft, node, depth) if kind == _STRING else None


def _named(draft: Draft, node: Node) -> Expr:
    name = draft.text(node)
    if name == "Self":
        return SELF
    if name in _SILENT:
        return _ANYTHING
    value: Expr = ("name", name)
    draft.refer(value, node)
    return ("new", value)


def _generic(draft: Draft, node: Node, depth: int) -> Expr | None:
    children = node.named_children
    head = children[0] if children else node
    name = draft.text(head).rpartition(".")[2] if head.end_byte - head.start_byte < _LONGEST else ""
    types = [annotated(draft, arg, depth + 1) for arg in _arguments(children[1:])]
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
    return annotated(draft, head, depth + 1)


def _arguments(nodes: list[Node]) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        found.extend(node.named_children if node.kind_id in _GROUPS else [node])
    return found


def _union(draft: Draft, nodes: list[Node], depth: int) -> Expr | None:
    types = [annotated(draft, node, depth + 1) for node in nodes]
    known = tuple(each for each in types if each is not None and each != _ANYTHING)
    if not known:
        return _ANYTHING if any(types) else None
    return known[0] if len(known) == 1 else ("any", known)


def _quoted(draft: Draft, node: Node, depth: int) -> Expr | None:
    """A forward reference: the annotation that the string holds."""
    content = [child for child in node.named_children if child.kind_id == _CONTENT]
    if len(content) != 1 or content[0].end_byte - content[0].start_byte > _LONGEST:
        return None
    text = draft.source[content[0].start_byte : content[0].end_byte].strip()
    return _parsed(draft, text, node, depth)


def _parsed(draft: Draft, text: bytes, node: Node, depth: int) -> Expr | None:
    words = text.decode("utf-8", "replace")
    if all(part.isidentifier() for part in words.split(".")):
        return _dotted(draft, words.split("."), node)
    source, draft.source = draft.source, text
    root = parser().parse(text).root_node
    statement = root.named_children[0] if root.named_children else None
    inner = statement.named_children[0] if statement is not None and statement.named_children else None
    found = annotated(draft, inner, depth + 1)
    draft.source = source
    return found


def _dotted(draft: Draft, names: list[str], node: Node) -> Expr:
    if names == ["Self"]:
        return SELF
    if names[-1] in _SILENT:
        return _ANYTHING
    value: Expr = ("name", names[0])
    for name in names[1:]:
        value = ("attr", value, name)
    draft.refer(value, node)
    return ("new", value)
