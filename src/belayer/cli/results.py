"""What a plan came to, for a person: how its steps ended, what it gave. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import cast

from rich.text import Text

from belayer.cli.calls import barred
from belayer.cli.safe_text import safe_line
from belayer.cli.wording import pretty
from belayer.vocabulary.events.event import Json

_MOST_LINES = 12
_LONGEST_LINE = 1_000
_MOST_NAMES = 20
_MOST_OUTPUTS = 8


def result_lines(result: Json, see_all: str | None) -> Iterator[Text]:
    """A plan's result; what is long is cut if there is another place to see all of it."""
    shape = result if isinstance(result, dict) else {}
    counts = Counter(str(status) for status in _object(shape.get("steps")).values())
    yield Text("  " + ", ".join(f"{count} {safe_line(status)}" for status, count in counts.items()))
    for word, style in (("failed", "red"), ("skipped", "bright_black")):
        for step, why in list(_object(shape.get(word)).items())[:_MOST_NAMES]:
            yield Text(f"  {word}: {safe_line(step)}: {safe_line(str(why))}", style=style)
    outputs = list(_object(shape.get("outputs")).items())
    for step, output in outputs[:_MOST_OUTPUTS] if see_all else outputs:
        yield Text(f"  {safe_line(step)} gave:", style="bright_black")
        yield from _output(pretty(output), see_all)
    if see_all and len(outputs) > _MOST_OUTPUTS:
        yield Text(f"  … {len(outputs) - _MOST_OUTPUTS} more; all of them: {see_all}", style="yellow")


def _output(text: str, see_all: str | None) -> Iterator[Text]:
    lines = text.split("\n")
    if see_all is None:
        yield from barred(text)
        return
    shown = [line[:_LONGEST_LINE] for line in lines[:_MOST_LINES]]
    yield from barred("\n".join(shown))
    if shown != lines:
        yield Text(f"  … cut; all of it: {see_all}", style="yellow")


def _object(value: Json) -> dict[str, Json]:
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}
