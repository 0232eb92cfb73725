"""Python's statements: definitions, bindings, imports and what runs where."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from tree_sitter import Node

from belayer.codegraph.facts import Call, Expr, Facts, Import, Shape, Store
from belayer.codegraph.languages.python_definitions import Definitions
from belayer.codegraph.languages.python_draft import ENUM, UNKNOWN, Draft
from belayer.codegraph.languages.python_expressions import Expressions
from belayer.codegraph.languages.python_frameworks import Frameworks
from belayer.codegraph.languages.python_grammar import FIELDS, KINDS, parser
from belayer.codegraph.languages.python_tests import (
    is_test_file,
    tags_of,
)

_DEEPEST = 40
_NAME, _BODY, _PARAMETERS, _RETURN = (FIELDS[name] for name in ("name", "body", "parameters", "return_type"))
_LEFT, _RIGHT, _TYPE, _VALUE = (FIELDS[name] for name in ("left", "right", "type", "value"))
_CONDITION, _SUPERCLASSES, _DEFINITION, _MODULE = (
    FIELDS[name] for name in ("condition", "superclasses", "definition", "module_name")
)
_LOOSE = frozenset({"literal", "dict", "list"})


def read(path: str, source: bytes) -> Facts:
    """The facts of a Python file."""
    root = parser().parse(source).root_node
    end, _ = root.end_point
    reader = Reader(Draft(path, source, end + 1))
    reader.read(root)
    return reader.facts(is_broken=root.has_error)


class Reader:
    """Reads statements into a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.expressions = Expressions(draft)
        self._is_test_file = is_test_file(draft.path)
        self._depth = 0
        self._is_typing = False
        definitions = Definitions(draft, self.expressions, self.read)
        rules: dict[str, Callable[[Node], None]] = {
            "expression_statement": self._expression,
            "function_definition": definitions.function,
            "class_definition": definitions.class_,
            "decorated_definition": definitions.decorated,
            "import_statement": self._import,
            "import_from_statement": self._import_from,
            "if_statement": self._if,
            "for_statement": self._for,
            "while_statement": self._while,
            "try_statement": self._try,
            "with_statement": self._with,
            "match_statement": self._match,
            "return_statement": self._return,
            "raise_statement": self._raise,
            "delete_statement": self._delete,
            "global_statement": self._outer,
            "nonlocal_statement": self._outer,
            "block": self.read,
            "ERROR": self.read,
            "comment": _nothing,
            "pass_statement": _nothing,
            "future_import_statement": _nothing,
        }
        self._rules = {KINDS[kind]: rule for kind, rule in rules.items() if kind in KINDS}

    def facts(self, *, is_broken: bool) -> Facts:
        """What was read."""
        draft = self.draft
        Frameworks(draft).find()
        tags = [*(["test"] if self._is_test_file else []), *tags_of(draft.path), *draft.tags]
        return Facts(
            path=draft.path,
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
            is_broken=is_broken or draft.is_broken,
        )

    def read(self, block: Node) -> None:
        """All statements of a block."""
        if self._depth > _DEEPEST:
            self.draft.is_broken = True
            return
        self._depth += 1
        for node in block.named_children:
            rule = self._rules.get(node.kind_id)
            if rule is not None:
                rule(node)
            else:
                self.expressions.read(node)
        self._depth -= 1

    # Assignments

    def _expression(self, node: Node) -> None:
        for child in node.named_children:
            if child.kind_id == KINDS["assignment"]:
                self._assignment(child)
            elif child.kind_id == KINDS["augmented_assignment"]:
                self._augmented(child)
            else:
                self.expressions.read(child)

    def _assignment(self, node: Node) -> Expr:
        """Assigns, and gives the value on for `a = b = value`."""
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        row, _ = node.start_point
        self.draft.line = row + 1
        declared = self.expressions.types.read(node.child_by_field_id(_TYPE))
        value = UNKNOWN
        if right is not None:
            is_chain = right.kind_id == KINDS["assignment"]
            value = self._assignment(right) if is_chain else self.expressions.read(right)
        elif declared is None:
            return UNKNOWN
        if left is not None:
            self.assign(left, _typed(declared, value))
        return value

    def _augmented(self, node: Node) -> None:
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        value = self.expressions.read(right)
        if left is None:
            return
        base = (
            self.expressions.callee(left)
            if left.kind_id != KINDS["subscript"]
            else self.expressions.read(left)
        )
        self.draft.operate(base, "__iadd__", node, (value,))
        if value[0] == "list":
            self.draft.stores.append(
                Store(self.draft.scope.number, ("item", base, None), ("item", value, None), 0)
            )
        if left.kind_id == KINDS["identifier"] and self.draft.text(left) == "__all__":
            self._starred(value, is_more=True)

    def assign(self, target: Node, value: Expr) -> None:
        """A target gets a value: a name, an attribute, an item, or several of them."""
        kind = target.kind_id
        draft = self.draft
        if kind == KINDS["identifier"]:
            self._assign_name(draft.text(target), value)
        elif kind == KINDS["attribute"]:
            draft.stores.append(Store(draft.scope.number, self.expressions.callee(target), value, draft.line))
        elif kind == KINDS["subscript"]:
            self._assign_item(target, value)
        elif kind in (
            KINDS["parenthesized_expression"],
            KINDS["as_pattern_target"],
            KINDS["list_splat_pattern"],
        ):
            for child in target.named_children:
                self.assign(child, value)
        elif kind in _SEVERAL:
            self._assign_all(
                [child for child in target.named_children if child.kind_id != KINDS["comment"]], value
            )

    def _assign_name(self, name: str, value: Expr) -> None:
        draft = self.draft
        if name == "__all__" and draft.scope is draft.module:
            self._starred(value, is_more=False)
        if draft.scope.shape is Shape.CLASS and draft.scope.outer == ENUM:
            value = ("new", ("def", draft.scope.number))
        draft.bind(name, value)

    def _starred(self, value: Expr, *, is_more: bool) -> None:
        if value[0] != "list":
            return
        names = [str(part[1]) for part in cast("tuple[Expr, ...]", value[1]) if part[0] == "key"]
        self.draft.starred = [*(self.draft.starred or []), *names] if is_more else names

    def _assign_item(self, target: Node, value: Expr) -> None:
        draft, expressions = self.draft, self.expressions
        base = expressions.read(target.child_by_field_id(_VALUE))
        indexes = [expressions.read(index) for index in target.children_by_field_name("subscript")]
        key = expressions.key(indexes[0]) if len(indexes) == 1 else None
        if isinstance(key, str | int) and expressions.put(base, key, value):
            return
        draft.stores.append(Store(draft.scope.number, ("item", base, key), value, draft.line))
        draft.operate(base, "__setitem__", target, (*indexes, value))

    def _assign_all(self, targets: list[Node], value: Expr) -> None:
        """`a, *b, c = value`."""
        parts = cast("tuple[Expr, ...]", value[1]) if value[0] == "list" else None
        if parts is not None and any(part[0] == "spread" for part in parts):
            parts = None
        star = next((n for n, t in enumerate(targets) if t.kind_id == KINDS["list_splat_pattern"]), None)
        for place, target in enumerate(targets):
            after = len(targets) - place
            if star is None or place < star:
                part = self._part(value, parts, place)
            elif place == star:
                rest = parts[place : len(parts) - after + 1] if parts is not None else None
                part = ("list", rest) if rest is not None else ("list", (("spread", value),))
            else:
                part = self._part(value, parts, -after)
            self.assign(target, part)

    @staticmethod
    def _part(value: Expr, parts: tuple[Expr, ...] | None, place: int) -> Expr:
        if parts is None:
            return ("item", value, place)
        return parts[place] if -len(parts) <= place < len(parts) else UNKNOWN

    def _delete(self, node: Node) -> None:
        for child in node.named_children:
            targets = child.named_children if child.kind_id == KINDS["expression_list"] else [child]
            for target in targets:
                if target.kind_id == KINDS["identifier"]:
                    self.draft.scope.live.pop(self.draft.text(target), None)
                elif target.kind_id == KINDS["subscript"]:
                    base = self.expressions.read(target.child_by_field_id(_VALUE))
                    self.draft.operate(base, "__delitem__", target)

    def _outer(self, node: Node) -> None:
        names = {self.draft.text(child) for child in node.named_children}
        if self.draft.scope is not self.draft.module:
            self.draft.scope.outer |= names

    # Imports

    def _import(self, node: Node) -> None:
        row, _ = node.start_point
        for child in node.named_children:
            if child.kind_id == KINDS["aliased_import"]:
                name, alias = (self.draft.text(part) for part in child.named_children[:2])
                self._imports(row + 1, name, None, alias)
                self.draft.bind_thing(alias, ("import", name, None), row + 1)
            elif child.kind_id == KINDS["dotted_name"]:
                name = self.draft.text(child)
                self._imports(row + 1, name, None, None)
                first = name.partition(".")[0]
                self.draft.bind_thing(first, ("import", first, None), row + 1)

    def _import_from(self, node: Node) -> None:
        row, _ = node.start_point
        origin = node.child_by_field_id(_MODULE)
        spec = self.draft.text(origin).replace(" ", "") if origin is not None else ""
        for child in node.named_children:
            if child.kind_id == KINDS["wildcard_import"]:
                self._imports(row + 1, spec, "*", None)
                self.draft.has_stars = True
        for child in node.children_by_field_name("name"):
            if child.kind_id == KINDS["aliased_import"]:
                name, alias = (self.draft.text(part) for part in child.named_children[:2])
            else:
                name = alias = self.draft.text(child)
            self._imports(row + 1, spec, name, alias if alias != name else None)
            self.draft.bind_thing(alias, ("import", spec, name), row + 1)

    def _imports(self, line: int, spec: str, name: str | None, alias: str | None) -> None:
        self.draft.imports.append(Import(self.draft.scope.number, spec, name, alias, line, self._is_typing))

    # Branches and loops

    def _if(self, node: Node) -> None:
        condition = node.child_by_field_id(_CONDITION)
        self.expressions.read(condition)
        is_typing = condition is not None and self.draft.text(condition).rpartition(".")[2] == "TYPE_CHECKING"
        for child in node.named_children:
            if child.kind_id == KINDS["block"]:
                was_typing, self._is_typing = self._is_typing, self._is_typing or is_typing
                self._branch(child)
                self._is_typing = was_typing
            elif child.kind_id in (KINDS["elif_clause"], KINDS["else_clause"]):
                self._clause(child)

    def _branch(self, block: Node, *, is_loop: bool = False) -> None:
        with self.draft.branch(is_loop=is_loop):
            self.read(block)

    def _clause(self, node: Node) -> None:
        for child in node.named_children:
            if child.kind_id == KINDS["block"]:
                self._branch(child)
            else:
                self.expressions.read(child)

    def _for(self, node: Node) -> None:
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        value = self.expressions.read(right)
        if right is not None:
            self.draft.operate(value, "__iter__", right)
        with self.draft.branch(is_loop=True):
            if left is not None:
                row, _ = left.start_point
                self.draft.line = row + 1
                self.assign(left, ("item", value, None))
            body = node.child_by_field_id(_BODY)
            if body is not None:
                self.read(body)
        self._alternatives(node)

    def _while(self, node: Node) -> None:
        with self.draft.branch(is_loop=True):
            self.expressions.read(node.child_by_field_id(_CONDITION))
            body = node.child_by_field_id(_BODY)
            if body is not None:
                self.read(body)
        self._alternatives(node)

    def _alternatives(self, node: Node) -> None:
        for child in node.named_children:
            if child.kind_id == KINDS["else_clause"]:
                self._clause(child)

    def _try(self, node: Node) -> None:
        for child in node.named_children:
            if child.kind_id == KINDS["block"]:
                self._branch(child)
            elif child.kind_id == KINDS["except_clause"]:
                self._except(child)
            else:
                self._clause(child)

    def _except(self, node: Node) -> None:
        with self.draft.branch():
            for child in node.named_children:
                if child.kind_id == KINDS["block"]:
                    self.read(child)
                elif child.kind_id == KINDS["as_pattern"]:
                    kinds = self.expressions.read(child.named_children[0])
                    parts = cast("tuple[Expr, ...]", kinds[1]) if kinds[0] == "list" else (kinds,)
                    value: Expr = ("any", tuple(("new", part) for part in parts))
                    for target in child.named_children[1:]:
                        self.assign(target, value)
                else:
                    self.expressions.read(child)

    def _with(self, node: Node) -> None:
        for clause in node.named_children:
            if clause.kind_id == KINDS["with_clause"]:
                for item in clause.named_children:
                    self._with_item(item)
            elif clause.kind_id == KINDS["block"]:
                self.read(clause)

    def _with_item(self, node: Node) -> None:
        value_node = node.child_by_field_id(_VALUE)
        if value_node is None:
            return
        is_named = value_node.kind_id == KINDS["as_pattern"]
        inner = value_node.named_children[0] if is_named else value_node
        value = self.expressions.read(inner)
        entered = self.draft.operate(value, "__enter__", inner)
        self.draft.operate(value, "__exit__", inner)
        if is_named:
            for target in value_node.named_children[1:]:
                row, _ = target.start_point
                self.draft.line = row + 1
                self.assign(target, entered if entered is not None else UNKNOWN)

    def _match(self, node: Node) -> None:
        for child in node.named_children:
            if child.kind_id != KINDS["block"]:
                self.expressions.read(child)
                continue
            for case in child.named_children:
                with self.draft.branch():
                    for part in case.named_children:
                        self._case(part)

    def _case(self, node: Node) -> None:
        if node.kind_id == KINDS["block"]:
            self.read(node)
        elif node.type == "case_pattern":
            self._pattern(node, 0)
        else:
            self.expressions.read(node)

    def _pattern(self, node: Node, depth: int) -> None:
        """The classes that a pattern names, and the name it gives to what fits."""
        if depth > _DEEPEST:
            return
        if node.type == "as_pattern" and len(node.named_children) == 2:
            what = self._class_of(node.named_children[0])
            value: Expr = ("new", what) if what is not None else UNKNOWN
            self.draft.bind(self.draft.text(node.named_children[1]), value)
        if node.type == "class_pattern" and node.named_children:
            self.draft.refer(_dotted(self.draft.text(node.named_children[0])), node)
        for child in node.named_children:
            self._pattern(child, depth + 1)

    def _class_of(self, node: Node) -> Expr | None:
        while node.type == "case_pattern" and node.named_children:
            node = node.named_children[0]
        if node.type == "class_pattern" and node.named_children:
            return _dotted(self.draft.text(node.named_children[0]))
        return None

    # Leaving

    def _return(self, node: Node) -> None:
        value = self.expressions.inner(node)
        if not self.draft.scope.yields and node.named_children:
            self.draft.scope.results.append(value)

    def _raise(self, node: Node) -> None:
        for child in node.named_children:
            value = self.expressions.read(child)
            if child.kind_id in (KINDS["identifier"], KINDS["attribute"]):
                row, column = node.start_point
                self.draft.calls.append(
                    Call(self.draft.scope.number, value, (), (), row + 1, column, new=True)
                )


def _nothing(_: Node) -> None:
    """For what says nothing."""


def _typed(declared: Expr | None, value: Expr) -> Expr:
    """A variable's value, as its annotation has it if that says more."""
    if declared is None or (declared[0] in _LOOSE and value is not UNKNOWN):
        return value
    return declared


def _dotted(text: str) -> Expr:
    first, *rest = text.split(".")
    value: Expr = ("name", first)
    for name in rest:
        value = ("attr", value, name)
    return value


_SEVERAL = frozenset(
    KINDS[kind]
    for kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list")
)
