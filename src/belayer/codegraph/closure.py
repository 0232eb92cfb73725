"""What a change reaches: a search over the arrays, level by level. Pure. The rule of what carries a change on is here.

Against the edges (dependents): who calls, uses, tests or serves a thing is reached with it; a subclass with its base
class, an overriding method with the overridden one. Who calls an overridden method is reached from the overriding one
too, since the call may end there: that step costs no depth, and what comes of it is inferred at best. Along the edges
(dependencies) everything is the same, turned around. Containment and imports carry nothing on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belayer.codegraph.arrays import Bytes, Flags, Ints, Side, Snapshot, allowed, once_per_snapshot
from belayer.codegraph.graph import Confidence, Relation

CARRYING = (
    Relation.CALLS,
    Relation.USES,
    Relation.INHERITS,
    Relation.OVERRIDES,
    Relation.SERVES,
    Relation.TESTS,
)
_DISPATCHED = (Relation.CALLS, Relation.USES, Relation.SERVES, Relation.TESTS)
UNSEEN = 255
DEEPEST = 250
_SURE = int(Confidence.RESOLVED)


@dataclass(frozen=True, slots=True)
class Reached:
    """How each node was reached: its depth (UNSEEN for not at all), the confidence, and the edge that led to it.

    `stood_in` marks nodes whose edge leads to a method that only stands in for one that overrides it; `stand_ins` has,
    for these methods, the edge to the one they stand in for.
    """

    depth: Bytes
    confidence: Bytes
    via: Ints
    stood_in: Flags
    stand_ins: Ints

    def nodes(self, depth: int) -> Ints:
        """What was reached in up to so many hops, the starting points left out."""
        return np.flatnonzero((self.depth > 0) & (self.depth <= depth)).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Further:
    """Go on, up to this depth, for as long as fewer than `enough` of the `wanted` nodes are reached."""

    depth: int
    wanted: Flags
    enough: int


def search(
    graph: Snapshot,
    start: Ints,
    depth: int,
    least: Confidence = Confidence.BY_NAME,
    *,
    dependents: bool = True,
    further: Further | None = None,
) -> Reached:
    """Everything within so many references of the start; each node by the shortest way, of these the surest."""
    state = _Search(graph, least, dependents=dependents)
    state.begin(start)
    frontier = start
    for level in range(1, min(max(depth, further.depth if further else 0), DEEPEST) + 1):
        if not len(frontier) or (further and level > depth and state.has(further)):
            break
        frontier = state.advance(frontier, level)
    return Reached(state.depth, state.confidence, state.via, state.stood_in, state.stand_ins)


def needed(graph: Snapshot, start: Ints) -> Flags:
    """Everything that the start needs, however far away: a search that asks neither how nor how surely."""
    seen = np.zeros(graph.size, np.bool_)
    frontier, out, table = start, graph.outgoing, allowed(CARRYING)
    overriding, overridden = _overrides(graph)
    while len(frontier):
        seen[frontier] = True
        places, _ = _edges(out, frontier)
        new = np.zeros(graph.size, np.bool_)
        new[out.other[places[table[out.code[places]]]]] = True
        new[overriding[seen[overridden]]] = True
        frontier = np.flatnonzero(new & ~seen).astype(np.int32)
    return seen


def way(graph: Snapshot, reached: Reached, node: int, *, dependents: bool = True) -> list[int]:
    """The edges that lead from the node to where the search began."""
    edges: list[int] = []
    while (level := reached.depth[node]) > 0:
        edge = int(reached.via[node])
        edges.append(edge)
        stood_in = bool(reached.stood_in[node])
        node = _other_end(graph, edge, node) if not dependents else int(graph.target[edge])
        while stood_in:
            edge = int(reached.stand_ins[node])
            edges.append(edge)
            node = int(graph.source[edge])
            stood_in = reached.depth[node] >= level
    return edges


def within(graph: Snapshot, nodes: Sequence[int]) -> Ints:
    """The nodes and all that is in them."""
    inside = np.zeros(graph.size, np.bool_)
    table = allowed((Relation.CONTAINS,))
    frontier = np.unique(np.asarray(nodes, np.int32))
    while len(frontier):
        inside[frontier] = True
        at, _ = edges_of(graph.outgoing, frontier, table)
        found = graph.outgoing.other[at]
        frontier = np.unique(found[~inside[found]])
    return np.flatnonzero(inside).astype(np.int32)


def edges_of(side: Side, nodes: Ints, table: Flags) -> tuple[Ints, Ints]:
    """The places in `side` of all edges of the nodes that the table allows, and the node that each belongs to."""
    places, counts = _edges(side, nodes)
    fits = table[side.code[places]]
    return places[fits], np.repeat(nodes, counts)[fits]


def _edges(side: Side, nodes: Ints) -> tuple[Ints, Ints]:
    """The places in `side` of all edges of the nodes, and how many each of these has."""
    starts = side.start[nodes]
    counts = side.start[nodes + 1] - starts
    ends = np.cumsum(counts, dtype=np.int32)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int32) + np.repeat(starts - ends + counts, counts), counts


@once_per_snapshot
def _overrides(graph: Snapshot) -> tuple[Ints, Ints]:
    """Which methods override, and which are overridden by them."""
    edges = np.flatnonzero(allowed((Relation.OVERRIDES,))[graph.code])
    return graph.source[edges], graph.target[edges]


def _other_end(graph: Snapshot, edge: int, node: int) -> int:
    """An edge led from its source, or, if it says that the node overrides something, from its target."""
    source = int(graph.source[edge])
    return int(graph.target[edge]) if source == node else source


class _Search:
    def __init__(self, graph: Snapshot, least: Confidence, *, dependents: bool) -> None:
        self._graph, self._dependents = graph, dependents
        self._back = graph.incoming if dependents else graph.outgoing
        self._carrying = allowed(CARRYING, least)
        self._dispatched = allowed(_DISPATCHED, least)
        self._overrides = allowed((Relation.OVERRIDES,), least)
        self._may_dispatch = least <= Confidence.INFERRED and len(_overrides(graph)[0]) > 0
        self.depth = np.full(graph.size, UNSEEN, np.uint8)
        self.confidence = np.zeros(graph.size, np.uint8)
        self.via = np.full(graph.size, -1, np.int32)
        self.stood_in = np.zeros(graph.size, np.bool_)
        self.stand_ins = np.full(graph.size if self._may_dispatch else 0, -1, np.int32)

    def begin(self, start: Ints) -> None:
        self.depth[start] = 0
        self.confidence[start] = _SURE

    def has(self, further: Further) -> bool:
        return int(np.count_nonzero(further.wanted & (self.depth != UNSEEN))) >= further.enough

    def advance(self, frontier: Ints, level: int) -> Ints:
        """What one more reference reaches."""
        self._follow(frontier, self._carrying, self.confidence, level)
        if self._may_dispatch:
            if self._dependents:
                self._through_stand_ins(frontier, level)
            else:
                self._to_overriding(level)
        return np.flatnonzero(self.depth == level).astype(np.int32)

    def _follow(
        self, nodes: Ints, table: Flags, sureness: Bytes, level: int, *, stood_in: bool = False
    ) -> None:
        """Take in whoever refers to the nodes, which are reached as surely as `sureness` says."""
        places, parents = edges_of(self._back, nodes, table)
        found = self._back.other[places]
        is_open = self.depth[found] >= level
        places, found = places[is_open], found[is_open]
        sure = np.minimum(sureness[parents[is_open]], self._back.code[places] >> 4)
        self._settle(found, self._back.edge[places], sure, level, stood_in=stood_in)

    def _settle(
        self, found: Ints, edges: Ints, sureness: Bytes, level: int, *, stood_in: bool = False
    ) -> None:
        """Take in what was not reached before, or at this level less surely."""
        better = (self.depth[found] > level) | (self.confidence[found] < sureness)
        found, edges, sureness = found[better][::-1], edges[better][::-1], sureness[better][::-1]
        order = np.argsort(sureness, kind="stable")  # where a node comes twice, the last assignment stays
        found, edges, sureness = found[order], edges[order], sureness[order]
        self.depth[found] = level
        self.confidence[found] = sureness
        self.via[found] = edges
        self.stood_in[found] = stood_in

    def _through_stand_ins(self, frontier: Ints, level: int) -> None:
        """A call of an overridden method may be one of the frontier's methods that override it."""
        inferred = np.uint8(Confidence.INFERRED)
        out = self._graph.outgoing
        changed, sure = frontier, np.minimum(self.confidence[frontier], inferred)
        strength = np.zeros(self._graph.size, np.uint8)
        strength[changed] = sure
        while len(changed):
            places, parents = edges_of(out, changed, self._overrides)
            bases = out.other[places]
            new = self.stand_ins[bases] < 0
            bases, places, parents = bases[new], places[new], parents[new]
            self.stand_ins[bases] = out.edge[places]
            strength[bases] = strength[parents]
            changed = np.unique(bases)
            self._follow(changed, self._dispatched, strength, level, stood_in=True)

    def _to_overriding(self, level: int) -> None:
        """A call that reaches a method may end in one that overrides it."""
        inferred = np.uint8(Confidence.INFERRED)
        incoming = self._graph.incoming
        frontier = np.flatnonzero(self.depth == level).astype(np.int32)
        while len(frontier):
            places, parents = edges_of(incoming, frontier, self._overrides)
            found = incoming.other[places]
            new = self.depth[found] > level
            found, places, parents = found[new], places[new], parents[new]
            sureness = np.minimum(self.confidence[parents], inferred)
            self._settle(found, incoming.edge[places], sureness, level)
            frontier = np.unique(found)
