"""Python's expressions: what they stand for, and the calls and references in them."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Param, Shape, Trait
from belayer.codegraph.languages.python_builtins import Builtins
from belayer.codegraph.languages.python_draft import SELF, UNKNOWN, Draft, Scope
from belayer.codegraph.languages.python_grammar import FIELDS, KINDS
from belayer.codegraph.languages.python_types import Types

_DEEPEST = 110
_LONGEST_KEY = 80
_MOST_ITEMS = 400
_STRING: Expr = ("literal", "str")
_NUMBER: Expr = ("literal", "int")
_BOOLEAN: Expr = ("literal", "bool")
_FUNCTION, _ARGUMENTS, _OBJECT, _ATTRIBUTE = (
    FIELDS[name] for name in ("function", "arguments", "object", "attribute")
)
_NAME, _VALUE, _KEY, _BODY = (FIELDS[name] for name in ("name", "value", "key", "body"))
_LEFT, _RIGHT, _SUBSCRIPT, _OPERATOR = (FIELDS[name] for name in ("left", "right", "subscript", "operator"))
_PARAMETERS, _TYPE, _ALIAS = (FIELDS[name] for name in ("parameters", "type", "alias"))
_OPERATORS = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "**": "__pow__", "@": "__matmul__", "|": "__or__", "&": "__and__", "^": "__xor__", "<<": "__lshift__",
    ">>": "__rshift__", "==": "__eq__", "!=": "__ne__", "<": "__lt__", ">": "__gt__", "<=": "__le__", ">=": "__ge__",
}  # fmt: skip
_PREFIXES = b"rRuUbBfFtT"
_FORMATTED = frozenset(b"fFtT")
_TRIPLE = (b'"""', b"'''")
_INTERPOLATION, _IDENTIFIER, _ATTRIBUTE_KIND, _COMMENT = (
    KINDS[kind] for kind in ("interpolation", "identifier", "attribute", "comment")
)
_KEYWORD, _LIST_SPLAT, _DICT_SPLAT = (
    KINDS[kind] for kind in ("keyword_argument", "list_splat", "dictionary_splat")
)
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def _always(value: Expr) -> Callable[[Node], Expr]:
    def rule(_: Node) -> Expr:
        return value

    return rule


class Expressions:
    """Reads expressions into a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.types = Types(draft, self)
        self._builtins = Builtins(draft, self)
        self._depth = 0
        self._rules: list[Callable[[Node], Expr] | None] = [None] * (max(KINDS.values()) + 1)
        rules: dict[str, Callable[[Node], Expr]] = {
            "identifier": self._identifier,
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "string": self._string,
            "concatenated_string": self._strings,
            "integer": self._integer,
            "float": _always(_NUMBER),
            "true": _always(_BOOLEAN),
            "false": _always(_BOOLEAN),
            "none": _always(("literal", "None")),
            "ellipsis": _always(("literal", "None")),
            "parenthesized_expression": self.inner,
            "await": self.inner,
            "type": self.inner,
            "list": self._list,
            "tuple": self._list,
            "set": self._list,
            "expression_list": self._list,
            "pattern_list": self._list,
            "dictionary": self._dictionary,
            "list_comprehension": self._comprehension,
            "set_comprehension": self._comprehension,
            "generator_expression": self._comprehension,
            "dictionary_comprehension": self._comprehension,
            "lambda": self._lambda,
            "conditional_expression": self._conditional,
            "boolean_operator": self._boolean,
            "binary_operator": self._binary,
            "comparison_operator": self._comparison,
            "unary_operator": self._unary,
            "not_operator": self._not,
            "named_expression": self._named,
            "list_splat": self._splat,
            "dictionary_splat": self._splat,
            "yield": self._yield,
            "as_pattern": self.inner,
            "slice": self._parts,
            "interpolation": self._parts,
            "comment": _always(UNKNOWN),
        }
        for kind, rule in rules.items():
            if kind in KINDS:
                self._rules[KINDS[kind]] = rule

    def read(self, node: Node | None) -> Expr:
        """What an expression stands for."""
        if node is None:
            return UNKNOWN
        kind = node.kind_id
        rule = self._rules[kind] if kind < len(self._rules) else None
        if self._depth > _DEEPEST:
            self.draft.is_broken = True
            return UNKNOWN
        self._depth += 1
        value = rule(node) if rule is not None else self._parts(node)
        self._depth -= 1
        return value

    # Names

    def _identifier(self, node: Node) -> Expr:
        draft = self.draft
        value = draft.name(draft.text(node))
        if value[0] == "name":
            draft.refer(value, node)
        return value

    def _attribute(self, node: Node) -> Expr:
        value = self._attribute_of(node)
        self.draft.refer(value, node)
        return value

    def _attribute_of(self, node: Node) -> Expr:
        base = self.read(node.child_by_field_id(_OBJECT))
        name = node.child_by_field_id(_ATTRIBUTE)
        return ("attr", base, self.draft.text(name) if name is not None else "")

    def callee(self, node: Node) -> Expr:
        """What is called: not a reference by itself, but what it is looked up on is."""
        kind = node.kind_id
        if kind == _IDENTIFIER:
            return self.draft.name(self.draft.text(node))
        return self._attribute_of(node) if kind == _ATTRIBUTE_KIND else self.read(node)

    # Literals

    def _string(self, node: Node) -> Expr:
        start, end = node.byte_range
        raw = self.draft.source[start:end]
        quotes = raw.lstrip(_PREFIXES)
        if len(quotes) == end - start or not _FORMATTED.intersection(raw[: end - start - len(quotes)]):
            if end - start > _LONGEST_KEY or b"\\" in raw or (len(quotes) != len(raw) and raw[0] in b"bB"):
                return _STRING
            width = 3 if quotes[:3] in _TRIPLE and len(quotes) >= 6 else 1
            return ("key", quotes[width:-width].decode("utf-8", "replace"))
        for child in node.named_children:
            if child.kind_id == _INTERPOLATION:
                self._interpolation(child)
        return _STRING

    def _interpolation(self, node: Node) -> None:
        for child in node.named_children:
            value = self.read(child)
            if child.kind_id not in (KINDS["type_conversion"], KINDS["format_specifier"]):
                self.draft.operate(value, "__str__", child)

    def _strings(self, node: Node) -> Expr:
        self._parts(node)
        return _STRING

    def _integer(self, node: Node) -> Expr:
        text = self.draft.text(node)
        return ("key", int(text)) if text.isdecimal() and len(text) < 10 else _NUMBER

    def _list(self, node: Node) -> Expr:
        items = tuple(self.read(child) for child in node.named_children if child.kind_id != _COMMENT)
        return ("list", items[:_MOST_ITEMS])

    def _dictionary(self, node: Node) -> Expr:
        entries: list[tuple[object, Expr]] = []
        for child in node.named_children:
            if child.kind_id == KINDS["pair"]:
                entries.append(
                    (
                        self.key(self.read(child.child_by_field_id(_KEY))),
                        self.read(child.child_by_field_id(_VALUE)),
                    )
                )
            elif child.kind_id == _DICT_SPLAT:
                entries.append((None, self.read(child)))
        return ("dict", tuple(entries[:_MOST_ITEMS]))

    @staticmethod
    def key(value: Expr) -> object:
        """An index, as facts write it."""
        if value[0] == "key":
            return value[1]
        return value if value[0] in ("name", "bound", "attr") else None

    def put(self, target: Expr, key: str | int, value: Expr) -> bool:
        """Whether `target[key] = value` could be written as a new binding of the container."""
        return self._builtins.put(target, key, value)

    def _splat(self, node: Node) -> Expr:
        return ("spread", self.inner(node))

    # Composites

    def inner(self, node: Node) -> Expr:
        """What the one expression in a node stands for."""
        children = node.named_children
        if len(children) == 1:
            return self.read(children[0])
        values = [self.read(child) for child in children if child.kind_id != _COMMENT]
        return values[0] if values else UNKNOWN

    def _parts(self, node: Node) -> Expr:
        """Something that is no value of ours, with expressions in it."""
        for child in node.named_children:
            self.read(child)
        return UNKNOWN

    def _conditional(self, node: Node) -> Expr:
        values = [self.read(child) for child in node.named_children if child.kind_id != _COMMENT]
        return ("any", (values[0], values[2])) if len(values) == 3 else UNKNOWN

    def _boolean(self, node: Node) -> Expr:
        left, right = self.read(node.child_by_field_id(_LEFT)), self.read(node.child_by_field_id(_RIGHT))
        operator = node.child_by_field_id(_OPERATOR)
        is_and = operator is not None and operator.type == "and"
        return right if is_and else ("any", (left, right))

    def _binary(self, node: Node) -> Expr:
        left, right = self.read(node.child_by_field_id(_LEFT)), self.read(node.child_by_field_id(_RIGHT))
        operator = node.child_by_field_id(_OPERATOR)
        sign = operator.type if operator is not None else ""
        if left[0] == "list" and right[0] == "list" and sign == "+":
            return ("list", (*left[1], *right[1]))
        if left[0] in ("key", "literal"):
            return left if left[0] == "literal" else _STRING if isinstance(left[1], str) else _NUMBER
        given = self.draft.operate(left, _OPERATORS.get(sign, "__add__"), node, (right,))
        return given if given is not None else UNKNOWN

    def _comparison(self, node: Node) -> Expr:
        values = [self.read(child) for child in node.named_children]
        sign = " ".join(child.type for child in node.children_by_field_name("operators"))
        if sign in ("in", "not in"):
            self.draft.operate(values[-1], "__contains__", node, (values[0],))
        elif sign in _OPERATORS:
            self.draft.operate(values[0], _OPERATORS[sign], node, (values[-1],))
        return _BOOLEAN

    def _unary(self, node: Node) -> Expr:
        value = self.inner(node)
        sign = node.children[0].type
        if value[0] == "key" and sign == "-" and isinstance(value[1], int):
            return ("key", -value[1])
        given = self.draft.operate(value, _UNARY.get(sign, "__neg__"), node)
        return given if given is not None else value

    def _not(self, node: Node) -> Expr:
        self.inner(node)
        return _BOOLEAN

    def _named(self, node: Node) -> Expr:
        name, value = node.child_by_field_id(_NAME), self.read(node.child_by_field_id(_VALUE))
        if name is not None:
            self.draft.bind(self.draft.text(name), value)
        return value

    def _yield(self, node: Node) -> Expr:
        scope = self.draft.scope
        if not scope.yields:
            scope.yields, scope.results = True, []
        value = self.inner(node)
        is_from = any(child.type == "from" for child in node.children)
        scope.results.append(("item", value, None) if is_from else value)
        if is_from:
            self.draft.operate(value, "__iter__", node)
        return UNKNOWN

    def _subscript(self, node: Node) -> Expr:
        base = self.read(node.child_by_field_id(_VALUE))
        indexes = node.children_by_field_name("subscript")
        if len(indexes) == 1 and indexes[0].kind_id == KINDS["slice"]:
            return self._slice(base, indexes[0])
        values = [self.read(index) for index in indexes]
        key = self.key(values[0]) if len(values) == 1 else None
        self.draft.operate(base, "__getitem__", node, tuple(values))
        return ("item", base, key)

    def _slice(self, base: Expr, node: Node) -> Expr:
        ends: list[int | None] = [None, None]
        place = 0
        for child in node.children:
            if child.type == ":":
                place += 1
            elif place < 2:
                value = self.read(child)
                if value[0] != "key" or not isinstance(value[1], int):
                    return ("list", (("spread", base),))
                ends[place] = value[1]
        return ("slice", base, ends[0], ends[1])

    # Comprehensions and lambdas

    def _comprehension(self, node: Node) -> Expr:
        is_dict = node.kind_id == KINDS["dictionary_comprehension"]
        with self.draft.inner():
            for child in node.named_children:
                if child.kind_id == KINDS["for_in_clause"]:
                    self._clause(child)
                elif child.kind_id == KINDS["if_clause"]:
                    self.inner(child)
            body = node.child_by_field_id(_BODY)
            if is_dict and body is not None:
                key, value = (
                    self.read(body.child_by_field_id(_KEY)),
                    self.read(body.child_by_field_id(_VALUE)),
                )
                return ("dict", ((self.key(key) if key[0] == "key" else None, value),))
            return ("list", (("any", (self.read(body),)), ("spread", UNKNOWN)))

    def _clause(self, node: Node) -> None:
        right, left = self.read(node.child_by_field_id(_RIGHT)), node.child_by_field_id(_LEFT)
        self.draft.operate(right, "__iter__", node)
        if left is not None:
            self._inner_names(left, ("item", right, None))

    def _inner_names(self, target: Node, value: Expr) -> None:
        if target.kind_id == _IDENTIFIER:
            hidden = self.draft.hidden(value)
            self.draft.scope.live[self.draft.text(target)] = hidden[1]
            return
        for place, child in enumerate(target.named_children):
            self._inner_names(child, ("item", value, place))

    def _lambda(self, node: Node) -> Expr:
        draft = self.draft
        row, column = node.start_point
        params = self.params(node.child_by_field_id(_PARAMETERS), skips_first=False)
        inherited = draft.scope.self_name if draft.scope.shape is not Shape.CLASS else None
        self_name = inherited if all(param.name != inherited for param in params) else None
        scope = draft.define(Shape.LAMBDA, f"<lambda:{row + 1}:{column}>", node, self_name)
        self.enter(scope, params)
        outer, draft.scope = draft.scope, scope
        value = self.read(node.child_by_field_id(_BODY))
        draft.scope = outer
        results = tuple(scope.results) if scope.yields else (value,)
        traits = int(Trait.GENERATOR) if scope.yields else 0
        fact = draft.definitions[scope.number]
        draft.definitions[scope.number] = fact._replace(params=params, returns=results, traits=traits)
        return ("def", scope.number)

    @staticmethod
    def enter(scope: Scope, params: tuple[Param, ...]) -> None:
        """A function's parameters are names of its scope."""
        for param in params:
            scope.bound[param.name] = 0

    def params(self, node: Node | None, *, skips_first: bool) -> tuple[Param, ...]:
        """The parameters of a function; a method's first is the instance and no parameter of ours."""
        found: list[Param] = []
        for child in node.named_children if node is not None else ():
            param = self._param(child)
            if param is None:
                continue
            if skips_first:
                skips_first = False
                if not param.star:
                    continue
            found.append(param)
        return tuple(found)

    def _param(self, node: Node) -> Param | None:
        kind = node.kind_id
        if kind == _IDENTIFIER:
            return Param(self.draft.text(node))
        if kind == KINDS["default_parameter"] or kind == KINDS["typed_default_parameter"]:
            name = node.child_by_field_id(_NAME)
            annotation = self.types.read(node.child_by_field_id(_TYPE))
            default = self.read(node.child_by_field_id(_VALUE))
            return Param(self.draft.text(name) if name is not None else "", annotation, default)
        if kind == KINDS["typed_parameter"]:
            inner = self._param(node.named_children[0])
            annotation = self.types.read(node.child_by_field_id(_TYPE))
            if inner is None or inner.star:
                return inner
            return inner._replace(type=annotation)
        if kind in (KINDS["list_splat_pattern"], KINDS["dictionary_splat_pattern"]) and node.named_children:
            star = "*" if kind == KINDS["list_splat_pattern"] else "**"
            return Param(self.draft.text(node.named_children[0]), None, None, star)
        return None

    def self_name(self, node: Node | None) -> str | None:
        """The name of a method's first parameter."""
        for child in node.named_children if node is not None else ():
            param = self._param_name(child)
            if param is not None:
                return param
        return None

    def _param_name(self, node: Node) -> str | None:
        if node.kind_id == _IDENTIFIER:
            return self.draft.text(node)
        if node.kind_id == KINDS["typed_parameter"] and node.named_children[0].kind_id == _IDENTIFIER:
            return self.draft.text(node.named_children[0])
        return None

    # Calls

    def _call(self, node: Node) -> Expr:
        function, listed = node.child_by_field_id(_FUNCTION), node.child_by_field_id(_ARGUMENTS)
        if function is None:
            return self._parts(node)
        if function.kind_id == _IDENTIFIER:
            name = self.draft.text(function)
            if self.draft.is_builtin(name):
                args, keywords = self.arguments(listed)
                return self._builtins.call(name, node, args, keywords)
        callee = self.callee(function)
        args, keywords = self.arguments(listed)
        if callee == ("attr", SELF, "__class__"):
            return UNKNOWN
        value = self.draft.call(callee, node, args, keywords)
        return self._builtins.after(callee, node, args, keywords, value)

    def arguments(self, node: Node | None) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]:
        """The arguments of a call, by place and by name."""
        args: list[Expr] = []
        keywords: list[tuple[str, Expr]] = []
        if node is not None and node.kind_id == KINDS["generator_expression"]:
            return (self.read(node),), ()
        is_spread = False
        for child in node.named_children if node is not None else ():
            kind = child.kind_id
            if kind == _KEYWORD:
                name = child.child_by_field_id(_NAME)
                value = self.read(child.child_by_field_id(_VALUE))
                keywords.append((self.draft.text(name) if name is not None else "", value))
            elif kind == _LIST_SPLAT:
                keywords.append(("*", self.inner(child)))
                is_spread = True
            elif kind == _DICT_SPLAT:
                keywords.append(("**", self.inner(child)))
            elif kind != _COMMENT:
                value = self.read(child)
                if not is_spread:
                    args.append(value)
        return tuple(args), tuple(keywords)
