"""Go back in a session, begin another from it, or give a place a name."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home, SessionPrefix, Yes
from belayer.cli.outcome import tell_status
from belayer.cli.people import confirm
from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.values import unfit_refused
from belayer.cli.wording import brief
from belayer.sessions.record import Record, in_force
from belayer.sessions.state import SessionState, fold
from belayer.vocabulary.commands import Fork, MakeCheckpoint, Rewind
from belayer.vocabulary.errors import Refused
from belayer.vocabulary.events.event import Effect, Status, StepStatus
from belayer.vocabulary.events.people import Responded
from belayer.vocabulary.events.steps import StepChanged

_MOST_LINES = 20
_SEQ_HELP = "The event to go back to; `belayer show ID` has the numbers."


def rewind(
    prefix: SessionPrefix,
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1, help=_SEQ_HELP)],
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Take back everything after an event. The session is paused then, and goes on from there when resumed."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            records = await engine.records(session_id)
            state = fold(session_id, records)
            if seq < state.seq and state.status not in (Status.QUEUED, Status.RUNNING):
                await _be_sure(desk, state, records, seq, yes=yes)
            tell_status(desk, await engine.tell(session_id, Rewind(seq=seq)))
        desk.screen.say(f"Go on from there with: {desk.command('resume', session_id)}")
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def fork(
    prefix: SessionPrefix,
    seq: Annotated[
        int | None,
        typer.Option("--seq", min=1, help="The last event both have in common.", show_default="the last"),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Begin another session that has the same past. It is paused until somebody resumes it."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            origin = await engine.find(prefix)
            session_id = await engine.fork(Fork(session_id=origin, seq=seq))
            tell_status(desk, await engine.state(session_id))
        desk.screen.say(f"Go on with it: {desk.command('resume', session_id)}")
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def checkpoint(
    prefix: SessionPrefix,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call this place.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Give the place where a session is now a name to come back to."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            with unfit_refused():
                command = MakeCheckpoint(name=name)
            state = await engine.tell(session_id, command)
        tell_status(desk, state)
        back = desk.command("rewind", session_id, str(max(state.checkpoints)))
        desk.screen.say(f"Come back to it with: {back}")
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


async def _be_sure(
    desk: Desk, state: SessionState, records: Sequence[Record], seq: int, *, yes: bool
) -> None:
    """Say what would be undone, and have it confirmed."""
    undone = list(_undone([record for record in in_force(records) if record.seq > seq]))
    desk.screen.say(f"Going back to event {seq} of {state.seq} takes back:")
    for line in undone[:_MOST_LINES] or ["  nothing but the session's status"]:
        desk.screen.say(line)
    if len(undone) > _MOST_LINES:
        desk.screen.say(f"  … and {len(undone) - _MOST_LINES} more")
    if yes:
        return
    if not desk.screen.interactive:
        raise Refused(
            "Nobody is here to confirm this. Nothing was changed.", "Add --yes to do it all the same."
        )
    if not await confirm(desk.screen, "Take it back?"):
        raise Refused("Not confirmed. Nothing was changed.")


def _undone(records: Sequence[Record]) -> Iterator[str]:
    for record in records:
        event = record.event()
        if (
            isinstance(event, StepChanged)
            and event.status is StepStatus.COMPLETED
            and event.seconds is not None
        ):
            stays = "" if event.effect is Effect.READ else "  (what it did outside is NOT undone)"
            yield f"  {record.seq:>6}  step {safe_line(event.key)}{stays}"
        elif isinstance(event, Responded):
            said = (
                brief(event.value) if event.approved is None else "approved" if event.approved else "rejected"
            )
            yield f"  {record.seq:>6}  answer {shortened(safe_line(said), 80)}"
