"""Tools on the screen: all of them in a table, or one with everything it takes. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from rich.table import Table
from rich.text import Text

from belayer.cli.safe_text import safe_line
from belayer.cli.wording import counted, duration
from belayer.tools.toolbox import Toolbox
from belayer.tools.view import ToolView
from belayer.vocabulary.events.event import Json

_EFFECTS = {"read": "green", "write": "yellow", "external": "red"}
# What a required parameter may look like, where its type alone would not tell.
_EXAMPLES: Mapping[str, Json] = {
    "url": "https://example.org/",
    "path": "notes.txt",
    "source": "old.txt",
    "code.source": "return 1",
    "target": "new.txt",
    "prompt": "Which one?",
    "to": ["ada@example.org"],
    "seconds": 60,
}


def tool_table(views: Sequence[ToolView]) -> Table:
    """One line per tool."""
    table = Table(box=None, header_style="bright_black", pad_edge=False)
    table.add_column("TOOL", no_wrap=True)
    table.add_column("WHAT IT DOES", overflow="fold", ratio=1, max_width=60)
    for name in ("EFFECT", "HEALTH", "BREAKER"):
        table.add_column(name, no_wrap=True, overflow="ellipsis", max_width=24)
    for name in ("CALLS", "SUCCESS", "P50", "P95"):
        table.add_column(name, no_wrap=True, justify="right")
    for view in views:
        table.add_row(
            Text(safe_line(view.name), style="bold"),
            Text(safe_line(view.about)),
            Text(view.effect.value, style=_EFFECTS[view.effect.value]),
            Text(safe_line(view.health), style="green" if view.health == "ok" else "bold red"),
            Text(view.breaker, style="green" if view.breaker == "closed" else "bold red"),
            *_numbers(view),
        )
    return table


def tool_page(view: ToolView, toolbox: Toolbox) -> Iterator[Text]:
    """Everything about one tool."""
    yield Text.assemble((safe_line(view.name), "bold"), f"  {safe_line(view.about)}")
    again = "may be done again without harm" if view.idempotent else "is done once"
    yield _fact("effect", f"{view.effect.value}, {again}")
    yield _fact("timeout", duration(view.timeout))
    yield _fact("health", view.health)
    yield _fact("breaker", view.breaker)
    yield _fact("past", _past(view))
    yield Text("Parameters:", style="bright_black")
    yield from _parameters(view.parameters)
    yield Text("In a plan:", style="bright_black")
    for line in example_step(view, toolbox).split("\n"):
        yield Text(f"  {safe_line(line)}", style="cyan")


def example_step(view: ToolView, toolbox: Toolbox) -> str:
    """A step that could stand in a plan."""
    params = json.dumps(_example(view, toolbox), ensure_ascii=False)
    return f"- id: {view.name.rpartition('.')[2]}\n  tool: {view.name}\n  params: {params}"


def _example(view: ToolView, toolbox: Toolbox) -> dict[str, Json]:
    """What has to be given; and where that is not enough, the first of the others that makes it so."""
    fields = _properties(view.parameters)
    needed = cast("list[str]", view.parameters.get("required", []))
    given = {name: _EXAMPLES.get(f"{view.name}.{name}") or _value(name, fields[name]) for name in needed}
    others = [{}, *({name: _value(name, field)} for name, field in fields.items() if name not in given)]
    tries = [{**given, **more} for more in others]
    return next((one for one in tries if not toolbox.problems(view.name, one)), given)


def _value(name: str, field: Mapping[str, Any]) -> Json:
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    kinds = [field, *field.get("anyOf", [])]
    if any(kind.get("enum") for kind in kinds):
        return next(kind["enum"][0] for kind in kinds if kind.get("enum"))
    kind = next((str(kind["type"]) for kind in kinds if kind.get("type") not in (None, "null")), "string")
    values: dict[str, Json] = {"string": "…", "integer": 1, "number": 1.5, "boolean": True, "array": []}
    return values.get(kind, {})


def _parameters(schema: Mapping[str, Any]) -> Iterator[Text]:
    needed = schema.get("required", [])
    for name, field in _properties(schema).items():
        default = f", else {json.dumps(field['default'], ensure_ascii=False)}" if "default" in field else ""
        kind = f"{_kind(field)}, {'needed' if name in needed else 'optional'}{default}"
        about = f"  {field['description']}" if field.get("description") else ""
        yield Text.assemble((f"  {safe_line(name)}", "bold"), f" ({safe_line(kind)}){safe_line(about)}")
    if not _properties(schema):
        yield Text("  none")


def _kind(field: Mapping[str, Any]) -> str:
    if field.get("enum"):
        return " | ".join(map(str, field["enum"]))
    if field.get("anyOf"):
        return " or ".join(_kind(one) for one in field["anyOf"])
    limits = [
        f"{word} {field[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"), ("format", "as"))
        if key in field
    ]
    return " ".join([str(field.get("type", "anything")), *limits])


def _properties(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", schema.get("properties", {}))


def _past(view: ToolView) -> str:
    calls, success, p50, p95 = _numbers(view)
    if calls == "0":
        return "never called"
    times = f", half within {p50}, 95 % within {p95}" if p50 else ""
    return f"{counted(int(calls), 'call')}, success {success}{times}"


def _numbers(view: ToolView) -> tuple[str, str, str, str]:
    past = view.metrics
    if past is None or not past.calls:
        return "0", "", "", ""
    rate = f"{100 * past.success_rate:.0f} %" if past.success_rate is not None else "?"
    times = ["" if seconds is None else duration(seconds) for seconds in (past.p50, past.p95)]
    return str(past.calls), rate, times[0], times[1]


def _fact(name: str, text: str) -> Text:
    return Text.assemble((f"{name + ':':<9}", "bright_black"), safe_line(text))
