"""Nodes and edges as bytes: small on the disk, quick to load, and damage is noticed. Imports little: it runs in the
build's processes, whose start is part of every update."""

import marshal
import zlib
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from belayer.codegraph.graph import Confidence, Edge, Kind, Node, Relation

KINDS: tuple[Kind, ...] = tuple(Kind)
RELATIONS: tuple[Relation, ...] = tuple(Relation)
# Of each edge: source, target, line, column, and its relation with its confidence.
EDGE_FIELDS = 5
_CONFIDENCE_SHIFT = 4

_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_EDGE_CODES = {
    (relation, confidence): code | confidence << _CONFIDENCE_SHIFT
    for code, relation in enumerate(RELATIONS)
    for confidence in Confidence
}

# What is kept of a node: the end of its id after the path, kind code, name, line, end line, tags.
NodeRow = tuple[str, int, str, int, int, tuple[str, ...]]


class Damaged(Exception):
    """The store does not hold what was written."""


class Loose(NamedTuple):
    """A linked file, its edges by places in its own list of ids, which begins with its nodes."""

    nodes: list[NodeRow]
    ids: list[str]
    edges: bytes
    memory: bytes


def loosen(path: str, nodes: Sequence[Node], edges: Sequence[Edge], memory: bytes) -> bytes:
    """A linked file as bytes for a pipe."""
    unique = {node.id: node for node in nodes}
    places = {node_id: place for place, node_id in enumerate(unique)}
    rows = [
        (_ending(node.id, path), _KIND_CODES[node.kind], node.name, node.line, node.end_line, node.tags)
        for node in unique.values()
    ]
    sources, targets, lines, columns, codes = array("i"), array("i"), array("i"), array("i"), array("i")
    for source, target, relation, confidence, line, column in edges:
        sources.append(places.setdefault(source, len(places)))
        targets.append(places.setdefault(target, len(places)))
        lines.append(line)
        columns.append(column)
        codes.append(_EDGE_CODES[relation, confidence])
    fields = (sources + targets + lines + columns + codes).tobytes()
    return marshal.dumps((rows, list(places), fields, memory))


def loose(packed: bytes) -> Loose:
    return Loose(*marshal.loads(packed))


def pack_nodes(nodes: list[NodeRow], numbers: list[int]) -> bytes:
    return sealed(marshal.dumps((array("i", numbers).tobytes(), nodes)))


def unpack_nodes(blob: bytes) -> tuple[bytes, list[NodeRow]]:
    """The nodes' numbers, as bytes of an int32 array, and the nodes."""
    try:
        numbers, nodes = marshal.loads(unsealed(blob))
    except (ValueError, TypeError, EOFError) as error:
        raise Damaged("nodes") from error
    return numbers, nodes


def pack_edges(edges: bytes, numbers: list[int]) -> bytes:
    """The edges with the graph's numbers in place of the file's own."""
    fields = array("i")
    fields.frombytes(edges)
    ends = 2 * (len(fields) // EDGE_FIELDS)
    return sealed(array("i", [numbers[place] for place in fields[:ends]]).tobytes() + fields[ends:].tobytes())


def sealed(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(4, "little") + content


def unsealed(blob: Any) -> bytes:
    if not isinstance(blob, bytes) or zlib.crc32(content := blob[4:]) != int.from_bytes(blob[:4], "little"):
        raise Damaged("a checksum does not fit")
    return content


def id_of(path: str, ending: str) -> str:
    """The id of a node from what is kept of it."""
    return ending[1:] if ending.startswith("\0") else path + ending


def _ending(node_id: str, path: str) -> str:
    return node_id[len(path) :] if node_id.startswith(path) else "\0" + node_id
