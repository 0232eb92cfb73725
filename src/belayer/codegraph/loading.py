"""From the store to arrays, and again when the store changed: only the files that were linked anew are loaded."""

from pathlib import Path
from typing import NamedTuple

from belayer.codegraph.arrays import Part, Snapshot, part_of, put_together
from belayer.codegraph.packing import Damaged
from belayer.codegraph.store import FileRow, GraphStore, OtherFormat
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
        self._parts: dict[int, tuple[int, Part]] = {}
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
        rows = {row.number: row for row in store.files().values() if row.linked}
        self._parts = {
            number: kept for number, kept in self._parts.items() if _is_kept(rows.get(number), kept)
        }
        missing = [number for number in rows if number not in self._parts]
        wanted = None if len(missing) > len(rows) // 2 else missing
        for number, nodes, edges in store.links(wanted):
            if number in rows and number not in self._parts:
                row = rows[number]
                self._parts[number] = row.linked, part_of(row.path, row.language, row.state, nodes, edges)
        graph = put_together({number: part for number, (_, part) in self._parts.items()})
        return State(graph, Targets(graph))

    def _forget(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store, self._file, self._version, self._state = None, None, None, None
        self._parts = {}


def _is_kept(row: FileRow | None, kept: tuple[int, Part]) -> bool:
    return (
        row is not None and row.linked == kept[0] and row.state == kept[1].state and row.path == kept[1].path
    )
