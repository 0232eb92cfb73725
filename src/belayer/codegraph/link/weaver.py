"""The nodes of a file and every edge that starts in it."""

from __future__ import annotations

from belayer.codegraph.facts import Definition, Expr, Shape
from belayer.codegraph.graph import Confidence, Edge, Kind, Node, Relation
from belayer.codegraph.link.calls import Calls
from belayer.codegraph.link.evaluator import Evaluator
from belayer.codegraph.link.fixtures import fixture, takes_fixtures
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL
from belayer.codegraph.link.reading import Reading
from belayer.codegraph.link.routes import Routes, Served
from belayer.codegraph.link.values import ABSENT, CONSTRUCTOR, TEST, Answer, Def, Value

_KINDS = {
    Shape.MODULE: Kind.MODULE,
    Shape.CLASS: Kind.CLASS,
    Shape.INTERFACE: Kind.CLASS,
    Shape.FUNCTION: Kind.FUNCTION,
    Shape.METHOD: Kind.METHOD,
    Shape.LAMBDA: Kind.FUNCTION,
}
_MOST_IMPORTED = 64
_CALLS, _USES, _TESTS = Relation.CALLS, Relation.USES, Relation.TESTS


class Weaver:
    """Weaves one file after the other into the graph."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._routes = Routes(evaluator)
        self._calls = Calls(evaluator)
        self._reading = Reading(evaluator)

    def weave(self, module: Module) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
        """The file's part of the graph."""
        piece = Piece(module, self._evaluator)
        self._contained(piece)
        self._imported(piece)
        self._inherited(piece)
        self._calls.weave(piece)
        self._fixtures(piece)
        self._reading.weave(piece)
        served = list(self._routes.served(module))
        nodes = (*self._nodes(module), *self._endpoints(piece, served))
        return nodes, tuple(piece.edges)

    def _nodes(self, module: Module) -> list[Node]:
        facts = module.facts
        prefix = self._name(module)
        symbols = facts.package if module.language.names_see_members else prefix
        found: list[Node] = []
        for number, fact in enumerate(facts.definitions):
            if fact.traits & ABSENT:
                continue
            qualified = module.qualified[number]
            name = prefix if number == 0 else f"{symbols}.{qualified}" if symbols else qualified
            tags = facts.tags if number == 0 else _tags(fact)
            identity = f"{facts.path}::{qualified}" if number else facts.path
            node = Node(
                identity, _KINDS[fact.shape], name, facts.path, fact.line, fact.end_line, facts.language, tags
            )
            found.append(node)
        return found

    def _name(self, module: Module) -> str:
        return module.language.module_name(module.path, self._evaluator.world)

    def _endpoints(self, piece: Piece, served: list[Served]) -> list[Node]:
        found: dict[str, Node] = {}
        module = piece.module
        for each in served:
            identity = f"{module.path}::{each.name}"
            line = each.route.line
            if identity not in found:
                found[identity] = Node(
                    identity,
                    Kind.ENDPOINT,
                    each.name,
                    module.path,
                    line,
                    line,
                    module.facts.language,
                    (each.route.framework,),
                )
            for handler, is_sure in each.handlers:
                piece.add(identity, handler.id, Relation.SERVES, _confidence(is_sure), line, 0)
        return list(found.values())

    def _contained(self, piece: Piece) -> None:
        for number, fact in enumerate(piece.module.facts.definitions):
            if number and not fact.traits & ABSENT:
                holder = piece.sources[fact.parent]
                piece.add(
                    holder, piece.ids[number], Relation.CONTAINS, Confidence.RESOLVED, fact.line, fact.column
                )

    def _imported(self, piece: Piece) -> None:
        module = piece.module
        for fact in module.facts.imports:
            paths = [path for path in self._evaluator.imports.files(module, fact.spec) if path[-1:] != "/"]
            homes = (
                self._homes(module, ("import", fact.spec, fact.name)) if fact.name not in (None, "*") else []
            )
            targets = dict.fromkeys(homes if homes and len(paths) > 1 else [*paths[:_MOST_IMPORTED], *homes])
            for path in targets:
                if path != module.path and (module.path, path, Relation.IMPORTS) not in piece.linked:
                    piece.add(module.path, path, Relation.IMPORTS, Confidence.RESOLVED, fact.line, 0)

    def _homes(self, module: Module, expr: Expr) -> list[str]:
        """The files that what is imported stands in."""
        answer = self._evaluator.value(expr, module, 0, FULL)
        return [home for part in answer for value in part if (home := _home(value)) is not None]

    def _inherited(self, piece: Piece) -> None:
        module, classes = piece.module, self._evaluator.classes
        for number, fact in enumerate(module.facts.definitions):
            if fact.shape in (Shape.CLASS, Shape.INTERFACE):
                of = module.definition(number)
                for base in fact.bases:
                    answer = self._evaluator.value(base, module, fact.parent, FULL)
                    for values, is_sure in zip(answer, (True, False), strict=True):
                        for value in values:
                            if isinstance(value, Def) and value is not of:
                                piece.add(
                                    piece.ids[number],
                                    value.id,
                                    Relation.INHERITS,
                                    _confidence(is_sure),
                                    fact.line,
                                    fact.column,
                                )
                whole = classes.whole(of) if of.is_part else of
                above = classes.lineage(whole, FULL)[0][1:]
                if above:
                    self._overridden(piece, number, above)

    def _overridden(self, piece: Piece, number: int, above: tuple[Def, ...]) -> None:
        """A method stands in for the next one of its name above it."""
        module = piece.module
        for each in module.members.get(number, ()):
            fact = module.facts.definitions[each]
            if fact.shape is not Shape.METHOD or fact.traits & CONSTRUCTOR:
                continue
            target = self._next_above(fact, above)
            if target is not None:
                piece.add(
                    piece.ids[each],
                    target.id,
                    Relation.OVERRIDES,
                    Confidence.RESOLVED,
                    fact.line,
                    fact.column,
                )

    def _next_above(self, fact: Definition, above: tuple[Def, ...]) -> Def | None:
        for owner in above:
            own = self._evaluator.classes.own(owner, fact.name, FULL)
            if own is not None:
                found = [
                    value for part in own for value in part if isinstance(value, Def) and not value.is_class
                ]
                same = [each for each in found if len(each.fact.params) == len(fact.params)]
                return (same or found or [None])[0]
        return None

    def _fixtures(self, piece: Piece) -> None:
        module = piece.module
        for number, fact in enumerate(module.facts.definitions):
            if number and fact.params and takes_fixtures(module.definition(number)):
                for param in fact.params:
                    found = fixture(
                        self._evaluator.world,
                        self._evaluator.notes.keys,
                        module.definition(number),
                        param.name,
                    )
                    if found is not None:
                        piece.add(
                            piece.ids[number],
                            found.id,
                            Relation.CALLS,
                            Confidence.INFERRED,
                            fact.line,
                            fact.column,
                        )


class Piece:
    """A file's edges while they are collected: one for each source, target, relation and place."""

    def __init__(self, module: Module, evaluator: Evaluator) -> None:
        self.module, self._evaluator = module, evaluator
        self._answers: dict[tuple[int, Expr], Answer] = {}
        self.edges: list[Edge] = []
        path, definitions = module.path, module.facts.definitions
        self.ids = [path, *(f"{path}::{name}" for name in module.qualified[1:])]
        self.sources = [self.ids[self._visible(number)] for number in range(len(definitions))]
        self._tests = [self._test(number) for number in range(len(definitions))]
        self.linked: set[tuple[str, str, Relation]] = set()

    def value(self, expr: Expr, scope: int) -> Answer:
        """What an expression of the file stands for, found once."""
        known = self._answers.get((scope, expr))
        if known is None:
            if expr[0] == "attr":
                known = self._evaluator.attributes(self.value(expr[1], scope), expr[2], FULL)
            else:
                known = self._evaluator.value(expr, self.module, scope, FULL)
            self._answers[scope, expr] = known
        return known

    def add(
        self, source: str, target: str, relation: Relation, confidence: Confidence, line: int, column: int
    ) -> None:
        """An edge at a place."""
        self.linked.add((source, target, relation))
        self.edges.append(Edge(source, target, relation, confidence, line, column))

    def refer(
        self,
        scope: int,
        target: Def | Module,
        relation: Relation,
        confidence: Confidence,
        line: int,
        column: int,
    ) -> None:
        """Something in a scope calls or uses a thing; if the scope belongs to a test, the test tests it."""
        source, identity, linked = self.sources[scope], target.id, self.linked
        if relation is _USES and (
            identity == source or (source, identity, _USES) in linked or (source, identity, _CALLS) in linked
        ):
            return
        linked.add((source, identity, relation))
        self.edges.append(Edge(source, identity, relation, confidence, line, column))
        test = self._tests[scope]
        if test is not None and (test, identity, _TESTS) not in linked and not _is_test(target):
            self.add(test, identity, _TESTS, confidence, line, column)

    def _visible(self, number: int) -> int:
        definitions = self.module.facts.definitions
        while number > 0 and definitions[number].traits & ABSENT:
            number = definitions[number].parent
        return max(number, 0)

    def _test(self, number: int) -> str | None:
        definitions = self.module.facts.definitions
        while number > 0:
            fact = definitions[number]
            if fact.traits & TEST and fact.shape is not Shape.CLASS:
                return self.ids[number]
            number = fact.parent
        return None


def _is_test(target: Def | Module) -> bool:
    if isinstance(target, Module):
        return target.is_test
    return target.module.is_test or bool(target.traits & TEST)


def _tags(fact: Definition) -> tuple[str, ...]:
    return (*fact.tags, "test") if fact.traits & TEST and "test" not in fact.tags else fact.tags


def _home(value: Value) -> str | None:
    if isinstance(value, Module):
        return value.path
    if isinstance(value, Def):
        return value.module.path
    return None


def _confidence(is_sure: bool) -> Confidence:
    return Confidence.RESOLVED if is_sure else Confidence.INFERRED
