"""The graph in memory: numpy arrays for following edges, plain lists for telling of nodes. A snapshot never changes."""

from array import array
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.packing import KINDS, RELATIONS

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]

RELATION_CODES = {relation: code for code, relation in enumerate(RELATIONS)}
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_CODES = 256

Made = TypeVar("Made")


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
    """One state of the graph. Nodes are numbers from 0, by their files' paths and their places in these.

    `tests` says which nodes are tests.
    """

    paths: tuple[str, ...]
    languages: tuple[str, ...]
    states: tuple[str, ...]
    ids: tuple[str, ...]
    names: tuple[str, ...]
    kinds: Bytes
    lines: "array[int]"
    end_lines: "array[int]"
    tags: tuple[tuple[str, ...], ...]
    tests: Flags
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
