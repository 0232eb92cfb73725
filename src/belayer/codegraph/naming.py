"""What tests are called, and after what: `test_cart`, `CartTest` and `cart.spec` are named after `cart`. Pure."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from belayer.codegraph.arrays import Flags, Ints, Snapshot, allowed, once_per_snapshot
from belayer.codegraph.graph import Kind, Relation

_MEANINGLESS = frozenset({"", "conftest", "init", "index", "main", "mod", "package", "setup"})
_TEST_AFFIX = re.compile(
    r"^tests?$|^tests?(?=[_.\-A-Z])|[_.\-](?:tests?|specs?)$|(?<=[a-z0-9])(?:Tests?|Specs?|IT)$"
)
_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]{2,}|[A-Z][A-Z]+")
_SHORTEST = 3
_LONGEST_NAME = 200
_NO_WORDS = frozenset(
    {"and", "describe", "for", "from", "get", "has", "index", "init", "into", "lambda", "main", "new", "not"}
    | {"run", "set", "should", "spec", "specs", "test", "tests", "testing", "that", "the", "when", "with"}
)


class Words(NamedTuple):
    """Which tests have a word in their names, by number, and how telling the word is: none for one that all have."""

    of_word: dict[str, Ints]
    worth: dict[str, float]
    most: float


@once_per_snapshot
def runs(graph: Snapshot) -> Flags:
    """The tests themselves: not the modules and classes that hold them."""
    return graph.tests & graph.of_kind(Kind.FUNCTION, Kind.METHOD)


@once_per_snapshot
def test_files(graph: Snapshot) -> frozenset[int]:
    """The files that can be run: those with tests in them, and those that are named like one; not what these share.

    JavaScript has more ways to write a test than we know: there, a file among the tests that nobody imports is one too.
    """
    tagged = np.flatnonzero(graph.tests[graph.first[:-1]]).tolist()
    named = {file for file in tagged if _TEST_AFFIX.search(stem(graph.paths[file]))}
    alone = {file for file in tagged if graph.languages[file] == "typescript"}.difference(_imported(graph))
    alone = {file for file in alone if not is_meaningless(bare(stem(graph.paths[file])))}
    return frozenset(named.union(alone, np.unique(graph.file[runs(graph)]).tolist()))


def _imported(graph: Snapshot) -> list[int]:
    """The files that another file imports."""
    is_import = allowed((Relation.IMPORTS,))[graph.code]
    sources, targets = graph.file[graph.source[is_import]], graph.file[graph.target[is_import]]
    return np.unique(targets[sources != targets]).tolist()


@once_per_snapshot
def files_by_name(graph: Snapshot) -> dict[str, list[int]]:
    """The test files by what they are named after."""
    files: dict[str, list[int]] = {}
    for file in sorted(test_files(graph)):
        files.setdefault(bare(stem(graph.paths[file])), []).append(file)
    return files


@once_per_snapshot
def words_of_files(graph: Snapshot) -> Words:
    """The words of the test files' names."""
    files = sorted(test_files(graph))
    return _indexed(((file, words(stem(graph.paths[file]))) for file in files), len(files))


class NamesOfTests:
    """The tests' names, with those of the classes or groups that they are in.

    Few of their words are ever asked for, and an edit makes a new snapshot: so a word is looked up when it is wanted.
    """

    def __init__(self, nodes: Ints, ids: list[str]) -> None:
        self._nodes, self._ids = nodes, ids
        text = "\n".join([*ids, ""])
        self._text = text.lower() if text.isascii() else "".join(map(_lowered, text))
        self._ends = list(accumulate(map(len, ids), lambda end, size: end + size + 1, initial=0))[1:]
        self._known: dict[str, Ints] = {}
        self.most = math.log(1 + len(nodes))

    def having(self, word: str) -> Ints:
        """The tests that have this word in their names."""
        if word not in self._known:
            self._known[word] = self._nodes[list(self._rows(word))]
        return self._known[word]

    def worth(self, word: str) -> float:
        """How telling the word is: nothing for one that all have, and for one that nobody has."""
        count = len(self.having(word))
        return self.most - math.log(1 + count) if count else 0.0

    def _rows(self, word: str) -> Iterator[int]:
        at = self._text.find(word)
        while at >= 0:
            row = bisect_right(self._ends, at)
            if word in words(self._ids[row].partition("::")[2][-_LONGEST_NAME:]):
                yield row
            at = self._text.find(word, self._ends[row])


@once_per_snapshot
def names_of_tests(graph: Snapshot) -> NamesOfTests:
    nodes = np.flatnonzero(runs(graph)).astype(np.int32)
    return NamesOfTests(nodes, list(map(graph.ids.__getitem__, nodes.tolist())))


def is_meaningless(name: str) -> bool:
    return name in _MEANINGLESS


def stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


@lru_cache(1 << 16)
def bare_parts(name: str) -> frozenset[str]:
    """What a test's own name is made of, without the words that say that it is one."""
    parts = re.split(r"[./:\s]+", name)[-3:]
    return frozenset(map(bare, parts)) - {""}


@lru_cache(1 << 16)
def bare(name: str) -> str:
    """`test_cart`, `CartTest`, `cart.spec` and `cart` are alike."""
    return re.sub(r"[^a-z0-9]", "", _TEST_AFFIX.sub("", name).lower())


@lru_cache(1 << 16)
def words(name: str) -> frozenset[str]:
    """The words of a camelCase or snake_case name that say something."""
    found = (word.lower() for word in _WORD.findall(name))
    return frozenset(word for word in found if len(word) >= _SHORTEST) - _NO_WORDS


def _lowered(letter: str) -> str:
    """As long as the letter itself, for places in the text to stay the same."""
    return letter.lower() if letter.isascii() else letter


def _indexed(named: Iterable[tuple[int, frozenset[str]]], count: int) -> Words:
    of_word: dict[str, list[int]] = {}
    for number, has in named:
        for word in has:
            of_word.setdefault(word, []).append(number)
    worth = {word: math.log((1 + count) / (1 + len(numbers))) for word, numbers in of_word.items()}
    arrays = {word: np.array(numbers, np.int32) for word, numbers in of_word.items()}
    return Words(arrays, worth, math.log(1 + count))
