"""The graph in memory: numpy arrays for following edges, plain lists for telling of nodes. A snapshot never changes."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.packing import EDGE_FIELDS, KINDS, RELATIONS, id_of, unpack_nodes, unsealed

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]

RELATION_CODES = {relation: code for code, relation in enumerate(RELATIONS)}
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_CODES = 256

Made = TypeVar("Made")


class Part(NamedTuple):
    """What one file gives: its nodes and, in their order, the edges that start in it."""

    path: str
    language: str
    state: str
    numbers: Ints
    ids: list[str]
    kinds: list[int]
    names: list[str]
    lines: list[int]
    end_lines: list[int]
    tags: list[tuple[str, ...]]
    edges: Ints


@dataclass(frozen=True, slots=True)
class Side:
    """The edges by one of their ends: those of node n are at start[n] to start[n + 1].

    `other` is the other end, `code` the relation and confidence, `edge` the edge's number.
    """

    start: Ints
    other: Ints
    code: Bytes
    edge: Ints


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One state of the graph. Nodes are numbers from 0, by their files' paths and their places in these."""

    paths: list[str]
    languages: list[str]
    states: list[str]
    ids: list[str]
    names: list[str]
    kinds: Bytes
    lines: list[int]
    end_lines: list[int]
    tags: list[tuple[str, ...]]
    file: Ints
    first: Ints
    source: Ints
    target: Ints
    code: Bytes
    line: Ints
    column: Ints
    outgoing: Side
    incoming: Side
    kept: dict[object, Any] = field(default_factory=dict[object, Any], repr=False)

    @property
    def size(self) -> int:
        return len(self.ids)

    @cached_property
    def _files(self) -> dict[str, int]:
        return {path: file for file, path in enumerate(self.paths)}

    def find(self, node_id: str) -> int | None:
        """The node of this id. Its file is found by the path that the id begins with, which may have colons too."""
        path, colons = node_id, "::"
        while colons:
            file = self._files.get(path)
            if file is not None:
                members = self.members(file)
                with suppress(ValueError):
                    return self.ids.index(node_id, members.start, members.stop)
            path, colons, _ = path.rpartition("::")
        return None

    @cached_property
    def tests(self) -> Flags:
        """Which nodes are tests."""
        return np.fromiter(("test" in tags for tags in self.tags), np.bool_, self.size)

    @cached_property
    def name_index(self) -> tuple[str, list[int]]:
        """All names in small letters, each in a line of its own, and where each begins; the last one is the end."""
        names = [name.lower().replace("\n", " ") for name in self.names]
        return "\n" + "".join(f"{name}\n" for name in names), list(
            accumulate(map(len, names), lambda a, b: a + b + 1, initial=1)
        )

    def of_kind(self, *kinds: Kind) -> Flags:
        """Which nodes are of one of these kinds."""
        if kinds not in self.kept:
            self.kept[kinds] = np.isin(self.kinds, [KIND_CODES[kind] for kind in kinds])
        return self.kept[kinds]

    def members(self, file: int) -> range:
        """The nodes of a file; the first one is its module."""
        return range(int(self.first[file]), int(self.first[file + 1]))

    def relation(self, edge: int) -> Relation:
        return RELATIONS[int(self.code[edge]) & 15]

    def confidence(self, edge: int) -> Confidence:
        return Confidence(int(self.code[edge]) >> 4)


def once_per_snapshot(make: Callable[[Snapshot], Made]) -> Callable[[Snapshot], Made]:
    """Make something of a snapshot when it is first wanted, and keep it with the snapshot."""

    def kept(graph: Snapshot) -> Made:
        if make not in graph.kept:
            graph.kept[make] = make(graph)
        return graph.kept[make]

    return kept


def allowed(relations: Iterable[Relation], least: Confidence = Confidence.BY_NAME) -> Flags:
    """For each code of an edge, whether it is of one of these relations and sure enough."""
    table = np.zeros(_CODES, np.bool_)
    for relation in relations:
        for confidence in Confidence:
            if confidence >= least:
                table[RELATION_CODES[relation] | confidence << 4] = True
    return table


def part_of(path: str, language: str, state: str, nodes: bytes, edges: bytes) -> Part:
    """What the store has of a file, ready to be put together with the others; Damaged if it is not what was written."""
    packed, rows = unpack_nodes(nodes)
    numbers = np.frombuffer(packed, np.int32)
    endings, kinds, names, lines, end_lines, tags = zip(*rows, strict=True) if rows else ((),) * 6
    fields = np.frombuffer(unsealed(edges), np.int32).reshape(EDGE_FIELDS, -1)
    return Part(
        path,
        language,
        state,
        numbers,
        [id_of(path, ending) for ending in endings],
        list(kinds),
        list(names),
        list(lines),
        list(end_lines),
        list(tags),
        fields[:, np.argsort(_places(numbers, fields[0]), kind="stable")],
    )


def put_together(parts: Mapping[int, Part]) -> Snapshot:
    """The graph of all files."""
    ordered = sorted((part for part in parts.values() if part.ids), key=lambda part: part.path)
    counts = np.array([len(part.ids) for part in ordered], np.int64)
    numbers = _joined([part.numbers for part in ordered])
    edges = np.concatenate([np.zeros((EDGE_FIELDS, 0), np.int32), *(part.edges for part in ordered)], axis=1)
    highest = max(int(numbers.max(initial=-1)), int(edges[:2].max(initial=-1)))
    dense = np.full(highest + 1, -1, np.int32)
    dense[numbers] = np.arange(len(numbers), dtype=np.int32)
    source, target = dense[edges[0]], dense[edges[1]]
    real = (source >= 0) & (target >= 0)
    source, target, line, column = source[real], target[real], edges[2][real], edges[3][real]
    code = edges[4][real].astype(np.uint8)
    return Snapshot(
        paths=[part.path for part in ordered],
        languages=[part.language for part in ordered],
        states=[part.state for part in ordered],
        ids=list(chain.from_iterable(part.ids for part in ordered)),
        names=list(chain.from_iterable(part.names for part in ordered)),
        kinds=np.fromiter(chain.from_iterable(part.kinds for part in ordered), np.uint8, len(numbers)),
        lines=list(chain.from_iterable(part.lines for part in ordered)),
        end_lines=list(chain.from_iterable(part.end_lines for part in ordered)),
        tags=list(chain.from_iterable(part.tags for part in ordered)),
        file=np.repeat(np.arange(len(ordered), dtype=np.int32), counts),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        source=source,
        target=target,
        code=code,
        line=line,
        column=column,
        outgoing=_side(source, target, code, len(numbers)),
        incoming=_side(target, source, code, len(numbers)),
    )


def _places(numbers: Ints, sources: Ints) -> Ints:
    """Where in the file the sources' nodes stand: edges in this order need no sorting when files are put together."""
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    found = np.searchsorted(numbers, sources, sorter=order)
    return order[np.minimum(found, len(order) - 1)] if len(order) else sources


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int32)


def _side(ends: Ints, others: Ints, code: Bytes, size: int) -> Side:
    start = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=size), out=start[1:])
    if len(ends) and np.all(ends[1:] >= ends[:-1]):
        return Side(start, others, code, np.arange(len(ends), dtype=np.int32))
    order = _order(ends)
    return Side(start, others[order], code[order], order)


def _order(ends: Ints) -> Ints:
    """A stable argsort, in two passes over halves of the numbers: numpy sorts 16 bits in linear time."""
    order = np.argsort(ends.astype(np.uint16), kind="stable").astype(np.int32)
    high = (ends[order] >> 16).astype(np.uint16)
    return order[np.argsort(high, kind="stable")] if high.any() else order
