"""What an expression stands for: names, attributes, items and calls followed through all files, in any language.

Pure: an answer depends on the facts and on how far it may look. What it looked at is noted (see notes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from belayer.codegraph.facts import Expr
from belayer.codegraph.link.classes import Classes
from belayer.codegraph.link.containers import Containers
from belayer.codegraph.link.flow import Flow
from belayer.codegraph.link.imports import Imports
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.names import Names
from belayer.codegraph.link.notes import HOP, LAST, STEPS, Notes
from belayer.codegraph.link.results import Results
from belayer.codegraph.link.values import (
    CLASS_METHOD,
    ELSEWHERE,
    NOBODY,
    NOTHING,
    SILENT,
    STATIC,
    Answer,
    Box,
    Def,
    Folder,
    Instance,
    Super,
    Unbound,
    Value,
    doubtful,
    joined,
)
from belayer.codegraph.link.world import World

_Rule = Callable[[Expr, Module, int, int], Answer]
_NOBODY = frozenset({"None", "null", "nil", "undefined", "void"})
_STEPS = HOP - 1


class Evaluator:
    """Follows expressions. `fuel` is how far it may still look."""

    def __init__(self, world: World, notes: Notes) -> None:
        self.world, self.notes = world, notes
        self.classes = Classes(self)
        self.flow = Flow(self)
        self.containers = Containers(self)
        self.names = Names(self)
        self.imports = Imports(self)
        self.results = Results(self)
        self._boxes: dict[tuple[Module, int, object], Box] = {}
        self._attribute_rules: dict[type, Callable[[Any, str, int], Answer]] = {
            Instance: self.classes.of_instance,
            Def: self.classes.of_definition,
            Module: self.imports.of_module,
            Super: self.classes.of_super,
            Box: self.containers.named,
            Folder: self.imports.of_folder,
            Unbound: self._of_unbound,
        }
        self._rules: dict[str, _Rule] = {
            "name": self.names.name,
            "bound": self.names.bound,
            "attr": self._attr,
            "call": self.results.value_of,
            "def": self._def,
            "wrapped": self._wrapped,
            "new": self._new,
            "item": self._item,
            "slice": self._slice,
            "list": self._box,
            "dict": self._box,
            "put": self._box,
            "any": self._any,
            "first": self._first,
            "self": self._self,
            "super": self._super,
            "import": self.imports.value_of,
            "key": _key,
            "literal": _literal,
            "spread": lambda expr, module, scope, fuel: self.value(expr[1], module, scope, fuel - 1),
            "in": lambda expr, module, _, fuel: self.value(expr[2], module, expr[1], fuel - 1),
        }

    def value(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        """What an expression that stands in this scope may be."""
        notes, steps = self.notes, fuel & _STEPS
        if steps < notes.low:
            if steps < LAST:
                notes.lacks |= STEPS
                return NOTHING
            notes.low = steps
        rule = self._rules.get(expr[0])
        return rule(expr, module, scope, fuel) if rule is not None else NOTHING

    # Definitions

    def _def(self, expr: Expr, module: Module, _scope: int, _fuel: int) -> Answer:
        number: int = expr[1]
        if number == 0:
            return (module,), ()
        found = module.definition(number)
        if found.is_part:
            found = self.classes.whole(found)
        return (found,), ()

    def _wrapped(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        sure, unsure = self.value(expr[1], module, scope, fuel - 1)
        made = self.value(expr[2], module, scope, fuel - 1)
        others = (each for part in made for each in part if isinstance(each, (Def, Instance, Unbound)))
        return sure, (*unsure, *(each for each in others if each not in sure and each not in unsure))

    def _new(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        sure, unsure = self.value(expr[1], module, scope, fuel - 1)
        return tuple(map(_instance, sure)), tuple(map(_instance, unsure))

    def _self(self, _expr: Expr, module: Module, scope: int, _fuel: int) -> Answer:
        return self._self_in(module, scope)

    def _self_in(self, module: Module, scope: int) -> Answer:
        key, answer = module.selves.get(scope, _NO_SELF)
        if answer is None:
            owner, on_class = self._owner(module, scope)
            answer = NOTHING if owner is None else ((owner if on_class else owner.instance,), ())
            if owner is None or not owner.is_part:
                module.selves[scope] = module.definition_key(module.owner(scope)[0]), answer
        else:
            self.notes.keys.add(key)
        return answer

    def _super(self, _expr: Expr, module: Module, scope: int, _fuel: int) -> Answer:
        owner, on_class = self._owner(module, scope)
        if owner is None:
            return NOTHING
        return (self.classes.above(owner, on_class=on_class),), ()

    def _owner(self, module: Module, scope: int) -> tuple[Def | None, bool]:
        """The class that `self` is of here, and whether it is the class itself."""
        method, owner = module.owner(scope)
        self.notes.keys.add(module.definition_key(method))
        if owner is None:
            return None, False
        if owner.is_part:
            owner = self.classes.whole(owner)
        return owner, bool(module.facts.definitions[method].traits & (STATIC | CLASS_METHOD)) and method > 0

    # Attributes and items

    def _attr(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        base = self.value(expr[1], module, scope, fuel - 1)
        return self.attributes(base, expr[2], fuel)

    def attributes(self, base: Answer, name: str, fuel: int) -> Answer:
        """What the attribute of one of these values is."""
        sure, unsure = base
        if len(sure) == 1 and not unsure:
            return self.attribute(sure[0], name, fuel)
        answers = [self.attribute(value, name, fuel) for value in sure + unsure]
        if not unsure:  # the files of one package; all that a declared type may be
            known = [answer for answer in answers if answer not in SILENT]
            return known[0] if len(known) == 1 else doubtful(joined(known or answers)) if answers else NOTHING
        return doubtful(joined(answers)) if answers else NOTHING

    def attribute(self, value: Value, name: str, fuel: int) -> Answer:
        """What `value.name` is."""
        rule = self._attribute_rules.get(type(value))
        return rule(value, name, fuel) if rule is not None else ELSEWHERE

    def _of_unbound(self, value: Unbound, name: str, fuel: int) -> Answer:
        return self.classes.of_definition(value.of, name, fuel)

    def _item(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        base = self.value(expr[1], module, scope, fuel - 1)
        wanted = self.containers.keys(expr[2], module, scope, fuel - 1)
        return self.containers.items(base, wanted, fuel)

    def _slice(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        base = self.value(expr[1], module, scope, fuel - 1)
        return self.containers.slice(base, expr[2], expr[3])

    def _box(self, expr: Expr, module: Module, scope: int, _fuel: int) -> Answer:
        return (self.box(module, scope, expr, expr),), ()

    def box(self, module: Module, scope: int, expr: Expr, identity: object, name: str = "") -> Box:
        """The container that this expression writes down."""
        found = self._boxes.get((module, scope, identity))
        if found is None:
            name = name or module.container_names.get((scope, expr), "")
            found = self._boxes[module, scope, identity] = Box(module, scope, expr, name)
        return found

    def _any(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        answers = [self.value(part, module, scope, fuel - 1) for part in expr[1]]
        known = [answer for answer in answers if answer not in SILENT]
        if len(known) > 1 and not any(unsure for _, unsure in known) and sum(map(_is_other, known)) <= 1:
            return tuple(value for sure, _ in known for value in sure), ()  # one thing, and what it holds
        return joined(known or answers) if answers else NOTHING

    def _first(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        for part in expr[1]:
            found = self.value(part, module, scope, fuel - 1)
            if found not in SILENT:
                return found
        return NOTHING


def _key(expr: Expr, _module: Module, _scope: int, _fuel: int) -> Answer:
    return (expr[1],), ()


def _literal(expr: Expr, _module: Module, _scope: int, _fuel: int) -> Answer:
    return NOBODY if expr[1] in _NOBODY else ELSEWHERE


def _is_other(answer: Answer) -> bool:
    """Whether an answer is something other than lists and dicts."""
    return not all(isinstance(value, Box) for value in answer[0])


def _instance(value: Value) -> Value:
    """A class's instance; what is no class stands for itself (a list type, an alias of an instance)."""
    return value.instance if isinstance(value, Def) else value


_NO_SELF: tuple[int, Answer | None] = (0, None)
