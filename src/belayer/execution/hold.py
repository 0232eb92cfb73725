"""A session that has used up its budget holds until a person gives more. Not a crash, and not a new effect."""

from belayer.execution import requests
from belayer.execution.budget import exceeded
from belayer.execution.drive import Drive
from belayer.vocabulary.errors import BudgetExhausted
from belayer.vocabulary.events.event import Mode
from belayer.vocabulary.events.lifecycle import BudgetReached

EXTEND, STOP = "extend", "stop"


async def hold_if_exceeded(drive: Drive) -> None:
    """Return when the budget allows another step; else ask for more, or fail where nobody can be asked."""
    over = exceeded(drive.begun.budget, drive.journal.grants, drive.usage)
    if over is None:
        return
    said = f"The budget of {over.allowed:g} {over.limit} is used up ({over.used:g})."
    if drive.mode is Mode.AUTONOMOUS:
        raise BudgetExhausted(said, "Start it again with a larger budget, or in hitl mode.")
    given = await requests.answer(
        drive,
        f"#budget/{drive.journal.grants}",
        f"{said} Give it as much again, or stop here?",
        kind="choice",
        choices=(EXTEND, STOP),
        purpose="budget",
        because=BudgetReached(limit=over.limit, allowed=over.allowed, used=over.used),
    )
    if given != EXTEND:
        raise BudgetExhausted(said, "A person chose to stop. Rewind and answer otherwise to go on.")
