"""All that a store says, in one form: two stores of equal graphs are equal, whatever numbers they use."""

from collections import Counter
from pathlib import Path
from typing import Any

from belayer.codegraph.arrays import Side, Snapshot
from belayer.codegraph.rows import NO_ROWS, part_of, put_together
from belayer.codegraph.store import GraphStore


def differences(one: Path, other: Path) -> list[str]:
    """Where two stores say different things; nothing if their graphs are equal."""
    mine, theirs = contents(one), contents(other)
    only = [f"only one: {item}" for item in _items(mine) - _items(theirs)]
    return sorted(only + [f"only other: {item}" for item in _items(theirs) - _items(mine)])


def _items(found: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Everything, each as often as it is said."""
    return Counter([*found["files"].items(), *found["nodes"], *found["edges"]])


def contents(place: Path) -> dict[str, Any]:
    """Nodes, edges with confidence and place, and what is kept of each file."""
    store = GraphStore.open(place)
    try:
        rows = store.files()
        parts = {part.path: part_of(*part[1:]) for part in store.parts()}
        graph = put_together(NO_ROWS.with_parts(parts))
        words = store.words()
    finally:
        store.close()
    return {
        "files": {
            path: (
                row.state,
                row.language,
                row.nodes,
                row.edges,
                words.get(row.number),
            )
            for path, row in sorted(rows.items())
        },
        **told(graph),
    }


def told(graph: Snapshot) -> dict[str, list[tuple[Any, ...]]]:
    """The nodes and edges of a graph; the edges by each of their ends too."""
    places = (graph.code.tolist(), graph.line.tolist(), graph.column.tolist())
    return {
        "nodes": [
            (
                graph.ids[node],
                graph.names[node],
                int(graph.kinds[node]),
                graph.lines[node],
                graph.end_lines[node],
                bool(graph.tests[node]),
            )
            + graph.tags[node]
            for node in range(graph.size)
        ],
        "edges": sorted(
            (graph.ids[source], graph.ids[target], *place)
            for source, target, *place in zip(
                graph.source.tolist(), graph.target.tolist(), *places, strict=True
            )
        ),
        "outgoing": _by_end(graph, graph.outgoing),
        "incoming": _by_end(graph, graph.incoming),
    }


def _by_end(graph: Snapshot, side: Side) -> list[tuple[Any, ...]]:
    return sorted(
        (graph.ids[node], graph.ids[int(side.other[place])], int(side.code[place]))
        for node in range(graph.size)
        for place in range(int(side.start[node]), int(side.start[node + 1]))
    )
