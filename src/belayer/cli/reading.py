"""What a command may want to know beside a session's state: who drives it, what a request shows, what failed."""

from collections.abc import Sequence
from pathlib import Path

from belayer.cli.desk import Desk
from belayer.cli.requests import Asked
from belayer.sessions.blobs import whole
from belayer.sessions.record import Record, in_force
from belayer.sessions.rows import SessionRow
from belayer.sessions.state import Request, SessionState, step_of
from belayer.vocabulary.events.event import Json, Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.events.steps import StepChanged
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


async def asked_now(
    desk: Desk, state: SessionState, request: Request, records: Sequence[Record] = ()
) -> Asked:
    """The request with all that a person may want to see; the log says what a failed step was given."""
    see_all = desk.command("show", state.id, "--full")
    return Asked(
        request, await shown_by(desk.home, request), await _given(desk.home, request, records), see_all
    )


async def _given(home: Path, request: Request, records: Sequence[Record]) -> dict[str, Json] | None:
    """The parameters of the last try of the step that a request is about."""
    if isinstance(request, ApprovalRequested) or request.purpose != "failure":
        return None
    for record in reversed(in_force(records)):
        event = record.event() if record.type == "step" else None
        if isinstance(event, StepChanged) and _is_try(event.key, step_of(request.key)):
            given = await whole(blobs_in(home), "input", event.input, event.aside)
            if isinstance(given, dict):
                return given
    return None


def _is_try(key: str, step: str) -> bool:
    return key.partition("#")[0] == step
