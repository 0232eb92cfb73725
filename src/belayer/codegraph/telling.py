"""Nodes and edges of a snapshot, told in the answers' words."""

from collections.abc import Iterable
from typing import Any

from belayer.codegraph.answers import Link, Sureness, Symbol
from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.graph import Confidence
from belayer.codegraph.packing import KINDS, RELATIONS

_NAMES: dict[int, Sureness] = {
    Confidence.RESOLVED: "resolved",
    Confidence.INFERRED: "inferred",
    Confidence.BY_NAME: "by-name",
}

_KINDS: list[Any] = [kind.value for kind in KINDS]
_RELATIONS: list[Any] = [relation.value for relation in RELATIONS]


def sureness(confidence: int) -> Sureness:
    return _NAMES[int(confidence)]


def symbol(graph: Snapshot, node: int) -> Symbol:
    file = int(graph.file[node])
    return Symbol(
        id=graph.ids[node],
        kind=_KINDS[int(graph.kinds[node])],
        name=graph.names[node],
        path=graph.paths[file],
        line=graph.lines[node],
        end_line=graph.end_lines[node],
        language=graph.languages[file],
        tags=graph.tags[node],
    )


def link(graph: Snapshot, edge: int, count: int = 1) -> Link:
    source, code = int(graph.source[edge]), int(graph.code[edge])
    return Link(
        source=graph.ids[source],
        target=graph.ids[int(graph.target[edge])],
        relation=_RELATIONS[code & 15],
        confidence=_NAMES[code >> 4],
        path=graph.paths[int(graph.file[source])],
        line=int(graph.line[edge]),
        column=int(graph.column[edge]),
        count=count,
    )


class Teller:
    """Tells of one answer's nodes and edges, of each once: many paths go the same way."""

    def __init__(self, graph: Snapshot) -> None:
        self._graph = graph
        self._symbols: dict[int, Symbol] = {}
        self._links: dict[int, Link] = {}

    def symbol(self, node: int) -> Symbol:
        told = self._symbols.get(node)
        if told is None:
            told = self._symbols[node] = symbol(self._graph, node)
        return told

    def links(self, edges: Iterable[int]) -> tuple[Link, ...]:
        return tuple(self._link(edge) for edge in edges)

    def _link(self, edge: int) -> Link:
        told = self._links.get(edge)
        if told is None:
            told = self._links[edge] = link(self._graph, edge)
        return told


def simple(name: str) -> str:
    """The last part of a dotted name."""
    return name.rpartition(".")[2]
