"""Which of several functions of one name takes these arguments: by the types that both sides declare.

Types that are not ours are known by their names only. What nobody can say speaks neither for a function nor against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from belayer.codegraph.facts import Call, Expr, Param, Shape
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import near
from belayer.codegraph.link.values import Def, Instance

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

_NUMBERS = ("byte", "short", "char", "int", "long", "float", "double", "decimal")
_SPELLED = {"bool": "boolean", "string": "String"}  # C#'s words for the same
_BOXED = {
    "Integer": "int",
    "Character": "char",
    "Boolean": "boolean",
    **{name.capitalize(): name for name in _NUMBERS if name not in ("int", "char")},
}
_ANYTHING = frozenset({"Object", "object", "dynamic", "T"})
_OF_STRINGS = frozenset(
    {"String", "CharSequence", "Comparable", "Serializable", "IComparable", "IEnumerable"}
)
_OF_NUMBERS = frozenset(
    {"Number", "Comparable", "Serializable", "IComparable", "IConvertible", "IFormattable"}
)
_FUNCTION = "<function>"
_CLASS = "Class"
_ARRAY = "[]"
_DEEPEST = 4


class Kind(NamedTuple):
    """A type: its name, and its class if that is ours."""

    name: str
    of: Def | None = None


class Overloads:
    """Compares types."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes = evaluator, evaluator.notes

    def best(self, group: list[Def], module: Module, call: Call, fuel: int) -> list[Def]:
        """Of several functions that take this many arguments, those that take arguments of these types best."""
        kinds = [self.kind(arg, module, call.scope, fuel, 0) for arg in call.args]
        if not any(kinds):
            return group
        scores = [(self._score(each, kinds, fuel), each) for each in group]
        possible = [(score, each) for score, each in scores if score is not None]
        highest = max((score for score, _ in possible), default=0)
        return [each for score, each in possible if score == highest] or group

    def alike(self, method: Def, others: list[Def], fuel: int) -> list[Def]:
        """Of several methods of one name and as many parameters, those with the types of this one; all if none has."""
        kinds = self._declared(method, fuel)
        return [each for each in others if _agree(kinds, self._declared(each, fuel))] or others

    def _declared(self, function: Def, fuel: int) -> list[Kind | None]:
        self._notes.keys.add(function.module.definition_key(function.number))
        module, scope = function.module, function.fact.parent
        return [self._of_param(param, module, scope, fuel, 0) for param in function.fact.params]

    def _score(self, function: Def, kinds: list[Kind | None], fuel: int) -> int | None:
        """How well a function's parameters fit; None if they cannot."""
        self._notes.keys.add(function.module.definition_key(function.number))
        params = function.fact.params
        total = -1 if any(param.star for param in params) else 0
        for place, kind in enumerate(kinds):
            param = params[min(place, len(params) - 1)] if params else None
            if kind is None or param is None or param.type is None:
                continue
            wanted = self.kind(param.type, function.module, function.fact.parent, fuel, 0)
            fit = self._fit_of_parameter(kind, wanted, param.star, fuel) if wanted is not None else 0
            if fit is None:
                return None
            total += fit
        return total

    def _fit_of_parameter(self, given: Kind, wanted: Kind, star: str, fuel: int) -> int | None:
        """A parameter that takes all the rest takes an array as well."""
        if star and given.name.startswith(_ARRAY):
            wanted = Kind(_ARRAY + wanted.name)
        return self._fit(given, wanted, fuel)

    # How well a type fits another: 3 the same, 2 more special, 1 the other one takes anything, 0 nobody knows

    def _fit(self, given: Kind, wanted: Kind, fuel: int) -> int | None:
        if given.name == wanted.name and (given.of is wanted.of or given.of is None or wanted.of is None):
            return 3
        if wanted.name in _ANYTHING:
            return 1
        if given.name == _FUNCTION:
            return _fit_of_function(wanted)
        if given.of is not None:
            return self._fit_of_ours(given.of, wanted, fuel)
        if wanted.of is not None:
            return None
        return _fit_of_names(given.name, wanted.name)

    def _fit_of_ours(self, given: Def, wanted: Kind, fuel: int) -> int | None:
        line, is_open = self._evaluator.classes.lineage(given, fuel)
        if wanted.of is not None:
            return 2 if wanted.of in line else None
        return 0 if is_open else None

    # The type of an expression

    def kind(self, expr: Expr, module: Module, scope: int, fuel: int, depth: int) -> Kind | None:
        """The type that an expression is declared to have, or that it shows."""
        word = expr[0]
        if depth > _DEEPEST:
            return None
        if word == "literal":
            said: str = expr[1]
            return Kind(_SPELLED.get(said, said))
        if word == "key":
            return Kind("String" if isinstance(expr[1], str) else "int")
        if word == "new":
            return self._named(expr[1], module, scope, fuel)
        if word == "any":
            kinds = (self.kind(part, module, scope, fuel, depth + 1) for part in expr[1])
            return next((kind for kind in kinds if kind is not None), None)
        if word == "list":
            inner = self.kind(expr[1][0], module, scope, fuel, depth + 1) if expr[1] else None
            return Kind(_ARRAY + (inner.name if inner is not None else ""))
        if word == "def":
            return Kind(_FUNCTION) if module.is_function(expr[1]) else None
        if word == "call":
            return self._of_call(expr[1], module, fuel, depth)
        if word == "name":
            return self._of_name(expr[1], module, scope, fuel, depth)
        return self._of_value(expr, module, scope, fuel)

    def _named(self, expr: Expr, module: Module, scope: int, fuel: int) -> Kind | None:
        """The type of this name: ours, or one from outside."""
        for values in self._evaluator.value(expr, module, scope, near(fuel)):
            for value in values:
                if isinstance(value, Def) and value.is_class:
                    return Kind(value.name, value)
        name = expr[2] if expr[0] in ("attr", "import") else expr[1] if expr[0] == "name" else None
        return Kind(_SPELLED.get(name, name)) if isinstance(name, str) else None

    def _of_call(self, number: int, module: Module, fuel: int, depth: int) -> Kind | None:
        call = module.facts.calls[number]
        if call.new:
            return self._named(call.callee, module, call.scope, fuel)
        for target in self._evaluator.flow.targets(module, number, near(fuel) - 1)[:1]:
            function = target.function
            self._notes.keys.add(function.module.definition_key(function.number))
            if function.fact.result is not None:
                return self.kind(function.fact.result, function.module, function.number, fuel, depth + 1)
        return None

    def _of_name(self, name: str, module: Module, scope: int, fuel: int, depth: int) -> Kind | None:
        """A parameter, local or field by its declared type; a class by itself is spoken of as such."""
        definitions = module.facts.definitions
        while scope > 0:
            self._notes.keys.add(module.name_key(scope, name))
            place = module.params.get(scope, {}).get(name)
            if place is not None:
                self._notes.keys.add(module.definition_key(scope))
                return self._of_param(definitions[scope].params[place], module, scope, fuel, depth)
            values = module.names.get(scope, {}).get(name)
            if values and values[0][0] != "def":
                first: Expr = values[0]
                if first[0] == "bound":
                    number: int = first[1]
                    first = module.facts.bindings[number].value
                return self.kind(first, module, scope, fuel, depth + 1)
            scope = definitions[scope].parent
        return Kind(_CLASS) if name[:1].isupper() and not name.isupper() else None

    def _of_param(self, param: Param, module: Module, scope: int, fuel: int, depth: int) -> Kind | None:
        kind = self.kind(param.type, module, scope, fuel, depth + 1) if param.type is not None else None
        return Kind(_ARRAY + kind.name) if kind is not None and param.star else kind

    def _of_value(self, expr: Expr, module: Module, scope: int, fuel: int) -> Kind | None:
        """The one class that following the value leads to."""
        sure, unsure = self._evaluator.value(expr, module, scope, near(fuel))
        if unsure or len(sure) != 1:
            return None
        if isinstance(sure[0], Instance) and sure[0].of.is_class:
            return Kind(sure[0].of.name, sure[0].of)
        return Kind(_FUNCTION) if isinstance(sure[0], Def) and not sure[0].is_class else None


def _agree(kinds: list[Kind | None], others: list[Kind | None]) -> bool:
    """Whether two lists of types may be the same ones."""
    pairs = zip(kinds, others, strict=False)
    return all(one is None or other is None or one.name == other.name for one, other in pairs)


def _fit_of_function(wanted: Kind) -> int | None:
    """A function may be given where an interface is wanted."""
    if wanted.of is not None:
        return 2 if wanted.of.fact.shape is Shape.INTERFACE else None
    return None if wanted.name in _NUMBERS or wanted.name in ("String", "boolean", _CLASS) else 0


def _fit_of_names(given: str, wanted: str) -> int | None:
    """Types from outside: what is known of numbers, strings and arrays; of others nobody knows who extends whom."""
    given, wanted = _BOXED.get(given, given), _BOXED.get(wanted, wanted)
    if given == wanted:
        return 2
    if given in _NUMBERS:
        if wanted in _NUMBERS:
            return 2 if _NUMBERS.index(given) <= _NUMBERS.index(wanted) else None
        return 1 if wanted in _OF_NUMBERS else None
    if given == "String":
        return 1 if wanted in _OF_STRINGS else None
    if given == "boolean" or wanted in ("boolean", "String", *_NUMBERS):
        return None
    if given.startswith(_ARRAY) and wanted.startswith(_ARRAY):
        return 0 if _ARRAY in (given, wanted) else None
    return None if wanted.startswith(_ARRAY) else 0
