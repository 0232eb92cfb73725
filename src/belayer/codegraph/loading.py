"""From the store to arrays, and again when the store changed: only the files that were linked anew are loaded."""

from pathlib import Path
from typing import NamedTuple

from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.packing import Damaged
from belayer.codegraph.rows import NO_ROWS, Rows, part_of, put_together
from belayer.codegraph.store import GraphStore, OtherFormat
from belayer.codegraph.targets import Targets
from belayer.vocabulary.errors import CorruptGraph, GraphMissing


class State(NamedTuple):
    """One state of the graph, and the names in it."""

    graph: Snapshot
    targets: Targets


class Loaded:
    """Keeps the newest state. Not for two threads at once."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._store: GraphStore | None = None
        self._file: tuple[int, int] | None = None
        self._version: tuple[int, int] | None = None
        self._loaded: dict[
            int, tuple[int, str]
        ] = {}  # of each file that was, when it was linked, and its path
        self._rows = NO_ROWS
        self._state: State | None = None

    def newest(self) -> State:
        """The graph as it is on the disk now."""
        try:
            return self._newest()
        except FileNotFoundError as error:
            raise GraphMissing(
                f"There is no graph at {self._place} yet, so it cannot be asked.", "Build it first."
            ) from error
        except OtherFormat as error:
            raise GraphMissing(
                f"The graph at {self._place} was made by another version of Belayer.", "Build it again."
            ) from error
        except Damaged as error:
            self._forget()
            self._place.unlink(
                missing_ok=True
            )  # what cannot be read is of no use; the next build makes it anew
            raise CorruptGraph(
                f"The graph at {self._place} was damaged ({error}) and has been removed.", "Build it again."
            ) from error

    def close(self) -> None:
        self._forget()

    def _newest(self) -> State:
        found = self._place.stat()
        if self._store is None or (found.st_dev, found.st_ino) != self._file:
            self._forget()
            self._store = GraphStore.open(self._place)
            self._file = (found.st_dev, found.st_ino)
        with self._store.steady():
            version = self._store.version()
            if self._state is None or version != self._version:
                self._state = self._read(self._store)
                self._version = version
        return self._state

    def _read(self, store: GraphStore) -> State:
        linked = store.linked()
        kept = {number: known for number, known in self._loaded.items() if linked.get(number) == known[0]}
        missing = linked.keys() - kept.keys()
        if self._state is not None and not missing and len(kept) == len(self._loaded):
            return self._state
        parts: dict[str, Rows | None] = {
            path: None for number, (_, path) in self._loaded.items() if number not in kept
        }
        for part in store.parts(None if len(missing) > len(linked) // 2 else missing):
            if part.number in missing:
                parts[part.path] = part_of(*part[1:])
                kept[part.number] = linked[part.number], part.path
        if len(kept) != len(linked):
            raise Damaged("a row is missing")
        rows = self._rows.with_parts(parts)
        graph = put_together(rows)
        self._loaded, self._rows = kept, rows
        return State(graph, Targets(graph))

    def _forget(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store, self._file, self._version, self._state = None, None, None, None
        self._loaded, self._rows = {}, NO_ROWS
