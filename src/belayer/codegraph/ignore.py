"""What a .gitignore leaves out, without asking git: a hostile repository's git runs programs. RE2, because a pattern of
many stars must not take for ever."""

from collections.abc import Iterable
from functools import lru_cache

import re2

_MOST_BYTES = 512 * 1024
_MOST_PATTERNS = 10_000
_AT_ONCE = 100
_MOST_SAID = 20_000

_QUIETLY = re2.Options()
_QUIETLY.log_errors = False

_CLASSES = frozenset(
    {
        "alnum", "alpha", "blank", "cntrl", "digit", "graph",
        "lower", "print", "punct", "space", "upper", "xdigit",
    }
)  # fmt: skip


class Ignore:
    """The rules of one .gitignore; paths are told from its own folder."""

    def __init__(self, text: bytes) -> None:
        rules = _rules(text[:_MOST_BYTES])
        runs = _runs(rules[:_MOST_PATTERNS])
        self._for_files = [(keeps, found) for keeps, run in runs if (found := _compiled(run, folders=False))]
        self._for_folders = [(keeps, found) for keeps, run in runs if (found := _compiled(run, folders=True))]

        self._said: dict[tuple[str, bool], bool | None] = {}

    def says(self, path: str, *, folder: bool) -> bool | None:
        """Whether the path is ignored, as the last pattern that fits has it; None if none does."""
        asked = path, folder
        if asked not in self._said:
            if len(self._said) >= _MOST_SAID:
                self._said.clear()
            self._said[asked] = self._say(path, folder=folder)
        return self._said[asked]

    def _say(self, path: str, *, folder: bool) -> bool | None:
        for keeps, patterns in self._for_folders if folder else self._for_files:
            if any(pattern.fullmatch(path) for pattern in patterns):
                return not keeps
        return None


@lru_cache(64)
def ignore_of(text: bytes) -> Ignore:
    """The rules that a .gitignore of this text has, and had the last time."""
    return Ignore(text)


def is_ignored(path: str, ignores: Iterable[tuple[str, Ignore]], *, folder: bool) -> bool:
    """Whether the .gitignore files on the way, deepest first and each with its folder, leave the path out."""
    for above, ignore in ignores:
        said = ignore.says(path[len(above) :], folder=folder)
        if said is not None:
            return said
    return False


# A rule: whether it keeps (`!`), whether it is only for folders, and its expression.
_Rule = tuple[bool, bool, str]


def _rules(text: bytes) -> list[_Rule]:
    lines = text.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").split("\n")
    return [rule for line in lines if (rule := _rule(line.removesuffix("\r"))) is not None]


def _rule(line: str) -> _Rule | None:
    pattern = _without_trailing_spaces(line)
    if not pattern or pattern.startswith("#"):
        return None
    keeps = pattern.startswith("!")
    pattern = pattern[1:] if keeps else pattern
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    expression = _expression(pattern.removeprefix("/"))
    if expression is None:
        return None
    anchored = "/" in pattern
    return keeps, folders_only, expression if anchored else f"(?:.*/)?{expression}"


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    cut = len(line) - len(bare)
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if cut and backslashes % 2 else bare


def _runs(rules: list[_Rule]) -> list[tuple[bool, list[_Rule]]]:
    """Neighbours that say the same, last first: within a run the order does not matter."""
    runs: list[tuple[bool, list[_Rule]]] = []
    for rule in rules:
        if runs and runs[-1][0] == rule[0]:
            runs[-1][1].append(rule)
        else:
            runs.append((rule[0], [rule]))
    return runs[::-1]


def _compiled(run: list[_Rule], *, folders: bool) -> "list[re2.Pattern]":
    expressions = [expression for _, folders_only, expression in run if folders or not folders_only]
    patterns: list[re2.Pattern] = []
    for start in range(0, len(expressions), _AT_ONCE):
        patterns += _tried(expressions[start : start + _AT_ONCE])
    return patterns


def _tried(expressions: list[str]) -> "list[re2.Pattern]":
    """One pattern for all of them; where that is too much for RE2, one each, without those that are still too much."""
    try:
        return [re2.compile("(?s)(?:" + "|".join(expressions) + ")", _QUIETLY)]
    except re2.error:
        if len(expressions) == 1:
            return []
        return [pattern for expression in expressions for pattern in _tried([expression])]


def _expression(pattern: str) -> str | None:
    """git's glob as a regular expression; None for a pattern that fits nothing."""
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        letter = pattern[place]
        if letter == "*":
            found, place = _stars(pattern, place)
        elif letter == "?":
            found, place = "[^/]", place + 1
        elif letter == "[":
            found, place = _bracket(pattern, place)
        elif letter == "\\":
            found, place = (re2.escape(pattern[place + 1]) if place + 1 < len(pattern) else None), place + 2
        else:
            found, place = re2.escape(letter), place + 1
        if found is None:
            return None
        parts.append(found)
    return "".join(parts)


def _stars(pattern: str, start: int) -> tuple[str, int]:
    end = start
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    begins = start == 0 or pattern[start - 1] == "/"
    if end - start == 2 and begins:
        if end == len(pattern):
            return ".*" if start == 0 else ".+", end
        if pattern[end] == "/":
            return "(?:.*/)?", end + 1
    return "[^/]*", end


def _bracket(pattern: str, start: int) -> tuple[str | None, int]:
    place = start + 1
    negated = pattern[place : place + 1] in ("!", "^") and place < len(pattern)
    place += negated
    items: list[str] = []
    first = place
    while place < len(pattern) and (pattern[place] != "]" or place == first):
        item, place = _bracket_item(pattern, place)
        if item is None:
            return None, place
        items.append(item)
    if place >= len(pattern):
        return None, place
    # A bracket never fits a slash, whatever its ranges say: RE2 has no look-ahead, so those that would are left out.
    inside = "".join(items)
    return (f"[^/{inside}]" if negated else f"[{inside}]"), place + 1


def _bracket_item(pattern: str, place: int) -> tuple[str | None, int]:
    if pattern.startswith("[:", place) and (end := pattern.find(":]", place)) > 0:
        name = pattern[place + 2 : end]
        return (f"[:{name}:]" if name in _CLASSES else None), end + 2
    low, place = _bracket_letter(pattern, place)
    if place + 1 < len(pattern) and pattern[place] == "-" and pattern[place + 1] != "]":
        high, place = _bracket_letter(pattern, place + 1)
        return _range(low, high), place
    return _range(low, low), place


def _bracket_letter(pattern: str, place: int) -> tuple[str, int]:
    if pattern[place] == "\\" and place + 1 < len(pattern):
        place += 1
    return pattern[place], place + 1


def _range(low: str, high: str) -> str | None:
    if low > high:
        return None
    pieces = [(low, high)]
    if low <= "/" <= high:
        pieces = [(low, "."), ("0", high)]
    return "".join(rf"\x{{{ord(first):x}}}-\x{{{ord(last):x}}}" for first, last in pieces if first <= last)
