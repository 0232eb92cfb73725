"""The graph as lists: modules, what is one reference away, what is around a node, and the whole for a drawing."""

from collections import Counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from belayer.codegraph.answers import (
    Dependencies,
    Found,
    Graph,
    Link,
    Module,
    ModuleLink,
    Modules,
    Neighbours,
    Symbols,
    Use,
)
from belayer.codegraph.arrays import Flags, Ints, Side, Snapshot, allowed, once_per_snapshot
from belayer.codegraph.closure import edges_of, within
from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.packing import RELATIONS
from belayer.codegraph.search import find
from belayer.codegraph.telling import link, sureness, symbol

_REFERRING = tuple(relation for relation in Relation if relation is not Relation.CONTAINS)


def modules(graph: Snapshot, tag: str | None, query: str | None, limit: int, after: str | None) -> Modules:
    """A page of the modules, by path."""
    fitting = [file for file in range(len(graph.paths)) if _fits(graph, file, query)]
    tags = Counter(name for file in fitting for name in _tags(graph, file))
    wanted = [file for file in fitting if tag is None or tag in _tags(graph, file)]
    page = [file for file in wanted if after is None or graph.paths[file] > after]
    return Modules(
        modules=tuple(_module(graph, file) for file in page[:limit]),
        total=len(wanted),
        tags=dict(sorted(tags.items())),
        after=graph.paths[page[limit - 1]] if len(page) > limit else None,
    )


def symbols(graph: Snapshot, query: str, limit: int) -> Symbols:
    found, total = find(graph, query, limit)
    return Symbols(
        symbols=tuple(Found(symbol=symbol(graph, node), fit=fit) for node, fit in found),
        total=total,
        truncated=total > limit,
    )


def dependencies(graph: Snapshot, target: int, least: Confidence, limit: int) -> Dependencies:
    """What is one reference away from a module or symbol, in both directions."""
    inside = np.zeros(graph.size, np.bool_)
    inside[within(graph, [target])] = True
    going, coming = (
        _over_the_border(graph.outgoing, inside, least),
        _over_the_border(graph.incoming, inside, least),
    )
    imports, imported_by = _by_module(graph, going, graph.target), _by_module(graph, coming, graph.source)
    callees, callers = _uses(graph, going, limit, outward=True), _uses(graph, coming, limit, outward=False)
    return Dependencies(
        target=symbol(graph, target),
        imports=tuple(imports[:limit]),
        imported_by=tuple(imported_by[:limit]),
        callees=callees[0],
        callers=callers[0],
        truncated=max(len(imports), len(imported_by), callees[1], callers[1]) > limit,
    )


def neighbours(graph: Snapshot, center: int, depth: int, least: Confidence, limit: int) -> Neighbours:
    """What is around a node, containment included, nearest first."""
    table = allowed(Relation, least)
    chosen, frontier = np.zeros(graph.size, np.bool_), np.array([center], np.int32)
    chosen[center] = True
    count, truncated = 1, False
    for _ in range(depth):
        around = [side.other[edges_of(side, frontier, table)[0]] for side in (graph.outgoing, graph.incoming)]
        found = np.unique(np.concatenate(around))
        found = _best_connected(graph, found[~chosen[found]])
        truncated |= len(found) > limit - count
        frontier = np.sort(found[: max(limit - count, 0)])
        chosen[frontier] = True
        count += len(frontier)
    nodes = np.flatnonzero(chosen)
    return Neighbours(
        center=symbol(graph, center),
        nodes=tuple(symbol(graph, int(node)) for node in nodes),
        links=_merged(graph, _among(graph, chosen, table)),
        truncated=truncated,
    )


def whole(graph: Snapshot, level: Literal["modules", "symbols"], least: Confidence, limit: int) -> Graph:
    """The graph, or its best connected part."""
    return _modules_only(graph, least, limit) if level == "modules" else _symbols(graph, least, limit)


def _fits(graph: Snapshot, file: int, query: str | None) -> bool:
    if not query:
        return True
    wanted = query.lower()
    return wanted in graph.paths[file].lower() or wanted in graph.names[graph.members(file).start].lower()


def _tags(graph: Snapshot, file: int) -> tuple[str, ...]:
    return graph.tags[graph.members(file).start]


def _module(graph: Snapshot, file: int) -> Module:
    node = graph.members(file).start
    fan_out, fan_in = _module_fans(graph)
    return Module(
        path=graph.paths[file],
        name=graph.names[node],
        language=graph.languages[file],
        tags=graph.tags[node],
        lines=graph.end_lines[node],
        symbols=len(graph.members(file)) - 1,
        dependents=int(fan_in[file]),
        dependencies=int(fan_out[file]),
        is_broken=graph.states[file] != "",
    )


@once_per_snapshot
def _module_fans(graph: Snapshot) -> tuple[Ints, Ints]:
    """For each module, how many others it refers to, and how many refer to it."""
    size = max(len(graph.paths), 1)
    apart = graph.file[graph.source] != graph.file[graph.target]
    pairs = _different(_pairs(graph, np.flatnonzero(apart).astype(np.int32)))
    return (
        np.bincount(pairs // size, minlength=size).astype(np.int32),
        np.bincount(pairs % size, minlength=size).astype(np.int32),
    )


def _over_the_border(side: Side, inside: Flags, least: Confidence) -> Ints:
    places, _ = edges_of(side, np.flatnonzero(inside).astype(np.int32), allowed(_REFERRING, least))
    return side.edge[places[~inside[side.other[places]]]]


def _by_module(graph: Snapshot, edges: Ints, ends: Ints) -> list[ModuleLink]:
    by_file: dict[int, list[int]] = {}
    for edge, file in zip(edges.tolist(), graph.file[ends[edges]].tolist(), strict=True):
        by_file.setdefault(file, []).append(edge)
    found = [_module_link(graph, file, own) for file, own in by_file.items()]
    return sorted(found, key=lambda module: (-module.references, module.path))


def _module_link(graph: Snapshot, file: int, edges: list[int]) -> ModuleLink:
    counts = Counter(graph.relation(edge).value for edge in edges)
    return ModuleLink(
        path=graph.paths[file],
        name=graph.names[graph.members(file).start],
        confidence=sureness(max(graph.confidence(edge) for edge in edges)),
        references=len(edges),
        relations=dict(sorted(counts.items())),
    )


def _uses(graph: Snapshot, edges: Ints, limit: int, *, outward: bool) -> tuple[tuple[Use, ...], int]:
    """The references that are no imports, several between the same two told as one; surest first."""
    merged = _merge(graph, edges[(graph.code[edges] & 15) != RELATIONS.index(Relation.IMPORTS)])
    merged.sort(key=lambda pair: (-int(graph.code[pair[0]] >> 4), pair[0]))
    uses: list[Use] = []
    for edge, count in merged[:limit]:
        source, target = symbol(graph, int(graph.source[edge])), symbol(graph, int(graph.target[edge]))
        inner, outer = (source, target) if outward else (target, source)
        uses.append(Use(inner=inner, outer=outer, link=link(graph, edge, count)))
    return tuple(uses), len(merged)


def _merge(graph: Snapshot, edges: Ints) -> list[tuple[int, int]]:
    """Edges of the same ends and relation as one: the surest, then the first of them, and how many they are."""
    groups: dict[tuple[int, int, int], list[int]] = {}
    ends = zip(
        graph.source[edges].tolist(),
        graph.target[edges].tolist(),
        (graph.code[edges] & 15).tolist(),
        strict=True,
    )
    for edge, key in zip(edges.tolist(), ends, strict=True):
        groups.setdefault(key, []).append(edge)
    return [
        (min(own, key=lambda edge: (-int(graph.code[edge] >> 4), edge)), len(own)) for own in groups.values()
    ]


def _merged(graph: Snapshot, edges: Ints) -> tuple[Link, ...]:
    return tuple(link(graph, edge, count) for edge, count in sorted(_merge(graph, edges)))


def _among(graph: Snapshot, chosen: Flags, table: Flags) -> Ints:
    return np.flatnonzero(chosen[graph.source] & chosen[graph.target] & table[graph.code]).astype(np.int32)


@once_per_snapshot
def _degrees(graph: Snapshot) -> Ints:
    return np.diff(graph.outgoing.start) + np.diff(graph.incoming.start)


def _best_connected(graph: Snapshot, nodes: Ints) -> Ints:
    return nodes[np.argsort(-_degrees(graph)[nodes], kind="stable")]


def _symbols(graph: Snapshot, least: Confidence, limit: int) -> Graph:
    table = allowed(_REFERRING, least)
    candidates = np.flatnonzero(~graph.of_kind(Kind.MODULE)).astype(np.int32)
    best = np.sort(_best_connected(graph, candidates)[:limit])
    chosen = np.zeros(graph.size, np.bool_)
    chosen[best] = True
    return Graph(
        level="symbols",
        nodes=tuple(symbol(graph, int(node)) for node in best),
        links=_merged(graph, _among(graph, chosen, table)),
        total_nodes=len(candidates),
        total_links=int(np.count_nonzero(table[graph.code])),
        truncated=len(candidates) > limit,
    )


def _modules_only(graph: Snapshot, least: Confidence, limit: int) -> Graph:
    """Modules, with all references between two of them as one link of the relation that most of them are of."""
    size = max(len(graph.paths), 1)
    source, target = graph.file[graph.source], graph.file[graph.target]
    edges = np.flatnonzero((source != target) & allowed(_REFERRING, least)[graph.code]).astype(np.int32)
    keys = _different(_pairs(graph, edges))
    degrees = np.bincount(np.concatenate([keys // size, keys % size]), minlength=len(graph.paths))
    best = np.argsort(-degrees, kind="stable")[:limit]
    chosen = np.zeros(len(graph.paths), np.bool_)
    chosen[best] = True
    kept = edges[chosen[source[edges]] & chosen[target[edges]]]
    return Graph(
        level="modules",
        nodes=tuple(symbol(graph, graph.members(int(file)).start) for file in np.flatnonzero(chosen)),
        links=_module_links(graph, kept),
        total_nodes=len(graph.paths),
        total_links=len(keys),
        truncated=len(graph.paths) > limit,
    )


def _module_links(graph: Snapshot, edges: Ints) -> tuple[Link, ...]:
    pairs = _pairs(graph, edges)
    order = np.argsort(pairs, kind="stable")
    pairs, edges = pairs[order], edges[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    if not len(starts):
        return ()
    counts = np.diff(starts, append=len(pairs))
    best = np.maximum.reduceat(graph.code[edges] >> 4, starts)
    which = np.repeat(np.arange(len(starts)), counts)
    relations = (
        np.bincount(which * 16 + (graph.code[edges] & 15), minlength=16 * len(starts))
        .reshape(-1, 16)
        .argmax(1)
    )
    return tuple(
        _module_link_of(graph, int(edge), RELATIONS[int(relation)], int(confidence), int(count))
        for edge, relation, confidence, count in zip(edges[starts], relations, best, counts, strict=True)
    )


def _module_link_of(graph: Snapshot, edge: int, relation: Relation, confidence: int, count: int) -> Link:
    source, target = int(graph.file[graph.source[edge]]), int(graph.file[graph.target[edge]])
    return Link(
        source=graph.ids[graph.members(source).start],
        target=graph.ids[graph.members(target).start],
        relation=relation.value,
        confidence=sureness(confidence),
        path=graph.paths[source],
        line=int(graph.line[edge]),
        column=int(graph.column[edge]),
        count=count,
    )


def _pairs(graph: Snapshot, edges: Ints) -> NDArray[np.int64]:
    """A number for each edge's two modules."""
    return (
        graph.file[graph.source[edges]].astype(np.int64) * max(len(graph.paths), 1)
        + graph.file[graph.target[edges]]
    )


def _different(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each number once. Sorting is much quicker than numpy's `unique` on so many."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) != 0]
