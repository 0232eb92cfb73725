"""What classes have: their order of inheritance, their members, their instances' attributes, the classes below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.facts import Shape
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL, HOP, one_hop
from belayer.codegraph.link.values import (
    ELSEWHERE,
    NOBODY,
    NOTHING,
    SILENT,
    Answer,
    Box,
    Def,
    Instance,
    Super,
    Value,
    doubtful,
    joined,
)

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

Lineage = tuple[
    tuple[Def, ...], bool
]  # the classes in the order of looking up, and whether some are not ours
_NO_LINEAGE: Lineage = ((), True)
_MOST_BELOW = 40
_MOST_HOLDERS = 16


class Classes:
    """Looks things up in classes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes, self._world = evaluator, evaluator.notes, evaluator.world
        self._supers: dict[tuple[Def, bool], Super] = {}

    # Inheritance

    def lineage(self, of: Def, fuel: int) -> Lineage:
        """A class and all above it, in the order in which names are looked up."""
        return self._notes.ask(("lineage", of), fuel, 1, ((of,), True), self._lineage, of)

    def _lineage(self, of: Def, fuel: int) -> Lineage:
        bases, is_open = self.bases(of, fuel)
        above = [self.lineage(base, fuel) for base in bases if base is not of]
        order = merged([list(line) for line, _ in above] + [[base for base in bases if base is not of]])
        return (of, *(each for each in order if each is not of)), is_open or any(part for _, part in above)

    def bases(self, of: Def, fuel: int) -> tuple[list[Def], bool]:
        """The classes that a class names as its bases, and whether it names others that are not ours."""
        found: list[Def] = []
        is_open = False
        for part in self.parts(of):
            module = part.module
            self._notes.keys.add(module.definition_key(part.number))
            for base in part.fact.bases:
                answer = self._evaluator.value(base, module, part.fact.parent, fuel - 1)
                ours = [_definition(value) for values in answer for value in values]
                named = [each for each in ours if each is not None]
                found.extend(each for each in named[:1] if each not in found)
                is_open = is_open or not named
        return found, is_open

    def parts(self, of: Def) -> tuple[Def, ...]:
        """All definitions that make up a class: itself, or all parts of it."""
        if not of.is_part:
            return (of,)
        return self._notes.ask(("parts", of), FULL, 0, (of,), self._parts, of)

    def _parts(self, of: Def, _: int) -> tuple[Def, ...]:
        found: list[Def] = []
        self._notes.keys.add(key(keys.TOP, of.name))
        package = of.module.facts.package
        for path in self._world.in_package(package):
            module = self._world.module(path)
            for number in module.by_qualified.get(of.qualified, ()) if module is not None else ():
                part = module.definition(number) if module is not None else of
                if part.is_part and part.is_class:
                    found.append(part)
        return tuple(found) or (of,)

    def whole(self, part: Def) -> Def:
        """The one definition that stands for a class of several parts."""
        parts = self.parts(part)
        return next((each for each in parts if not each.is_absent), parts[0])

    # Members

    def own(self, of: Def, name: str, fuel: int) -> Answer | None:
        """What a class itself binds a name to; None if it does not."""
        found: list[Answer] = []
        for part in self.parts(of):
            module = part.module
            self._notes.keys.add(module.name_key(part.number, name))
            values = module.names.get(part.number, {}).get(name)
            if values is not None:
                found.append(self._evaluator.names.one_of(values, module, part.number, fuel))
        if not found:
            return None
        return found[0] if len(found) == 1 else (tuple(each for sure, _ in found for each in sure), ())

    def member(self, of: Def, name: str, fuel: int) -> Answer | None:
        """What a class binds a name to, itself or through the classes above it; None if none does."""
        return self._notes.ask(("member", of, name), fuel, 1, None, self._member, of, name)

    def _member(self, of: Def, name: str, fuel: int) -> Answer | None:
        nearest: Answer | None = None
        for owner in self.lineage(of, fuel)[0]:
            found = self.own(owner, name, fuel)
            if found is None:
                continue
            if nearest is None:
                nearest = found
            if not of.module.language.names_see_members:
                return nearest
            nearest = nearest[0] + _other_overloads(nearest, found), nearest[1]
        return nearest

    def known_by_name(self, of: Def, name: str, fuel: int) -> Answer | None:
        """What a bare name means in a class, where that can be a member."""
        of = self.whole(of) if of.is_part else of
        member = self.member(of, name, fuel)
        found = [] if member is None else [self._read(member, fuel)]
        found.extend(self.stored(of, name, fuel))
        return joined(found) if found else None

    def constructors(self, of: Def, fuel: int) -> list[Def]:
        """The functions that making an instance runs, of the first class in line that has any."""
        return self._notes.ask(("constructors", of), fuel, 1, [], self._constructors, of)

    def _constructors(self, of: Def, fuel: int) -> list[Def]:
        for owner in self.lineage(of, fuel)[0]:
            found = [each for part in self.parts(owner) for each in self._constructors_in(part)]
            if found:
                return found
        return []

    def _constructors_in(self, part: Def) -> list[Def]:
        names = part.module.constructors.get(part.number, ())
        for name in ("__init__", "constructor", part.name):
            self._notes.keys.add(part.module.name_key(part.number, name))
        return [part.module.definition(number) for number in names]

    def stored(self, of: Def, name: str, fuel: int) -> list[Answer]:
        """What is stored under an attribute of a class's instances, by the class and those above it."""
        if not self._world.stores(name):
            return []
        return self._notes.ask(("stored", of, name), fuel, HOP, [], self._stored, of, name)

    def _stored(self, of: Def, name: str, fuel: int) -> list[Answer]:
        found: list[Answer] = []
        line = self.lineage(of, fuel)[0]
        for path in dict.fromkeys(part.module.path for owner in line for part in self.parts(owner)):
            module = self._world.module(path)
            if module is not None:
                found.extend(self._stored_in(module, line, name, fuel))
        return found

    def _stored_in(self, module: Module, line: tuple[Def, ...], name: str, fuel: int) -> list[Answer]:
        self._notes.keys.add(key(keys.STORE, module.path, name))
        found: list[Answer] = []
        for scope, target, value in module.attribute_stores.get(name, ()):
            holders = self._evaluator.value(target, module, scope, one_hop(fuel) - 1)
            owners = (_definition(holder) for part in holders for holder in part)
            if any(owner in line for owner in owners if owner is not None):
                found.append(self._evaluator.value(value, module, scope, fuel - 1))
        return found

    def stored_elsewhere(self, of: Def, name: str, fuel: int) -> list[Answer]:
        """What files that have nothing to do with the class store under the attribute."""
        if not self._world.stores(name):
            return []
        self._notes.keys.add(key(keys.STORED, name))
        holders = self._world.having(words.STORES, name)
        if len(holders) > _MOST_HOLDERS:
            return []
        line = self.lineage(of, fuel)[0]
        modules = [self._world.module(path) for path in holders]
        return [
            answer
            for module in modules
            if module is not None
            for answer in self._stored_in(module, line, name, fuel - 1)
        ]

    # Attributes

    def of_instance(self, value: Instance, name: str, fuel: int) -> Answer:
        """An attribute of an instance."""
        question = ("attribute", value, name)
        return self._notes.ask(question, fuel, 1, NOTHING, self._of_instance, value, name)

    def _of_instance(self, value: Instance, name: str, fuel: int) -> Answer:
        of = value.of
        if not of.is_class:
            return self._of_function_instance(of, name, fuel)
        laid_over = self._laid_over(of, name, fuel)
        if laid_over != NOTHING:
            return laid_over
        member = self.member(of, name, fuel)
        found = [] if member is None else [self._read(member, fuel)]
        found.extend(self.stored(of, name, fuel))
        if not found:
            found.extend(map(doubtful, self.stored_elsewhere(of, name, fuel)))
        elif self._may_be_filled(of, found):
            elsewhere = self.stored_elsewhere(of, name, fuel)
            found.extend(doubtful(answer) for answer in elsewhere if answer not in SILENT)
        if not found and not value.is_exact:
            found.extend(self._of_classes_below(of, name, fuel))
        if found:
            return joined(found)
        mixed_in = self._mixed_in(of, name, fuel)
        if mixed_in != NOTHING:
            return mixed_in
        return ELSEWHERE if self.lineage(of, fuel)[1] else NOTHING

    @staticmethod
    def _may_be_filled(of: Def, found: list[Answer]) -> bool:
        """Whether others may store what counts: where the class only says None, and in JavaScript always."""
        is_empty = all(answer in SILENT or answer is NOBODY for answer in found)
        return is_empty or of.module.facts.language == "typescript"

    def _of_classes_below(self, of: Def, name: str, fuel: int) -> list[Answer]:
        found: list[Answer] = []
        for below in self.below(of, fuel):
            own = self.own(below, name, fuel)
            if own is not None:
                found.append(self._read(own, fuel))
            found.extend(self.stored(below, name, fuel))
        return list(map(doubtful, found))

    def _of_function_instance(self, of: Def, name: str, fuel: int) -> Answer:
        """An attribute of what a function made that is called with `new`."""
        found = self._stored_in(of.module, (of,), name, fuel)
        line = self.lineage(of, fuel)[0]
        for base in line[1:]:
            found.extend(self._stored_in(base.module, (base,), name, fuel) if not found else [])
        return joined(found) if found else NOTHING

    def _read(self, member: Answer, fuel: int) -> Answer:
        """A member as an instance shows it: a property gives what it returns."""
        if not any(_is_property(value) for part in member for value in part):
            return member
        answers: list[Answer] = []
        for part in member:
            for value in part:
                if isinstance(value, Def) and _is_property(value):
                    answers.append(self._evaluator.results.returns(value, fuel))
                else:
                    answers.append(((value,), ()))
        return joined([answer for answer in answers if answer != NOTHING] or [NOTHING])

    def setters(self, of: Def, name: str, fuel: int) -> list[Def]:
        """The functions that storing an attribute of an instance calls."""
        for owner in self.lineage(of, fuel)[0]:
            found: list[Def] = []
            for part in self.parts(owner):
                module = part.module
                self._notes.keys.add(module.name_key(part.number, name))
                for number in module.members_named(part.number, name):
                    each = module.definition(number)
                    self._notes.keys.add(module.definition_key(number))
                    if each.is_property and len(each.fact.params) == 1:
                        found.append(each)
            if found:
                return found
        return []

    def of_definition(self, value: Def, name: str, fuel: int) -> Answer:
        """An attribute of a class or function itself."""
        question = ("member of", value, name)
        return self._notes.ask(question, fuel, 1, NOTHING, self._of_definition, value, name)

    def _of_definition(self, value: Def, name: str, fuel: int) -> Answer:
        if not value.is_class:
            found = self._stored_in(value.module, (value,), name, fuel)
            if found:
                return joined(found)
            return ((value,), ()) if value.module.language.names_see_members else ELSEWHERE
        member = self.member(value, name, fuel)
        found = [] if member is None else [_from_class(member)]
        found.extend(self.stored(value, name, fuel))
        if found:
            return joined(found)
        return ELSEWHERE if self.lineage(value, fuel)[1] else NOTHING

    def above(self, owner: Def, *, on_class: bool) -> Super:
        """What `super` is in a method of a class."""
        found = self._supers.get((owner, on_class))
        if found is None:
            found = self._supers[owner, on_class] = Super(owner, on_class=on_class)
        return found

    def of_super(self, value: Super, name: str, fuel: int) -> Answer:
        """An attribute of `super`."""
        line, is_open = self.lineage(value.of, fuel)
        for owner in line[1:]:
            found = self.own(owner, name, fuel)
            if found is not None:
                return self._read(found, fuel)
        return ELSEWHERE if is_open or len(line) == 1 else NOTHING

    def seen_from(self, given: Answer, method: Def, receiver: Value, fuel: int) -> Answer:
        """What a method gives, where that is the instance it was called on: it may be of a class further down."""
        actual = receiver.of if isinstance(receiver, Instance) else receiver
        if not isinstance(actual, Def) or not actual.is_class:
            return given
        owner = method.module.class_around(method.number)
        if owner <= 0 or (actual.number == owner and actual.module is method.module):
            return given
        declared = method.module.definition(owner)
        if declared not in self.lineage(actual, fuel)[0]:
            return given

        def replaced(value: Value) -> Value:
            return actual.instance if isinstance(value, Instance) and value.of is declared else value

        return tuple(map(replaced, given[0])), tuple(map(replaced, given[1]))

    # Classes below

    def below(self, of: Def, fuel: int) -> list[Def]:
        """The classes that inherit from this one, nearest first; none if there are very many."""
        return self._notes.ask(("below", of), fuel, 1, [], self._below, of)

    def _below(self, of: Def, fuel: int) -> list[Def]:
        found: dict[Def, None] = {}
        wave = [of]
        while wave and len(found) <= _MOST_BELOW:
            wave = [each for base in wave for each in self.directly_below(base, fuel) if each not in found]
            found.update(dict.fromkeys(wave))
        found.pop(of, None)
        return list(found)[:_MOST_BELOW]

    def directly_below(self, of: Def, fuel: int) -> list[Def]:
        """The classes that name this one as a base."""
        return self._notes.ask(("directly below", of), fuel, 1, [], self._directly_below, of)

    def _directly_below(self, of: Def, fuel: int) -> list[Def]:
        self._notes.keys.add(key(keys.BELOW, of.name))
        found: dict[Def, None] = {}
        for path in self._world.having(words.BASES, of.name):
            module = self._world.module(path)
            if module is None or len(found) > _MOST_BELOW:
                continue
            for number in module.classes_by_base.get(of.name, ()):
                below = module.definition(number)
                below = self.whole(below) if below.is_part else below
                if of in self.bases(below, fuel)[0]:
                    found[below] = None
        return list(found)

    def overriders(self, method: Def, fuel: int) -> list[Def]:
        """The methods that stand in for this one in the classes below its class."""
        return self._notes.ask(("overriders", method), fuel, 1, [], self._overriders, method)

    def _overriders(self, method: Def, fuel: int) -> list[Def]:
        number = method.module.class_around(method.number)
        if number <= 0:
            return []
        of = method.module.definition(number)
        of = self.whole(of) if of.is_part else of
        found: dict[Def, None] = {}
        for below in self.below(of, fuel):
            own = self.own(below, method.name, fuel)
            found.update(dict.fromkeys(_functions(own) if own is not None else ()))
        if not found and of.fact.shape is Shape.INTERFACE and not of.module.language.names_see_members:
            found.update(dict.fromkeys(self._look_alikes(of, method, fuel)))
        same = [each for each in found if len(each.fact.params) == len(method.fact.params)]
        if len(same) > 1 and of.module.language.names_see_members:
            return self._evaluator.flow.overloads.alike(method, same, fuel)
        return same if same or of.module.language.names_see_members else list(found)

    def _look_alikes(self, of: Def, method: Def, fuel: int) -> list[Def]:
        """The methods of classes that have all the interface asks for, without saying so."""
        wanted = {
            of.module.facts.definitions[n].name
            for part in self.parts(of)
            for n in part.module.members.get(part.number, ())
        }
        self._notes.keys.add(key(keys.METHOD, method.name))
        holders = self._world.having(words.METHODS, method.name)
        if len(holders) > _MOST_BELOW:
            return []
        found: list[Def] = []
        for path in holders:
            module = self._world.module(path)
            for number in module.methods.get(method.name, ()) if module is not None else ():
                each = module.definition(number) if module is not None else method
                if self._looks_like(each, of, wanted, fuel):
                    found.append(each)
        return found

    def _looks_like(self, method: Def, interface: Def, wanted: set[str], fuel: int) -> bool:
        number = method.module.class_around(method.number)
        if number <= 0 or method.module.language is not interface.module.language:
            return False
        owner = method.module.definition(number)
        if owner.fact.shape is Shape.INTERFACE:
            return False
        owner = self.whole(owner) if owner.is_part else owner
        return all(self.member(owner, name, fuel) is not None for name in wanted)

    def _laid_over(self, of: Def, name: str, fuel: int) -> Answer:
        """A member of an object that stands before the classes among the bases: what it has was copied over theirs."""
        if of.module.facts.language != "typescript" or not of.fact.bases:
            return NOTHING
        if self.own(of, name, fuel) is not None:
            return NOTHING
        first = self._evaluator.value(of.fact.bases[0], of.module, of.fact.parent, fuel - 1)
        boxes = [value for part in first for value in part if isinstance(value, Box)]
        return self._evaluator.containers.named(boxes[0], name, fuel) if boxes else NOTHING

    def _mixed_in(self, of: Def, name: str, fuel: int) -> Answer:
        """A member of an object that stands among the class's bases."""
        for part in self.parts(of):
            for base in part.fact.bases:
                for values in self._evaluator.value(base, part.module, part.fact.parent, fuel - 1):
                    for value in values:
                        if isinstance(value, Box):
                            return self._evaluator.containers.named(value, name, fuel)
        return NOTHING

    def extends(self, function: Def, of: Def, fuel: int) -> bool:
        """Whether a function that is called like a method is one of this class, by its first parameter."""
        self._notes.keys.add(function.module.definition_key(function.number))
        params = function.fact.params
        if not params or params[0].type is None:
            return False
        line = self.lineage(of, fuel)[0]
        answer = self._evaluator.value(params[0].type, function.module, function.fact.parent, fuel - 1)
        return any(_definition(value) in line for part in answer for value in part)


def merged(lines: list[list[Def]]) -> list[Def]:
    """One order that keeps the order of every line (C3); where there is none, the first in line goes first."""
    order: list[Def] = []
    lines = [line for line in lines if line]
    while lines:
        heads = [line[0] for line in lines]
        chosen = next((head for head in heads if not any(head in line[1:] for line in lines)), heads[0])
        order.append(chosen)
        lines = [rest for line in lines if (rest := [each for each in line if each is not chosen])]
    return order


def _definition(value: Value) -> Def | None:
    """The class of an instance, or the class or function itself."""
    if isinstance(value, Instance):
        return value.of
    return value if isinstance(value, Def) else None


def _is_property(value: Value) -> bool:
    return isinstance(value, Def) and value.is_property


def _other_overloads(known: Answer, above: Answer) -> tuple[Value, ...]:
    """The functions further up that take another number of arguments than those found already."""
    counts = {len(value.fact.params) for value in known[0] if isinstance(value, Def) and not value.is_class}
    others = (value for value in above[0] if isinstance(value, Def) and not value.is_class)
    return tuple(value for value in others if counts and len(value.fact.params) not in counts)


def _functions(answer: Answer) -> list[Def]:
    return [value for part in answer for value in part if isinstance(value, Def) and not value.is_class]


def _from_class(member: Answer) -> Answer:
    """A member as the class itself shows it: a method is not bound to an instance."""
    return tuple(map(_unbound, member[0])), tuple(map(_unbound, member[1]))


def _unbound(value: Value) -> Value:
    if not isinstance(value, Def) or value.fact.shape is not Shape.METHOD:
        return value
    return value if value.is_static else value.unbound
