"""Which tests to run for a change, best first: what speaks for each is weighed, and no file crowds out the others."""

import numpy as np

from belayer.codegraph.answers import TestHit
from belayer.codegraph.arrays import Bytes, Ints, Snapshot
from belayer.codegraph.churn import Changes
from belayer.codegraph.closure import UNSEEN, Further, Reached, way
from belayer.codegraph.evidence import Change, Evidence, Floats
from belayer.codegraph.graph import Confidence
from belayer.codegraph.naming import runs, test_files
from belayer.codegraph.telling import Teller, sureness

_FURTHEST = 8
# What a file's second test counts for less than its first, its fourth for less than its second, and so on.
_CROWDING = 1.5


def for_tests(graph: Snapshot, enough: int) -> Further:
    """A search for a change goes on until it has come to enough tests: one that is five calls away still runs it."""
    return Further(_FURTHEST, runs(graph), enough)


def ranked_tests(
    graph: Snapshot, change: Change, past: Changes | None, limit: int, teller: Teller
) -> tuple[tuple[TestHit, ...], int]:
    """The tests to run, and how many were found."""
    evidence = Evidence(graph, change, past)
    found = _Found(graph, change.reached, evidence)
    return tuple(found.hit(place, teller) for place in found.best(limit)), len(found.nodes)


class _Found:
    """The tests that come to the change; and test files of which none is seen to, but for which something speaks."""

    def __init__(self, graph: Snapshot, reached: Reached, evidence: Evidence) -> None:
        self._graph, self._reached, self._evidence = graph, reached, evidence
        tests = np.flatnonzero(runs(graph) & (reached.depth != UNSEEN)).astype(np.int32)
        files = self._other_files(tests)
        self.nodes = np.concatenate([tests, graph.first[files]])
        self._ends = np.concatenate([tests, _nearest(graph, reached, files)])
        self._depth: Bytes = reached.depth[self._ends]
        self._sure: Bytes = reached.confidence[self._ends]
        self._weighed = evidence.weigh(self.nodes, self._depth, self._sure)
        self._points = self._weighed.totals()

    def _other_files(self, tests: Ints) -> Ints:
        """Test files in which something else is reached, or for which something else speaks."""
        graph = self._graph
        touched = np.zeros(len(graph.paths), np.bool_)
        touched[graph.file[self._reached.depth != UNSEEN]] = True
        wanted = np.zeros(len(graph.paths), np.bool_)
        wanted[list(test_files(graph))] = True
        wanted &= touched
        wanted[list(self._evidence.other_files())] = True
        wanted[graph.file[tests]] = False
        return np.flatnonzero(wanted).astype(np.int32)

    def best(self, limit: int) -> list[int]:
        """The places of the best, best first."""
        points = self._points - _CROWDING * np.log2(
            1 + _order_in_file(self._graph.file[self.nodes], self._points)
        )
        order = np.lexsort((self.nodes, -self._sure.astype(np.int8), self._depth, -points.round(9)))
        return order[:limit].tolist()

    def hit(self, place: int, teller: Teller) -> TestHit:
        node = int(self.nodes[place])
        depth, confidence, why = self._path(place, node)
        return TestHit(
            symbol=teller.symbol(node),
            depth=depth,
            confidence=sureness(confidence),
            reaches=self._evidence.reaches(node),
            is_named_after=self._evidence.is_named_after(node),
            score=round(float(self._points[place]), 2),
            reasons=self._weighed.reasons(place),
            why=teller.links(why),
        )

    def _path(self, place: int, node: int) -> tuple[int, int, list[int]]:
        """How far away it is, how surely, and the edges that lead from it to the change."""
        if self._depth[place] != UNSEEN:
            edges = way(self._graph, self._reached, int(self._ends[place]))
            return int(self._depth[place]), int(self._sure[place]), edges
        imports, file = self._evidence.imports, int(self._graph.file[node])
        confidence = Confidence.INFERRED if file in imports.direct else Confidence.BY_NAME
        edges = imports.way(file)
        return max(len(edges), 1), confidence, edges


def _nearest(graph: Snapshot, reached: Reached, files: Ints) -> Ints:
    """Of each file, the node that was reached first and most surely."""
    far = reached.depth.astype(np.int16) * 4 - reached.confidence
    return np.fromiter(
        (
            first + int(np.argmin(far[first:end]))
            for first, end in zip(graph.first[files], graph.first[files + 1], strict=True)
        ),
        np.int32,
        len(files),
    )


def _order_in_file(files: Ints, points: Floats) -> Ints:
    """Of each test, how many of its file come before it."""
    order = np.lexsort((-points, files))
    ordered = files[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(starts, append=len(ordered))
    places = np.empty(len(files), np.int32)
    places[order] = np.arange(len(files)) - np.repeat(starts, counts)
    return places
