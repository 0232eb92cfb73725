"""What a name means where it stands: in the scopes around it, in the file, in what the file imports or sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.facts import Expr
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import CLASSES, Meaning, Module
from belayer.codegraph.link.notes import FULL, HOP
from belayer.codegraph.link.values import CONTAINERS, ELSEWHERE, NOTHING, REMEMBERED, Answer, Def, joined

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

EVERYWHERE = "<global>"  # the package of files whose exports all files see


class Names:
    """Looks names up."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes, self._world = evaluator, evaluator.notes, evaluator.world

    def name(self, expr: Expr, module: Module, scope: int, fuel: int) -> Answer:
        name = expr[1]
        if module.language.names_see_members:
            question = (module, scope, name)
            return self._notes.ask(question, fuel, 1, NOTHING, self._among_members, module, scope, name)
        meant = module.meaning(scope, name)
        self._notes.keys.extend(meant.keys)
        return self._meant(meant, module, name, fuel - 1)

    def _meant(self, meant: Meaning, module: Module, name: str, fuel: int) -> Answer:
        """What a name is. Most of what it can mean is remembered where it is found, so that this need not be."""
        scope, values = meant.scope, meant.values
        if values is None:
            if meant.place is not None:
                return self._evaluator.flow.parameter(module.definition(scope), meant.place, fuel)
            return self._notes.ask(("global", module, name), fuel, 1, NOTHING, self._global, module, name)
        if meant.place is None and (len(values) > 1 or values[0][0] in REMEMBERED):
            return self.one_of(values, module, scope, fuel)
        return self._notes.ask((module, scope, name), fuel, 0, NOTHING, self._bound_to, meant, module)

    def _bound_to(self, meant: Meaning, module: Module, fuel: int) -> Answer:
        """What a name is that has values, and may be a parameter too."""
        bound = self.one_of(meant.values or [], module, meant.scope, fuel)
        if meant.place is None:
            return bound
        given = self._evaluator.flow.parameter(module.definition(meant.scope), meant.place, fuel)
        return joined([given, bound])

    def _among_members(self, module: Module, scope: int, name: str, fuel: int) -> Answer:
        """What a name is in a language where it can also be a member of a class around it."""
        definitions = module.facts.definitions
        while scope >= 0:
            if definitions[scope].shape in CLASSES:
                found = self._evaluator.classes.known_by_name(module.definition(scope), name, fuel)
                if found is not None:
                    return found
            else:
                meant = module.meaning_in(scope, name)
                self._notes.keys.extend(meant.keys)
                if meant.is_bound:
                    return self._meant(meant, module, name, fuel)
            scope = definitions[scope].parent
        return self._notes.ask(("global", module, name), fuel, 1, NOTHING, self._global, module, name)

    def one_of(self, values: list[Expr], module: Module, scope: int, fuel: int) -> Answer:
        """What a name is that a scope binds to these values."""
        if len(values) == 1:
            return self._evaluator.value(values[0], module, scope, fuel - 1)
        if all(value[0] == "def" for value in values):
            answers = [self._evaluator.value(value, module, scope, fuel - 1) for value in values]
            return tuple(each for sure, _ in answers for each in sure), ()
        return self._notes.ask(
            ("choice", module, scope, id(values)), fuel, HOP, NOTHING, self._choice, values, module, scope
        )

    def _choice(self, values: list[Expr], module: Module, scope: int, fuel: int) -> Answer:
        """A name with several bindings: its own value may be in one of them, so that this counts as a hop."""
        return joined([self._evaluator.value(value, module, scope, fuel - 1) for value in values])

    def _global(self, module: Module, name: str, fuel: int) -> Answer:
        """A name that no scope of the file has: what it imports without naming it, or sees without importing it."""
        found = self._seen(module, name, fuel) if module.language.names_see_members else NOTHING
        if found == NOTHING:
            found = self.star_imported(module, name, fuel)
        if found == NOTHING:
            found = self._member_imported(module, name, fuel)
        if found == NOTHING and not module.language.names_see_members:
            found = self._seen(module, name, fuel)
        return found if found != NOTHING else ELSEWHERE

    def star_imported(self, module: Module, name: str, fuel: int) -> Answer:
        self._notes.keys.add(key(keys.STAR, module.path))
        for spec in module.stars:
            for path in self._evaluator.imports.files(module, spec):
                found = self._starred(path, name, fuel - 1)
                if found != NOTHING:
                    return found
        return NOTHING

    def _member_imported(self, module: Module, name: str, fuel: int) -> Answer:
        for members in module.members_of:
            for owner in _classes(self._evaluator.value(members, module, 0, fuel - 1)):
                found = self._evaluator.classes.member(owner, name, fuel)
                if found is not None:
                    return found
        return NOTHING

    def _starred(self, path: str, name: str, fuel: int) -> Answer:
        module = self._world.module(path)
        if module is None or (module.facts.starred is None and name.startswith("_")):
            return NOTHING
        if module.facts.starred is not None and name not in module.facts.starred:
            return NOTHING
        return self._evaluator.imports.export(module, name, fuel)

    def _seen(self, module: Module, name: str, fuel: int) -> Answer:
        """A name of another file of the same package, or of one that is visible for another reason."""
        visible = self.visible(module)
        if not visible:
            return NOTHING
        self._notes.keys.add(key(keys.TOP, name))
        holders = frozenset((*self._world.having(words.TOP, name), *self._world.in_package(EVERYWHERE)))
        for path in visible:
            other = self._world.module(path) if path in holders else None
            found = self._evaluator.imports.export(other, name, fuel - 1) if other is not None else NOTHING
            if found != NOTHING:
                return found
        return NOTHING

    def visible(self, module: Module) -> tuple[str, ...]:
        """The files whose names are known in this one without an import."""
        return self._notes.ask(("visible", module), FULL, 0, (), self._visible, module)

    def _visible(self, module: Module, _: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(module.language.visible(module.facts, self._world)))

    def bound(self, expr: Expr, module: Module, _scope: int, fuel: int) -> Answer:
        number: int = expr[1]
        binding = module.facts.bindings[number]
        if binding.value[0] in CONTAINERS:
            self._notes.keys.add(module.name_key(binding.scope, binding.name))
            return (self._evaluator.box(module, binding.scope, binding.value, number, binding.name),), ()
        if binding.value[0] in REMEMBERED:
            return self._of_binding(module, number, fuel - 1)
        return self._notes.ask(("bound", module, number), fuel, 1, NOTHING, self._of_binding, module, number)

    def _of_binding(self, module: Module, number: int, fuel: int) -> Answer:
        binding = module.facts.bindings[number]
        self._notes.keys.add(module.name_key(binding.scope, binding.name))
        return self._evaluator.value(binding.value, module, binding.scope, fuel)


def _classes(answer: Answer) -> list[Def]:
    return [value for part in answer for value in part if isinstance(value, Def) and value.is_class]
