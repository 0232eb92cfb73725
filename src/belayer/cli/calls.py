"""A tool's call that waits for approval, as text: exactly what would be done, and nothing in it that hides. Pure.

What is too long for a person to take in is cut, and says how much is missing, its digest, and where all of it is.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import cast

from rich.text import Text

from belayer.cli.safe_text import safe_block, safe_line
from belayer.cli.wording import pretty
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested

_MOST_LINES = 15
_MOST_CHARACTERS = 1_000
_MOST_DIFF_LINES = 60
_LONGEST_NAME = 300
_LATIN = "LATIN"
# The alphabets whose letters can pass for Latin ones.
_ALIKE = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "FULLWIDTH", "MATHEMATICAL")
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan", "…": "yellow"}


def is_call(request: ApprovalRequested, shown: Json) -> bool:
    """Whether a rule, and not the workflow itself, asks for this approval."""
    return request.key.startswith("#gate/") and isinstance(shown, dict) and "tool" in shown


def call_lines(request: ApprovalRequested, shown: Mapping[str, Json], see_all: str | None) -> Iterator[Text]:
    """The call for a person to read; whole if there is no other place to see all of it."""
    yield _fact("tool", f"{shown.get('tool')} (effect: {shown.get('effect')})")
    if request.risk is not None:
        yield _fact("risk", request.risk.value, "bold red" if request.risk == "high" else "yellow")
    yield _fact("why", request.why or "")
    yield _fact("parameters", "")
    given = shown.get("params")
    for name, value in (given if isinstance(given, dict) else {"params": given}).items():
        yield from _param(name, value, see_all)
    if shown.get("preview") is not None:
        yield _fact("what would change", "")
        yield from _diff(pretty(shown["preview"]), see_all)
    touched = shown.get("targets")
    for path, digest in cast("dict[str, Json]", touched if isinstance(touched, dict) else {}).items():
        yield _fact("touches", f"{path} ({f'sha256 {digest}' if digest else 'not there yet'})")
    if request.offers is not None:
        yield _fact("always", f"would mean, in this session: {request.offers.in_words()}")


def barred(text: str, style: str = "") -> Iterator[Text]:
    """A safe text with a bar before every line: it cannot pose as ours."""
    for line in text.split("\n"):
        yield Text.assemble(("  │ ", "bright_black"), (line, style))


def look_alikes(text: str) -> str | None:
    """The letters of another alphabet in a name that also has Latin ones, by their names."""
    kinds = {letter: unicodedata.name(letter, "").split(" ")[0] for letter in text if letter.isalpha()}
    strange = [letter for letter, kind in kinds.items() if kind in _ALIKE]
    if not strange or _LATIN not in kinds.values():
        return None
    return ", ".join(f"{unicodedata.name(letter)} <U+{ord(letter):04X}>" for letter in strange[:5])


def _param(name: str, value: Json, see_all: str | None) -> Iterator[Text]:
    """A value on one line as JSON has it; a long text as a block with a bar of its own."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= _LONGEST_NAME and "\n" not in text:
        yield from barred(safe_line(f"{name}: {json.dumps(value, ensure_ascii=False)}"))
        if strange := _mixed(text):
            yield _warning(f"letters that look like others: {strange}")
        return
    yield from barred(safe_line(f"{name}:"))
    shown = _beginning(text) if see_all else text
    for line in safe_block(shown).split("\n"):
        yield from barred(f"  │ {line}")
    if len(shown) < len(text):
        digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
        yield _warning(f"cut: it has {len(text):,} characters, sha256 {digest}; all of it: {see_all}")


def _mixed(text: str) -> str | None:
    """Look-alikes within one word; an address counts as a word."""
    return next((found for word in re.split(r"\s+", text) if (found := look_alikes(word))), None)


def _beginning(text: str) -> str:
    lines = text[:_MOST_CHARACTERS].split("\n")
    return "\n".join(lines[:_MOST_LINES])


def _diff(text: str, see_all: str | None) -> Iterator[Text]:
    lines = text.split("\n")
    shown = lines[:_MOST_DIFF_LINES] if see_all else lines
    for line in shown:
        yield from barred(line, _DIFF_STYLES.get(line[:1], ""))
    if len(shown) < len(lines):
        yield _warning(f"cut: there are {len(lines) - len(shown):,} more lines; all of them: {see_all}")


def _fact(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"  {safe_line(name)}: ", "bright_black"), (safe_line(text), style))


def _warning(text: str) -> Text:
    return Text(f"  ! {text}", style="yellow")
