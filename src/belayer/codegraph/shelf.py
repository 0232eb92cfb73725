"""The facts of all files, as the linker looks at them: from memory what is at hand there, the rest from the store."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from belayer.codegraph.facts import Facts, unpack
from belayer.codegraph.link.marks import Marks
from belayer.codegraph.link.module import Module
from belayer.codegraph.store import FileRow, GraphStore

# In bytes of packed facts; unpacked they take about ten times as much.
_MOST_KEPT = 32 * 1024 * 1024
# The states of a file that can be linked: read, read in part, and read but not to be linked by anybody.
HAS_FACTS = frozenset({"", "broken", "unlinked"})


class Kept:
    """What a process that stays has at hand: facts that were unpacked before, by path and content, and what the store
    says, for as long as nobody else changes it."""

    def __init__(self) -> None:
        self._facts: dict[str, tuple[bytes, Facts]] = {}
        self.modules: dict[str, Module] = {}  # the linker's, good as long as the facts are the same objects
        self._bytes = 0
        self._store: tuple[GraphStore, tuple[int, int]] | None = None
        self._changes: int | None = None
        self.files: dict[str, FileRow] = {}
        self.manifests: dict[str, str] = {}
        self.words: Marks | None = None
        self.memories: Marks | None = None

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

    def opened(self, place: Path) -> GraphStore:
        """The store at this place; the one from before if it is still the same file."""
        found = place.stat()
        file = found.st_dev, found.st_ino
        if self._store is None or self._store[1] != file:
            self.forget()
            self._store = GraphStore.open(place), file
        return self._store[0]

    def refresh(self, store: GraphStore) -> int:
        """Read again what was changed by others, or by a change of ours that failed; for who has the store to itself.

        The number is for `trust`, once all that changes here now is in the store too.
        """
        changes = store.changes_by_others()
        if changes != self._changes:
            self.files = store.files()
            self.manifests = {
                path: store.content(row.number).decode(errors="replace")
                for path, row in self.files.items()
                if row.is_manifest
            }
            self.words = self.memories = None
        self._changes = None
        return changes

    def trust(self, changes: int) -> None:
        """What is kept is what the store says."""
        self._changes = changes

    def look_ahead(self) -> None:
        """Read what the next change will ask for, while nobody waits."""
        if self._store is None or self._changes is None:
            return
        store = self._store[0]
        with store.steady():
            if store.changes_by_others() == self._changes:
                self.words_in(store)
                self.memories_in(store)

    def words_in(self, store: GraphStore) -> Marks:
        self.words = self.words or self._marks(store.words())
        return self.words

    def memories_in(self, store: GraphStore) -> Marks:
        self.memories = self.memories or self._marks(store.memories())
        return self.memories

    def _marks(self, stored: Mapping[int, bytes]) -> Marks:
        rows = (row for row in self.files.values() if not row.is_manifest and row.number in stored)
        return Marks({row.path: stored[row.number] for row in rows})

    def forget(self) -> None:
        """Close the store, and forget what it said."""
        if self._store is not None:
            self._store[0].close()
        self._store = self._changes = self.words = self.memories = None
        self.files, self.manifests = {}, {}


class Shelf:
    """A linker's library. It may be used in a forked process too, which then reads the store by itself."""

    def __init__(self, store: GraphStore, place: Path | None, kept: Kept) -> None:
        self._store, self._place, self._process = store, place, os.getpid()
        self._kept, self._files = kept, kept.files
        self._packed: dict[str, bytes] = {}  # what the store does not show to others yet
        self.modules = kept.modules

    def paths(self) -> Iterable[str]:
        files = self._files.items()
        return [path for path, row in files if row.state in HAS_FACTS and not row.is_manifest]

    def facts(self, path: str) -> Facts | None:
        row = self._files.get(path)
        if row is None or row.is_manifest or row.state not in HAS_FACTS:
            return None
        facts = self._kept.get(path, row.digest)
        if facts is None:
            packed = self._packed.get(path) or self._own_store().content(row.number)
            facts = unpack(packed)
            self._kept.put(path, row.digest, facts, len(packed))
        return facts

    def words(self) -> Marks:
        return self._kept.words or self._kept.words_in(self._own_store())

    def memories(self) -> Marks:
        """What was remembered of each file when it was last linked."""
        return self._kept.memories or self._kept.memories_in(self._own_store())

    def manifests(self) -> Mapping[str, str]:
        return self._kept.manifests

    def put(self, row: FileRow, packed: bytes, words: bytes) -> None:
        """From now on the file says this."""
        self._packed[row.path] = packed
        self._store.put_content(row.number, packed, words)
        if self._kept.words is not None:
            self._kept.words.put(row.path, words)

    def remember(self, path: str, memory: bytes) -> None:
        """What the linker wants to know of the file when others change."""
        if self._kept.memories is not None:
            self._kept.memories.put(path, memory)

    def remove(self, path: str) -> None:
        self._packed.pop(path, None)
        for marks in (self._kept.words, self._kept.memories):
            if marks is not None:
                marks.remove(path)

    def put_manifest(self, row: FileRow, text: bytes) -> None:
        self._store.put_content(row.number, text, b"")
        self._kept.manifests[row.path] = text.decode(errors="replace")

    def remove_manifest(self, path: str) -> None:
        del self._kept.manifests[path]

    def _own_store(self) -> GraphStore:
        """SQLite's connections do not survive a fork."""
        if self._process != os.getpid():
            assert self._place is not None, "a new store has nothing that is not in memory too"
            self._store, self._process = GraphStore.open(self._place), os.getpid()
        return self._store
