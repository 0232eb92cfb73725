"""What somebody means who names a thing in the graph: an id, a path, lines of it, a dotted name, or the end of one."""

import re
from collections.abc import Sequence

import numpy as np

from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.graph import Kind
from belayer.codegraph.search import find
from belayer.codegraph.telling import simple
from belayer.vocabulary.errors import AmbiguousSymbol, UnknownSymbol

_LONGEST = 1_000
_SUGGESTED = 8
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?")


class Targets:
    """Finds the nodes of names in one snapshot. What it needs for that is made when it is first needed."""

    def __init__(self, graph: Snapshot) -> None:
        self._graph = graph
        self._by_name: dict[str, list[int]] | None = None
        self._by_ending: dict[str, list[int]] | None = None

    def nodes(self, target: str) -> list[int]:
        """The nodes of one thing: more than one for a function with overloads, or for lines of a file."""
        wanted = target.strip().removeprefix("./")[:_LONGEST]
        node = self._graph.find(wanted)
        if node is not None:
            return [node]
        found = self._named().get(wanted) or self._ending_with(wanted)
        if not found and (lines := _LINES.fullmatch(wanted)):
            exact = self._graph.find(lines["path"])
            module = [exact] if exact is not None else self._only(self._ending_with(lines["path"]), target)
            first, last = int(lines["first"]), int(lines["last"] or lines["first"])
            return self._at(int(self._graph.file[module[0]]), first, last)
        return self._only(found, target)

    def node(self, target: str) -> int:
        return self.nodes(target)[0]

    def _only(self, found: list[int], target: str) -> list[int]:
        if not found:
            raise self._unknown(target)
        if len({(self._graph.file[node], self._graph.names[node]) for node in found}) > 1:
            raise self._ambiguous(target, found)
        return found

    def _at(self, file: int, first: int, last: int) -> list[int]:
        """What stands in these lines of a file: the innermost symbols, and the module for lines that are in none."""
        graph, members = self._graph, self._graph.members(file)
        symbols = [node for node in members if graph.of_kind(Kind.CLASS, Kind.FUNCTION, Kind.METHOD)[node]]
        last = min(last, max(graph.end_lines[node] for node in members))
        owner = np.full(max(last - first + 1, 1), members.start, np.int32)
        for node in sorted(symbols, key=graph.lines.__getitem__):  # what begins later stands inside
            owner[max(graph.lines[node] - first, 0) : max(graph.end_lines[node] - first + 1, 0)] = node
        return np.unique(owner).tolist()

    def _named(self) -> dict[str, list[int]]:
        if self._by_name is None:
            self._by_name = _grouped(self._graph.names)
        return self._by_name

    def _ending_with(self, wanted: str) -> list[int]:
        """A path by its end, or a dotted name by its end."""
        graph = self._graph
        if "/" in wanted or wanted in self._file_names():
            ends = [
                file for file, path in enumerate(graph.paths) if path.endswith("/" + wanted) or path == wanted
            ]
            return [graph.members(file).start for file in ends]
        if self._by_ending is None:
            self._by_ending = _grouped([simple(name) for name in graph.names])
        dotted = "." + wanted
        return [
            node
            for node in self._by_ending.get(simple(wanted), [])
            if graph.names[node] == wanted or graph.names[node].endswith(dotted)
        ]

    def _file_names(self) -> set[str]:
        return {path.rpartition("/")[2] for path in self._graph.paths}

    def _unknown(self, target: str) -> UnknownSymbol:
        near = [self._graph.ids[node] for node, _ in find(self._graph, _gist(target), _SUGGESTED)[0]]
        meant = f"Did you mean: {', '.join(near)}?" if near else "Search for it with `symbols`."
        return UnknownSymbol(
            f"Nothing in the graph is called {target[:_LONGEST]!r}.",
            f"Give a file's path, a dotted name or a node's id. {meant}",
            near,
        )

    def _ambiguous(self, target: str, found: list[int]) -> AmbiguousSymbol:
        ids = sorted(self._graph.ids[node] for node in found)
        shown = ", ".join(ids[:_SUGGESTED]) + (" …" if len(ids) > _SUGGESTED else "")
        return AmbiguousSymbol(
            f"{len(ids)} things in the graph are called {target!r}.",
            f"Say which one is meant: {shown}",
            ids[:50],
        )


def _gist(target: str) -> str:
    """The part of a name that others may share with it: an id's symbol, a path's stem, the end of a dotted name."""
    _, colons, inner = target.rpartition("::")
    if colons:
        return simple(inner)
    stem = target.rstrip("/").rpartition("/")[2]
    return stem.partition(".")[0] if "/" in target else simple(stem) or target


def _grouped(names: Sequence[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for node, name in enumerate(names):
        groups.setdefault(name, []).append(node)
    return groups
