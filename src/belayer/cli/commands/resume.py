"""Take sessions up again: those that were stopped, and those whose process died."""

import asyncio
from contextlib import aclosing
from typing import Annotated

import typer

from belayer.cli.company import drive_on, rests
from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit, exit_for
from belayer.cli.options import AsJson, Detach, Home, NoInput, Reason
from belayer.cli.outcome import tell_status
from belayer.cli.reading import is_driven
from belayer.cli.safe_text import safe_line
from belayer.cli.targets import Code, code_named
from belayer.cli.values import unfit_refused
from belayer.engine import Engine
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Wanted
from belayer.vocabulary.commands import Resume
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.ids import SessionId

# A session in one of these goes on as soon as somebody drives it; no command is needed, or possible.
_READY = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING})
_MOST = 10_000


def resume(
    prefix: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="The session's id, or the beginning of it.", show_default=False),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Take up every unfinished session; those paused or interrupted stay so."),
    ] = False,
    reason: Reason = None,
    detach: Detach = False,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Go on with a session that was paused, interrupted or expired, or whose process died."""
    if (prefix is None) == (not everything):
        raise typer.BadParameter("Give a session's ID, or --all.")

    async def work(desk: Desk) -> int:
        if prefix is None:
            return await _resume_all(desk)
        return await _resume(desk, prefix, reason, detach=detach)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


async def _resume(desk: Desk, prefix: str, reason: str | None, *, detach: bool) -> int:
    async with desk.engine() as engine:
        session_id = await engine.find(prefix)
        state = await engine.state(session_id)
        after = state.seq
        driven = is_driven(desk.home, await engine.row(session_id))
        followed = detach or driven or state.status in FINAL
        code = None if followed else code_named(state.workflow, desk.home)
        if state.status not in _READY:
            with unfit_refused():
                command = Resume(reason=reason)
            state = await engine.tell(session_id, command)
    if detach:
        tell_status(desk, state)
        return Exit.DONE
    return await drive_on(desk, session_id, code, after=after)


async def _resume_all(desk: Desk) -> int:
    async with desk.engine() as engine:
        rows = [
            row for row in await engine.sessions(Wanted(statuses=_READY, limit=_MOST)) if _to_drive(desk, row)
        ]
    known = _loaded(desk, {row.workflow for row in rows})
    chosen = {row.id for row in rows if row.workflow in known}
    workflows = [workflow for code in known.values() for workflow in code]
    desk.when_stopped = f"Stopped. The sessions are kept; go on with: {desk.command('resume', '--all')}"
    endings: dict[SessionId, Status] = {}
    async with desk.engine(set(chosen), *workflows) as engine, asyncio.TaskGroup() as group:
        for row in rows:
            if row.id in chosen:
                group.create_task(_see_through(desk, engine, row, endings))
    desk.screen.say(f"{len(endings)} of {len(rows)} unfinished sessions were taken up.")
    desk.screen.answer(
        {"sessions": [{"session_id": id_, "status": status} for id_, status in endings.items()]}
    )
    return _worst(endings)


def _to_drive(desk: Desk, row: SessionRow) -> bool:
    """Whether there is something to drive and nobody who does."""
    return not is_driven(desk.home, row) and (row.status is not Status.WAITING or row.wake_at is not None)


def _loaded(desk: Desk, names: set[str]) -> dict[str, Code]:
    """The code that can be loaded here, by workflow; the sessions of others are left alone."""
    found: dict[str, Code] = {}
    for name in sorted(names):
        try:
            found[name] = code_named(name, desk.home)
        except BelayerError as error:
            desk.screen.warn(f"Sessions of the workflow {name} are left alone: {error.detail}")
    return found


async def _see_through(desk: Desk, engine: Engine, row: SessionRow, endings: dict[SessionId, Status]) -> None:
    try:
        known = (await engine.state(row.id)).seq
        async with aclosing(engine.watch(row.id)) as frames:
            async for state, _ in frames:
                if state.seq >= known and rests(state):
                    endings[row.id] = state.status
                    desk.screen.say(f"{row.id}  {state.status:<11}  {safe_line(state.title)}")
                    return
    except BelayerError as error:
        endings[row.id] = Status.FAILED
        desk.screen.warn(f"{row.id}: {error.detail}")


def _worst(endings: dict[SessionId, Status]) -> int:
    codes = {exit_for(status) for status in endings.values()}
    return next((code for code in (Exit.FAILED, Exit.WAITING) if code in codes), Exit.DONE)
