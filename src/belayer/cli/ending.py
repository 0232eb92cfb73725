"""Say how a session stands now that it rests: its result, its failure, or what it needs and how to give it."""

from typing import Any

from rich.text import Text

from belayer.cli.desk import Desk
from belayer.cli.reading import asked_now, shown_by
from belayer.cli.requests import how_to_answer, shown_lines
from belayer.cli.results import result_lines
from belayer.cli.safe_text import safe_block, safe_line
from belayer.cli.targets import PLAN
from belayer.cli.wording import duration, pretty
from belayer.sessions.state import SessionState
from belayer.sessions.view import view
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.events.people import ApprovalRequested


async def tell_ending(desk: Desk, state: SessionState, *, asked: bool = False, full: bool = False) -> None:
    """For a person in words, for a script as JSON. What the person was `asked` just now is not shown again."""
    if desk.screen.as_json:
        desk.screen.answer(await as_json(desk, state))
        return
    match state.status:
        case Status.COMPLETED:
            _completed(desk, state, full=full)
        case Status.FAILED | Status.CANCELLED:
            _failed(desk, state)
        case _:
            await _needs(desk, state, asked=asked, full=full)


async def as_json(desk: Desk, state: SessionState) -> dict[str, Any]:
    """The session as every client gets it, its large values in place, with the commands that may come next."""
    shape = view(state).model_dump(mode="json")
    shape["result"] = state.result
    for request, shown in zip(state.pending.values(), shape["pending"], strict=True):
        if isinstance(request, ApprovalRequested):
            shown["shown"] = await shown_by(desk.home, request)
    shape["next"] = commands_for(desk, state)
    return shape


def commands_for(desk: Desk, state: SessionState) -> list[str]:
    """What a person may type to bring the session on."""
    asked = [line for request in state.pending.values() for line in how_to_answer(desk, state, request)]
    if state.status in FINAL:
        return []
    if state.status is Status.WAITING and asked:
        return asked
    return [*asked, desk.command("resume", state.id)]


async def tell_requests(desk: Desk, state: SessionState, *, full: bool = False) -> None:
    """Everything that the session asks."""
    for request in state.pending.values():
        for line in shown_lines(await asked_now(desk, state, request), full=full):
            desk.screen.say(line)


def _completed(desk: Desk, state: SessionState, *, full: bool) -> None:
    took = ""
    if state.created_at and state.updated_at:
        took = f" in {duration((state.updated_at - state.created_at).total_seconds())}"
    desk.screen.say(Text.assemble(("✓ ", "bold green"), f"Completed{took}."))
    if state.workflow == PLAN:
        see_all = None if full else desk.command("show", state.id, "--full")
        for line in result_lines(state.result, see_all):
            desk.screen.say(line)
    elif state.result is not None or state.result_aside:
        desk.screen.say(pretty(state.result))


def _failed(desk: Desk, state: SessionState) -> None:
    word = "Failed" if state.status is Status.FAILED else "Cancelled"
    detail = state.problem.detail if state.problem else state.reason
    told = f"{word}: {safe_block(detail)}" if detail else f"{word}."
    desk.screen.say(Text.assemble(("✗ ", "bold red"), told))
    if state.problem and state.problem.hint:
        desk.screen.say(Text.assemble(("  hint: ", "cyan"), safe_block(state.problem.hint)))
    steps = [step for step in state.steps.values() if step.status == "completed"]
    if steps:
        back = desk.command("rewind", state.id, str(steps[-1].seq))
        desk.screen.say(Text.assemble(("  back to the last good step: ", "bright_black"), back))


async def _needs(desk: Desk, state: SessionState, *, asked: bool, full: bool) -> None:
    screen = desk.screen
    if state.status is not Status.WAITING or not state.pending:
        why = f": {safe_block(state.reason)}" if state.reason else ""
        screen.say(Text.assemble(("‖ ", "bold yellow"), f"The session is {state.status}{why}"))
    if state.problem and state.problem.hint:
        screen.say(Text.assemble(("  hint: ", "cyan"), safe_block(state.problem.hint)))
    if not asked:
        await tell_requests(desk, state, full=full)
    screen.say("Go on with:")
    for line in commands_for(desk, state):
        screen.say(f"  {safe_line(line)}", style="cyan")
