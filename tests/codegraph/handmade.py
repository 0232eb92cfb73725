"""Graphs made by hand, written into a real store: what the questions are tried on without reading any source."""

from collections.abc import Mapping
from pathlib import Path

from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.discover import Stamp
from belayer.codegraph.graph import Confidence, Edge, Kind, Node, Relation
from belayer.codegraph.numbering import Numbering, put_links
from belayer.codegraph.packing import loose, loosen
from belayer.codegraph.rows import NO_ROWS, part_of, put_together
from belayer.codegraph.store import FileRow, GraphStore, fresh_store

RESOLVED, INFERRED, BY_NAME = Confidence.RESOLVED, Confidence.INFERRED, Confidence.BY_NAME


class Handmade:
    """A graph as it grows. Names are ids: `a.py` is a module, `a.py::C.m` is in it."""

    def __init__(self) -> None:
        self.nodes: dict[str, list[Node]] = {}
        self.edges: dict[str, list[Edge]] = {}

    def add(self, kind: Kind, *ids: str, tags: tuple[str, ...] = ()) -> "Handmade":
        for node_id in ids:
            path, _, inner = node_id.partition("::")
            if path not in self.nodes:
                own = ("test",) if ("test" in path or "spec" in path) else ()
                self.nodes[path] = [Node(path, Kind.MODULE, _dotted(path), path, 1, 100, "python", own)]
                self.edges[path] = []
            if not inner:
                continue
            line = 10 * len(self.nodes[path])
            name = inner if kind is Kind.ENDPOINT else f"{_dotted(path)}.{inner}"
            own = (*tags, "test") if ("test" in path or "spec" in path) else tags
            self.nodes[path].append(Node(node_id, kind, name, path, line, line + 9, "python", own))
            outer = inner.rpartition(".")[0] if kind is not Kind.ENDPOINT else ""
            self.edge(f"{path}::{outer}" if outer else path, Relation.CONTAINS, node_id)
        return self

    def modules(self, *paths: str) -> "Handmade":
        return self.add(Kind.MODULE, *paths)

    def functions(self, *ids: str) -> "Handmade":
        return self.add(Kind.FUNCTION, *ids)

    def classes(self, *ids: str) -> "Handmade":
        return self.add(Kind.CLASS, *ids)

    def methods(self, *ids: str) -> "Handmade":
        return self.add(Kind.METHOD, *ids)

    def edge(
        self, source: str, relation: Relation, target: str, confidence: Confidence = RESOLVED, line: int = 7
    ) -> "Handmade":
        path = source.partition("::")[0]
        self.edges[path].append(Edge(source, target, relation, confidence, line, 4))
        return self

    def calls(self, *pairs: tuple[str, str], confidence: Confidence = RESOLVED) -> "Handmade":
        for source, target in pairs:
            self.edge(source, Relation.CALLS, target, confidence)
        return self

    def snapshot(self, tmp_path: Path) -> Snapshot:
        """The graph as it comes out of a store."""
        place = self.write(tmp_path / "graph.db")
        store = GraphStore.open(place)
        parts = {part.path: part_of(*part[1:]) for part in store.parts()}
        store.close()
        return put_together(NO_ROWS.with_parts(parts))

    def write(self, place: Path, states: Mapping[str, str] | None = None) -> Path:
        with fresh_store(place) as store:
            numbering = Numbering(store, {}, is_new=True)
            for number, path in enumerate(self.nodes, 1):
                found = loose(loosen(path, self.nodes[path], self.edges[path], b""))
                nodes, edges = put_links(store, number, path, found, numbering)
                state = (states or {}).get(path, "")
                stamp = Stamp(1, 1, 1, 1)
                store.put_file(FileRow(number, path, False, stamp, 1, b"", state, "python", 1, nodes, edges))
            store.set_meta({"generation": 1, "next": numbering.next})
        return place


def node_of(graph: Snapshot, node_id: str) -> int:
    node = graph.find(node_id)
    assert node is not None, node_id
    return node


def _dotted(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".")
