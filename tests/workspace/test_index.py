"""What is believed without reading again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.workspace.index import Note, Stamp, packed, unpacked

SECOND = 1_000_000_000
numbers = st.integers(min_value=0, max_value=2**62)
stamps = st.builds(Stamp, numbers, numbers, numbers, numbers, numbers, st.integers(0, 2**32 - 1))
notes = st.builds(Note, stamps, numbers, st.binary(min_size=20, max_size=20))


@given(st.dictionaries(st.binary(max_size=40), notes, max_size=20))
def test_an_index_comes_back_as_it_was(index: dict[bytes, Note]) -> None:
    assert unpacked(packed(index)) == index


@given(st.dictionaries(st.binary(max_size=40), notes, min_size=1, max_size=5), st.data())
def test_a_torn_or_damaged_index_is_an_empty_one(index: dict[bytes, Note], data: st.DataObject) -> None:
    content = packed(index)
    cut = data.draw(st.integers(0, len(content) - 1))
    assert unpacked(content[:cut]) == {}
    assert unpacked(content[:cut] + bytes([content[cut] ^ 1]) + content[cut + 1 :]) == {}


@pytest.mark.parametrize(
    ("modified", "changed", "believed"),
    [(0, 0, True), (0, 9, False), (9, 0, False), (8, 8, False), (7, 7, True)],
)
def test_a_note_is_believed_only_if_the_file_had_been_left_alone(
    modified: int, changed: int, believed: bool
) -> None:
    stamp = Stamp(1, 2, 3, modified * SECOND, changed * SECOND, 0o644)
    assert Note(stamp, 10 * SECOND, b"").holds(stamp) is believed


def test_a_note_of_another_file_is_not_believed() -> None:
    stamp = Stamp(1, 2, 3, 0, 0, 0o644)
    assert not Note(stamp, 10 * SECOND, b"").holds(stamp._replace(inode=3))
