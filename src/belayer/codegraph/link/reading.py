"""What a file reads without calling it: functions and classes as values, properties, variables of other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.facts import Expr, Shape
from belayer.codegraph.graph import Confidence, Relation
from belayer.codegraph.link import keys
from belayer.codegraph.link.evaluator import Evaluator
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL
from belayer.codegraph.link.values import ELSEWHERE, Answer, Def, Instance, Unbound

if TYPE_CHECKING:
    from belayer.codegraph.link.weaver import Piece

_NONE: Expr = ("any", ())
_SURE = (Confidence.RESOLVED, Confidence.INFERRED)


class Reading:
    """Turns references into edges."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._world, self._notes = evaluator, evaluator.world, evaluator.notes

    def weave(self, piece: Piece) -> None:
        """The edges of all references of a file, and of the properties that its calls read on their way."""
        module = piece.module
        for scope, value, line, column in module.facts.references:
            self._read(piece, module, scope, value, line, column)
        for scope, target, _, line in module.facts.stores:
            if target[0] == "attr" and self._world.defines(target[2]):
                self._stored(piece, scope, target, line)
        for call in module.facts.calls:
            inner = call.callee[1] if call.callee[0] == "attr" else _NONE
            if inner[0] == "attr" and self._world.defines(inner[2]):
                self._property(piece, call.scope, inner, call.line, call.column)

    def _read(self, piece: Piece, module: Module, scope: int, expr: Expr, line: int, column: int) -> None:
        if expr[0] == "attr" and not self._world.defines(expr[2]):
            return
        if self._is_property(piece, module, scope, expr, line, column):
            return
        answer = piece.value(expr, scope)
        if answer is ELSEWHERE and expr[0] == "attr":
            return
        is_thing = False
        for values, confidence in zip(answer, _SURE, strict=True):
            for value in values:
                target = value.of if isinstance(value, Unbound) else value
                target = target.of if isinstance(target, Instance) and expr[0] == "new" else target
                if isinstance(target, Def):
                    is_thing = True
                    piece.refer(scope, target, Relation.USES, confidence, line, column)
                is_thing = is_thing or isinstance(value, Module)
        if not is_thing:
            self._variable(piece, module, scope, expr, line, column)

    def _is_property(
        self, piece: Piece, module: Module, scope: int, expr: Expr, line: int, column: int
    ) -> bool:
        if expr[0] == "attr":
            return self._property(piece, scope, expr, line, column)
        sees_members = expr[0] == "name" and module.language.names_see_members
        return sees_members and self._own_property(piece, module, scope, expr[1], line, column)

    def _property(self, piece: Piece, scope: int, expr: Expr, line: int, column: int) -> bool:
        """Whether an attribute is a property: reading it calls it."""
        base = piece.value(expr[1], scope)
        found = False
        for values, confidence in zip(base, _SURE, strict=True):
            for value in values:
                if type(value) is Instance and value.of.is_class:
                    for each in self._properties(value.of, expr[2]):
                        piece.refer(scope, each, Relation.CALLS, confidence, line, column)
                        found = True
        return found

    def _stored(self, piece: Piece, scope: int, target: Expr, line: int) -> None:
        """An attribute is stored: if that is a property, its setter is called."""
        base = piece.value(target[1], scope)
        for values, confidence in zip(base, _SURE, strict=True):
            for value in values:
                if type(value) is Instance and value.of.is_class:
                    for each in self._evaluator.classes.setters(value.of, target[2], FULL):
                        piece.refer(scope, each, Relation.CALLS, confidence, line, 0)

    def _own_property(
        self, piece: Piece, module: Module, scope: int, name: str, line: int, column: int
    ) -> bool:
        """Whether a bare name is a property of a class around it."""
        definitions = module.facts.definitions
        start = scope
        while scope > 0:
            if definitions[scope].shape in (Shape.CLASS, Shape.INTERFACE):
                of = module.definition(scope)
                for each in self._properties(self._evaluator.classes.whole(of) if of.is_part else of, name):
                    piece.refer(start, each, Relation.CALLS, Confidence.RESOLVED, line, column)
                    return True
            elif name in module.names.get(scope, ()) or name in module.params.get(scope, ()):
                return False
            scope = definitions[scope].parent
        return False

    def _properties(self, of: Def, name: str) -> list[Def]:
        member: Answer = self._evaluator.classes.member(of, name, FULL) or ((), ())
        defs = [value for part in member for value in part if isinstance(value, Def) and value.is_property]
        return [each for each in defs if not each.fact.params] or defs

    def _variable(self, piece: Piece, module: Module, scope: int, expr: Expr, line: int, column: int) -> None:
        """A variable of another file: the file is what is used."""
        home = self._home(piece, module, scope, expr)
        if home is not None and home is not module:
            piece.refer(scope, home, Relation.USES, Confidence.RESOLVED, line, column)

    def _home(self, piece: Piece, module: Module, scope: int, expr: Expr) -> Module | None:
        if expr[0] == "attr":
            base = piece.value(expr[1], scope)
            owners = [value for value in base[0] if isinstance(value, Module)]
            return self._holder(owners[0], expr[2], FULL) if owners else None
        if expr[0] == "bound":
            number: int = expr[1]
            expr = module.facts.bindings[number].value
        elif expr[0] == "name":
            expr = self._binding(module, scope, expr[1]) or expr
        if expr[0] != "import" or expr[2] is None:
            return None
        return self._imported(module, expr, FULL)

    @staticmethod
    def _binding(module: Module, scope: int, name: str) -> Expr | None:
        definitions = module.facts.definitions
        while scope >= 0:
            values = module.names.get(scope, {}).get(name)
            if values is not None:
                return values[-1]
            scope = definitions[scope].parent
        return None

    def _imported(self, module: Module, expr: Expr, fuel: int) -> Module | None:
        for path in self._evaluator.imports.files(module, expr[1]):
            other = self._world.module(path)
            found = self._holder(other, expr[2], fuel) if other is not None else None
            if found is not None:
                return found
        return None

    def _holder(self, module: Module, name: str, fuel: int) -> Module | None:
        """The file that a variable stands in, through files that pass it on."""
        return self._notes.ask(("holder", module, name), fuel, 1, None, self._held_by, module, name)

    def _held_by(self, module: Module, name: str, fuel: int) -> Module | None:
        self._notes.keys.add(key(keys.NAME, module.path, "", name))
        self._notes.keys.add(key(keys.EXPORT, module.path, name))
        exported = [export.value for export in module.facts.exports or () if export.name == name]
        values = exported or module.names.get(0, {}).get(name, [])
        if not values:
            return None
        value = values[-1]
        if value[0] == "name" and exported:
            inner = value[1]
            self._notes.keys.add(key(keys.NAME, module.path, "", inner))
            value = module.names.get(0, {}).get(inner, [value])[-1]
        if value[0] == "import" and value[2] is not None:
            return self._imported(module, value, fuel)
        return module
