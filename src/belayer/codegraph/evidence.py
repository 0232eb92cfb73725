"""What speaks for running a test after a change: how near it is, how much of the change it comes to, what it is called,
and what changed together before. Each in points, each told. Pure.

The weights are rounded from a fit on histories of public repositories: which test files did their authors touch?
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from belayer.codegraph.answers import TestReason
from belayer.codegraph.arrays import Bytes, Ints, Snapshot, allowed
from belayer.codegraph.churn import Changes, Shared
from belayer.codegraph.closure import CARRYING, Reached, edges_of
from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.naming import (
    Words,
    bare,
    bare_parts,
    files_by_name,
    is_meaningless,
    names_of_tests,
    runs,
    stem,
    test_files,
    words,
    words_of_files,
)
from belayer.codegraph.telling import simple

Floats = NDArray[np.float64]
Masks = NDArray[np.uint64]

# The most points of each. A test that is changed itself comes before all that only come to the change.
_CHANGED, _DISTANCE, _SHARE, _OWN_SHARE, _NAME, _WORDS, _IMPORTS = 9.0, 2.0, 1.0, 0.5, 1.0, 2.0, 0.5
_HISTORY, _MOST_HISTORY = 2.0, 4.0
_SURENESS: Floats = np.array([0.0, 0.4, 0.8, 1.0])
_BITS = 64
_SHARE_DEPTH = 3
_FURTHEST_IMPORT = 6
_MOST_NAMES = 32
# A word that half of the tests have says nothing.
_LEAST_WORTH = 0.7
# What a test file that no reference leads to must have in common with the change.
_LEAST_COMMITS, _LEAST_WEIGHT, _LEAST_WORDS, _MOST_WORDS = 2, 0.6, 0.25, 0.6


@dataclass(frozen=True, slots=True)
class Change:
    """What changed: what was named, all that is in it, and what that reaches."""

    targets: Sequence[int]
    start: Ints
    reached: Reached
    least: Confidence


class Evidence:
    """All that speaks for the tests of one change."""

    def __init__(self, graph: Snapshot, change: Change, past: Changes | None) -> None:
        self._graph, self._change = graph, change
        self._names = _names_of(graph, change.targets)
        self._named = {
            file
            for name in _file_names_of(graph, change.targets)
            for file in files_by_name(graph).get(name, ())
        }
        self._history = _together(graph, change.targets, past)
        self.imports = Imports(graph, change)
        self._file_words = _file_words(graph, change.targets)
        self._test_words = _test_words(graph, change.targets)
        self._masks = _masks(graph, change)
        self._share, self._rarity = _shares(graph, self._masks)

    def other_files(self) -> set[int]:
        """Test files that need no path to the change: they import it, are called like it or changed with it before."""
        least = self._change.least
        found = set(self.imports.direct) if least <= Confidence.INFERRED else set[int]()
        if least <= Confidence.BY_NAME:
            alike = np.unique(self._graph.file[self._test_words >= _LEAST_WORDS]).tolist()
            alike += [file for file, share in self._file_words.items() if share >= _LEAST_WORDS]
            found.update(self._named, self.imports.hops.keys() & set(alike))
            found.update(file for file, share in self._file_words.items() if share >= _MOST_WORDS)
            found.update(file for file, shared in self._history.items() if _is_telling(shared))
        return found & test_files(self._graph)

    def reaches(self, node: int) -> int:
        """How many of the changed things the test comes to in a few references; of many, how many of 64 parts."""
        return max(int(self._masks[node]).bit_count(), 1)

    def is_named_after(self, node: int) -> bool:
        graph = self._graph
        return int(graph.file[node]) in self._named or bool(self._names & bare_parts(graph.names[node]))

    def weigh(self, nodes: Ints, depth: Bytes, confidence: Bytes) -> "Weighed":
        """The points of tests (or of test files, by their modules) that are so far away."""
        files, back = np.unique(self._graph.file[nodes], return_inverse=True)
        of_files = [self._of_file(file) for file in files.tolist()]
        shares = _SHARE * self._share[files][back] + _OWN_SHARE * _weighed(self._masks[nodes], self._rarity)
        return Weighed(
            distance=_distance(depth, confidence),
            share=shares,
            words=_WORDS * self._test_words[nodes],
            depth=depth,
            counts=np.bitwise_count(self._masks[nodes]),
            file=back,
            of_file=of_files,
        )

    def _of_file(self, file: int) -> "list[_Part]":
        """What speaks for a file as a whole."""
        parts: list[_Part] = []
        if file in self._named:
            parts.append(("name", _NAME, 1))
        if share := self._file_words.get(file):
            parts.append(("words", _WORDS * share, 0))
        if shared := self._history.get(file):
            points = min(_HISTORY * math.log1p(shared.weight), _MOST_HISTORY)
            parts.append(("history", points, shared.commits))
        if hops := self.imports.hops.get(file):
            parts.append(("imports", _IMPORTS / hops, hops))
        return parts


_Factor = Literal["distance", "share", "name", "words", "history", "imports"]
_Part = tuple[_Factor, float, int]
"""A factor, its points, and what was counted for it."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """The points of some tests, by what they are for; what speaks for a whole file is kept once."""

    distance: Floats
    share: Floats
    words: Floats
    depth: Bytes
    counts: Bytes
    file: NDArray[np.intp]
    of_file: Sequence[Sequence[_Part]]
    told: dict[tuple[str, float, str], TestReason] = field(
        default_factory=dict[tuple[str, float, str], TestReason]
    )

    def totals(self) -> Floats:
        of_file = np.array([sum(points for _, points, _ in parts) for parts in self.of_file], np.float64)
        return self.distance + self.share + self.words + of_file[self.file]

    def reasons(self, place: int) -> tuple[TestReason, ...]:
        """Why a test stands where it does, the weightiest first; what has the same factor is told as one."""
        parts: list[_Part] = [
            ("distance", float(self.distance[place]), int(self.depth[place])),
            ("share", float(self.share[place]), int(self.counts[place])),
            ("words", float(self.words[place]), 0),
            *self.of_file[self.file[place]],
        ]
        points: dict[_Factor, float] = {}
        for factor, worth, _ in parts:
            points[factor] = points.get(factor, 0.0) + worth
        told: dict[_Factor, str] = {
            factor: _sentence(factor, count) for factor, _, count in parts if points[factor] > 0
        }
        order = sorted(told, key=lambda factor: -points[factor])
        return tuple(self._reason(factor, round(points[factor], 2), told[factor]) for factor in order)

    def _reason(self, factor: _Factor, points: float, text: str) -> TestReason:
        """Many tests have the same reasons; each is made once."""
        key = factor, points, text
        if key not in self.told:
            self.told[key] = TestReason(factor=factor, points=points, text=text)
        return self.told[key]


class Imports:
    """The test files that import a file in which something changed, or import one that does, and so on.

    `direct` has those that import a module which changes as a whole; `hops` says how many imports away a file is.
    """

    def __init__(self, graph: Snapshot, change: Change) -> None:
        self._graph = graph
        self._table = allowed((Relation.IMPORTS,), change.least)
        self._via: dict[int, int] = {}
        self.hops: dict[int, int] = {}
        whole = change.start[graph.of_kind(Kind.MODULE)[change.start]]
        own = np.unique(graph.file[change.start])
        self.direct = set(self._importing(whole)) - set(own.tolist())
        seen, frontier = set(own.tolist()), graph.first[own]
        for level in range(1, _FURTHEST_IMPORT + 1):
            found = {file: edge for file, edge in self._importing(frontier).items() if file not in seen}
            seen.update(found)
            self._via.update(found)
            self.hops.update((file, level) for file in found if file in test_files(graph))
            frontier = graph.first[np.fromiter(found, np.int32, len(found))]

    def way(self, file: int) -> list[int]:
        """The imports that lead from the file to one that changed."""
        edges: list[int] = []
        while (edge := self._via.get(file)) is not None:
            edges.append(edge)
            file = int(self._graph.file[self._graph.target[edge]])
        return edges

    def _importing(self, modules: Ints) -> dict[int, int]:
        """The files that import one of the modules, each with the first import that does."""
        side = self._graph.incoming
        places, _ = edges_of(side, modules, self._table)
        files, firsts = np.unique(self._graph.file[side.other[places]], return_index=True)
        return dict(zip(files.tolist(), side.edge[places[firsts]].tolist(), strict=True))


def _sentence(factor: _Factor, value: int) -> str:
    match factor:
        case "distance":
            return (
                f"It comes to the change over {_many(value, 'reference')}." if value else "It changes itself."
            )
        case "share":
            if not value:
                return "Another test of its file comes to the change."
            return f"It comes to {_many(value, 'changed thing')}; what few tests come to counts most."
        case "name":
            return "Its file is named after what changes."
        case "words":
            return "Its name has words of what changes."
        case "history":
            return f"Its file changed together with it in {_many(value, 'commit')}."
        case "imports":
            return f"Its file imports it over {_many(value, 'import')}."


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _distance(depth: Bytes, confidence: Bytes) -> Floats:
    near = _DISTANCE * _SURENESS[confidence] / np.maximum(depth, 1)
    return np.where((depth == 0) & (confidence > 0), _CHANGED, near)


def _is_telling(shared: Shared) -> bool:
    return shared.commits >= _LEAST_COMMITS and shared.weight >= _LEAST_WEIGHT


def _together(graph: Snapshot, targets: Iterable[int], past: Changes | None) -> dict[int, Shared]:
    """The test files that changed in the same commits as the targets' files."""
    if past is None:
        return {}
    shared = past.together({graph.paths[int(graph.file[node])] for node in targets})
    return {file: shared[graph.paths[file]] for file in test_files(graph) if graph.paths[file] in shared}


def _masks(graph: Snapshot, change: Change) -> Masks:
    """Which of the changed things each node comes to in a few references: a bit each, or for a part of them if many."""
    symbols = graph.of_kind(Kind.CLASS, Kind.FUNCTION, Kind.METHOD)
    things = change.start[symbols[change.start]]
    things = things if len(things) else change.start
    if len(things) == 1:
        return (change.reached.depth <= _SHARE_DEPTH).astype(np.uint64)
    bits = np.arange(len(things), dtype=np.uint64) * np.uint64(_BITS) // np.uint64(max(len(things), _BITS))
    table, back = allowed(CARRYING, change.least), graph.incoming
    seen, fresh = np.zeros(graph.size, np.uint64), np.zeros(graph.size, np.uint64)
    fresh[things] = np.uint64(1) << bits
    for _ in range(_SHARE_DEPTH):
        seen |= fresh
        places, parents = edges_of(back, np.flatnonzero(fresh).astype(np.int32), table)
        told = np.zeros(graph.size, np.uint64)
        np.bitwise_or.at(told, back.other[places], fresh[parents])
        fresh = told & ~seen
    return seen | fresh


def _shares(graph: Snapshot, masks: Masks) -> tuple[Floats, Floats]:
    """How much of the change each test file comes to, and what each part counts: most if few test files come to it."""
    tests = np.flatnonzero(runs(graph) & (masks != 0))
    files, firsts = np.unique(graph.file[tests], return_index=True)
    of_files = np.bitwise_or.reduceat(masks[tests], firsts) if len(tests) else masks[:0]
    counts = _unpacked(of_files).sum(axis=0)
    rarity = np.where(counts > 0, np.log((1 + len(test_files(graph))) / (1 + counts)), 0.0)
    rarity = rarity / max(float(rarity.sum()), 1.0)
    shares = np.zeros(len(graph.paths))
    shares[files] = _weighed(of_files, rarity)
    return shares, rarity


def _weighed(masks: Masks, rarity: Floats) -> Floats:
    kinds, back = np.unique(masks, return_inverse=True)
    return (_unpacked(kinds) @ rarity)[back]


def _unpacked(masks: Masks) -> NDArray[np.uint8]:
    return np.unpackbits(masks.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")


def _file_words(graph: Snapshot, targets: Iterable[int]) -> dict[int, float]:
    """How much of a test file's name is words of the change."""
    known = words_of_files(graph)
    found = _target_words(graph, targets) & known.of_word.keys()
    mentioned = {word for word in found if known.worth[word] >= _LEAST_WORTH}
    files: set[int] = {file for word in mentioned for file in known.of_word[word].tolist()}
    return {file: _overlap(words(stem(graph.paths[file])), mentioned, known) for file in files}


def _overlap(name: frozenset[str], mentioned: set[str], known: Words) -> float:
    worth = {word: known.worth[word] for word in name}
    return sum(worth[word] for word in name & mentioned) / max(sum(worth.values()), known.most)


def _test_words(graph: Snapshot, targets: Sequence[int]) -> Floats:
    """How much of some target's name is among the words of a test's."""
    known = names_of_tests(graph)
    share = np.zeros(graph.size)
    for name in list(dict.fromkeys(_own_words(graph, node) for node in targets))[:_MOST_NAMES]:
        worth = {word: each for word in sorted(name) if (each := known.worth(word)) >= _LEAST_WORTH}
        most = max(sum(worth.values()), known.most)
        found = np.zeros(graph.size)
        for word, each in worth.items():
            found[known.having(word)] += each / most
        np.maximum(share, found, out=share)
    return share


def _target_words(graph: Snapshot, targets: Iterable[int]) -> set[str]:
    """The words of what changes, of what it is in, and of its file."""
    names = {stem(graph.paths[int(graph.file[node])]) for node in targets}
    symbols = graph.of_kind(Kind.CLASS, Kind.FUNCTION, Kind.METHOD)
    names |= {part for node in targets if symbols[node] for part in graph.names[node].split(".")[-2:]}
    return set[str]().union(*map(words, names))


def _own_words(graph: Snapshot, node: int) -> frozenset[str]:
    """The words of a symbol's name; of its class where it has none of its own (a constructor); of a module's file."""
    if graph.of_kind(Kind.MODULE)[node]:
        return words(stem(graph.paths[int(graph.file[node])]))
    outer, _, own = graph.names[node].rpartition(".")
    return words(own) or words(simple(outer))


def _names_of(graph: Snapshot, targets: Sequence[int]) -> set[str]:
    """What a test could be named after: the targets, and the files they stand in."""
    own = {bare(simple(graph.names[node])) for node in targets}
    return {name for name in own | _file_names_of(graph, targets) if not is_meaningless(name)}


def _file_names_of(graph: Snapshot, targets: Iterable[int]) -> set[str]:
    """What a test file could be named after: the targets' files and classes."""
    classes = graph.of_kind(Kind.CLASS)
    names = {bare(stem(graph.paths[int(graph.file[node])])) for node in targets}
    names |= {bare(simple(graph.names[node])) for node in targets if classes[node]}
    return {name for name in names if not is_meaningless(name)}
