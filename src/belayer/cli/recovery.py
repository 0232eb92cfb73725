"""A step that failed, as a question: what happened, what that means, and what can be done about it. Pure."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from belayer.cli.safe_text import safe_line
from belayer.vocabulary.events.people import InputRequested

# What each way out means. Their first letters differ, so that one letter is an answer.
_MEANS: Mapping[str, str] = {
    "retry": "try again, with the same parameters",
    "edit": "try again, with other parameters",
    "fallback": "use the plan's fallback instead",
    "skip": "go on without it",
    "undo": "take back what the plan has done, then end it",
    "abort": "end the plan now; nothing is taken back",
}


def failure_lines(request: InputRequested) -> Iterator[Text]:
    """The failure for a person to read."""
    yield Text.assemble(("? Failed: ", "bold yellow"), (safe_line(_what(request)), "bold"))
    if request.problem and request.problem.hint:
        yield Text.assemble(("  hint: ", "cyan"), safe_line(request.problem.hint))
    if request.impact:
        yield Text.assemble(("  impact: ", "bright_black"), safe_line(request.impact))
    for choice in request.choices:
        name = safe_line(choice)
        yield Text.assemble((f"  {name[:1]}", "bold cyan"), (f" {name:<9}", "cyan"), _MEANS.get(choice, ""))


def letters(request: InputRequested) -> str:
    """The letters that are answers, for a prompt."""
    return "/".join(choice[:1] for choice in request.choices)


def _what(request: InputRequested) -> str:
    """The prompt, without the parts of it that stand on lines of their own."""
    told = request.prompt.removesuffix(" What now?")
    return told.removesuffix(f" {request.impact}") if request.impact else told
