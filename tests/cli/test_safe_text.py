"""Text from a session can do nothing to a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.cli.safe_text import safe_block, safe_line, shortened

HOSTILE = {
    "ansi colour": ("\x1b[31mred", "<U+001B>[31mred"),
    "title change": ("\x1b]0;x\x07", "<U+001B>]0;x<U+0007>"),
    "clipboard": ("\x1b]52;c;aGk=\x07", "<U+001B>]52;c;aGk=<U+0007>"),
    "link": ("\x1b]8;;http://x\x1b\\", "<U+001B>]8;;http://x<U+001B>\\"),
    "one-byte control sequence": ("\x9b31m", "<U+009B>31m"),
    "right-to-left override": ("a\u202egnp.exe", "a<U+202E>gnp.exe"),
    "isolate": ("\u2066x\u2069", "<U+2066>x<U+2069>"),
    "zero-width space": ("pass\u200bword", "pass<U+200B>word"),
    "byte order mark": ("\ufeffx", "<U+FEFF>x"),
    "soft hyphen": ("a\u00adb", "a<U+00AD>b"),
    "tag letters": ("x\U000e0041", "x<U+E0041>"),
    "variation selector": ("x\ufe01", "x<U+FE01>"),
    "hangul filler": ("\u3164", "<U+3164>"),
    "forged line": ("ok\r\nerror: x", "ok<U+000D><U+000A>error: x"),
    "line separator": ("a\u2028b", "a<U+2028>b"),
    "lone surrogate": ("\ud800", "<U+D800>"),
    "backspace": ("rm\x08\x08ls", "rm<U+0008><U+0008>ls"),
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_cannot_be_seen_is_shown_by_its_number(text: str, shown: str) -> None:
    assert safe_line(text) == shown


@given(st.text())
def test_a_safe_line_holds_nothing_but_what_can_be_seen(text: str) -> None:
    assert not {unicodedata.category(character) for character in safe_line(text)} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    }


@pytest.mark.parametrize("text", ["[bold]x[/bold]", "naïve café", "日本語", "→ ✓ ━", "price: 5 € [ok]"])
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert safe_line(text) == text


def test_a_block_keeps_its_own_lines_and_no_other_control() -> None:
    assert safe_block("a\r\nb\tc\x1b[2J\rd") == "a\nb   c<U+001B>[2J<U+000D>d"


def test_a_long_line_is_shortened_with_an_ellipsis() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"
