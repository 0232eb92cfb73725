"""What a change reaches: modules, symbols, endpoints, and the tests to run, each with the path that explains it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belayer.codegraph.answers import (
    Direction,
    EndpointHit,
    Hit,
    Impact,
    Link,
    ModuleHit,
    Risk,
    TestHit,
    Totals,
)
from belayer.codegraph.arrays import Flags, Ints, Snapshot, allowed, once_per_snapshot
from belayer.codegraph.churn import Changes
from belayer.codegraph.closure import Reached, edges_of, search, way, within
from belayer.codegraph.endpoints import endpoint
from belayer.codegraph.evidence import Change
from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.risk import RISK_DEPTH, assess
from belayer.codegraph.telling import Teller, sureness
from belayer.codegraph.tests_for import for_tests, ranked_tests


@dataclass(frozen=True, slots=True)
class Asked:
    """What an impact is asked for."""

    targets: Sequence[int]
    depth: int
    direction: Direction
    least: Confidence
    limit: int


def impact(graph: Snapshot, asked: Asked, past: Changes | None = None) -> Impact:
    """The impact of changing the targets (or what they need), nearest and surest first."""
    start = within(graph, asked.targets)
    depth = max(asked.depth, RISK_DEPTH) if asked.direction == "dependents" else RISK_DEPTH
    changed = search(graph, start, depth, asked.least, further=for_tests(graph, asked.limit))
    teller = Teller(graph)
    found = _Found(graph, asked, start, changed, teller)
    change = Change(asked.targets, start, changed, asked.least)
    tests = ranked_tests(graph, change, past, asked.limit, teller)
    risk = assess(graph, asked.targets, start, changed, past)
    return found.told(tests, risk)


class _Found:
    """What was reached in the asked direction, put in order."""

    def __init__(self, graph: Snapshot, asked: Asked, start: Ints, changed: Reached, teller: Teller) -> None:
        self._teller = teller
        self._graph, self._asked, self._start = graph, asked, start
        self._dependents = asked.direction == "dependents"
        self._reached = (
            changed if self._dependents else search(graph, start, asked.depth, asked.least, dependents=False)
        )
        nodes = self._reached.nodes(asked.depth)
        order = np.lexsort(
            (nodes, -self._reached.confidence[nodes].astype(np.int8), self._reached.depth[nodes])
        )
        self._nodes = nodes[order]

    def told(self, tests: tuple[tuple[TestHit, ...], int], risk: Risk) -> Impact:
        graph, asked = self._graph, self._asked
        endpoints = self._nodes[graph.of_kind(Kind.ENDPOINT)[self._nodes]]
        wanted = (
            _own_symbols(graph) if self._dependents else graph.of_kind(Kind.CLASS, Kind.FUNCTION, Kind.METHOD)
        )
        symbols = self._nodes[wanted[self._nodes]]
        modules, module_count = self._modules()
        totals = Totals(modules=module_count, symbols=len(symbols), tests=tests[1], endpoints=len(endpoints))
        return Impact(
            targets=tuple(self._teller.symbol(node) for node in asked.targets),
            direction=asked.direction,
            depth=asked.depth,
            least=sureness(asked.least),
            modules=modules,
            symbols=tuple(self._hit(int(node)) for node in symbols[: asked.limit]),
            tests=tests[0],
            endpoints=tuple(self._endpoint(int(node)) for node in endpoints[: asked.limit]),
            risk=risk,
            totals=totals,
            truncated=max(module_count, len(symbols), tests[1], len(endpoints)) > asked.limit,
        )

    def _why(self, node: int) -> tuple[Link, ...]:
        return self._teller.links(way(self._graph, self._reached, node, dependents=self._dependents))

    def _hit(self, node: int) -> Hit:
        return Hit(
            symbol=self._teller.symbol(node),
            depth=int(self._reached.depth[node]),
            confidence=sureness(self._reached.confidence[node]),
            why=self._why(node),
        )

    def _endpoint(self, node: int) -> EndpointHit:
        return EndpointHit(
            endpoint=endpoint(self._graph, node),
            depth=int(self._reached.depth[node]),
            confidence=sureness(self._reached.confidence[node]),
            why=self._why(node),
        )

    def _modules(self) -> tuple[tuple[ModuleHit, ...], int]:
        """The modules by their best symbol; then those that only import a target."""
        graph, own = self._graph, np.unique(self._graph.file[self._start])
        files = graph.file[self._nodes]
        outside = ~np.isin(files, own)
        nodes, files = self._nodes[outside], files[outside]
        found, firsts, counts = np.unique(files, return_index=True, return_counts=True)
        order = np.argsort(firsts, kind="stable")
        hits = [
            self._module(int(file), int(nodes[first]), int(count))
            for file, first, count in zip(
                found[order][: self._asked.limit], firsts[order], counts[order], strict=False
            )
        ]
        weak = self._importing(np.concatenate([found, own]))
        hits += [self._by_import(edge) for edge in weak[: max(self._asked.limit - len(hits), 0)]]
        hits.sort(key=lambda hit: hit.depth)
        return tuple(hits), len(found) + len(weak)

    def _module(self, file: int, node: int, count: int) -> ModuleHit:
        graph = self._graph
        return ModuleHit(
            path=graph.paths[file],
            name=graph.names[graph.members(file).start],
            depth=int(self._reached.depth[node]),
            confidence=sureness(self._reached.confidence[node]),
            symbols=count,
            is_test=bool(graph.tests[graph.members(file).start]),
            why=self._why(node),
        )

    def _importing(self, known: Ints) -> list[int]:
        """The edges by which other modules import a module that changes as a whole (or are imported by it)."""
        graph, asked = self._graph, self._asked
        if asked.least > Confidence.INFERRED or asked.depth < 1:
            return []
        side = graph.incoming if self._dependents else graph.outgoing
        table = allowed((Relation.IMPORTS,), asked.least)
        modules = self._start[graph.of_kind(Kind.MODULE)[self._start]]
        places, _ = edges_of(side, modules, table)
        files = graph.file[side.other[places]]
        files, firsts = np.unique(files, return_index=True)
        new = ~np.isin(files, known)
        return [int(edge) for edge in side.edge[places[firsts[new]]]]

    def _by_import(self, edge: int) -> ModuleHit:
        graph = self._graph
        node = int(graph.source[edge] if self._dependents else graph.target[edge])
        file = int(graph.file[node])
        return ModuleHit(
            path=graph.paths[file],
            name=graph.names[graph.members(file).start],
            depth=1,
            confidence=sureness(min(graph.confidence(edge), Confidence.INFERRED)),
            symbols=0,
            is_test=bool(graph.tests[graph.members(file).start]),
            why=self._teller.links([edge]),
        )


@once_per_snapshot
def _own_symbols(graph: Snapshot) -> Flags:
    """Classes, functions and methods that are not the tests' own: these have a list of their own."""
    symbols = graph.of_kind(Kind.CLASS, Kind.FUNCTION, Kind.METHOD)
    return symbols & ~graph.tests & ~graph.tests[graph.first[graph.file]]
