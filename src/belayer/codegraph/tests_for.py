"""Which tests to run for a change, best first: near, sure, named after what changed, and coming to much of it."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from belayer.codegraph.answers import TestHit
from belayer.codegraph.arrays import Flags, Ints, Snapshot, allowed, once_per_snapshot
from belayer.codegraph.closure import CARRYING, UNSEEN, Further, Reached, edges_of, way
from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.telling import Teller, simple, sureness

_FURTHEST = 8
_LOOKED_AT = 3
_REACH_DEPTH = 3
_AT_ONCE = 64
_MEANINGLESS = frozenset({"", "init", "index", "main", "mod", "package"})
_TEST_AFFIX = re.compile(
    r"^tests?$|^tests?(?=[_.\-A-Z])|[_.\-](?:tests?|specs?)$|(?<=[a-z0-9])(?:Tests?|Specs?|IT)$"
)


def for_tests(graph: Snapshot, enough: int) -> Further:
    """A search for a change goes on until it has come to enough tests: one that is five calls away still runs it."""
    return Further(_FURTHEST, _runs(graph), enough)


def ranked_tests(
    graph: Snapshot,
    targets: Sequence[int],
    start: Ints,
    reached: Reached,
    limit: int,
    least: Confidence,
    teller: Teller,
) -> tuple[tuple[TestHit, ...], int]:
    """The tests to run, and how many were found."""
    nodes = np.flatnonzero(_runs(graph) & (reached.depth != UNSEEN)).astype(np.int32)
    names = _names_of(graph, targets)
    alike = {file for name in _file_names_of(graph, targets) for file in _test_stems(graph).get(name, ())}
    candidates = _candidates(graph, reached, nodes, alike, limit)
    reaches = _reaches(graph, candidates[:_AT_ONCE], start, least) if len(start) > 1 else {}
    named = {int(node): _is_named_after(graph, int(node), alike, names) for node in candidates}

    def rank(node: int) -> tuple[int, int, int, int]:
        depth = int(reached.depth[node]) - named[node]
        return max(depth, 0), -int(reached.confidence[node]), -reaches.get(node, 1), node

    best = sorted(map(int, candidates), key=rank)[:limit]
    hits = [
        _hit(graph, reached, node, max(reaches.get(node, 1), 1), teller, is_named_after=named[node])
        for node in best
    ]
    files = _Files(graph, start, reached, alike, least, teller).hits(_as_set(graph.file[nodes]))
    return tuple(sorted([*hits, *files], key=_rank)[:limit]), len(nodes) + len(files)


@once_per_snapshot
def _runs(graph: Snapshot) -> Flags:
    """The tests themselves: not the modules and classes that hold them."""
    return graph.tests & graph.of_kind(Kind.FUNCTION, Kind.METHOD)


def _candidates(graph: Snapshot, reached: Reached, nodes: Ints, alike: set[int], limit: int) -> Ints:
    """The nearest and surest tests, and those in files that are named after what changed."""
    order = np.lexsort((nodes, -reached.confidence[nodes].astype(np.int8), reached.depth[nodes]))
    nearest = nodes[order][: limit * _LOOKED_AT]
    named = nodes[np.isin(graph.file[nodes], list(alike))][: limit * _LOOKED_AT] if alike else nodes[:0]
    return np.concatenate([nearest, np.setdiff1d(named, nearest)])


def _is_named_after(graph: Snapshot, node: int, alike: set[int], names: set[str]) -> bool:
    return int(graph.file[node]) in alike or bool(names & _bare_parts(graph.names[node]))


def _rank(hit: TestHit) -> tuple[int, int, int, str]:
    sure = ("resolved", "inferred", "by-name").index(hit.confidence)
    return max(hit.depth - hit.is_named_after, 0), sure, -hit.reaches, hit.symbol.id


def _hit(
    graph: Snapshot, reached: Reached, node: int, reaches: int, teller: Teller, *, is_named_after: bool
) -> TestHit:
    return TestHit(
        symbol=teller.symbol(node),
        depth=int(reached.depth[node]),
        confidence=sureness(reached.confidence[node]),
        reaches=reaches,
        is_named_after=is_named_after,
        why=teller.links(way(graph, reached, node)),
    )


class _Files:
    """Test files of which no single test comes to the change as far as we can see, but which something leads to."""

    def __init__(
        self,
        graph: Snapshot,
        start: Ints,
        reached: Reached,
        alike: set[int],
        least: Confidence,
        teller: Teller,
    ) -> None:
        self._graph, self._reached, self._alike = graph, reached, alike
        self._least, self._teller = least, teller
        modules = start[graph.of_kind(Kind.MODULE)[start]]
        places, _ = edges_of(graph.incoming, modules, allowed((Relation.IMPORTS,), least))
        side = graph.incoming
        self._imports = {int(graph.file[side.other[place]]): int(side.edge[place]) for place in places[::-1]}

    def hits(self, known: set[int]) -> list[TestHit]:
        """Files in which something else is reached, that import what changed, or that are named after it."""
        graph = self._graph
        touched = _as_set(graph.file[self._reached.depth != UNSEEN])
        wanted = (touched | self._imports.keys() | self._alike) & _test_files(graph) - known
        return [hit for file in sorted(wanted) if (hit := self._hit(file)) is not None]

    def _hit(self, file: int) -> TestHit | None:
        members, reached = self._graph.members(file), self._reached
        best = min(members, key=lambda node: (int(reached.depth[node]), -int(reached.confidence[node])))
        depth, confidence = int(reached.depth[best]), int(reached.confidence[best])
        why = way(self._graph, reached, best) if depth != UNSEEN else []
        if depth == UNSEEN:
            edge = self._imports.get(file)
            depth, why = 1, [] if edge is None else [edge]
            confidence = Confidence.BY_NAME if edge is None else Confidence.INFERRED
        if confidence < self._least:
            return None
        return TestHit(
            symbol=self._teller.symbol(members.start),
            depth=depth,
            confidence=sureness(confidence),
            reaches=1,
            is_named_after=file in self._alike,
            why=self._teller.links(why),
        )


def _reaches(graph: Snapshot, tests: Ints, start: Ints, least: Confidence) -> dict[int, int]:
    """How many of the changed things each of up to 64 tests comes to in a few references: all at once, a bit each."""
    table = allowed(CARRYING, least)
    out = graph.outgoing
    seen = np.zeros(graph.size, np.uint64)
    fresh = np.zeros(graph.size, np.uint64)
    fresh[tests] = np.uint64(1) << np.arange(len(tests), dtype=np.uint64)
    for _ in range(_REACH_DEPTH):
        frontier = np.flatnonzero(fresh).astype(np.int32)
        seen |= fresh
        places, parents = edges_of(out, frontier, table)
        told = np.zeros(graph.size, np.uint64)
        np.bitwise_or.at(told, out.other[places], fresh[parents])
        fresh = told & ~seen
    seen |= fresh
    bits = seen[start][seen[start] != 0]
    return {
        int(test): int(np.count_nonzero(bits >> np.uint64(place) & np.uint64(1)))
        for place, test in enumerate(tests)
    }


def _names_of(graph: Snapshot, targets: Iterable[int]) -> set[str]:
    """What a test could be named after: the targets, and the files they stand in."""
    own = {_bare(simple(graph.names[node])) for node in targets}
    return (own | _file_names_of(graph, targets)) - _MEANINGLESS


def _file_names_of(graph: Snapshot, targets: Iterable[int]) -> set[str]:
    """What a test file could be named after: the targets' files and classes."""
    names = {_bare(_stem(graph.paths[int(graph.file[node])])) for node in targets}
    classes = graph.of_kind(Kind.CLASS)
    return (names | {_bare(simple(graph.names[node])) for node in targets if classes[node]}) - _MEANINGLESS


@once_per_snapshot
def _test_stems(graph: Snapshot) -> dict[str, list[int]]:
    """The test files by what they are named after."""
    stems: dict[str, list[int]] = {}
    for file in _test_files(graph):
        stems.setdefault(_bare(_stem(graph.paths[file])), []).append(file)
    return stems


@once_per_snapshot
def _test_files(graph: Snapshot) -> set[int]:
    """The files that can be run: those with tests in them, and those that are named like one; not what these share."""
    tagged = _as_set(np.flatnonzero(graph.tests[graph.first[:-1]]).astype(np.int32))
    named = {file for file in tagged if _TEST_AFFIX.search(_stem(graph.paths[file]))}
    return named | _as_set(graph.file[_runs(graph)])


def _as_set(numbers: Ints) -> set[int]:
    return set(map(int, np.unique(numbers)))


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _bare_parts(name: str) -> set[str]:
    """What a test's own name is made of, without the words that say that it is one."""
    parts = re.split(r"[./:\s]+", name)[-3:]
    return {_bare(part) for part in parts} - {""}


@lru_cache(1 << 16)
def _bare(name: str) -> str:
    """`test_cart`, `CartTest`, `cart.spec` and `cart` are alike."""
    return re.sub(r"[^a-z0-9]", "", _TEST_AFFIX.sub("", name).lower())
