"""Find text in the files of a workspace: bounded, in lines, and never in a time that grows faster than the text."""

from collections.abc import Callable, Iterator
from itertools import islice

import re2

from belayer.execution.policy import Reach
from belayer.execution.step import may_reach
from belayer.tools.texts import lines_of, text_of
from belayer.vocabulary.errors import (
    AccessDenied,
    ConfigurationError,
    LogicError,
    PathMissing,
    ResourceShort,
)
from belayer.vocabulary.events.event import Json
from belayer.workspace.names import shown
from belayer.workspace.root import Entry, Listing, Root

EVERY_LEVEL = 1_000
_LARGEST_SEARCHED = 2_000_000
_MOST_SEARCHED = 200_000_000
_LONGEST_LINE = 500

# What RE2 says of a bad pattern goes to whoever asked, not to the terminal.
_QUIETLY = re2.Options()
_QUIETLY.log_errors = False


def matching(text: str, *, regex: bool) -> Callable[[str], object]:
    """Whether a line is one that is looked for. RE2: no expression takes longer than its line is long."""
    if not regex:
        return lambda line: text in line
    try:
        pattern = re2.compile(text, _QUIETLY)
    except re2.error as error:
        why = error.args[0].decode(errors="replace")
        raise ConfigurationError(
            f"{text!r} is no regular expression that can be searched for: {shown(why)}.",
            "Use RE2 syntax (no look-around or back-references), or leave `regex` out.",
        ) from error
    return pattern.search


def found_in(root: Root, path: str, matches: Callable[[str], object], most: int) -> Json:
    """The matching lines of all files at and below the path; what the rules do not let one read is skipped."""
    listing = _searched(root, path)
    found: list[Json] = []
    skipped, left = 0, _MOST_SEARCHED
    for entry in listing.entries:
        if entry.kind != "file":
            continue
        text = _searchable(root, entry) if left > 0 else None
        left -= entry.size
        skipped += text is None
        found += islice(_hits(entry.path, text or "", matches), most + 1 - len(found))
        if len(found) > most:
            return {"matches": found[:most], "truncated": True, "skipped": skipped}
    return {"matches": found, "truncated": listing.truncated, "skipped": skipped}


def _searched(root: Root, path: str) -> Listing:
    entry = root.look(path)
    if entry is not None and entry.kind == "file":
        return Listing([entry], truncated=False)
    return root.entries(path, EVERY_LEVEL)


def _searchable(root: Root, entry: Entry) -> str | None:
    """The file's text; None for what is too large, no text, or may not be read."""
    if entry.size > _LARGEST_SEARCHED or not may_reach(Reach(paths=(entry.path,))):
        return None
    try:
        return text_of(root.read(entry.path), entry.path)
    except (LogicError, PathMissing, AccessDenied, ResourceShort):
        return None


def _hits(path: str, text: str, matches: Callable[[str], object]) -> Iterator[Json]:
    for number, line in enumerate(lines_of(text), 1):
        if matches(line := line.rstrip("\r\n")):
            yield {"path": path, "line": number, "text": line[:_LONGEST_LINE]}
