"""Look at sessions: the list, one of them, or one as it goes."""

import json
from contextlib import aclosing
from typing import Annotated

import typer

from belayer.cli.company import Company, rests
from belayer.cli.desk import Desk, carry_out
from belayer.cli.ending import as_json as session_as_json
from belayer.cli.ending import tell_ending
from belayer.cli.exits import Exit, exit_for
from belayer.cli.listing import list_table, row_as_json, short_ids
from belayer.cli.options import AsJson, Home, SessionPrefix
from belayer.cli.reading import is_driven
from belayer.cli.showing import draw_session, event_lines
from belayer.cli.tellers import WireTeller
from belayer.engine import Engine
from belayer.sessions.store import Wanted
from belayer.vocabulary.events.event import Mode, Status
from belayer.vocabulary.ids import SessionId

After = Annotated[int, typer.Option("--after", min=0, metavar="SEQ", help="Only events after this one.")]


def ls(
    status: Annotated[
        list[Status] | None, typer.Option("--status", help="Only with this status; may be given again.")
    ] = None,
    mode: Annotated[Mode | None, typer.Option("--mode", help="Only in this mode.")] = None,
    workflow: Annotated[
        str | None, typer.Option("--workflow", help="Only of this workflow.", show_default=False)
    ] = None,
    text: Annotated[
        str | None, typer.Option("-q", help="Only with this text in the title.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List sessions, newest first."""
    wanted = Wanted(frozenset(status or ()), mode, workflow, text, limit=limit)

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            rows = await engine.sessions(wanted)
            ids = await short_ids(engine, [row.id for row in rows])
        desk.screen.answer({"sessions": [row_as_json(row) for row in rows]})
        if rows:
            desk.screen.draw(list_table(rows, ids))
        else:
            desk.screen.say(
                f"No sessions in {desk.home}." if wanted == Wanted(limit=limit) else "No such sessions."
            )
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def show(
    prefix: SessionPrefix,
    events: Annotated[bool, typer.Option("--events", help="Also every event.")] = False,
    after: After = 0,
    full: Annotated[
        bool, typer.Option("--full", help="Cut nothing, however long: calls to approve, results.")
    ] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show what a session is, has done and needs."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            state = await engine.state(session_id)
            wires = await engine.events(session_id, after) if events else []
            driven = is_driven(desk.home, await engine.row(session_id))
        if as_json:
            shape = await session_as_json(desk, state)
            desk.screen.answer(shape | ({"events": [json.loads(wire) for wire in wires]} if events else {}))
            return Exit.DONE
        await draw_session(desk, state, driven=driven, full=full)
        for line in event_lines(wires):
            desk.screen.say(line)
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def follow(prefix: SessionPrefix, after: After = 0, as_json: AsJson = False, home: Home = None) -> None:
    """Watch a session live until it rests. With --json: its events, one per line, as they are on the wire."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            desk.when_stopped = f"Not following any more. Again with: {desk.command('follow', session_id)}"
            await _say_if_nobody_drives(desk, engine, session_id)
            if as_json:
                return await _follow_wire(desk, engine, session_id, after)
            state = await Company(desk, engine, session_id).stay(after)
        await tell_ending(desk, state)
        return exit_for(state.status)

    carry_out(work, home=home, as_json=as_json, no_input=True)


async def _follow_wire(desk: Desk, engine: Engine, session_id: SessionId, after: int) -> int:
    teller = WireTeller(desk.screen)
    known = (await engine.state(session_id)).seq
    async with aclosing(engine.watch(session_id)) as frames:
        async for state, frame in frames:
            if frame.seq is None or frame.seq > after:
                teller.hear(state, frame)
            if state.seq >= known and rests(state):
                return exit_for(state.status)
    return Exit.FAILED


async def _say_if_nobody_drives(desk: Desk, engine: Engine, session_id: SessionId) -> None:
    row = await engine.row(session_id)
    if row.status in (Status.QUEUED, Status.RUNNING) and not is_driven(desk.home, row):
        resume = desk.command("resume", session_id)
        desk.screen.warn(f"The session is {row.status}, and no process drives it. Take it up with: {resume}")
