"""What the MCP tools tell is short, and says where it was cut."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from belayer.api.mcp_results import cut, fitting, shortened

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.binary(max_size=20)), st.integers(0, 50))
def test_a_page_of_events_is_as_long_as_fits_but_never_empty(wires: list[bytes], most: int) -> None:
    page = fitting(wires, most)
    assert list(page) == wires[: len(page)]
    assert bool(page) == bool(wires)
    assert len(page) <= 1 or sum(map(len, page)) <= most


@given(JSON)
def test_short_values_are_told_as_they_are(value: Any) -> None:
    assert shortened(value) == value


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert cut("abcdef", 4) == "abcd… (2 more characters)"
