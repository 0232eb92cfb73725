"""Python's statements: definitions, bindings, imports and what runs where."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from tree_sitter import Node

from belayer.codegraph.facts import Call, Expr, Facts, Import, Store
from belayer.codegraph.languages.python_builtins import put
from belayer.codegraph.languages.python_definitions import class_, decorated, function
from belayer.codegraph.languages.python_draft import UNKNOWN, Draft, Rules
from belayer.codegraph.languages.python_expressions import EXPRESSIONS, callee_of, inner, key_of
from belayer.codegraph.languages.python_frameworks import Frameworks
from belayer.codegraph.languages.python_grammar import ALL_KINDS, KINDS, fields, kinds, parser
from belayer.codegraph.languages.python_tests import tags_of
from belayer.codegraph.languages.python_types import annotated

_DEEPEST = 40
_LEFT, _RIGHT, _TYPE, _VALUE, _BODY = fields("left right type value body")
_CONDITION, _MODULE, _NAME, _SUBSCRIPT = fields("condition module_name name subscript")
_IDENTIFIER, _ATTRIBUTE, _SUBSCRIPT_KIND, _COMMENT = kinds("identifier attribute subscript comment")
_ASSIGNMENT, _AUGMENTED, _EXPRESSIONS = kinds("assignment augmented_assignment expression_list")
_ALIASED, _DOTTED_NAME, _WILDCARD = kinds("aliased_import dotted_name wildcard_import")
_BLOCK, _ELSE, _EXCEPT, _WITH = kinds("block else_clause except_clause with_clause")
_AS, _SPLAT, _CASE, _CLASS_PATTERN = kinds("as_pattern list_splat_pattern case_pattern class_pattern")
_CLAUSES = frozenset(kinds("elif_clause else_clause"))
_AROUND = frozenset(kinds("parenthesized_expression as_pattern_target list_splat_pattern"))
_SEVERAL = frozenset(kinds("pattern_list tuple_pattern list_pattern tuple list expression_list"))
_LOOSE = frozenset({"literal", "dict", "list"})
_TYPE_CHECKING = b"TYPE_CHECKING"


def read(path: str, source: bytes) -> Facts:
    """The facts of a Python file."""
    root = parser().parse(source).root_node
    end, _ = root.end_point
    draft = Draft(path, source, end + 1, _RULES)
    draft.run(root)
    Frameworks(draft).find()
    tags = [*(["test"] if draft.is_test_file else []), *tags_of(path), *draft.tags]
    return Facts(
        path=path,
        language="python",
        definitions=tuple(draft.definitions),
        bindings=tuple(draft.bindings),
        stores=tuple(draft.stores),
        calls=tuple(draft.calls),
        references=draft.references(),
        imports=tuple(draft.imports),
        routes=tuple(draft.routes),
        mounts=tuple(draft.mounts),
        tags=tuple(dict.fromkeys(tags)),
        starred=tuple(draft.starred) if draft.starred is not None else None,
        is_broken=root.has_error or draft.is_broken,
    )


# Assignments


def _expression(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        kind = child.kind_id
        if kind == _ASSIGNMENT:
            _assignment(draft, child)
        elif kind == _AUGMENTED:
            _augmented(draft, child)
        else:
            draft.read(child)


def _assignment(draft: Draft, node: Node) -> Expr:
    """Assigns, and gives the value on for `a = b = value`."""
    left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
    row, _ = node.start_point
    draft.line = row + 1
    annotation = node.child_by_field_id(_TYPE)
    declared = annotated(draft, annotation) if annotation is not None else None
    value = UNKNOWN
    if right is not None:
        value = _assignment(draft, right) if right.kind_id == _ASSIGNMENT else draft.read(right)
    elif declared is None:
        return UNKNOWN
    if left is not None:
        _assign(draft, left, value if declared is None else _typed(declared, value))
    return value


def _typed(declared: Expr, value: Expr) -> Expr:
    """A variable's value, as its annotation has it if that says more."""
    return value if declared[0] in _LOOSE and value is not UNKNOWN else declared


def _augmented(draft: Draft, node: Node) -> None:
    left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
    value = draft.read(right)
    if left is None:
        return
    base = draft.read(left) if left.kind_id == _SUBSCRIPT_KIND else callee_of(draft, left)
    draft.operate(base, "__iadd__", node, (value,))
    if value[0] == "list":
        draft.stores.append(Store(draft.scope.number, ("item", base, None), ("item", value, None), 0))
    if left.kind_id == _IDENTIFIER and draft.text(left) == "__all__":
        _starred(draft, value, is_more=True)


def _assign(draft: Draft, target: Node, value: Expr) -> None:
    """A target gets a value: a name, an attribute, an item, or several of them."""
    kind = target.kind_id
    if kind == _IDENTIFIER:
        _assign_name(draft, draft.text(target), value)
    elif kind == _ATTRIBUTE:
        draft.stores.append(Store(draft.scope.number, callee_of(draft, target), value, draft.line))
    elif kind == _SUBSCRIPT_KIND:
        _assign_item(draft, target, value)
    elif kind in _AROUND:
        for child in target.named_children:
            _assign(draft, child, value)
    elif kind in _SEVERAL:
        _assign_all(draft, [child for child in target.named_children if child.kind_id != _COMMENT], value)


def _assign_name(draft: Draft, name: str, value: Expr) -> None:
    scope = draft.scope
    if name == "__all__" and scope is draft.module:
        _starred(draft, value, is_more=False)
    draft.bind(name, ("new", ("def", scope.number)) if scope.is_enum else value)


def _starred(draft: Draft, value: Expr, *, is_more: bool) -> None:
    if value[0] != "list":
        return
    names = [str(part[1]) for part in cast("tuple[Expr, ...]", value[1]) if part[0] == "key"]
    draft.starred = [*(draft.starred or []), *names] if is_more else names


def _assign_item(draft: Draft, target: Node, value: Expr) -> None:
    base = draft.read(target.child_by_field_id(_VALUE))
    indexes = [draft.read(index) for index in target.children_by_field_id(_SUBSCRIPT)]
    key = key_of(indexes[0]) if len(indexes) == 1 else None
    if isinstance(key, str | int) and put(draft, base, key, value):
        return
    draft.stores.append(Store(draft.scope.number, ("item", base, key), value, draft.line))
    draft.operate(base, "__setitem__", target, (*indexes, value))


def _assign_all(draft: Draft, targets: list[Node], value: Expr) -> None:
    """`a, *b, c = value`."""
    parts = cast("tuple[Expr, ...]", value[1]) if value[0] == "list" else None
    if parts is not None and any(part[0] == "spread" for part in parts):
        parts = None
    star = next((place for place, target in enumerate(targets) if target.kind_id == _SPLAT), None)
    for place, target in enumerate(targets):
        after = len(targets) - place
        if star is None or place < star:
            part = _part(value, parts, place)
        elif place == star:
            rest = parts[place : len(parts) - after + 1] if parts is not None else None
            part = ("list", rest) if rest is not None else ("list", (("spread", value),))
        else:
            part = _part(value, parts, -after)
        _assign(draft, target, part)


def _part(value: Expr, parts: tuple[Expr, ...] | None, place: int) -> Expr:
    if parts is None:
        return ("item", value, place)
    return parts[place] if -len(parts) <= place < len(parts) else UNKNOWN


def _delete(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        for target in child.named_children if child.kind_id == _EXPRESSIONS else [child]:
            if target.kind_id == _IDENTIFIER:
                draft.scope.live.pop(draft.text(target), None)
            elif target.kind_id == _SUBSCRIPT_KIND:
                base = draft.read(target.child_by_field_id(_VALUE))
                draft.operate(base, "__delitem__", target)


def _outer(draft: Draft, node: Node) -> None:
    if draft.scope is not draft.module:
        draft.scope.outer.update(draft.text(child) for child in node.named_children)


# Imports


def _import(draft: Draft, node: Node) -> None:
    row, _ = node.start_point
    for child in node.named_children:
        if child.kind_id == _ALIASED:
            name, alias = (draft.text(part) for part in child.named_children[:2])
            _imports(draft, row + 1, name, None, alias)
            draft.bind_thing(alias, ("import", name, None), row + 1)
        elif child.kind_id == _DOTTED_NAME:
            name = draft.text(child)
            _imports(draft, row + 1, name, None, None)
            first = name.partition(".")[0]
            draft.bind_thing(first, ("import", first, None), row + 1)


def _import_from(draft: Draft, node: Node) -> None:
    row, _ = node.start_point
    origin = node.child_by_field_id(_MODULE)
    spec = draft.text(origin).replace(" ", "") if origin is not None else ""
    for child in node.named_children:
        if child.kind_id == _WILDCARD:
            _imports(draft, row + 1, spec, "*", None)
            draft.has_stars = True
    for child in node.children_by_field_id(_NAME):
        if child.kind_id == _ALIASED:
            name, alias = (draft.text(part) for part in child.named_children[:2])
        else:
            name = alias = draft.text(child)
        _imports(draft, row + 1, spec, name, alias if alias != name else None)
        draft.bind_thing(alias, ("import", spec, name), row + 1)


def _imports(draft: Draft, line: int, spec: str, name: str | None, alias: str | None) -> None:
    draft.imports.append(Import(draft.scope.number, spec, name, alias, line, draft.is_typing))


# Branches and loops


def _if(draft: Draft, node: Node) -> None:
    condition = node.child_by_field_id(_CONDITION)
    draft.read(condition)
    is_typing = condition is not None and _is_type_checking(draft, condition)
    for child in node.named_children:
        kind = child.kind_id
        if kind == _BLOCK:
            was_typing, draft.is_typing = draft.is_typing, draft.is_typing or is_typing
            _branch(draft, child)
            draft.is_typing = was_typing
        elif kind in _CLAUSES:
            _clause(draft, child)


def _is_type_checking(draft: Draft, condition: Node) -> bool:
    is_named = draft.source.startswith(_TYPE_CHECKING, condition.end_byte - len(_TYPE_CHECKING))
    return is_named and draft.text(condition).rpartition(".")[2] == "TYPE_CHECKING"


def _branch(draft: Draft, block: Node) -> None:
    before = draft.fork()
    draft.run(block)
    draft.join(before)


def _clause(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        if child.kind_id == _BLOCK:
            _branch(draft, child)
        else:
            draft.read(child)


def _for(draft: Draft, node: Node) -> None:
    left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
    value = draft.read(right)
    if right is not None:
        draft.operate(value, "__iter__", right)
    before = draft.fork(is_loop=True)
    if left is not None:
        row, _ = left.start_point
        draft.line = row + 1
        _assign(draft, left, ("item", value, None))
    body = node.child_by_field_id(_BODY)
    if body is not None:
        draft.run(body)
    draft.join(before)
    _alternatives(draft, node)


def _while(draft: Draft, node: Node) -> None:
    before = draft.fork(is_loop=True)
    draft.read(node.child_by_field_id(_CONDITION))
    body = node.child_by_field_id(_BODY)
    if body is not None:
        draft.run(body)
    draft.join(before)
    _alternatives(draft, node)


def _alternatives(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        if child.kind_id == _ELSE:
            _clause(draft, child)


def _try(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        if child.kind_id == _BLOCK:
            _branch(draft, child)
        elif child.kind_id == _EXCEPT:
            _except(draft, child)
        else:
            _clause(draft, child)


def _except(draft: Draft, node: Node) -> None:
    before = draft.fork()
    for child in node.named_children:
        if child.kind_id == _BLOCK:
            draft.run(child)
        elif child.kind_id == _AS:
            errors = draft.read(child.named_children[0])
            parts = cast("tuple[Expr, ...]", errors[1]) if errors[0] == "list" else (errors,)
            value: Expr = ("any", tuple(("new", part) for part in parts))
            for target in child.named_children[1:]:
                _assign(draft, target, value)
        else:
            draft.read(child)
    draft.join(before)


def _with(draft: Draft, node: Node) -> None:
    for clause in node.named_children:
        if clause.kind_id == _WITH:
            for item in clause.named_children:
                _with_item(draft, item)
        elif clause.kind_id == _BLOCK:
            draft.run(clause)


def _with_item(draft: Draft, node: Node) -> None:
    value_node = node.child_by_field_id(_VALUE)
    if value_node is None:
        return
    is_named = value_node.kind_id == _AS
    opened = value_node.named_children[0] if is_named else value_node
    value = draft.read(opened)
    entered = draft.operate(value, "__enter__", opened)
    draft.operate(value, "__exit__", opened)
    if is_named:
        for target in value_node.named_children[1:]:
            row, _ = target.start_point
            draft.line = row + 1
            _assign(draft, target, entered if entered is not None else UNKNOWN)


def _match(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        if child.kind_id != _BLOCK:
            draft.read(child)
            continue
        for case in child.named_children:
            before = draft.fork()
            for part in case.named_children:
                _case(draft, part)
            draft.join(before)


def _case(draft: Draft, node: Node) -> None:
    if node.kind_id == _BLOCK:
        draft.run(node)
    elif node.kind_id == _CASE:
        _pattern(draft, node, 0)
    else:
        draft.read(node)


def _pattern(draft: Draft, node: Node, depth: int) -> None:
    """The classes that a pattern names, and the name it gives to what fits."""
    if depth > _DEEPEST:
        return
    children = node.named_children
    if node.kind_id == _AS and len(children) == 2:
        what = _class_of(draft, children[0])
        draft.bind(draft.text(children[1]), ("new", what) if what is not None else UNKNOWN)
    if node.kind_id == _CLASS_PATTERN and children:
        draft.refer(_dotted(draft.text(children[0])), node)
    for child in children:
        _pattern(draft, child, depth + 1)


def _class_of(draft: Draft, node: Node) -> Expr | None:
    while node.kind_id == _CASE and node.named_children:
        node = node.named_children[0]
    if node.kind_id == _CLASS_PATTERN and node.named_children:
        return _dotted(draft.text(node.named_children[0]))
    return None


def _dotted(text: str) -> Expr:
    first, *rest = text.split(".")
    value: Expr = ("name", first)
    for name in rest:
        value = ("attr", value, name)
    return value


# Leaving


def _return(draft: Draft, node: Node) -> None:
    if node.named_child_count:
        value = inner(draft, node)
        if not draft.scope.yields:
            draft.scope.results.append(value)


def _raise(draft: Draft, node: Node) -> None:
    for child in node.named_children:
        value = draft.read(child)
        if child.kind_id in (_IDENTIFIER, _ATTRIBUTE):
            row, column = node.start_point
            draft.calls.append(Call(draft.scope.number, value, (), (), row + 1, column, new=True))


def _nothing(_: Draft, __: Node) -> None:
    """For what says nothing."""


_STATEMENTS: dict[str, Callable[[Draft, Node], None]] = {
    "expression_statement": _expression,
    "function_definition": function,
    "class_definition": class_,
    "decorated_definition": decorated,
    "import_statement": _import,
    "import_from_statement": _import_from,
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "try_statement": _try,
    "with_statement": _with,
    "match_statement": _match,
    "return_statement": _return,
    "raise_statement": _raise,
    "delete_statement": _delete,
    "global_statement": _outer,
    "nonlocal_statement": _outer,
    "block": Draft.run,
    "comment": _nothing,
    "pass_statement": _nothing,
    "future_import_statement": _nothing,
}
_RULES = Rules(
    EXPRESSIONS,
    dict.fromkeys(ALL_KINDS, Draft.read) | {KINDS[kind]: rule for kind, rule in _STATEMENTS.items()},
)
