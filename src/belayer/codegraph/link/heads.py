"""Under which names a file's calls go and its values are passed on: where to look for who calls a function with what.

A head is the last name of an expression, whatever is called or looked up on the way: `f`, `x.f`, `f()()`, `f[0]` have
the head f. Heads only say where to look; whether it is the same f, the evaluator finds out.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from belayer.codegraph.facts import Definition, Expr, Facts, Shape

_DEEPEST = 12
_NOTHING: tuple[str, ...] = ()


class Place(NamedTuple):
    """Where a value goes on to: a name, an attribute, an argument of a call, a definition's result or parameter."""

    kind: str  # "name", "attr", "argument", "result", "item"
    number: int  # scope, call or definition
    name: str  # the name, attribute or keyword; "" for an argument by place
    position: int = -1


class Heads:
    """The heads of one file's expressions."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._of_calls: dict[int, tuple[str, ...]] = {}

    def of(self, expr: Expr, depth: int = 0) -> tuple[str, ...]:
        """The heads of an expression: none for a literal, several for a choice."""
        word = expr[0]
        if word == "name":
            return (expr[1],)
        if word == "attr":
            return (expr[2],)
        if depth > _DEEPEST:
            return _NOTHING
        if word == "bound":
            place: int = expr[1]
            binding = self._facts.bindings[place]
            return self.of(binding.value, depth + 1) if binding.name[:1] == "<" else (binding.name,)
        if word == "call":
            return self.of_call(expr[1], depth + 1)
        if word == "def":
            number: int = expr[1]
            name = self._facts.definitions[number].name
            return (f"#{number}",) if name[:1] == "<" else (name, f"#{number}")
        if word == "import":
            return (expr[2],) if expr[2] else _NOTHING
        return tuple(head for part in parts_of(expr) for head in self.of(part, depth + 1))

    def of_call(self, number: int, depth: int = 0) -> tuple[str, ...]:
        """The heads of what is called."""
        found = self._of_calls.get(number)
        if found is None:
            found = self.of(self._facts.calls[number].callee, depth)
            self._of_calls[number] = found
        return found

    @cached_property
    def calls(self) -> dict[str, list[int]]:
        """The calls, by head."""
        found: dict[str, list[int]] = {}
        for number in range(len(self._facts.calls)):
            for head in self.of_call(number):
                found.setdefault(head, []).append(number)
        return found

    @cached_property
    def uses(self) -> dict[str, list[Place]]:
        """Where the values that go under a head are passed on to."""
        found: defaultdict[str, list[Place]] = defaultdict(list)
        for value, place in self._flows():
            word = value[0]
            if word == "name":
                found[value[1]].append(place)
            elif word == "attr":
                found[value[2]].append(place)
            else:
                for head in dict.fromkeys(self.of(value)):
                    found[head].append(place)
                if word in _NESTING:
                    self._keyed(value, found, 0)
        return dict(found)

    def _keyed(self, value: Expr, found: defaultdict[str, list[Place]], depth: int) -> None:
        """A value in a dict literal also goes under its key, for languages whose dicts are objects."""
        if depth > _DEEPEST or value[0] not in _NESTING:
            return
        if value[0] == "dict":
            for key, part in value[1]:
                if isinstance(key, str):
                    for head in self.of(part):
                        found[head].append(Place("attr", 0, key))
                self._keyed(part, found, depth + 1)
        else:
            for part in parts_of(value):
                self._keyed(part, found, depth + 1)

    def _flows(self) -> Iterator[tuple[Expr, Place]]:
        facts = self._facts
        for scope, name, value, _, _ in facts.bindings:
            if value[0] not in _SILENT:
                yield value, Place("name", scope, name)
        for scope, target, value, _ in facts.stores:
            yield value, self._target(scope, target)
        for number, call in enumerate(facts.calls):
            for position, arg in enumerate(call.args):
                if arg[0] not in _SILENT:
                    yield arg, Place("argument", number, "", position)
            for name, arg in call.keywords:
                yield arg, Place("argument", number, name)
        for number, fact in enumerate(facts.definitions):
            for value in fact.returns:
                yield value, Place("result", number, fact.name)
            for param in fact.params:
                if param.default is not None:
                    yield param.default, Place("name", number, param.name)
        for name, value in facts.exports or ():
            yield value, Place("name", 0, name)

    def _target(self, scope: int, target: Expr) -> Place:
        heads = self.of(target)
        kind = "attr" if target[0] == "attr" else "item" if target[0] == "item" else "name"
        return Place(kind, scope, heads[0] if heads else "")

    def names(self) -> tuple[set[str], set[str]]:
        """The heads of all calls, and those of all values that are passed on."""
        facts, bindings = self._facts, self._facts.bindings
        called: set[str] = set()
        used: set[str] = set()
        for call in facts.calls:
            self._add(call.callee, called)
            for arg in call.args:
                word = arg[0]
                number: int = arg[1] if word == "bound" else -1
                if number >= 0 and bindings[number].name[:1] != "<":
                    used.add(bindings[number].name)
                elif word not in _SILENT:
                    self._add(arg, used)
            for _, arg in call.keywords:
                if arg[0] not in _SILENT:
                    self._add(arg, used)
        for fact in facts.bindings:
            if fact.value[0] not in _SILENT:
                self._add(fact.value, used)
        for fact in facts.stores:
            self._add(fact.value, used)
        for fact in facts.definitions:
            for value in fact.returns:
                self._add(value, used)
            for param in fact.params:
                if param.default is not None:
                    self._add(param.default, used)
        for _, value in facts.exports or ():
            self._add(value, used)
        return called, used

    def _add(self, value: Expr, found: set[str]) -> None:
        word = value[0]
        if word == "name":
            found.add(value[1])
        elif word == "attr":
            found.add(value[2])
        else:
            found.update(self.of(value))

    def shared(self, called: Iterable[str], used: Iterable[str]) -> set[str]:
        """Of these names, those that can mean the same thing in another file: not those of local variables alone."""
        facts = self._facts
        functions = {n for n, d in enumerate(facts.definitions) if d.shape in _FUNCTIONS}
        local = {b.name for b in facts.bindings if b.scope in functions}
        local.update(param.name for d in facts.definitions for param in d.params)
        top = {b.name for b in facts.bindings if b.scope not in functions}
        top.update(d.name for d in facts.definitions if d.parent not in functions)
        top.update(i.alias or i.name or "" for i in facts.imports)
        attributes = {call.callee[2] for call in facts.calls if call.callee[0] == "attr"}
        return {
            name
            for names in (called, used)
            for name in names
            if name in top or name not in local or name in attributes
        }


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """The expressions whose values an expression hands on."""
    word = expr[0]
    if word in ("item", "slice", "spread", "new"):
        return (expr[1],)
    if word in ("list", "any", "first"):
        return expr[1]
    if word == "dict":
        return tuple(part for _, part in expr[1])
    if word == "put":
        return (expr[1], expr[3])
    if word == "wrapped":
        return (expr[1], expr[2])
    return ()


def qualified_names(definitions: Sequence[Definition]) -> list[str]:
    """Each definition's name within the file: `Outer.name`; `Outer.name#2` for the second of that name, and so on."""
    names = [""]
    taken: dict[str, int] = {}
    for number in range(1, len(definitions)):
        fact = definitions[number]
        outer = names[fact.parent] if 0 < fact.parent < number else ""
        name = f"{outer}.{fact.name}" if outer else fact.name
        count = taken.get(name, 0) + 1
        taken[name] = count
        names.append(name if count == 1 else f"{name}#{count}")
    return names


_NESTING = frozenset({"dict", "list", "any", "first"})
_SILENT = frozenset({"literal", "key", "self", "super"})
_FUNCTIONS = (Shape.FUNCTION, Shape.METHOD, Shape.LAMBDA)
