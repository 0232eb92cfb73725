"""What a change would do to a file, for a person to look at before it is made."""

from difflib import unified_diff

from belayer.tools.texts import text_of
from belayer.vocabulary.errors import NotAFile, TooLarge
from belayer.workspace.root import Root

_MOST_LINES = 400
_LONGEST_LINE = 500
# Beyond so many lines a diff is not looked for: it takes time with the square of them.
_MOST_COMPARED = 2_000


def difference(root: Root, path: str, after: str) -> str:
    """What a change would do to a file, as a diff; of what is there and is no text, only the size is told."""
    entry = root.look(path)
    before, head = "", list[str]()
    try:
        before = text_of(root.read(path), path) if entry else ""
    except (NotAFile, TooLarge):
        if entry is None or entry.kind != "file":
            raise
        head = [f"{entry.size:,} bytes that cannot be shown as text are replaced by:"]
    changed = _diff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    lines = [*head, f"--- {path if entry else '/dev/null'}", f"+++ {path}", *changed]
    more = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return "\n".join([*map(_cut, lines[:_MOST_LINES]), *more])


def _diff(before: list[str], after: list[str]) -> list[str]:
    """The changed lines. Where there are too many to compare: what is neither the same beginning nor the same end."""
    if len(before) + len(after) <= _MOST_COMPARED:
        return [line.rstrip("\n") for line in unified_diff(before, after)][2:]
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    head = f"@@ -{start + 1},{len(gone)} +{start + 1},{len(come)} @@"
    return [
        line.rstrip("\n") for line in (head, *(f"-{line}" for line in gone), *(f"+{line}" for line in come))
    ]


def _same(one: list[str], other: list[str]) -> int:
    """How many lines the two have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _cut(line: str) -> str:
    rest = len(line) - _LONGEST_LINE
    return f"{line[:_LONGEST_LINE]}… {rest} more characters" if rest > 0 else line
