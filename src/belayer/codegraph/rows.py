"""What files give to the graph, one behind the other: after an edit, a file's new part takes the place of its old one
between the others, and nothing else is read or put together again."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from belayer.codegraph.arrays import Bytes, Flags, Ints, Side, Snapshot
from belayer.codegraph.packing import EDGE_FIELDS, id_of, unpack_nodes, unsealed


class Rows(NamedTuple):
    """The columns of files in the order of their paths, of their nodes, and of the edges that start in these.

    Texts are in tuples: the garbage collector does not look through these again and again, as it does through lists.
    Nodes have the store's numbers here, and the edges are told by them.
    """

    paths: tuple[str, ...]
    languages: tuple[str, ...]
    states: tuple[str, ...]
    node_counts: Ints
    edge_counts: Ints
    numbers: Ints
    ids: tuple[str, ...]
    names: tuple[str, ...]
    kinds: Bytes
    lines: "array[int]"
    end_lines: "array[int]"
    tags: tuple[tuple[str, ...], ...]
    tests: Flags
    source: Ints
    target: Ints
    line: Ints
    column: Ints
    code: Bytes

    def with_parts(self, parts: "Mapping[str, Rows | None]") -> "Rows":
        """With these in place of what the files of these paths gave so far; None for a file that is gone."""
        edits = list(self._edits(parts))
        starts = [_starts(counts) for counts in (np.ones(len(self.paths), np.int32), *self[3:5])]
        cuts = [[slice(places[first], places[last]) for first, last, _ in edits] for places in starts]
        new = [part for *_, part in edits]
        return Rows._make(
            _spliced(column, cuts[level], [part[place] for part in new])
            for place, (column, level) in enumerate(zip(self, _LEVELS, strict=True))
        )

    def _edits(self, parts: "Mapping[str, Rows | None]") -> "Iterator[tuple[int, int, Rows]]":
        """From which file up to which one what is there makes room, and for what."""
        for path in sorted(parts):
            place = bisect_left(self.paths, path)
            part = parts[path]
            is_there = self.paths[place : place + 1] == (path,)
            yield place, place + is_there, part if part is not None and part.ids else NO_ROWS


_NUMBERS, _BYTES = np.zeros(0, np.int32), np.zeros(0, np.uint8)
_FLAGS = np.zeros(0, np.bool_)
NO_ROWS = Rows(
    *((), (), (), _NUMBERS, _NUMBERS),
    *(_NUMBERS, (), (), _BYTES, array("i"), array("i"), (), _FLAGS),
    *(_NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, _BYTES),
)
# Whether a column is of files, of nodes or of edges.
_LEVELS = (0,) * 5 + (1,) * 8 + (2,) * 5


def part_of(path: str, language: str, state: str, nodes: bytes, edges: bytes) -> Rows:
    """What the store has of a file, its edges in the order of its nodes; Damaged if it is not what was written."""
    packed, rows = unpack_nodes(nodes)
    numbers = np.frombuffer(packed, np.int32)
    endings, kinds, names, lines, end_lines, tags = zip(*rows, strict=True) if rows else ((),) * 6
    fields = np.frombuffer(unsealed(edges), np.int32).reshape(EDGE_FIELDS, -1)
    source, target, line, column, code = fields[:, np.argsort(_places(numbers, fields[0]), kind="stable")]
    return Rows(
        (path,),
        (language,),
        (state,),
        np.array([len(rows)], np.int32),
        np.array([len(source)], np.int32),
        numbers,
        tuple([id_of(path, ending) for ending in endings]),
        names,
        np.array(kinds, np.uint8),
        array("i", lines),
        array("i", end_lines),
        tags,
        np.array(["test" in each for each in tags], np.bool_),
        source,
        target,
        line,
        column,
        code.astype(np.uint8),
    )


def put_together(rows: Rows) -> Snapshot:
    """The graph of all files."""
    size = len(rows.numbers)
    dense = _dense(rows)
    source, target = dense.take(rows.source), dense.take(rows.target)
    line, column, code = rows.line, rows.column, rows.code
    real = (source >= 0) & (target >= 0)
    if not real.all():
        source, target, code = source[real], target[real], code[real]
        line, column = line[real], column[real]
    return Snapshot(
        paths=rows.paths,
        languages=rows.languages,
        states=rows.states,
        ids=rows.ids,
        names=rows.names,
        kinds=rows.kinds,
        lines=rows.lines,
        end_lines=rows.end_lines,
        tags=rows.tags,
        tests=rows.tests,
        file=np.repeat(np.arange(len(rows.paths), dtype=np.int32), rows.node_counts),
        first=np.array(_starts(rows.node_counts), np.int32),
        source=source,
        target=target,
        code=code,
        line=line,
        column=column,
        outgoing=_side(source, target, code, size),
        incoming=_side(target, source, code, size),
    )


def _spliced(column: Any, cuts: list[slice], new: list[Any]) -> Any:
    """The column with each cut replaced by what is new there."""
    if isinstance(column, np.ndarray):
        return np.concatenate(list(_pieces(column, cuts, new)))
    if isinstance(column, tuple):
        return tuple(chain.from_iterable(_pieces(column, cuts, new)))
    found = column[:0]
    for piece in _pieces(column, cuts, new):
        found += piece
    return found


def _pieces(column: Any, cuts: list[slice], new: list[Any]) -> Iterator[Any]:
    at = 0
    for cut, piece in zip(cuts, new, strict=True):
        yield column[at : cut.start]
        yield piece
        at = cut.stop
    yield column[at:]


def _starts(counts: Ints) -> list[int]:
    return [0, *np.cumsum(counts).tolist()]


def _places(numbers: Ints, sources: Ints) -> Ints:
    """Where in the file the sources' nodes stand: edges in this order need no sorting when files are put together."""
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    found = np.searchsorted(numbers, sources, sorter=order)
    return order[np.minimum(found, len(order) - 1)] if len(order) else sources


def _dense(rows: Rows) -> Ints:
    """For each of the store's numbers, the node's place among all; -1 for what is no node."""
    highest = max(int(each.max(initial=-1)) for each in (rows.numbers, rows.source, rows.target))
    dense = np.full(highest + 1, -1, np.int32)
    dense[rows.numbers] = np.arange(len(rows.numbers), dtype=np.int32)
    return dense


def _side(ends: Ints, others: Ints, code: Bytes, size: int) -> Side:
    start = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=size), out=start[1:])
    if len(ends) and np.all(ends[1:] >= ends[:-1]):
        return Side(start, others, code, np.arange(len(ends), dtype=np.int32))
    order = _order(ends)
    return Side(start, others.take(order), code.take(order), order)


def _order(ends: Ints) -> Ints:
    """A stable argsort, in two passes over halves of the numbers: numpy sorts 16 bits in linear time."""
    order = np.argsort(ends.astype(np.uint16), kind="stable").astype(np.int32)
    high = (ends.take(order) >> 16).astype(np.uint16)
    return order.take(np.argsort(high, kind="stable")) if high.any() else order
