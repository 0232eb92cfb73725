"""Look after the store: is it what was written, and can old sessions go?"""

from typing import Annotated

import typer
from rich.text import Text

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.listing import row_as_json
from belayer.cli.options import AsJson, Home, Yes
from belayer.cli.people import be_sure
from belayer.cli.safe_text import safe_line
from belayer.cli.values import age_from
from belayer.sessions.integrity import Damage
from belayer.sessions.rows import SessionRow

_MOST_LINES = 20


def verify(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Mend the list of sessions where it differs from the logs.")
    ] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Check every event of every session, and say what is damaged."""

    async def work(desk: Desk) -> int:
        damage: list[Damage] = []
        sessions = events = 0
        with desk.screen.waiting("Checking …") as waiting:
            async with desk.engine() as engine:
                async for finding in engine.verify(rebuild=rebuild):
                    damage += finding.damage
                    sessions += finding.session_id is not None
                    events += finding.events
                    waiting(f"Checking … {sessions} sessions, {events} events")
        _tell_damage(desk, damage, sessions, events)
        return Exit.FAILED if damage else Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def prune(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Like 30d or 12h.", show_default=False)
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=0, metavar="N", help="The newest so many stay.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Remove ended sessions that are older than an age, or beyond a count."""
    if older_than is None and keep is None:
        raise typer.BadParameter("Give --older-than AGE, --keep N, or both.")
    oldest = None if older_than is None else age_from(older_than)

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            chosen = await engine.prune(older_than=oldest, keep=keep, dry_run=True)
            _tell_chosen(desk, chosen)
            if chosen and not dry_run:
                await be_sure(desk, f"Remove {len(chosen)} sessions for good?", yes=yes)
                chosen = await engine.prune(older_than=oldest, keep=keep)
                desk.screen.say(f"Removed {len(chosen)} sessions.")
        desk.screen.answer({"dry_run": dry_run, "sessions": [row_as_json(row) for row in chosen]})
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def _tell_damage(desk: Desk, damage: list[Damage], sessions: int, events: int) -> None:
    found = [{"session_id": item.session_id, "seq": item.seq, "what": item.what} for item in damage]
    desk.screen.answer({"intact": not damage, "sessions": sessions, "events": events, "damage": found})
    for item in damage:
        place = " ".join(
            [f"session {item.session_id}" if item.session_id else "the store"]
            + ([f"seq {item.seq}"] if item.seq is not None else [])
        )
        desk.screen.say(Text.assemble(("✗ ", "bold red"), f"{place}: {safe_line(item.what)}"))
        if item.session_id and item.seq is not None:
            desk.screen.say(
                f"    save what is intact: {desk.command('export', item.session_id, '-o', 'FILE')}"
            )
    checked = f"{sessions} sessions with {events} events"
    if damage:
        desk.screen.say(
            f"{checked} checked; {len(damage)} damaged places. Sessions not named here are intact."
        )
    else:
        desk.screen.say(Text.assemble(("✓ ", "bold green"), f"{checked} are what was written."))


def _tell_chosen(desk: Desk, chosen: list[SessionRow]) -> None:
    if not chosen:
        desk.screen.say("Nothing to remove.")
        return
    desk.screen.say(f"{len(chosen)} ended sessions would go:")
    for row in chosen[:_MOST_LINES]:
        desk.screen.say(f"  {row.id}  {row.status:<10} {safe_line(row.title)}")
    if len(chosen) > _MOST_LINES:
        desk.screen.say(f"  … and {len(chosen) - _MOST_LINES} more")
