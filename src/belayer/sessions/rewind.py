"""Which state of the workspace belongs to an event, and how a rewind says that it is wanted back. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from belayer.sessions.record import Record, in_force
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Snapshot, StepStatus
from belayer.vocabulary.events.lifecycle import Rehomed, SessionChanged
from belayer.vocabulary.events.steps import StepChanged


def snapshot_at(records: Sequence[Record], seq: int) -> Snapshot | None:
    """The files as they were just after the event; None if nothing was done to them since.

    What lies before an import lies elsewhere and cannot be brought back here. What a person changed between two steps
    stays: the files just before the later step count, not those after the earlier one, unless the event is its end.
    """
    arrived = max((record.seq for record in records if _is_import(record)), default=0)
    kept = [
        state
        for record in in_force(records)
        if record.seq > arrived and (state := _state(record)) is not None
    ]
    before = [state for state in kept if state.seq <= seq]
    since = [state for state in kept if state.seq > seq]
    if not since:
        return None
    if before and (before[-1].seq == seq or not since[0].is_beginning):
        return before[-1].files
    return since[0].files


def restoring(events: Sequence[AnyEvent], files: Snapshot) -> list[AnyEvent]:
    """The events of a rewind, saying that the files have to follow."""
    return [
        event.model_copy(update={"restores": files}) if isinstance(event, SessionChanged) else event
        for event in events
    ]


@dataclass(frozen=True, slots=True)
class _State:
    """The files as an event has them: before a step began, after it ended, or as a rewind wants them."""

    seq: int
    files: Snapshot
    is_beginning: bool


def workspace_of(records: Sequence[Record]) -> Path | None:
    """The folder that a session works in."""
    folder = None
    for record in records:
        if record.seq == 1 or record.type == "rehomed":
            event = record.event()
            if isinstance(event, Rehomed):
                folder = event.workspace
            elif isinstance(event, SessionChanged) and event.begun:
                folder = event.begun.workspace
    return Path(folder) if folder else None


def _is_import(record: Record) -> bool:
    if record.type != "rehomed":
        return False
    event = record.event()
    return isinstance(event, Rehomed) and event.because == "import"


def _state(record: Record) -> _State | None:
    if record.type not in ("step", "session"):
        return None
    match event := record.event():
        case StepChanged() if event.workspace is not None:
            return _State(record.seq, event.workspace, event.status is StepStatus.RUNNING)
        case SessionChanged() if event.restores is not None:
            return _State(record.seq, event.restores, is_beginning=False)
        case _:
            return None
