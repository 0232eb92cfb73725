"""Lines out of bytes: nothing is lost, nothing is made up, and no piece is longer than it may be."""

from hypothesis import given
from hypothesis import strategies as st

from belayer.sandbox.lines import LONGEST, MOST_SINGLY, Cutter


def cut(chunks: list[bytes], longest: int = LONGEST, singly: int = MOST_SINGLY) -> list[tuple[str, bool]]:
    cutter = Cutter("stdout", longest, singly)
    lines = [line for chunk in chunks for line in cutter.cut(chunk)] + cutter.end()
    return [(line.text, line.ends) for line in lines]


def test_lines_come_whole_however_they_are_cut_up() -> None:
    assert cut([b"on", b"e\ntw", b"o\n", b"\nrest"]) == [
        ("one", True),
        ("two", True),
        ("", True),
        ("rest", False),
    ]


def test_an_endless_line_comes_in_pieces() -> None:
    pieces = cut([b"x" * 1000] * 200)
    assert [len(text) for text, _ in pieces] == [LONGEST] * 3 + [200_000 - 3 * LONGEST]
    assert not any(ends for _, ends in pieces)


def test_a_piece_does_not_end_within_a_character() -> None:
    assert cut([("ä" * 50).encode()], longest=11) == [("ä" * 5, False)] * 10


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert cut([b"a\xff\xfeb\n"]) == [("a\ufffd\ufffdb", True)]


def test_a_flood_of_short_lines_is_not_taken_apart_for_ever() -> None:
    chunk = b"y\n" * 32_768
    lines = cut([chunk] * 100)
    assert len(lines) < MOST_SINGLY + 32_768 + 100
    assert "".join(text + "\n" for text, _ in lines) == chunk.decode() * 100


@given(st.lists(st.text(alphabet="aä€😀\n", max_size=30)), st.integers(4, 20), st.integers(0, 20))
def test_the_pieces_make_up_the_whole(texts: list[str], longest: int, singly: int) -> None:
    lines = cut([text.encode() for text in texts], longest, singly)
    assert "".join(text + ("\n" if ends else "") for text, ends in lines) == "".join(texts)
    assert all(len(text.encode()) <= longest for text, _ in lines)
