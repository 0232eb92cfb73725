"""Which files have a hash: of a word that is in them, or of a key that they remember. Arranged once for all files;
those that change later are kept beside the others, so that an edit costs no more than the files that it concerns."""

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

# A small change asks for few hashes: looking through all of them is quicker than arranging them.
_FEW_LOOKS = 100


class Marks:
    """The hashes of files. A file's are the bytes of an array of 32 bits each."""

    def __init__(self, hashes: Mapping[str, bytes]) -> None:
        self._paths: list[str] = []
        self._arranged: list[bytes] = []
        self._replaced: set[str] = set()
        self._newer: dict[str, bytes] = {}
        self._by_hash: dict[int, set[str]] = {}  # of the newer ones
        self._found: dict[int, tuple[str, ...]] = {}
        self._looks = 0
        if numpy_at_hand() is None:
            for path, own in hashes.items():
                self.put(path, own)
        else:
            self._paths = sorted(hashes)
            self._arranged = [hashes[path] for path in self._paths]

    def put(self, path: str, hashes: bytes) -> None:
        """From now on the file has these."""
        self.remove(path)
        self._newer[path] = hashes
        for each in _numbers(hashes):
            self._by_hash.setdefault(each, set()).add(path)

    def remove(self, path: str) -> None:
        self._found.clear()
        self._replaced.add(path)
        for each in _numbers(self._newer.pop(path, b"")):
            self._by_hash[each].discard(path)

    def having(self, wanted: int) -> tuple[str, ...]:
        """The files with this hash, in the order of their paths."""
        found = self._found.get(wanted)
        if found is None:
            paths = {self._paths[place] for place in self._places(wanted)} - self._replaced
            found = self._found[wanted] = tuple(sorted(paths | self._by_hash.get(wanted, set())))
        return found

    def having_any(self, wanted: set[int]) -> set[str]:
        """The files with one of these hashes."""
        newer = {path for each in wanted for path in self._by_hash.get(each, ())}
        return newer | (self._among_arranged(wanted) - self._replaced)

    def arrange(self) -> None:
        """Get ready for many questions: whoever is forked afterwards need not."""
        if self._arranged:
            _ = self._sorted

    def _places(self, wanted: int) -> Iterable[int]:
        if not self._arranged:
            return ()
        numpy = numpy_at_hand()
        self._looks += 1
        if "_sorted" not in self.__dict__ and self._looks <= _FEW_LOOKS:
            hashes, ends = self._joined
            return numpy.searchsorted(ends, numpy.flatnonzero(hashes == wanted), "right").tolist()
        hashes, places = self._sorted
        sought = numpy.uint32(wanted)
        first, last = (hashes.searchsorted(sought, side) for side in ("left", "right"))
        return places[first:last].tolist()

    def _among_arranged(self, wanted: set[int]) -> set[str]:
        """Half of each hash tells which are not wanted, almost all; the others are looked at as a whole."""
        if not self._arranged or not wanted:
            return set()
        numpy = numpy_at_hand()
        hashes, ends = self._joined
        sought = numpy.array(sorted(wanted), numpy.uint32)
        table = numpy.zeros(1 << 16, numpy.bool_)
        table[sought & 0xFFFF] = True
        likely = numpy.flatnonzero(table[self._halves])
        hits = likely[numpy.isin(hashes[likely], sought)]
        places = numpy.unique(numpy.searchsorted(ends, hits, "right"))
        return {self._paths[place] for place in places.tolist()}

    @cached_property
    def _joined(self) -> tuple[Any, Any]:
        """All hashes, and where each file's end."""
        numpy = numpy_at_hand()
        hashes = numpy.frombuffer(b"".join(self._arranged), numpy.uint32)
        return hashes, numpy.cumsum([len(each) // 4 for each in self._arranged])

    @cached_property
    def _halves(self) -> Any:
        return self._joined[0].astype(numpy_at_hand().uint16)

    @cached_property
    def _sorted(self) -> tuple[Any, Any]:
        """All hashes in their own order, and which file each is of."""
        numpy = numpy_at_hand()
        hashes, ends = self._joined
        # A stable sort in two passes over halves of the numbers: numpy sorts 16 bits in linear time.
        order = numpy.argsort(hashes.astype(numpy.uint16), kind="stable")
        order = order[numpy.argsort((hashes[order] >> 16).astype(numpy.uint16), kind="stable")]
        places = numpy.repeat(numpy.arange(len(ends), dtype=numpy.int32), numpy.diff(ends, prepend=0))
        return hashes[order], places[order]


def numpy_at_hand() -> Any:
    """numpy where it is loaded anyway: a child that builds a small graph saves the time to load it."""
    return sys.modules.get("numpy")


def _numbers(hashes: bytes) -> memoryview:
    return memoryview(hashes).cast("I")
