"""What an expression stands for: names, attributes, items and calls followed through all files, in any language.

Pure: an answer depends on the facts and on how far it may look. What it looked at is noted (see notes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from belayer.codegraph.facts import Expr, Shape
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.classes import Classes
from belayer.codegraph.link.containers import Containers
from belayer.codegraph.link.flow import Flow
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL, HOP, LAST, Notes
from belayer.codegraph.link.values import (
    CLASS_METHOD,
    ELSEWHERE,
    GENERATOR,
    NOBODY,
    NOTHING,
    OUTSIDE,
    STATIC,
    Answer,
    Box,
    Def,
    Folder,
    Instance,
    Outside,
    Site,
    Super,
    Unbound,
    Value,
    Yields,
    doubtful,
    joined,
)
from belayer.codegraph.link.world import World

_Rule = Callable[[Expr, Module, int, int], Answer]
CALL_METHOD = "__call__"
_NOBODY = frozenset({"None", "null", "nil", "undefined", "void"})
_PACKAGE_FILE = "__init__.py"
EVERYWHERE = "<global>"  # the package of files whose exports all files see
_STEPS = HOP - 1


class Evaluator:
    """Follows expressions. `fuel` is how far it may still look."""

    def __init__(self, world: World, notes: Notes) -> None:
        self.world, self.notes = world, notes
        self.classes = Classes(self)
        self.flow = Flow(self)
        self.containers = Containers(self)
        self._boxes: dict[tuple[Module, int, object], Box] = {}
        self._sites: dict[tuple[Module, int], Site] = {}
        self._attribute_rules: dict[type, Callable[[Any, str, int], Answer]] = {
            Instance: self.classes.of_instance,
            Def: self.classes.of_definition,
            Module: self._of_module,
            Super: self.classes.of_super,
            Box: self.containers.named,
            Folder: self._of_folder,
            Unbound: self._of_unbound,
        }
        self._rules: dict[str, _Rule] = {
            "name": self._name,
            "bound": self._bound,
            "attr": self._attr,
            "call": self._call,
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
            "import": self._import,
            "key": lambda expr, *_: ((expr[1],), ()),
            "literal": lambda expr, *_: NOBODY if expr[1] in _NOBODY else ELSEWHERE,
            "spread": lambda expr, module, scope, fuel: self.value(expr[1], module, scope, fuel - 1),
            "in": lambda expr, module, _, fuel: self.value(expr[2], module, expr[1], fuel - 1),
        }

    def value(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        """What an expression that stands in this scope may be."""
        notes, steps = self.notes, fuel & _STEPS
        if steps < notes.low:
            if steps < LAST:
                notes.missed_step = True
                return NOTHING
            notes.low = steps
        rule = self._rules.get(expr[0])
        return rule(expr, module, scope, fuel) if rule is not None else NOTHING

    # Names

    def _name(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        name = expr[1]
        if scope and name not in module.inner and not module.language.names_see_members:
            self.notes.keys.add(module.inner_key(name))
            scope = 0
        return self.notes.ask((module, scope, name), fuel, 1, NOTHING, self._look_up, module, scope, name)

    def _look_up(self, module: Module, scope: int, name: str, fuel: int) -> Answer:
        found = self._in_scopes(module, scope, name, fuel)
        if found is None:
            found = self.notes.ask(("global", module, name), fuel, 1, NOTHING, self._global, module, name)
        return found

    def _in_scopes(self, module: Module, scope: int, name: str, fuel: int) -> Answer | None:
        definitions, tables = module.facts.definitions, module.names
        start = scope
        while scope >= 0:
            fact = definitions[scope]
            is_class = fact.shape is Shape.CLASS or fact.shape is Shape.INTERFACE
            if (scope == start or not is_class) and not (is_class and module.language.names_see_members):
                self.notes.keys.add(module.name_key(scope, name))
                values = tables.get(scope, _EMPTY).get(name)
                place = module.params.get(scope, _NO_PLACES).get(name)
                if place is not None:
                    self.notes.keys.add(module.definition_key(scope))
                    return self._parameter(module, scope, place, values, fuel)
                if values is not None:
                    return self.one_of(values, module, scope, fuel)
            if is_class and module.language.names_see_members:
                found = self.classes.known_by_name(module.definition(scope), name, fuel)
                if found is not None:
                    return found
            scope = fact.parent
        return None

    def _parameter(self, module: Module, scope: int, place: int, values: list[Expr] | None, fuel: int) -> Answer:
        given = self.flow.parameter(module.definition(scope), place, fuel)
        return joined([given, self.one_of(values, module, scope, fuel)]) if values else given

    def one_of(self, values: list[Expr], module: Module, scope: int, fuel: int) -> Answer:
        """What a name is that a scope binds to these values."""
        if len(values) == 1:
            return self.value(values[0], module, scope, fuel - 1)
        if all(value[0] == "def" for value in values):
            answers = [self.value(value, module, scope, fuel - 1) for value in values]
            return tuple(each for sure, _ in answers for each in sure), ()
        return self.notes.ask(("choice", module, scope, id(values)), fuel, HOP, NOTHING, self._choice, values, module, scope)

    def _choice(self, values: list[Expr], module: Module, scope: int, fuel: int) -> Answer:
        """A name with several bindings: its own value may be in one of them, so that this counts as a hop."""
        return joined([self.value(value, module, scope, fuel - 1) for value in values])

    def _global(self, module: Module, name: str, fuel: int) -> Answer:
        """A name that no scope of the file has: what the file imports without naming it, or sees without importing it."""
        found = self._seen(module, name, fuel) if module.language.names_see_members else NOTHING
        if found == NOTHING:
            found = self._star_imported(module, name, fuel)
        if found == NOTHING:
            found = self._member_imported(module, name, fuel)
        if found == NOTHING and not module.language.names_see_members:
            found = self._seen(module, name, fuel)
        return found if found != NOTHING else ELSEWHERE

    def _star_imported(self, module: Module, name: str, fuel: int) -> Answer:
        self.notes.keys.add(key(keys.STAR, module.path))
        for spec in module.stars:
            for path in self.imported(module, spec, fuel):
                found = self._starred(path, name, fuel - 1)
                if found != NOTHING:
                    return found
        return NOTHING

    def _member_imported(self, module: Module, name: str, fuel: int) -> Answer:
        for members in module.members_of:
            for owner in _classes(self.value(members, module, 0, fuel - 1)):
                found = self.classes.member(owner, name, fuel)
                if found is not None:
                    return found
        return NOTHING

    def _starred(self, path: str, name: str, fuel: int) -> Answer:
        module = self.world.module(path)
        if module is None or (module.facts.starred is None and name.startswith("_")):
            return NOTHING
        if module.facts.starred is not None and name not in module.facts.starred:
            return NOTHING
        return self.export(module, name, fuel)

    def _seen(self, module: Module, name: str, fuel: int) -> Answer:
        """A name of another file of the same package, or of one that is visible for another reason."""
        visible = self.visible(module)
        if not visible:
            return NOTHING
        self.notes.keys.add(key(keys.TOP, name))
        holders = frozenset((*self.world.having(words.TOP, name), *self.world.in_package(EVERYWHERE)))
        for path in visible:
            other = self.world.module(path) if path in holders else None
            found = self.export(other, name, fuel - 1) if other is not None else NOTHING
            if found != NOTHING:
                return found
        return NOTHING

    def visible(self, module: Module) -> tuple[str, ...]:
        """The files whose names are known in this one without an import."""
        return self.notes.ask(("visible", module), FULL, 0, (), self._visible, module)

    def _visible(self, module: Module, _: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(module.language.visible(module.facts, self.world)))

    def _bound(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        number = expr[1]
        binding = module.facts.bindings[number]
        if binding.value[0] in _CONTAINERS:
            self.notes.keys.add(module.name_key(binding.scope, binding.name))
            return (self.box(module, binding.scope, binding.value, number, binding.name),), ()
        return self.notes.ask(("bound", module, number), fuel, 1, NOTHING, self._of_binding, module, number)

    def _of_binding(self, module: Module, number: int, fuel: int) -> Answer:
        binding = module.facts.bindings[number]
        self.notes.keys.add(module.name_key(binding.scope, binding.name))
        return self.value(binding.value, module, binding.scope, fuel)

    # Definitions

    def _def(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        number = expr[1]
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

    def _self(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
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

    def _super(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
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

    # Imports

    def _import(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        _, spec, name = expr
        return self.notes.ask(("import", module, spec, name), fuel, 1, NOTHING, self._imported, module, spec, name)

    def _imported(self, module: Module, spec: str, name: str | None, fuel: int) -> Answer:
        places = [self._place(path, module) for path in self.imported(module, spec, fuel)]
        if name is None:
            return (tuple(places), ()) if places else ELSEWHERE
        for place in places:
            found = self.attribute(place, name, fuel)
            if found not in (NOTHING, ELSEWHERE):
                return found
        if not places and not spec.strip("."):
            return ELSEWHERE
        return NOTHING if places else ELSEWHERE

    def _place(self, path: str, module: Module) -> Value:
        if path.endswith("/"):
            return self.notes.ask(("folder", path), FULL, 0, OUTSIDE, lambda *_: Folder(module, path))
        return self.world.module(path) or OUTSIDE

    def imported(self, module: Module, spec: str, fuel: int) -> tuple[str, ...]:
        """The files that an import leads to."""
        is_relative = spec[:1] == "." or module.language.names_see_members
        importer = module.path if is_relative else module.path.rpartition("/")[0]
        question = ("imported", module.language.name, importer, spec)
        return self.notes.ask(question, FULL, 0, (), self._follow_import, module, spec)

    def _follow_import(self, module: Module, spec: str, _: int) -> tuple[str, ...]:
        return module.language.imported(spec, module.path, self.world)

    def export(self, module: Module, name: str, fuel: int) -> Answer:
        """What a file gives under a name; NOTHING if it has no such name."""
        return self.notes.ask(("export", module, name), fuel, 1, NOTHING, self._export, module, name)

    def _export(self, module: Module, name: str, fuel: int) -> Answer:
        self.notes.keys.add(key(keys.EXPORT, module.path, name))
        if module.facts.exports is None:
            return self._top_level(module, name, fuel)
        given = [export.value for export in module.facts.exports if export.name == name]
        if given:
            return joined([self.value(value, module, 0, fuel - 1) for value in given])
        self.notes.keys.add(key(keys.EXPORT, module.path, "*"))
        for export in module.facts.exports:
            if export.name == "*":
                for place in self.value(export.value, module, 0, fuel - 1)[0]:
                    found = self.export(place, name, fuel - 1) if isinstance(place, Module) else NOTHING
                    if found != NOTHING:
                        return found
        return self._of_whole_module(module, name, fuel)

    def _of_whole_module(self, module: Module, name: str, fuel: int) -> Answer:
        """An attribute of what the module itself is, where a module can be a value (module.exports = …)."""
        if name == "=":
            return NOTHING
        whole = self.whole(module, fuel - 1)
        if name == "default" or whole == NOTHING:
            return whole
        return self.attributes(whole, name, fuel - 1)

    def whole(self, module: Module, fuel: int) -> Answer:
        """What a module itself is, where that is a value, through modules that are each other's."""
        found = self.export(module, "=", fuel)
        if any(isinstance(value, Module) for value in found[0]) and fuel & _STEPS > LAST:
            return joined([self.whole(value, fuel - 1) for value in found[0] if isinstance(value, Module)])
        return found

    def _top_level(self, module: Module, name: str, fuel: int) -> Answer:
        self.notes.keys.add(module.name_key(0, name))
        values = module.names.get(0, _EMPTY).get(name)
        if values is not None:
            return self.one_of(values, module, 0, fuel)
        return self._star_imported(module, name, fuel)

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
            known = [answer for answer in answers if answer not in _SILENT]
            return known[0] if len(known) == 1 else doubtful(joined(known or answers)) if answers else NOTHING
        return doubtful(joined(answers)) if answers else NOTHING

    def attribute(self, value: Value, name: str, fuel: int) -> Answer:
        """What `value.name` is."""
        rule = self._attribute_rules.get(type(value))
        return rule(value, name, fuel) if rule is not None else ELSEWHERE

    def _of_unbound(self, value: Unbound, name: str, fuel: int) -> Answer:
        return self.classes.of_definition(value.of, name, fuel)

    def _of_folder(self, value: Folder, name: str, fuel: int) -> Answer:
        return self._below(value.module, f"{value.path}{_PACKAGE_FILE}", name)

    def _of_module(self, module: Module, name: str, fuel: int) -> Answer:
        found = self.export(module, name, fuel)
        if found == NOTHING and module.path.endswith(_PACKAGE_FILE):
            return self._below(module, module.path, name)
        return found

    def _below(self, module: Module, package: str, name: str) -> Answer:
        """A file or folder in a package's folder."""
        paths = module.language.imported(f".{name}", package, self.world)
        return (tuple(self._place(path, module) for path in paths[:1]), ()) if paths else NOTHING

    def _item(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        base = self.value(expr[1], module, scope, fuel - 1)
        wanted = self.containers.keys(expr[2], module, scope, fuel - 1)
        return self.containers.items(base, wanted, fuel)

    def _slice(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        base = self.value(expr[1], module, scope, fuel - 1)
        return self.containers.slice(base, expr[2], expr[3])

    def _box(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
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
        known = [answer for answer in answers if answer not in _SILENT]
        return joined(known or answers) if answers else NOTHING

    def _first(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        for part in expr[1]:
            found = self.value(part, module, scope, fuel - 1)
            if found not in _SILENT:
                return found
        return NOTHING

    # Calls

    def _call(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        return self.notes.ask(("call", module, expr[1]), fuel, 1, NOTHING, self._result, module, expr[1])

    def callee(self, module: Module, number: int, fuel: int) -> Answer:
        """What a call calls."""
        call = module.facts.calls[number]
        return self.value(call.callee, module, call.scope, fuel)

    def _result(self, module: Module, number: int, fuel: int) -> Answer:
        call = module.facts.calls[number]
        if call.unless >= 0 and self.flow.targets(module, call.unless, fuel):
            return NOTHING
        callee = self.callee(module, number, fuel)
        if callee in (NOTHING, ELSEWHERE) and call.callee[0] == "attr":
            inside = self.containers.method(call, module, fuel)
            if inside != NOTHING:
                return inside
        if callee == ELSEWHERE:
            return (self._site(module, number),), ()
        receiver = self._receiver(call.callee, module, call.scope, fuel)
        answers: list[Answer] = []
        for values, is_sure in zip(callee, (True, False), strict=True):
            for value in self.flow.fitting(values, call):
                given = self._given(value, call.new, receiver, module, number, fuel)
                answers.append(given if is_sure else doubtful(given))
        return joined(answers) if answers else NOTHING

    def _site(self, module: Module, number: int) -> Site:
        found = self._sites.get((module, number))
        if found is None:
            found = self._sites[module, number] = Site(module, number)
        return found

    def _receiver(self, callee: Expr, module: Module, scope: int, fuel: int) -> Value | None:
        """The one instance or class that a method is called on, if it is plain which."""
        if callee[0] != "attr":
            return None
        sure, unsure = self.value(callee[1], module, scope, fuel - 1)
        return sure[0] if len(sure) == 1 and not unsure else None

    def _given(self, value: Value, is_new: bool, receiver: Value | None, module: Module, number: int, fuel: int) -> Answer:
        """What calling a value gives."""
        if isinstance(value, Unbound):
            value = value.of
        if isinstance(value, Def):
            if value.is_class or is_new:
                return (value.exact,), ()
            given = self.returns(value, fuel)
            return self.classes.seen_from(given, value, receiver, fuel) if receiver is not None else given
        if isinstance(value, Instance):
            called = self.classes.member(value.of, CALL_METHOD, fuel)
            defs = [each for part in called or () for each in part if isinstance(each, Def) and not each.is_class]
            return joined([self.returns(each, fuel) for each in defs]) if defs else NOTHING
        if isinstance(value, Module):
            answers = [
                self._given(each, is_new, receiver, module, number, fuel - 1)
                for each in self.whole(value, fuel - 1)[0]
                if not isinstance(each, Module)
            ]
            return joined(answers) if answers else NOTHING
        if isinstance(value, (Outside, Site)):
            return (self._site(module, number),), ()
        return NOTHING

    def returns(self, of: Def, fuel: int) -> Answer:
        """What calling a function gives: as it declares, or else as its body shows."""
        self.notes.keys.add(of.module.definition_key(of.number))
        declared = NOTHING
        if of.fact.result is not None:
            declared = self.notes.ask(("result", of), fuel, 1, NOTHING, self._declared, of)
            if any(value is not OUTSIDE for part in declared for value in part):
                return declared
        if of.fact.traits & GENERATOR:
            return (), (self.notes.ask(("yields", of), FULL, 0, OUTSIDE, lambda *_: Yields(of)),)
        shown = self.notes.ask(("returns", of), fuel, HOP, NOTHING, self._shown, of)
        return shown if shown != NOTHING else declared

    def _declared(self, of: Def, fuel: int) -> Answer:
        """What a function declares; a function that it returns beside may be what the declared interface stands for."""
        module, fact = of.module, of.fact
        if fact.result is None:
            return NOTHING
        sure, unsure = self.value(fact.result, module, of.number, fuel)
        self.notes.keys.add(key(keys.RESULT, module.path, of.qualified))
        functions = [module.definition(value[1]) for value in fact.returns if value[0] == "def" and value[1]]
        return sure, (*unsure, *functions)

    def _shown(self, of: Def, fuel: int) -> Answer:
        module, fact = of.module, of.fact
        self.notes.keys.add(key(keys.RESULT, module.path, of.qualified))
        return doubtful(joined([self.value(value, module, of.number, fuel) for value in fact.returns]))


def _classes(answer: Answer) -> list[Def]:
    return [value for part in answer for value in part if isinstance(value, Def) and value.is_class]


def _instance(value: Value) -> Value:
    """A class's instance; what is no class stands for itself (a list type, an alias of an instance)."""
    return value.instance if isinstance(value, Def) else value


_NO_SELF: tuple[int, Answer | None] = (0, None)
_SILENT = (NOTHING, ELSEWHERE)
_EMPTY: dict[str, list[Expr]] = {}
_NO_PLACES: dict[str, int] = {}
_CONTAINERS = frozenset({"list", "dict", "put"})
