"""The parts of files one behind the other: however they came and went, it is as if they had been laid out at once."""

from array import array
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from belayer.codegraph.packing import EDGE_FIELDS, pack_nodes, sealed
from belayer.codegraph.rows import NO_ROWS, Rows, part_of

PATHS = ("a.py", "a/b.py", "a/c.py", "b.py")
MOST = 3
ENDS = st.integers(0, MOST * len(PATHS) + 2)


@st.composite
def parts(draw: st.DrawFn) -> tuple[str, Rows | None]:
    """A file with some nodes, each with its number, and edges to any number; or a file that is gone."""
    place = draw(st.integers(0, len(PATHS) - 1))
    path, first = PATHS[place], MOST * place
    if draw(st.booleans()):
        return path, None
    numbers = draw(st.permutations(range(first, first + draw(st.integers(0, MOST)))))
    nodes = [
        (f"::f{number}", 1, f"f{number}", number, number + 1, ("test",) * (number % 2)) for number in numbers
    ]
    sources = draw(st.lists(st.sampled_from(numbers), max_size=4)) if numbers else []
    targets = [draw(ENDS) for _ in sources]
    edges = array("i", [*sources, *targets, *range((EDGE_FIELDS - 2) * len(sources))])
    return path, part_of(path, "python", "", pack_nodes(nodes, list(numbers)), sealed(edges.tobytes()))


def columns(rows: Rows) -> list[list[Any]]:
    return [column.tolist() if isinstance(column, np.ndarray) else list(column) for column in rows]


@given(st.lists(st.lists(parts(), max_size=3), max_size=5))
def test_after_any_edits_they_are_as_if_laid_out_at_once(edits: list[list[tuple[str, Rows | None]]]) -> None:
    rows = NO_ROWS
    for edit in edits:
        rows = rows.with_parts(dict(edit))
    everything = {path: part for edit in edits for path, part in edit}
    assert columns(rows) == columns(NO_ROWS.with_parts(everything))


@given(parts())
def test_the_rows_from_before_stay_as_they_were(part: tuple[str, Rows | None]) -> None:
    before = NO_ROWS.with_parts(dict([part]))
    known = columns(before)
    before.with_parts({PATHS[0]: None, PATHS[1]: None})
    assert columns(before) == known


def test_many_at_once_are_as_if_they_came_one_by_one() -> None:
    def part(number: int) -> Rows:
        nodes = [("", 0, f"m{number}", 1, number, ())]
        edge = array("i", [number, number // 2, 1, 2, 3])
        return part_of(f"{number:03}.py", "python", "", pack_nodes(nodes, [number]), sealed(edge.tobytes()))

    every = {f"{number:03}.py": part(number) for number in range(200)}
    rows = NO_ROWS
    for path in sorted(every, reverse=True):
        rows = rows.with_parts({path: every[path]})
    assert columns(NO_ROWS.with_parts(every)) == columns(rows)
    assert columns(rows.with_parts(dict.fromkeys(every))) == columns(NO_ROWS)
