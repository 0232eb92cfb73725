"""Text from a session, made fit for a terminal: nothing in it moves the cursor, hides, or turns other text around.

Titles, prompts, results and log lines are written by models, tools and strangers. Whatever cannot be seen as itself is
shown by its number, as in `<U+202E>`. Pure.
"""

import unicodedata

# Control, format (bidi, zero-width, tags), surrogate, unassigned, private; line and paragraph separator.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
# Letters and marks that draw nothing: fillers, joiners and variation selectors.
_BLANK = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0}
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)


def safe_line(text: str) -> str:
    """The text on one line."""
    return "".join(_shown(character) for character in text)


def safe_block(text: str) -> str:
    """The text with its own line breaks and tabs."""
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    return "\n".join(safe_line(line) for line in lines)


def shortened(text: str, width: int) -> str:
    """The beginning of a safe line, with an ellipsis if there was more."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _shown(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    if unicodedata.category(character) in _UNSEEN or ord(character) in _BLANK:
        return f"<U+{ord(character):04X}>"
    return character
