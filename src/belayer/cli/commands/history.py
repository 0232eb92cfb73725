"""Go back in a session, begin another from it, or give a place a name."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home, SessionPrefix, Yes
from belayer.cli.outcome import tell_status
from belayer.cli.people import be_sure
from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.values import unfit_refused
from belayer.cli.wording import brief
from belayer.sessions.record import Record, in_force
from belayer.sessions.state import SessionState, fold
from belayer.vocabulary.commands import Fork, MakeCheckpoint, Rewind
from belayer.vocabulary.events.event import Effect, Status, StepStatus
from belayer.vocabulary.events.people import Responded
from belayer.vocabulary.events.steps import StepChanged
from belayer.workspace.plan import Change

_MOST_LINES = 20
_SEQ_HELP = "The event to go back to; `belayer show ID` has the numbers."


def rewind(
    prefix: SessionPrefix,
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1, help=_SEQ_HELP)],
    no_files: Annotated[
        bool, typer.Option("--no-files", help="Leave the files of the workspace as they are.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Take back everything after an event, files too. The session is paused then; resumed, it goes on from there."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            records = await engine.records(session_id)
            state = fold(session_id, records)
            if seq < state.seq and state.status not in (Status.QUEUED, Status.RUNNING):
                changes = None if no_files else await engine.files_after(session_id, seq)
                _tell_undone(desk, state, records, seq, changes)
                await be_sure(desk, "Take it back?", yes=yes)
            tell_status(desk, await engine.tell(session_id, Rewind(seq=seq, files=not no_files)))
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


def _tell_undone(
    desk: Desk, state: SessionState, records: Sequence[Record], seq: int, changes: Sequence[Change] | None
) -> None:
    """Say what would be taken back, and what becomes of the files; `changes` is None when they stay as they are."""
    left_behind = [record for record in in_force(records) if record.seq > seq]
    desk.screen.say(f"Going back to event {seq} of {state.seq} takes back:")
    undone = list(_undone(left_behind, files=changes is not None))
    _tell_some(desk, undone or ["  nothing but the session's status"])
    if state.workspace is None:
        return
    if changes is None:
        desk.screen.say("The files of the workspace stay as they are.")
    elif changes:
        desk.screen.say(f"In the workspace {safe_line(state.workspace)} it changes:")
        _tell_some(desk, [_change_line(change) for change in changes])
    else:
        desk.screen.say("No file of the workspace changes.")


def _tell_some(desk: Desk, lines: Sequence[str]) -> None:
    for line in lines[:_MOST_LINES]:
        desk.screen.say(line)
    if len(lines) > _MOST_LINES:
        desk.screen.say(f"  … and {len(lines) - _MOST_LINES} more")


def _change_line(change: Change) -> str:
    word = {"write": "bring back", "delete": "delete", "skip": "leave"}[change.kind]
    return f"  {word:<10}  {safe_line(change.path)}{f'  ({safe_line(change.why)})' if change.why else ''}"


def _undone(records: Sequence[Record], *, files: bool) -> Iterator[str]:
    for record in records:
        event = record.event()
        if (
            isinstance(event, StepChanged)
            and event.status is StepStatus.COMPLETED
            and event.seconds is not None
        ):
            yield f"  {record.seq:>6}  step {safe_line(event.key)}{_what_stays(event, files=files)}"
        elif isinstance(event, Responded):
            said = (
                brief(event.value) if event.approved is None else "approved" if event.approved else "rejected"
            )
            yield f"  {record.seq:>6}  answer {shortened(safe_line(said), 80)}"


def _what_stays(event: StepChanged, *, files: bool) -> str:
    if event.effect is Effect.READ:
        return ""
    if event.effect is Effect.WRITE and event.workspace is not None:
        return "  (its files are brought back)" if files else "  (its files stay as they are)"
    return "  (what it did outside is NOT undone)"
