"""Say that a command was carried out, and what the session's status is now."""

from rich.text import Text

from belayer.cli.desk import Desk
from belayer.cli.ending import commands_for
from belayer.cli.safe_text import safe_line
from belayer.cli.wording import STATUS_STYLE, clock_time
from belayer.sessions.state import SessionState
from belayer.sessions.view import view


def tell_status(desk: Desk, state: SessionState) -> None:
    """The new status in a line, or the session as JSON."""
    desk.screen.answer(view(state).model_dump(mode="json") | {"next": commands_for(desk, state)})
    line = Text.assemble(
        (state.id, "bright_black"),
        "  ",
        (state.status.value, STATUS_STYLE[state.status]),
        f"  {safe_line(state.title)}",
    )
    if state.after_pause is not None:
        line.append(f"  (it will {state.after_pause.then} at {clock_time(state.after_pause.at)})", "yellow")
    desk.screen.say(line)
