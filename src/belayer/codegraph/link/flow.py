"""What reaches a parameter: who calls a function, under whatever name it goes there, and with which arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from belayer.codegraph.facts import Call, Expr, Param, Shape
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.fixtures import fixture, takes_fixtures
from belayer.codegraph.link.heads import Place
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL, HOP, near, one_hop
from belayer.codegraph.link.overloads import Overloads
from belayer.codegraph.link.values import (
    CONSTRUCTOR,
    NOTHING,
    OUTSIDE,
    Answer,
    Box,
    Def,
    Instance,
    Outside,
    Super,
    Unbound,
    Value,
    Yields,
    doubtful,
    joined,
)

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

# More callers, names or files than these say little about any one of them, and cost much.
_MOST_CALLERS = 32
_MOST_ALIASES = 8
_MOST_PLACES = 20
_MOST_FILES = 8
CALL_METHOD = "__call__"


class Caller(NamedTuple):
    """A call that may run a function. `shift` is how many of its arguments come before the function's parameters."""

    module: Module
    number: int
    shift: int


class Target(NamedTuple):
    """A function that a call may run."""

    function: Def
    shift: int
    is_sure: bool


class Flow:
    """Follows arguments to parameters."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes, self._world = evaluator, evaluator.notes, evaluator.world
        self.overloads = Overloads(evaluator)

    # Parameters

    def parameter(self, of: Def, place: int, fuel: int) -> Answer:
        """What a parameter may be: as it is declared, or else what callers pass and what it is by default."""
        self._notes.keys.add(of.module.definition_key(of.number))
        declared = NOTHING
        if of.fact.params[place].type is not None:
            question = ("declared parameter", of, place)
            declared = self._notes.ask(question, fuel, 1, NOTHING, self._declared, of, place)
            if any(value is not OUTSIDE for part in declared for value in part):
                return self._with_passed(declared, of, place, fuel)
        found = self._notes.ask(("parameter", of, place), fuel, HOP, NOTHING, self._parameter, of, place)
        return found if found != NOTHING else declared

    def _declared(self, of: Def, place: int, fuel: int) -> Answer:
        declared = of.fact.params[place].type
        return (
            self._evaluator.value(declared, of.module, of.fact.parent, fuel)
            if declared is not None
            else NOTHING
        )

    def _parameter(self, of: Def, place: int, fuel: int) -> Answer:
        param = of.fact.params[place]
        passed, is_always = self._passed(of, place, param, fuel)
        if takes_fixtures(of):
            given = fixture(self._world, self._notes.keys, of, param.name)
            if given is not None:
                passed.append(self._given(given, fuel))
        if param.default is not None and (not is_always or of.module.facts.language == "python"):
            passed.append(self._evaluator.value(param.default, of.module, of.fact.parent, fuel))
        return doubtful(joined(passed)) if passed else NOTHING

    def _given(self, by: Def, fuel: int) -> Answer:
        """What a fixture gives: it may return it, or yield it once."""
        answer = self._evaluator.results.returns(by, fuel)
        is_lazy = any(isinstance(value, Yields) for part in answer for value in part)
        return self._evaluator.containers.items(answer, None, fuel) if is_lazy else answer

    def _given_by_callers(self, of: Def, place: int, fuel: int) -> Answer:
        return joined(self._passed(of, place, of.fact.params[place], fuel)[0] or [NOTHING])

    def _with_passed(self, declared: Answer, of: Def, place: int, fuel: int) -> Answer:
        """A type that only says which members there are does not say what they do: the callers' values do."""
        if of.module.language.names_see_members or not any(
            _is_structural(each) for part in declared for each in part
        ):
            return declared
        passed = self._notes.ask(("passed", of, place), fuel, HOP, NOTHING, self._given_by_callers, of, place)
        return declared[0], tuple(dict.fromkeys((*declared[1], *passed[0], *passed[1])))

    def _passed(self, of: Def, place: int, param: Param, fuel: int) -> tuple[list[Answer], bool]:
        """What the callers pass, and whether all of them pass something."""
        found: list[Answer] = []
        is_always = True
        callers = self.callers(of, fuel)
        others = self._named(of, place) if param.star == "**" else frozenset[str]()
        for caller in callers:
            call = caller.module.facts.calls[caller.number]
            given = list(arguments(call, param, place + caller.shift, others))
            is_always = is_always and bool(given)
            found.extend(self._evaluator.value(arg, caller.module, call.scope, fuel) for arg in given)
        return found, bool(callers) and is_always

    @staticmethod
    def _named(of: Def, place: int) -> frozenset[str]:
        """The names of the other parameters: what is left is for the one with two stars."""
        return frozenset(param.name for at, param in enumerate(of.fact.params) if at != place)

    # Callers

    def callers(self, of: Def, fuel: int) -> list[Caller]:
        """The calls that may run a function; none if they are too many to look at."""
        return self._notes.ask(("callers", of), one_hop(fuel), 1, [], self._callers, of)

    def _callers(self, of: Def, fuel: int) -> list[Caller]:
        candidates: dict[tuple[Module, int], None] = {}
        for name, module in self._aliases(of, fuel):
            candidates.update(dict.fromkeys(self._calls(name, module)))
            if len(candidates) > _MOST_CALLERS:
                return []
        found: list[Caller] = []
        for module, number in candidates:
            for target in self.targets(module, number, self._reach(module, number, fuel)):
                if target.function is of:
                    found.append(Caller(module, number, target.shift))
                    break
        return found

    @staticmethod
    def _reach(module: Module, number: int, fuel: int) -> int:
        """How far to look for what a call calls: a method's instance must be plain from where it is called."""
        return near(fuel) if module.facts.calls[number].callee[0] == "attr" else fuel

    def _calls(self, name: str, module: Module | None) -> list[tuple[Module, int]]:
        """The calls of anything of this name, in one file or in all."""
        if module is None:
            return self._notes.ask(("calls", name), FULL, 0, [], self._calls_anywhere, name)
        self._notes.keys.add(key(keys.CALLED_IN, module.path, name))
        return [(module, number) for number in module.heads.calls.get(name, ())]

    def _calls_anywhere(self, name: str, _: int) -> list[tuple[Module, int]]:
        self._notes.keys.add(key(keys.CALLED, name))
        modules = self._modules(self._world.having(words.CALLS, name))
        return [(module, number) for module in modules for number in module.heads.calls.get(name, ())]

    def _modules(self, paths: tuple[str, ...]) -> list[Module]:
        """These files; none if they are too many to look at."""
        found = map(self._world.module, paths) if len(paths) <= _MOST_FILES else ()
        return [module for module in found if module is not None]

    # Names

    def _aliases(self, of: Def, fuel: int) -> Iterator[tuple[str, Module | None]]:
        """The names that a function may be called by, each with the file it is confined to, if it is."""
        wave = list(dict.fromkeys(self._own_names(of, fuel)))
        yield from wave
        found = dict.fromkeys(wave)
        while wave and len(found) < _MOST_ALIASES:
            name, module = wave.pop(0)
            for alias in self._passed_on(name, module, fuel):
                if alias not in found:
                    found[alias] = None
                    wave.append(alias)
                    yield alias
                if len(found) >= _MOST_ALIASES:
                    break

    def _own_names(self, of: Def, fuel: int) -> Iterator[tuple[str, Module | None]]:
        module, fact = of.module, of.fact
        owner = module.definition(fact.parent) if fact.shape is Shape.METHOD and fact.parent > 0 else None
        if owner is not None and (fact.traits & CONSTRUCTOR or of.name == CALL_METHOD):
            yield owner.name, None
            for below in self._evaluator.classes.below(owner, fuel):
                yield below.name, None
                yield of.name, below.module
        elif of.name[:1] == "<":
            yield f"#{of.number}", module
        else:
            is_local = module.is_function(fact.parent)
            yield of.name, module if is_local else None

    def _passed_on(self, name: str, module: Module | None, fuel: int) -> Iterator[tuple[str, Module | None]]:
        """The names that a value of this name is given next."""
        if module is None:
            uses = self._notes.ask(("uses", name), FULL, 0, [], self._uses_anywhere, name)
        else:
            self._notes.keys.add(key(keys.USED_IN, module.path, name))
            uses = self._uses_in(module, name)
        for each, place in uses:
            yield from self._at(place, each, fuel)

    def _uses_anywhere(self, name: str, _: int) -> list[tuple[Module, Place]]:
        self._notes.keys.add(key(keys.USED, name))
        modules = self._modules(self._world.having(words.USES, name))
        return [use for module in modules for use in self._uses_in(module, name)]

    @staticmethod
    def _uses_in(module: Module, name: str) -> list[tuple[Module, Place]]:
        return [(module, place) for place in module.heads.uses.get(name, ())[:_MOST_PLACES]]

    def _at(self, place: Place, module: Module, fuel: int) -> Iterator[tuple[str, Module | None]]:
        if place.kind == "name":
            yield place.name, module if module.is_function(place.number) else None
        elif place.kind == "argument":
            for target in self.targets(module, place.number, self._reach(module, place.number, fuel) - 1):
                for param in _receiving(target, place):
                    yield param.name, target.function.module
        elif place.kind == "item":
            yield place.name, module
        elif place.name[:1] != "<":
            yield place.name, None

    # Targets

    def run_by(self, answer: Answer, module: Module, call: Call, fuel: int) -> list[Target]:
        """The functions that calling one of these values may run, constructors included."""
        found: list[Target] = []
        for values, is_sure in zip(answer, (True, False), strict=True):
            fitting = self.fitting(values, module, call, fuel)
            is_one = is_sure and not (len(fitting) > 1 and _are_overloads(fitting))
            for value in fitting:
                if isinstance(value, Def) and not value.is_class:
                    found.append(Target(value, 0, is_one))
                elif not isinstance(value, Outside):
                    found.extend(self._run_by(value, module, call, is_sure, fuel))
        return found

    def targets(self, module: Module, number: int, fuel: int) -> list[Target]:
        """The functions that a call may run."""
        return self._notes.ask(("targets", module, number), fuel, 1, [], self._targets, module, number)

    def _targets(self, module: Module, number: int, fuel: int) -> list[Target]:
        answer = self._evaluator.results.callee(module, number, fuel)
        return self.run_by(answer, module, module.facts.calls[number], fuel)

    def _run_by(self, value: Value, module: Module, call: Call, is_sure: bool, fuel: int) -> Iterator[Target]:
        if isinstance(value, Unbound):
            yield Target(value.of, 1, is_sure)
        elif isinstance(value, Def):
            if not value.is_class:
                yield Target(value, 0, is_sure)
            else:
                yield from self._constructing(value, module, call, is_sure, fuel)
        elif isinstance(value, (Instance, Super)):
            yield from self._run_by_instance(value, module, call, is_sure, fuel)
        elif isinstance(value, Module):
            sure, unsure = self._evaluator.imports.whole(value, fuel - 1)
            for whole in sure + unsure:
                if not isinstance(whole, Module):
                    yield from self._run_by(whole, module, call, is_sure and whole in sure, fuel - 1)

    def _constructing(
        self, of: Def, module: Module, call: Call, is_sure: bool, fuel: int
    ) -> Iterator[Target]:
        """The constructors of a class that take these arguments."""
        found = self.fitting(tuple(self._evaluator.classes.constructors(of, fuel)), module, call, fuel)
        is_one = is_sure and not (len(found) > 1 and _are_overloads(found))
        for each in found:
            if isinstance(each, Def):
                yield Target(each, 0, is_one)

    def _run_by_instance(
        self, value: Instance | Super, module: Module, call: Call, is_sure: bool, fuel: int
    ) -> Iterator[Target]:
        """An instance that is called; a constructor that hands over to another one (this(…), super(…))."""
        classes = self._evaluator.classes
        if call.callee[0] in ("self", "super"):
            line = classes.lineage(value.of, fuel)[0]
            owner = line[0] if call.callee[0] == "self" else line[1] if len(line) > 1 else None
            if owner is not None:
                yield from self._constructing(owner, module, call, is_sure, fuel)
        elif isinstance(value, Instance) and not call.new:
            for part in classes.member(value.of, CALL_METHOD, fuel) or ():
                for each in part:
                    if isinstance(each, Def) and not each.is_class:
                        yield Target(each, 0, is_sure)

    def fitting(self, values: tuple[Value, ...], module: Module, call: Call, fuel: int) -> tuple[Value, ...]:
        """Of several functions of one name, those that take this many arguments, of these types; all if none does."""
        if len(values) < 2 or any(name in ("*", "**") for name, _ in call.keywords):
            return values
        groups: dict[str, list[Def]] = {}
        for value in values:
            if isinstance(value, Def) and not value.is_class:
                groups.setdefault(value.name, []).append(value)
        dropped: set[Value] = set()
        for group in groups.values():
            if len(group) > 1:
                dropped.update(set(group) - set(self._best(group, module, call, fuel)))
        return tuple(value for value in values if value not in dropped) if dropped else values

    def _best(self, group: list[Def], module: Module, call: Call, fuel: int) -> list[Def]:
        count = len(call.args) + len(call.keywords)
        fitting = [each for each in group if takes(each, count)] or group
        if len(fitting) < 2 or not module.language.names_see_members:
            return fitting
        return self.overloads.best(fitting, module, call, fuel)


def _are_overloads(values: tuple[Value, ...]) -> bool:
    """Whether one of several functions of one name is meant, and nobody knows which."""
    functions = [value for value in values if isinstance(value, Def) and not value.is_class]
    if len(functions) < 2 or not functions[0].module.language.names_see_members:
        return False
    return len({function.name for function in functions}) < len(functions)


def _is_structural(value: Value) -> bool:
    return isinstance(value, Box) or (isinstance(value, Instance) and value.of.fact.shape is Shape.INTERFACE)


def takes(function: Def, count: int) -> bool:
    """Whether a function can be called with this many arguments."""
    params = function.fact.params
    needed = sum(1 for param in params if param.default is None and not param.star)
    return needed <= count and (count <= len(params) or any(param.star for param in params))


def arguments(call: Call, param: Param, place: int, others: frozenset[str]) -> Iterator[Expr]:
    """What a call passes to a parameter that stands at this place."""
    spread = next((value for name, value in call.keywords if name == "*"), None)
    if param.star == "*":
        rest = call.args[place:]
        yield ("list", (*rest, ("spread", spread)) if spread is not None else rest)
        return
    if param.star == "**":
        named = tuple(
            (name, value) for name, value in call.keywords if name not in others and name[:1] != "*"
        )
        passed = tuple((None, ("spread", value)) for name, value in call.keywords if name == "**")
        yield ("dict", named + passed)
        return
    if place < len(call.args):
        yield call.args[place]
    elif spread is not None:
        yield ("item", spread, place - len(call.args))
    for name, value in call.keywords:
        if name == param.name:
            yield value
        elif name == "**":
            yield ("item", value, param.name)


def _receiving(target: Target, place: Place) -> Iterator[Param]:
    """The parameters that an argument at this place goes to."""
    params = target.function.fact.params
    at = place.position - target.shift
    for number, param in enumerate(params):
        is_rest = param.star == "*" and place.position >= 0 and at >= number
        if (
            is_rest
            or (place.position >= 0 and number == at)
            or (place.name and param.name == place.name)
            or (param.star == "**" and place.name and place.name[:1] != "*")
            or (place.name[:1] == "*" and not param.star)
        ):
            yield param
