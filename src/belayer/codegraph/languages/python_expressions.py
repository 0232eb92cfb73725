"""Python's expressions: what they stand for, and the calls and references in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Shape, Trait
from belayer.codegraph.languages.python_builtins import after_call, call_builtin
from belayer.codegraph.languages.python_draft import SELF, UNKNOWN, Draft, word
from belayer.codegraph.languages.python_grammar import ALL_KINDS, KINDS, fields, kinds
from belayer.codegraph.languages.python_parameters import parameters

_LONGEST_KEY = 80
_LONGEST_NUMBER = 9
_MOST_LITERALS = 1 << 13
_MOST_ITEMS = 400
_TRUTH: Expr = ("literal", "bool")
_TEXT: Expr = ("literal", "str")
_NUMBER: Expr = ("literal", "int")
_NONE: Expr = ("literal", "None")
_FUNCTION, _ARGUMENTS, _OBJECT, _ATTRIBUTE = fields("function arguments object attribute")
_NAME, _VALUE, _KEY, _BODY, _PARAMETERS = fields("name value key body parameters")
_LEFT, _RIGHT, _SUBSCRIPT, _OPERATOR, _SIGNS = fields("left right subscript operator operators")
_IDENTIFIER, _ATTRIBUTE_KIND, _COMMENT, _PAIR, _SLICE = kinds("identifier attribute comment pair slice")
_KEYWORD, _LIST_SPLAT, _DICT_SPLAT = kinds("keyword_argument list_splat dictionary_splat")
_GENERATOR, _DICT_COMPREHENSION = kinds("generator_expression dictionary_comprehension")
_FOR_IN, _IF, _INTERPOLATION = kinds("for_in_clause if_clause interpolation")
_FORMATS = frozenset(kinds("type_conversion format_specifier"))
_OPERATORS = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "**": "__pow__", "@": "__matmul__", "|": "__or__", "&": "__and__", "^": "__xor__", "<<": "__lshift__",
    ">>": "__rshift__", "==": "__eq__", "!=": "__ne__", "<": "__lt__", ">": "__gt__", "<=": "__le__", ">=": "__ge__",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_PREFIXES = b"rRuUbBfFtT"
_FORMATTED = frozenset(b"fFtT")
_TRIPLE = (b'"""', b"'''")
_BYTES = (b"b", b"B")
_RAW = (b"r", b"R")
_GENERATOR_TRAIT = int(Trait.GENERATOR)

Rule = Callable[[Draft, Node], Expr]
Arguments = tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]


def callee_of(draft: Draft, node: Node) -> Expr:
    """What is called: not a reference by itself, but what it is looked up on is."""
    kind = node.kind_id
    if kind == _IDENTIFIER:
        return draft.name(draft.text(node))
    return _member(draft, node) if kind == _ATTRIBUTE_KIND else draft.read(node)


def inner(draft: Draft, node: Node) -> Expr:
    """What the one expression in a node stands for."""
    children = node.named_children
    if len(children) == 1:
        return draft.read(children[0])
    values = draft.read_all(_uncommented(children))
    return values[0] if values else UNKNOWN


def _uncommented(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if node.kind_id != _COMMENT]


def key_of(value: Expr) -> object:
    """An index, as facts write it."""
    if value[0] == "key":
        return value[1]
    return value if value[0] in ("name", "bound", "attr") else None


# Names


def _identifier(draft: Draft, node: Node) -> Expr:
    value = draft.name(draft.text(node))
    if value[0] == "name":
        draft.refer(value, node)
    return value


def _attribute(draft: Draft, node: Node) -> Expr:
    value = _member(draft, node)
    draft.refer(value, node)
    return value


def _member(draft: Draft, node: Node) -> Expr:
    """`a.b`, where a is read and b is not yet."""
    names = draft.dotted(node)
    if names is None:
        name = node.child_by_field_id(_ATTRIBUTE)
        base = draft.read(node.child_by_field_id(_OBJECT))
        return ("attr", base, draft.text(name) if name is not None else "")
    first, middle, last = names
    value = draft.name(first)
    if value[0] == "name":
        draft.refer(value, node)
    for name in middle:
        value = ("attr", value, name)
        draft.refer(value, node)
    return ("attr", value, last)


# Literals


def _string(draft: Draft, node: Node) -> Expr:
    start, end = node.byte_range
    value = _written(draft.source[start : min(end, start + _LONGEST_KEY + 1)])
    return value if value is not None else _formatted(draft, node)


@lru_cache(_MOST_LITERALS)
def _written(raw: bytes) -> Expr | None:
    """What a string stands for, by its beginning if it is too long for a key; None if it may have expressions in it."""
    prefix = _prefix(raw)
    if _FORMATTED.intersection(prefix):
        return None
    first = prefix[:1]
    if len(raw) > _LONGEST_KEY or first in _BYTES or (b"\\" in raw and first not in _RAW):
        return _TEXT
    quoted = raw[len(prefix) :]
    width = 3 if quoted[:3] in _TRIPLE and len(quoted) >= 6 else 1
    return ("key", word(quoted[width:-width]))


def _prefix(raw: bytes) -> bytes:
    return raw[: len(raw) - len(raw.lstrip(_PREFIXES))]


def _formatted(draft: Draft, node: Node) -> Expr:
    for child in node.named_children:
        if child.kind_id == _INTERPOLATION:
            for part in child.named_children:
                value = draft.read(part)
                if part.kind_id not in _FORMATS:
                    draft.operate(value, "__str__", part)
    return _TEXT


def _strings(draft: Draft, node: Node) -> Expr:
    _parts(draft, node)
    return _TEXT


def _integer(draft: Draft, node: Node) -> Expr:
    start, end = node.byte_range
    return _number(draft.source[start:end]) if end - start <= _LONGEST_NUMBER else _NUMBER


@lru_cache(_MOST_LITERALS)
def _number(raw: bytes) -> Expr:
    return ("key", int(raw)) if raw.isdigit() else _NUMBER


def _always(value: Expr) -> Rule:
    def rule(_: Draft, __: Node) -> Expr:
        return value

    return rule


def _list(draft: Draft, node: Node) -> Expr:
    items = draft.read_all(_uncommented(node.named_children))
    return ("list", tuple(items[:_MOST_ITEMS]))


def _dictionary(draft: Draft, node: Node) -> Expr:
    entries: list[tuple[object, Expr]] = []
    for child in node.named_children:
        kind = child.kind_id
        if kind == _PAIR:
            key = key_of(draft.read(child.child_by_field_id(_KEY)))
            entries.append((key, draft.read(child.child_by_field_id(_VALUE))))
        elif kind == _DICT_SPLAT:
            entries.append((None, draft.read(child)))
    return ("dict", tuple(entries[:_MOST_ITEMS]))


def _splat(draft: Draft, node: Node) -> Expr:
    return ("spread", inner(draft, node))


# Composites


def _parts(draft: Draft, node: Node) -> Expr:
    """Something that is no value of ours, with expressions in it."""
    draft.read_all(node.named_children)
    return UNKNOWN


def _conditional(draft: Draft, node: Node) -> Expr:
    values = draft.read_all(_uncommented(node.named_children))
    return ("any", (values[0], values[2])) if len(values) == 3 else UNKNOWN


def _boolean(draft: Draft, node: Node) -> Expr:
    left, right = draft.read(node.child_by_field_id(_LEFT)), draft.read(node.child_by_field_id(_RIGHT))
    operator = node.child_by_field_id(_OPERATOR)
    is_and = operator is not None and operator.type == "and"
    return right if is_and else ("any", (left, right))


def _binary(draft: Draft, node: Node) -> Expr:
    left, right = draft.read(node.child_by_field_id(_LEFT)), draft.read(node.child_by_field_id(_RIGHT))
    operator = node.child_by_field_id(_OPERATOR)
    sign = operator.type if operator is not None else ""
    if left[0] == "list" and right[0] == "list" and sign == "+":
        return ("list", (*left[1], *right[1]))
    if left[0] in ("key", "literal"):
        return left if left[0] == "literal" else _TEXT if isinstance(left[1], str) else _NUMBER
    given = draft.operate(left, _OPERATORS.get(sign, "__add__"), node, (right,))
    return given if given is not None else UNKNOWN


def _comparison(draft: Draft, node: Node) -> Expr:
    values = draft.read_all(node.named_children)
    sign = " ".join([child.type for child in node.children_by_field_id(_SIGNS)])
    if sign in ("in", "not in"):
        draft.operate(values[-1], "__contains__", node, (values[0],))
    elif sign in _OPERATORS:
        draft.operate(values[0], _OPERATORS[sign], node, (values[-1],))
    return _TRUTH


def _unary(draft: Draft, node: Node) -> Expr:
    value = inner(draft, node)
    sign = node.children[0].type
    if value[0] == "key" and sign == "-" and isinstance(value[1], int):
        return ("key", -value[1])
    given = draft.operate(value, _UNARY.get(sign, "__neg__"), node)
    return given if given is not None else value


def _not(draft: Draft, node: Node) -> Expr:
    inner(draft, node)
    return _TRUTH


def _named(draft: Draft, node: Node) -> Expr:
    name, value = node.child_by_field_id(_NAME), draft.read(node.child_by_field_id(_VALUE))
    if name is not None:
        draft.bind(draft.text(name), value)
    return value


def _yield(draft: Draft, node: Node) -> Expr:
    scope = draft.scope
    if not scope.yields:
        scope.yields, scope.results = True, []
    value = inner(draft, node)
    is_from = any(child.type == "from" for child in node.children)
    scope.results.append(("item", value, None) if is_from else value)
    if is_from:
        draft.operate(value, "__iter__", node)
    return UNKNOWN


def _subscript(draft: Draft, node: Node) -> Expr:
    base = draft.read(node.child_by_field_id(_VALUE))
    indexes = node.children_by_field_id(_SUBSCRIPT)
    if len(indexes) == 1 and indexes[0].kind_id == _SLICE:
        return _slice(draft, base, indexes[0])
    values = draft.read_all(indexes)
    key = key_of(values[0]) if len(values) == 1 else None
    draft.operate(base, "__getitem__", node, tuple(values))
    return ("item", base, key)


def _slice(draft: Draft, base: Expr, node: Node) -> Expr:
    ends: list[int | None] = [None, None]
    place = 0
    for child in node.children:
        if child.type == ":":
            place += 1
        elif place < 2:
            value = draft.read(child)
            if value[0] != "key" or not isinstance(value[1], int):
                return ("list", (("spread", base),))
            ends[place] = value[1]
    return ("slice", base, ends[0], ends[1])


# Comprehensions and lambdas


def _comprehension(draft: Draft, node: Node) -> Expr:
    scope = draft.scope
    live, scope.live = scope.live, dict(scope.live)  # its names end with it
    for child in node.named_children:
        kind = child.kind_id
        if kind == _FOR_IN:
            _clause(draft, child)
        elif kind == _IF:
            inner(draft, child)
    value = _each(draft, node)
    scope.live = live
    return value


def _each(draft: Draft, node: Node) -> Expr:
    body = node.child_by_field_id(_BODY)
    if body is not None and node.kind_id == _DICT_COMPREHENSION:
        key = draft.read(body.child_by_field_id(_KEY))
        value = draft.read(body.child_by_field_id(_VALUE))
        return ("dict", ((key_of(key) if key[0] == "key" else None, value),))
    return ("list", (("any", (draft.read(body),)), ("spread", UNKNOWN)))


def _clause(draft: Draft, node: Node) -> None:
    right, left = draft.read(node.child_by_field_id(_RIGHT)), node.child_by_field_id(_LEFT)
    draft.operate(right, "__iter__", node)
    if left is not None:
        _inner_names(draft, left, ("item", right, None))


def _inner_names(draft: Draft, target: Node, value: Expr) -> None:
    if target.kind_id == _IDENTIFIER:
        draft.hide(draft.text(target), value)
        return
    for place, child in enumerate(target.named_children):
        _inner_names(draft, child, ("item", value, place))


def _lambda(draft: Draft, node: Node) -> Expr:
    row, column = node.start_point
    params = parameters(draft, node.child_by_field_id(_PARAMETERS))
    inherited = draft.scope.self_name if draft.scope.shape is not Shape.CLASS else None
    self_name = inherited if all(param.name != inherited for param in params) else None
    scope = draft.define(Shape.LAMBDA, f"<lambda:{row + 1}:{column}>", node, self_name)
    scope.bound.update((param.name, 0) for param in params)
    outer, draft.scope = draft.scope, scope
    value = draft.read(node.child_by_field_id(_BODY))
    draft.scope = outer
    results = tuple(scope.results) if scope.yields else (value,)
    traits = _GENERATOR_TRAIT if scope.yields else 0
    fact = draft.definitions[scope.number]
    draft.definitions[scope.number] = fact._replace(params=params, returns=results, traits=traits)
    return ("def", scope.number)


# Calls


def _call(draft: Draft, node: Node) -> Expr:
    function, listed = node.child_by_field_id(_FUNCTION), node.child_by_field_id(_ARGUMENTS)
    if function is None:
        return _parts(draft, node)
    kind = function.kind_id
    if kind == _IDENTIFIER:
        name = draft.text(function)
        if draft.is_builtin(name):
            args, keywords = _arguments(draft, listed)
            return call_builtin(draft, name, node, args, keywords)
        callee = draft.name(name)
    else:
        callee = _member(draft, function) if kind == _ATTRIBUTE_KIND else draft.read(function)
    args, keywords = _arguments(draft, listed)
    if callee == _OWN_CLASS:
        return UNKNOWN
    value = draft.call(callee, node, args, keywords)
    return after_call(draft, callee, node, args, keywords, value)


def _arguments(draft: Draft, node: Node | None) -> Arguments:
    """The arguments of a call, by place and by name."""
    if node is None or not node.named_child_count:
        return (), ()
    if node.kind_id == _GENERATOR:
        return (draft.read(node),), ()
    args: list[Expr] = []
    keywords: list[tuple[str, Expr]] = []
    is_spread = False
    for child in node.named_children:
        kind = child.kind_id
        if kind == _KEYWORD:
            name = child.child_by_field_id(_NAME)
            value = draft.read(child.child_by_field_id(_VALUE))
            keywords.append((draft.text(name) if name is not None else "", value))
        elif kind == _LIST_SPLAT:
            keywords.append(("*", inner(draft, child)))
            is_spread = True
        elif kind == _DICT_SPLAT:
            keywords.append(("**", inner(draft, child)))
        elif kind != _COMMENT:
            value = draft.read(child)
            if not is_spread:
                args.append(value)
    return tuple(args), tuple(keywords)


_OWN_CLASS: Expr = ("attr", SELF, "__class__")
_RULES: dict[str, Rule] = {
    "identifier": _identifier,
    "attribute": _attribute,
    "call": _call,
    "subscript": _subscript,
    "string": _string,
    "concatenated_string": _strings,
    "integer": _integer,
    "float": _always(_NUMBER),
    "true": _always(_TRUTH),
    "false": _always(_TRUTH),
    "none": _always(_NONE),
    "ellipsis": _always(_NONE),
    "parenthesized_expression": inner,
    "await": inner,
    "type": inner,
    "list": _list,
    "tuple": _list,
    "set": _list,
    "expression_list": _list,
    "pattern_list": _list,
    "dictionary": _dictionary,
    "list_comprehension": _comprehension,
    "set_comprehension": _comprehension,
    "generator_expression": _comprehension,
    "dictionary_comprehension": _comprehension,
    "lambda": _lambda,
    "conditional_expression": _conditional,
    "boolean_operator": _boolean,
    "binary_operator": _binary,
    "comparison_operator": _comparison,
    "unary_operator": _unary,
    "not_operator": _not,
    "named_expression": _named,
    "list_splat": _splat,
    "dictionary_splat": _splat,
    "yield": _yield,
    "as_pattern": inner,
    "slice": _parts,
    "interpolation": _parts,
    "comment": _always(UNKNOWN),
}
EXPRESSIONS: dict[int, Rule] = dict.fromkeys(ALL_KINDS, _parts) | {
    KINDS[kind]: rule for kind, rule in _RULES.items()
}
