"""Characters that nobody sees: out of what strangers wrote, and never in what is shown for an approval. Pure."""

import unicodedata

# Control and format characters (bidi, tags, zero width), halves of characters, private ones.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
# Some scripts and many emoji are wrong without these two; line ends and tabs are seen by what they do.
_NEEDED = frozenset("\n\t\u200c\u200d")


def without_unseen(text: str) -> str:
    """The text as a reader sees it."""
    return "".join(letter for letter in text if _is_seen(letter))


def all_seen(text: str) -> str:
    """The text, with line ends of one kind; ValueError if a reader would not see all of it."""
    text = text.replace("\r\n", "\n")
    unseen = next((letter for letter in text if not _is_seen(letter)), None)
    if unseen is not None:
        raise ValueError(f"it holds a character that nobody can see (U+{ord(unseen):04X}): leave it out")
    return text


def one_line(text: str) -> str:
    """The text; ValueError unless it is a single line of which a reader sees everything."""
    all_seen(text)
    if "\t" in text or text != text.strip() or len(text.splitlines()) > 1:
        raise ValueError("it is one line, without tabs or blanks around it")
    return text


def _is_seen(letter: str) -> bool:
    return letter in _NEEDED or unicodedata.category(letter) not in _UNSEEN
