"""The facts of all files, as the linker looks at them: the new ones from memory, the others from the store."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from belayer.codegraph.facts import Facts, unpack
from belayer.codegraph.link.module import Module
from belayer.codegraph.store import FileRow, GraphStore

# In bytes of packed facts; unpacked they take about ten times as much.
_MOST_KEPT = 32 * 1024 * 1024
# The states of a file that can be linked: read, read in part, and read but not to be linked by anybody.
HAS_FACTS = frozenset({"", "broken", "unlinked"})


class Kept:
    """Facts that were unpacked before, by path and content: a process that stays has them at hand."""

    def __init__(self) -> None:
        self._facts: dict[str, tuple[bytes, Facts]] = {}
        self.modules: dict[str, Module] = {}  # the linker's, good as long as the facts are the same objects
        self._bytes = 0

    def get(self, path: str, digest: bytes) -> Facts | None:
        found = self._facts.get(path)
        return found[1] if found is not None and found[0] == digest else None

    def put(self, path: str, digest: bytes, facts: Facts, size: int) -> None:
        self._bytes += size
        if self._bytes > _MOST_KEPT:
            self._facts.clear()
            self.modules.clear()
            self._bytes = size
        self._facts[path] = digest, facts


class Shelf:
    """A linker's library. It may be used in a forked process too, which then reads the store by itself."""

    def __init__(
        self, store: GraphStore, place: Path | None, files: Mapping[str, FileRow], kept: Kept
    ) -> None:
        self._store, self._place, self._process = store, place, os.getpid()
        self._stored = {
            path: (row.number, row.digest)
            for path, row in files.items()
            if not row.is_manifest and row.state in HAS_FACTS
        }
        self._manifests = {
            path: store.content(row.number).decode(errors="replace")
            for path, row in files.items()
            if row.is_manifest
        }
        self._packed: dict[str, tuple[bytes, bytes]] = {}
        self._new_words: dict[str, bytes] = {}
        self._old_words: dict[int, bytes] | None = None
        self._kept = kept
        self.modules = kept.modules

    def paths(self) -> Iterable[str]:
        return self._stored.keys() | self._packed.keys()

    def facts(self, path: str) -> Facts | None:
        new, old = self._packed.get(path), self._stored.get(path)
        if new is None and old is None:
            return None
        digest = new[1] if new is not None else (old or (0, b""))[1]
        kept = self._kept.get(path, digest)
        if kept is None:
            packed = new[0] if new is not None else self._own_store().content((old or (0, b""))[0])
            kept = unpack(packed)
            self._kept.put(path, digest, kept, len(packed))
        return kept

    def words(self, path: str) -> bytes:
        if path in self._new_words:
            return self._new_words[path]
        if self._old_words is None:
            self._old_words = self._own_store().words()
        return self._old_words.get(self._stored.get(path, (0, b""))[0], b"")

    def manifests(self) -> Mapping[str, str]:
        return self._manifests

    def put(self, path: str, packed: bytes, words: bytes, digest: bytes) -> None:
        """From now on the file says this."""
        self._packed[path], self._new_words[path] = (packed, digest), words

    def remove(self, path: str) -> None:
        for known in (self._stored, self._packed, self._new_words):
            known.pop(path, None)

    def put_manifest(self, path: str, text: bytes) -> None:
        self._manifests[path] = text.decode(errors="replace")

    def remove_manifest(self, path: str) -> None:
        del self._manifests[path]

    def _own_store(self) -> GraphStore:
        """SQLite's connections do not survive a fork."""
        if self._process != os.getpid():
            assert self._place is not None, "a new store has nothing that is not in memory too"
            self._store, self._process = GraphStore.open(self._place), os.getpid()
        return self._store
