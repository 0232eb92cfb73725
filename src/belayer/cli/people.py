"""Questions at the terminal: show what a session asks, read what the person types, and let them leave it for later.

Reads without blocking, so that the session may go on (or be answered elsewhere) while the person thinks.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import cast

from rich.text import Text

from belayer.cli.calls import barred
from belayer.cli.desk import Desk
from belayer.cli.recovery import letters
from belayer.cli.requests import Asked, shown_lines
from belayer.cli.safe_text import safe_line
from belayer.cli.screen import Screen
from belayer.cli.values import answer_from, changes_from, field_from
from belayer.cli.wording import pretty
from belayer.vocabulary.commands import Answer, Approve, Command, Reject
from belayer.vocabulary.errors import Refused
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested

_MOST_BYTES = 65_536


class Later(Exception):
    """The person does not want to answer now."""


async def decide_at(screen: Screen, asked: Asked) -> Command:
    """What the person says to the request; Later if they would rather not say it now."""
    for line in shown_lines(asked):
        screen.say(line)
    request = asked.request
    if isinstance(request, ApprovalRequested):
        return await _decision(screen, asked, request)
    return Answer(request_id=request.request_id, value=await ask(screen, asked, request))


async def ask(screen: Screen, asked: Asked, request: InputRequested) -> Json:
    """The answer to a question whose prompt is on the screen."""
    if request.kind == "form":
        return await _form(screen, request)
    if request.purpose == "failure":
        return await _recovery(screen, asked, request)
    hints = {"confirm": "y/n", "choice": f"1-{len(request.choices)}", "file": "file name", "text": ""}
    return answer_from(request, await _line(screen, hints[request.kind]))


async def be_sure(desk: Desk, question: str, *, yes: bool) -> None:
    """Return if the person says yes, or has said it before; else it is refused, and nothing is changed."""
    if yes:
        return
    if not desk.screen.interactive:
        raise Refused(
            "Nobody is here to confirm this. Nothing was changed.", "Add --yes to do it all the same."
        )
    desk.screen.say(Text(question, style="bold"))
    try:
        sure = (await _line(desk.screen, "y/n")).strip().lower() in ("y", "yes")
    except Later:
        sure = False
    if not sure:
        raise Refused("Not confirmed. Nothing was changed.")


async def _decision(screen: Screen, asked: Asked, request: ApprovalRequested) -> Command:
    is_cut = list(shown_lines(asked)) != list(shown_lines(asked, full=True))
    offered = "always in this session / " if request.offers else ""
    hint = f"approve / reject / {offered}{'show all / ' if is_cut else ''}later"
    while True:
        word = (await _line(screen, hint)).strip().lower()
        match word:
            case "approve" | "a" | "y" | "yes":
                return Approve(request_id=request.request_id, digest=request.digest)
            case "always" | "always in this session" if request.offers:
                return Approve(request_id=request.request_id, digest=request.digest, remember="session")
            case "reject" | "r" | "n" | "no":
                screen.say("Why not? (Enter for no reason)")
                reason = (await _typed(screen, "> ")).strip()
                return Reject(request_id=request.request_id, digest=request.digest, reason=reason or None)
            case "show all" | "show" | "s" | "all":
                for line in shown_lines(asked, full=True):
                    screen.say(line)
            case "later" | "l":
                raise Later
            case _:
                screen.say(f"Say one of: {hint}.")


async def _recovery(screen: Screen, asked: Asked, request: InputRequested) -> Json:
    """What to do about a failure; to edit means to say the parameters too."""
    while True:
        choice = answer_from(request, await _line(screen, letters(request)))
        if choice != "edit":
            return choice
        params = await _edited(screen, asked.params or {})
        if params is not None:
            return {"choice": "edit", "params": params}


async def _edited(screen: Screen, params: dict[str, Json]) -> dict[str, Json] | None:
    """The parameters as the person wants them; None if nothing was changed."""
    screen.say("The parameters now:")
    for line in barred(pretty(params)):
        screen.say(line)
    screen.say("Change one with NAME=VALUE, or give all of them as a JSON object. An empty line ends it.")
    changed = dict(params)
    while text := (await _typed(screen, "  > ")).strip():
        try:
            changed = changes_from(text, changed)
        except ValueError as error:
            screen.say(f"  {safe_line(str(error))}")
    return None if changed == params else changed


async def _form(screen: Screen, request: InputRequested) -> Json:
    schema = request.form or {}
    fields = cast("dict[str, dict[str, Json]]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    filled: dict[str, Json] = {}
    for name, field in fields.items():
        text = await _field(screen, name, field, needed=name in required and "default" not in field)
        if text:
            filled[name] = field_from(field, text)
        elif "default" in field:
            filled[name] = field["default"]
    return filled


async def _field(screen: Screen, name: str, field: dict[str, Json], *, needed: bool) -> str:
    about = safe_line(str(field.get("description", "")))
    options = cast("list[Json]", field.get("enum", []))
    hints = [safe_line(str(field.get("type", ""))), " | ".join(safe_line(str(option)) for option in options)]
    hints += [f"Enter for {safe_line(str(field['default']))}"] if "default" in field else []
    hints += [] if needed or "default" in field else ["may stay empty"]
    label = f"{safe_line(str(field.get('title', name)))}{f' ({about})' if about else ''}"
    screen.say(f"  {label} [{', '.join(hint for hint in hints if hint)}]")
    while True:
        text = (await _typed(screen, "  > ")).strip()
        if text or not needed:
            return text


async def _line(screen: Screen, hint: str) -> str:
    """A line that is not empty; an empty one means later."""
    text = await _typed(screen, f"{f'[{hint}] ' if hint else ''}(Enter for later) > ")
    if not text.strip():
        raise Later
    return text


async def _typed(screen: Screen, prompt: str) -> str:
    """The next line from the terminal, without its end; Later at the end of input."""
    screen.out.print(Text(prompt, style="bold cyan"), end="", soft_wrap=True)
    screen.out.file.flush()
    text = await _next_line(sys.stdin.fileno())
    if not text:
        screen.say()
        raise Later
    return text.rstrip("\n")


async def _next_line(descriptor: int) -> str:
    """A terminal gives one whole line at a time, so one read is enough."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _once(ready))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST_BYTES).decode(errors="replace")


def _once(ready: asyncio.Future[None]) -> Callable[[], None]:
    return lambda: None if ready.done() else ready.set_result(None)
