"""What calling something gives: an instance of a class, what a function declares, or what its body shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.facts import Expr
from belayer.codegraph.link import keys
from belayer.codegraph.link.flow import arguments
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL, HOP
from belayer.codegraph.link.values import (
    ELSEWHERE,
    GENERATOR,
    NOTHING,
    OUTSIDE,
    SILENT,
    Answer,
    Box,
    Def,
    Instance,
    Outside,
    Site,
    Unbound,
    Value,
    Yields,
    doubtful,
    joined,
)

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

CALL_METHOD = "__call__"


class Results:
    """Calls things, so to speak."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes = evaluator, evaluator.notes
        self._sites: dict[tuple[Module, int], Site] = {}

    def value_of(self, expr: Expr, module: Module, _scope: int, fuel: int) -> Answer:
        return self._notes.ask(("call", module, expr[1]), fuel, 1, NOTHING, self._result, module, expr[1])

    def callee(self, module: Module, number: int, fuel: int) -> Answer:
        """What a call calls."""
        call = module.facts.calls[number]
        return self._evaluator.value(call.callee, module, call.scope, fuel)

    def _result(self, module: Module, number: int, fuel: int) -> Answer:
        call = module.facts.calls[number]
        if call.unless >= 0 and self._evaluator.flow.targets(module, call.unless, fuel):
            return NOTHING
        receiver: Value | None = None
        if call.callee[0] == "attr":
            base = self._evaluator.value(call.callee[1], module, call.scope, fuel - 1)
            callee = self._evaluator.attributes(base, call.callee[2], fuel)
            if callee in SILENT:
                inside = self._evaluator.containers.method(call, base, module, fuel)
                if inside != NOTHING:
                    return inside
            if len(base[0]) == 1 and not base[1]:
                receiver = base[0][0]
        else:
            callee = self._evaluator.value(call.callee, module, call.scope, fuel)
        if callee == ELSEWHERE:
            return (self._site(module, number),), ()
        sure, unsure = (self._evaluator.flow.fitting(values, module, call, fuel) for values in callee)
        answers = [self._given(value, call.new, receiver, module, number, fuel) for value in sure]
        answers += [
            doubtful(self._given(value, call.new, receiver, module, number, fuel)) for value in unsure
        ]
        return joined(answers) if answers else NOTHING

    def _site(self, module: Module, number: int) -> Site:
        found = self._sites.get((module, number))
        if found is None:
            found = self._sites[module, number] = Site(module, number)
        return found

    def _given(
        self, value: Value, is_new: bool, receiver: Value | None, module: Module, number: int, fuel: int
    ) -> Answer:
        """What calling a value gives."""
        shift = 0
        if isinstance(value, Unbound):
            value, shift = value.of, 1
        if isinstance(value, Def):
            if value.is_class or is_new:
                return self._made(value, fuel)
            given = self._given_back(value, shift, module, number, fuel)
            return (
                self._evaluator.classes.seen_from(given, value, receiver, fuel)
                if receiver is not None
                else given
            )
        if isinstance(value, Instance):
            called = self._evaluator.classes.member(value.of, CALL_METHOD, fuel)
            defs = [
                each for part in called or () for each in part if isinstance(each, Def) and not each.is_class
            ]
            return joined([self.returns(each, fuel) for each in defs]) if defs else NOTHING
        if isinstance(value, Module):
            sure, unsure = self._evaluator.imports.whole(value, fuel - 1)
            answers = [
                self._given(each, is_new, receiver, module, number, fuel - 1)
                for each in sure + unsure
                if not isinstance(each, Module)
            ]
            return joined(answers) if answers else NOTHING
        if isinstance(value, (Outside, Site)):
            return (self._site(module, number),), ()
        return NOTHING

    def _made(self, of: Def, fuel: int) -> Answer:
        """An instance; a function that is called with `new` may give another object in its place."""
        if of.is_class or not of.fact.returns:
            return (of.exact,), ()
        returned = [value for part in self.returns(of, fuel) for value in part]
        others = tuple(value for value in returned if isinstance(value, (Def, Box, Instance)))
        return ((), (of.exact, *others)) if others else ((of.exact,), ())

    def _given_back(self, of: Def, shift: int, module: Module, number: int, fuel: int) -> Answer:
        """What a function gives; a parameter that it returns as it is, is what this call passes."""
        places = of.module.returned_params.get(of.number)
        if places is None or of.fact.traits & GENERATOR:
            return self.returns(of, fuel)
        self._notes.keys.add(of.module.definition_key(of.number))
        self._notes.keys.add(key(keys.RESULT, of.module.path, of.qualified))
        call = module.facts.calls[number]
        answers: list[Answer] = []
        for place in places:
            param = of.fact.params[place]
            given = list(arguments(call, param, place + shift, frozenset()))
            answers += [self._evaluator.value(arg, module, call.scope, fuel - 1) for arg in given]
            if not given and param.default is not None:
                answers.append(self._evaluator.value(param.default, of.module, of.fact.parent, fuel - 1))
        others = [value for value in of.fact.returns if value[0] != "name"]
        answers += [
            self._notes.ask(("returns one", of, value), fuel, HOP, NOTHING, self._one_returned, of, value)
            for value in others
        ]
        return doubtful(joined(answers)) if answers else self.returns(of, fuel)

    def _one_returned(self, of: Def, value: Expr, fuel: int) -> Answer:
        return self._evaluator.value(value, of.module, of.number, fuel)

    def returns(self, of: Def, fuel: int) -> Answer:
        """What calling a function gives: as it declares, or else as its body shows."""
        self._notes.keys.add(of.module.definition_key(of.number))
        declared = NOTHING
        if of.fact.result is not None:
            declared = self._notes.ask(("result", of), fuel, 1, NOTHING, self._declared, of)
            if any(value is not OUTSIDE for part in declared for value in part):
                return declared
        if of.fact.traits & GENERATOR:
            return (), (self._notes.ask(("yields", of), FULL, 0, OUTSIDE, lambda *_: Yields(of)),)
        shown = self._notes.ask(("returns", of), fuel, HOP, NOTHING, self._shown, of)
        return shown if shown != NOTHING else declared

    def _declared(self, of: Def, fuel: int) -> Answer:
        """What a function declares; a function that it returns beside may be what the declared interface stands for."""
        module, fact = of.module, of.fact
        if fact.result is None:
            return NOTHING
        sure, unsure = self._evaluator.value(fact.result, module, of.number, fuel)
        self._notes.keys.add(key(keys.RESULT, module.path, of.qualified))
        functions = [module.definition(value[1]) for value in fact.returns if value[0] == "def" and value[1]]
        return sure, (*unsure, *functions)

    def _shown(self, of: Def, fuel: int) -> Answer:
        module, fact = of.module, of.fact
        self._notes.keys.add(key(keys.RESULT, module.path, of.qualified))
        return doubtful(
            joined([self._evaluator.value(value, module, of.number, fuel) for value in fact.returns])
        )
