"""One file's facts, arranged so that a name, a method or a call is found at once. Built when somebody first asks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from belayer.codegraph.facts import Expr, Facts, Shape
from belayer.codegraph.link import keys
from belayer.codegraph.link.heads import Heads, qualified_names
from belayer.codegraph.link.keys import key, part_key, whole_key
from belayer.codegraph.link.values import CONSTRUCTOR, CONTAINERS, Answer, Def

if TYPE_CHECKING:
    from belayer.codegraph.languages.language import Language

_SCOPES_OF_NAMES = (Shape.FUNCTION, Shape.METHOD, Shape.LAMBDA)
CLASSES = (Shape.CLASS, Shape.INTERFACE)
_EMPTY: dict[str, list[Expr]] = {}
_NO_PLACES: dict[str, int] = {}


class Meaning(NamedTuple):
    """What a name means by the scopes of its file: where it is bound, to which values or parameter; who says so."""

    scope: int
    place: int | None
    values: list[Expr] | None
    keys: tuple[int, ...]

    @property
    def is_bound(self) -> bool:
        return self.place is not None or self.values is not None


class Module:
    """A file as the evaluator sees it."""

    def __init__(self, facts: Facts, language: Language) -> None:
        self.facts, self.language, self.path = facts, language, facts.path
        self.id = facts.path
        self._defs: dict[int, Def] = {}
        self.is_test = "test" in facts.tags
        self.selves: dict[int, tuple[int, Answer | None]] = {}  # what `self` is, by scope
        self._owners: dict[int, tuple[int, Def | None]] = {}
        self._inner_key = keys.inner_part(facts.path)
        self._name_keys: dict[int, int] = {}
        self._definition_keys: dict[int, int] = {}
        self._meanings: dict[tuple[int, str], Meaning] = {}

    @cached_property
    def qualified(self) -> list[str]:
        """The definitions' names within the file, each of them unique."""
        return qualified_names(self.facts.definitions)

    def definition(self, number: int) -> Def:
        """The definition of this number; number 0 is the module itself and is not asked for here."""
        found = self._defs.get(number)
        if found is None:
            found = Def(self, number, self.facts.definitions[number], self.qualified[number])
            self._defs[number] = found
        return found

    def name_key(self, scope: int, name: str) -> int:
        """The key of what a scope binds a name to."""
        part = self._name_keys.get(scope)
        if part is None:
            part = self._name_keys[scope] = part_key(keys.NAME, self.path, self.qualified[scope])
        return whole_key(part, name)

    def definition_key(self, number: int) -> int:
        """The key of what a definition says of itself."""
        found = self._definition_keys.get(number)
        if found is None:
            found = self._definition_keys[number] = key(keys.DEFINITION, self.path, self.qualified[number])
        return found

    @cached_property
    def inner(self) -> set[str]:
        """The names that a scope inside of the file binds."""
        return keys.inner_names(self.facts)

    def inner_key(self, name: str) -> int:
        """The key of whether a scope inside of the file binds a name."""
        return whole_key(self._inner_key, name)

    def meaning(self, scope: int, name: str) -> Meaning:
        """What a name means in a scope, by this and those around it; but names of classes around it are not seen."""
        found = self._meanings.get((scope, name))
        if found is None:
            found = self._meanings[scope, name] = self._look_around(scope, name)
        return found

    def _look_around(self, scope: int, name: str) -> Meaning:
        asked: list[int] = []
        if scope and name not in self.inner:
            asked.append(self.inner_key(name))
            scope = 0
        start, definitions = scope, self.facts.definitions
        while scope >= 0:
            if scope == start or definitions[scope].shape not in CLASSES:
                found = self.meaning_in(scope, name)
                asked += found.keys
                if found.is_bound:
                    return found._replace(keys=tuple(asked))
            scope = definitions[scope].parent
        return Meaning(0, None, None, tuple(asked))

    def meaning_in(self, scope: int, name: str) -> Meaning:
        """What a name means by just this scope."""
        values = self.names.get(scope, _EMPTY).get(name)
        place = self.params.get(scope, _NO_PLACES).get(name)
        key = self.name_key(scope, name)
        return Meaning(scope, place, values, (key,) if place is None else (key, self.definition_key(scope)))

    @cached_property
    def names(self) -> dict[int, dict[str, list[Expr]]]:
        """What each scope binds: the values that its names may have, in the order of the source.

        A container is reached through its binding, so that two empty lists are two.
        """
        scopes: dict[int, dict[str, list[Expr]]] = {}
        for number, (scope, name, value, _, replaces) in enumerate(self.facts.bindings):
            names = scopes.setdefault(scope, {})
            if replaces or name not in names:
                names[name] = [("bound", number)] if value[0] in CONTAINERS else [value]
            else:
                names[name].append(("bound", number) if value[0] in CONTAINERS else value)
        self._bind_definitions(scopes)
        self._bind_imports(scopes)
        self._bind_outer(scopes)
        return scopes

    def _bind_definitions(self, scopes: dict[int, dict[str, list[Expr]]]) -> None:
        keep_both = self.language.names_see_members
        written = {scope: set(names) for scope, names in scopes.items()}
        for number, fact in enumerate(self.facts.definitions):
            if number == 0 or fact.name[:1] == "<" or (keep_both and fact.traits & CONSTRUCTOR):
                continue
            if not keep_both and fact.name in written.get(fact.parent, ()):
                continue
            scopes.setdefault(fact.parent, {}).setdefault(fact.name, []).append(("def", number))

    def _bind_imports(self, scopes: dict[int, dict[str, list[Expr]]]) -> None:
        written = {scope: set(names) for scope, names in scopes.items()}
        for fact in self.facts.imports:
            name = fact.alias or fact.name
            if name is None or fact.name == "*" or name in written.get(fact.scope, ()):
                continue
            scopes.setdefault(fact.scope, {}).setdefault(name, []).append(("import", fact.spec, fact.name))

    def _bind_outer(self, scopes: dict[int, dict[str, list[Expr]]]) -> None:
        for scope, target, value, _ in self.facts.stores:
            if target[0] == "name":
                name = target[1]
                home = self._home(scopes, scope, name)
                scopes.setdefault(home, {}).setdefault(name, []).append(("in", scope, value))

    def _home(self, scopes: dict[int, dict[str, list[Expr]]], scope: int, name: str) -> int:
        """The scope around this one that has the name; the file's own if none has."""
        definitions = self.facts.definitions
        while scope > 0:
            scope = definitions[scope].parent
            if name in scopes.get(scope, ()) and definitions[scope].shape is not Shape.CLASS:
                return scope
        return 0

    @cached_property
    def params(self) -> dict[int, dict[str, int]]:
        """The place of each parameter, by definition and name."""
        return {
            number: {param.name: place for place, param in enumerate(fact.params)}
            for number, fact in enumerate(self.facts.definitions)
            if fact.params
        }

    @cached_property
    def returned_params(self) -> dict[int, list[int]]:
        """The places of the parameters that functions return as they are, if all names that they return are such."""
        found: dict[int, list[int]] = {}
        for number, fact in enumerate(self.facts.definitions):
            named = [value[1] for value in fact.returns if value[0] == "name"]
            places = self.params.get(number, {})
            if named and fact.result is None and all(self._is_plain(number, name, places) for name in named):
                found[number] = [places[name] for name in dict.fromkeys(named)]
        return found

    def _is_plain(self, number: int, name: str, places: dict[str, int]) -> bool:
        """Whether a name is a parameter that has neither a type nor another value."""
        place = places.get(name)
        if place is None or name in self.names.get(number, ()):
            return False
        param = self.facts.definitions[number].params[place]
        return param.type is None and not param.star

    @cached_property
    def stars(self) -> list[str]:
        """The imports that bring in all names."""
        return [fact.spec for fact in self.facts.imports if fact.name == "*"]

    @cached_property
    def members_of(self) -> list[Expr]:
        """The classes whose members are names of this file."""
        return [fact.value for fact in self.facts.bindings if fact.scope == 0 and fact.name == "*"]

    @cached_property
    def heads(self) -> Heads:
        return Heads(self.facts)

    def enclosing_method(self, scope: int) -> int:
        """The method that a scope stands in (itself, perhaps); -1 if it stands in none."""
        definitions = self.facts.definitions
        while scope > 0 and definitions[scope].shape is not Shape.METHOD:
            scope = definitions[scope].parent
        return scope if scope > 0 else -1

    def class_around(self, scope: int) -> int:
        """The class that a scope stands in directly or in a method of; -1 if in none."""
        definitions = self.facts.definitions
        while scope > 0 and definitions[scope].shape not in (Shape.CLASS, Shape.INTERFACE):
            scope = definitions[scope].parent
        return scope if scope > 0 else -1

    def owner(self, scope: int) -> tuple[int, Def | None]:
        """The method that a scope stands in (0 if in none), and the class that its instance is of."""
        found = self._owners.get(scope)
        if found is None:
            method = self.enclosing_method(scope)
            number = self.facts.definitions[method].parent if method > 0 else self.class_around(scope)
            owner = self.definition(number) if number > 0 else None
            found = self._owners[scope] = (
                max(method, 0),
                owner if owner is not None and owner.is_class else None,
            )
        return found

    def is_function(self, number: int) -> bool:
        return self.facts.definitions[number].shape in _SCOPES_OF_NAMES

    @cached_property
    def attribute_stores(self) -> dict[str, list[tuple[int, Expr, Expr]]]:
        """What is stored in attributes, by their names: scope, whose attribute, value."""
        found: dict[str, list[tuple[int, Expr, Expr]]] = {}
        for scope, target, value, _ in self.facts.stores:
            if target[0] == "attr":
                found.setdefault(target[2], []).append((scope, target[1], value))
        return found

    @cached_property
    def item_stores(self) -> dict[str, list[tuple[int, Expr, object, Expr]]]:
        """What is stored in lists and dicts, by the last names of these: scope, which of them, key, value."""
        found: dict[str, list[tuple[int, Expr, object, Expr]]] = {}
        for scope, target, value, _ in self.facts.stores:
            if target[0] in ("item", "attr"):
                for head in self.heads.of(target[1]):
                    found.setdefault(head, []).append((scope, target[1], target[2], value))
        return found

    @cached_property
    def container_names(self) -> dict[tuple[int, Expr], str]:
        """The attributes that lists and dicts are stored in as they are written down."""
        return {
            (scope, value): target[2]
            for scope, target, value, _ in self.facts.stores
            if target[0] == "attr" and value[0] in CONTAINERS
        }

    @cached_property
    def classes_by_base(self) -> dict[str, list[int]]:
        """The classes, by the last names of their bases."""
        found: dict[str, list[int]] = {}
        for number, fact in enumerate(self.facts.definitions):
            for base in fact.bases:
                for head in self.heads.of(base):
                    found.setdefault(head, []).append(number)
        return found

    @cached_property
    def methods(self) -> dict[str, list[int]]:
        """The methods, by name."""
        found: dict[str, list[int]] = {}
        for number, fact in enumerate(self.facts.definitions):
            if fact.shape is Shape.METHOD:
                found.setdefault(fact.name, []).append(number)
        return found

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """What is defined directly in each definition."""
        found: dict[int, list[int]] = {}
        for number, fact in enumerate(self.facts.definitions):
            found.setdefault(fact.parent, []).append(number)
        return found

    def members_named(self, number: int, name: str) -> list[int]:
        """What is defined under a name directly in a definition."""
        definitions = self.facts.definitions
        return [each for each in self.members.get(number, ()) if definitions[each].name == name]

    @cached_property
    def by_qualified(self) -> dict[str, list[int]]:
        """The definitions, by their names within the file; those that share one together."""
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self.qualified):
            found.setdefault(name.partition("#")[0], []).append(number)
        return found

    @cached_property
    def constructors(self) -> dict[int, list[int]]:
        """The functions that making an instance runs, by class."""
        found: dict[int, list[int]] = {}
        for number, fact in enumerate(self.facts.definitions):
            if fact.traits & CONSTRUCTOR:
                found.setdefault(fact.parent, []).append(number)
        return found
