"""Stop a session: pause it, interrupt its step, cancel it for good."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Literal

import typer

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home, Reason, SessionPrefix
from belayer.cli.outcome import tell_status
from belayer.cli.values import unfit_refused
from belayer.vocabulary.commands import Cancel, Command, Interrupt, Pause

Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS", min=0.001, help="End the pause after so long.", show_default=False
    ),
]
Then = Annotated[Literal["resume", "cancel"], typer.Option("--then", help="What happens after the timeout.")]


def pause(
    prefix: SessionPrefix,
    timeout: Timeout = None,
    then: Then = "resume",
    reason: Reason = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Let a session begin nothing new; its current step ends first."""
    ends = None if timeout is None else timedelta(seconds=timeout)
    _say(prefix, lambda: Pause(reason=reason, timeout=ends, then=then), home, as_json)


def interrupt(
    prefix: SessionPrefix, reason: Reason = None, as_json: AsJson = False, home: Home = None
) -> None:
    """Stop a session's current step now; it can be resumed."""
    _say(prefix, lambda: Interrupt(reason=reason), home, as_json)


def cancel(prefix: SessionPrefix, reason: Reason = None, as_json: AsJson = False, home: Home = None) -> None:
    """End a session for good."""
    _say(prefix, lambda: Cancel(reason=reason), home, as_json)


def _say(prefix: str, command: Callable[[], Command], home: Home, as_json: bool) -> None:
    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            with unfit_refused():
                asked = command()
            tell_status(desk, await engine.tell(session_id, asked))
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)
