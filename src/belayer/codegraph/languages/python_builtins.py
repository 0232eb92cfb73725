"""What Python's own functions do with their arguments: which of them they call, and what they give."""

from __future__ import annotations

from tree_sitter import Node

from belayer.codegraph.facts import Call, Expr, Store
from belayer.codegraph.languages.python_draft import UNKNOWN, Draft
from belayer.codegraph.languages.python_grammar import parser

Keywords = tuple[tuple[str, Expr], ...]
_CALLING = frozenset({"map", "filter"})
_SORTING = frozenset({"sorted", "min", "max"})
_COLLECTING = frozenset({"list", "tuple", "set", "frozenset", "reversed", "iter", "sorted", "aiter"})
_METHODS = {
    "len": "__len__", "str": "__str__", "repr": "__repr__", "bool": "__bool__", "int": "__int__", "float": "__float__",
    "bytes": "__bytes__", "hash": "__hash__", "abs": "__abs__", "round": "__round__", "format": "__format__",
    "complex": "__complex__", "dir": "__dir__", "next": "__next__", "iter": "__iter__", "anext": "__anext__",
    "reversed": "__reversed__", "divmod": "__divmod__", "pow": "__pow__",
}  # fmt: skip
_NAMES = frozenset({"name", "bound", "attr", "def", "call", "item", "wrapped"})
_ADDING = frozenset({"append", "appendleft", "add", "insert", "push"})
_TAKING = frozenset({"extend", "update", "extendleft"})
_FILLED = frozenset({"dict", "list", "put"})
_METHODS_OF_NOTE = _ADDING | _TAKING | {"setdefault", "sort", "partial"}
_LONGEST_CODE = 400


def call_builtin(draft: Draft, name: str, node: Node, args: tuple[Expr, ...], keywords: Keywords) -> Expr:
    """What a built-in function gives."""
    if name == "super":
        return ("super",)
    if name == "getattr" and len(args) > 1:
        return _getattr(args)
    if name in _CALLING:
        return _mapped(draft, name, node, args)
    if name in _SORTING:
        _keyed(draft, node, args, keywords)
    if name in ("eval", "exec") and args and args[0][0] == "key":
        _evaluated(draft, str(args[0][1]), node)
    if args and name in _METHODS:
        draft.operate(args[0], _METHODS[name], node)
    return _given(draft, name, node, args, keywords)


def _given(draft: Draft, name: str, node: Node, args: tuple[Expr, ...], keywords: Keywords) -> Expr:
    if name in _COLLECTING:
        if args and name not in ("iter", "reversed"):
            draft.operate(args[0], "__iter__", node)
        return ("list", (("spread", args[0]),)) if args else ("list", ())
    if name in ("min", "max", "next", "anext") and args:
        return ("item", args[0], None) if len(args) == 1 or name == "next" else ("any", args)
    if name == "enumerate" and args:
        draft.operate(args[0], "__iter__", node)
        return ("list", (("list", (("literal", "int"), ("item", args[0], None))), ("spread", UNKNOWN)))
    if name == "zip":
        return ("list", (("list", tuple(("item", arg, None) for arg in args)), ("spread", UNKNOWN)))
    if name == "dict":
        given = tuple((None, ("spread", arg)) for arg in args)
        return ("dict", (*given, *((key, value) for key, value in keywords if key[:1] != "*")))
    if name in ("type", "vars", "globals", "locals", "__import__", "eval", "property", "open"):
        return UNKNOWN if name != "open" else ("literal", "file")
    return ("literal", name)


def _getattr(args: tuple[Expr, ...]) -> Expr:
    if args[1][0] != "key":
        return UNKNOWN
    value: Expr = ("attr", args[0], args[1][1])
    return ("any", (value, args[2])) if len(args) > 2 and args[2][0] != "literal" else value


def _mapped(draft: Draft, name: str, node: Node, args: tuple[Expr, ...]) -> Expr:
    """A function that is called for each item. Which argument is the function, its value tells."""
    results: list[Expr] = []
    for place, arg in enumerate(args):
        if arg[0] in _NAMES:
            items = tuple(("item", other, None) for at, other in enumerate(args) if at != place)
            results.append(draft.call(arg, node, items))
    if name == "filter":
        return ("list", (("spread", args[-1]),)) if args else UNKNOWN
    return ("list", (*results, ("spread", UNKNOWN)))


def _keyed(draft: Draft, node: Node, args: tuple[Expr, ...], keywords: Keywords) -> None:
    for name, value in keywords:
        if name == "key" and value[0] in _NAMES:
            draft.call(value, node, tuple(("item", arg, None) for arg in args[:1]))


def _evaluated(draft: Draft, code: str, node: Node) -> None:
    """Code in a string that is run here: only the calls that it makes."""
    if len(code) > _LONGEST_CODE:
        return
    source, draft.source = draft.source, code.encode("utf-8", "replace")
    calls = len(draft.calls)
    for statement in parser().parse(draft.source).root_node.named_children:
        if statement.type == "expression_statement":
            draft.read(statement.named_children[0] if statement.named_children else None)
    row, column = node.start_point
    draft.calls[calls:] = [call._replace(line=row + 1, column=column) for call in draft.calls[calls:]]
    draft.source = source


def after_call(
    draft: Draft, callee: Expr, node: Node, args: tuple[Expr, ...], keywords: Keywords, value: Expr
) -> Expr:
    """What a call of something else also does, if it is the method of a list or dict, or a well-known function."""
    if callee[0] == "attr":
        if callee[2] in _METHODS_OF_NOTE:
            return _after_method(draft, callee, node, args, keywords, value)
        return value
    origin = _imported(draft, callee) if args else None
    if origin == ("functools", "partial"):
        return _partial(draft, node, args, keywords)
    if origin == ("functools", "reduce"):
        draft.call(args[0], node, tuple(("item", arg, None) for arg in args[1:]))
    return value


def _after_method(
    draft: Draft, callee: Expr, node: Node, args: tuple[Expr, ...], keywords: Keywords, value: Expr
) -> Expr:
    _, base, name = callee
    if args and name in _ADDING and args[-1][0] not in ("key", "literal"):
        _store(draft, base, args[-1])
    elif args and name in _TAKING:
        _store(draft, base, ("item", args[0], None), args[0])
    elif name == "setdefault" and len(args) > 1:
        _store(draft, base, args[1])
    elif name == "sort":
        _keyed(draft, node, (), keywords)
    elif name == "partial" and args and _is_module(draft, base, "functools"):
        return _partial(draft, node, args, keywords)
    return value


def _partial(draft: Draft, node: Node, args: tuple[Expr, ...], keywords: Keywords) -> Expr:
    """A function with some arguments set: it is not called here, but it gets them whenever it is."""
    line, column = node.start_point
    scope, itself = draft.scope.number, len(draft.calls)
    draft.calls.append(Call(scope, args[0], args[1:], keywords, line + 1, column, unless=itself))
    return args[0]


def _store(draft: Draft, target: Expr, value: Expr, whole: Expr | None = None) -> None:
    if whole is not None and whole[0] == "dict" and _updated(draft, target, whole):
        return
    draft.stores.append(Store(draft.scope.number, ("item", target, None), value, draft.line))


def _updated(draft: Draft, target: Expr, whole: Expr) -> bool:
    """`d.update({…})` in straight-line code leaves a dict with these keys."""
    if target[0] != "bound" or any(not isinstance(key, str | int) for key, _ in whole[1]):
        return False
    for key, value in whole[1]:
        put(draft, target, key, value)
    return True


def put(draft: Draft, target: Expr, key: str | int, value: Expr) -> bool:
    """Whether `target[key] = value` could be written as a new binding of the variable that holds the container."""
    if target[0] == "bound":
        number: int = target[1]
        binding = draft.bindings[number]
        live = draft.scope.live.get(binding.name)
        if binding.value[0] not in _FILLED or live is None or binding.scope != draft.scope.number:
            return False
        draft.bind(binding.name, ("put", live, key, value))
        return True
    if target[0] == "item" and isinstance(target[2], str | int):
        inner: Expr = target[1]
        return put(draft, inner, target[2], ("put", target, key, value))
    return False


def _imported(draft: Draft, callee: Expr) -> tuple[str, str] | None:
    if callee[0] == "name":
        callee = draft.module.live.get(callee[1], callee)
    if callee[0] != "bound":
        return None
    bound: int = callee[1]
    value = draft.bindings[bound].value
    return (value[1], value[2]) if value[0] == "import" else None


def _is_module(draft: Draft, base: Expr, spec: str) -> bool:
    found = _imported(draft, base)
    return found is not None and found[0] == spec
