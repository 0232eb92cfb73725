"""The graph's numbers for its nodes. A node keeps its number for as long as it lives, so that a file's edges stay true
when the files around it are linked again; a number is never given twice."""

from array import array
from collections.abc import Mapping

from belayer.codegraph.packing import EDGE_FIELDS, Loose, id_of, pack_edges, pack_nodes, unpack_nodes
from belayer.codegraph.store import FileRow, GraphStore


class Numbering:
    """Knows the numbers of the files that it was asked about. `next` is the first that is free."""

    def __init__(self, store: GraphStore, files: Mapping[str, FileRow], *, is_new: bool) -> None:
        self._store, self._files = store, files
        self._known: dict[str, int] = {}
        self._seen: set[str] = set()
        self._is_new = is_new
        self.next: int = store.meta("next") or 0

    def of(self, node_id: str) -> int:
        """The node's number. An id that no file has gets one too: such an edge leads nowhere and is dropped at load."""
        number = self._known.get(node_id)
        if number is None and not self._is_new:
            self.know(self._path_of(node_id))
            number = self._known.get(node_id)
        if number is None:
            number = self._known[node_id] = self.next
            self.next += 1
        return number

    def know(self, path: str | None) -> None:
        """Remember the numbers that a file's nodes have so far."""
        if self._is_new or path is None or path in self._seen:
            return
        self._seen.add(path)
        row = self._files[path]
        if row.linked:
            packed, nodes = unpack_nodes(self._store.nodes(row.number))
            numbers = array("i")
            numbers.frombytes(packed)
            for number, node in zip(numbers, nodes, strict=True):
                self._known.setdefault(id_of(path, node[0]), number)

    def _path_of(self, node_id: str) -> str | None:
        """The file that an id begins with; a path may have colons of its own."""
        path = node_id
        while path not in self._files:
            path, colons, _ = path.rpartition("::")
            if not colons:
                return None
        return path


def put_links(
    store: GraphStore, number: int, path: str, found: Loose, numbering: Numbering
) -> tuple[int, int]:
    """Write what linking a file gave; how many nodes and edges that is."""
    numbering.know(path)
    numbers = [numbering.of(node_id) for node_id in found.ids]
    nodes = pack_nodes(found.nodes, numbers[: len(found.nodes)])
    store.put_links(number, nodes, pack_edges(found.edges, numbers), found.memory)
    return len(found.nodes), len(found.edges) // (4 * EDGE_FIELDS)
