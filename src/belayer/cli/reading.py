"""What a command may want to know once its engine is closed: who drives, and what an approval shows."""

from pathlib import Path

from belayer.sessions.blobs import whole
from belayer.sessions.rows import SessionRow
from belayer.sessions.state import Request
from belayer.vocabulary.events.event import Json, Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.wiring import blobs_in, drivers_in


def is_driven(home: Path, row: SessionRow) -> bool:
    """Whether a living process drives the session now, or is about to go on with it."""
    drivers = drivers_in(home, me="")
    at_work = row.status in (Status.RUNNING, Status.QUEUED)
    return at_work and row.driver is not None and drivers.alive(row.driver)


async def shown_by(home: Path, request: Request) -> Json:
    """What an approval shows, from wherever it lies; a question shows nothing but itself."""
    if not isinstance(request, ApprovalRequested):
        return None
    return await whole(blobs_in(home), "shown", request.shown, request.aside)
