"""All that a store says, in one form: two stores of equal graphs are equal, whatever numbers they use."""

from collections import Counter
from pathlib import Path
from typing import Any

from belayer.codegraph.arrays import part_of, put_together
from belayer.codegraph.store import GraphStore


def differences(one: Path, other: Path) -> list[str]:
    """Where two stores say different things; nothing if their graphs are equal."""
    mine, theirs = contents(one), contents(other)
    told = [f"only one: {item}" for item in _items(mine) - _items(theirs)]
    return sorted(told + [f"only other: {item}" for item in _items(theirs) - _items(mine)])


def _items(found: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Everything, each as often as it is said."""
    return Counter([*found["files"].items(), *found["nodes"], *found["edges"]])


def contents(place: Path) -> dict[str, Any]:
    """Nodes, edges with confidence and place, and what is kept of each file."""
    store = GraphStore.open(place)
    try:
        rows = store.files()
        by_number = {row.number: row for row in rows.values()}
        graph = put_together(
            {
                number: part_of(
                    by_number[number].path, by_number[number].language, by_number[number].state, nodes, edges
                )
                for number, nodes, edges in store.links()
            }
        )
        words = store.words()
    finally:
        store.close()
    places = (graph.code.tolist(), graph.line.tolist(), graph.column.tolist())
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
        "nodes": [
            (
                graph.ids[node],
                graph.names[node],
                int(graph.kinds[node]),
                graph.lines[node],
                graph.end_lines[node],
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
    }
