"""Which state of the workspace belongs to an event, and how a rewind says that it is wanted back. Pure."""

from collections.abc import Sequence

from belayer.sessions.record import Record, in_force
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Snapshot
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.events.steps import StepChanged


def snapshot_at(records: Sequence[Record], seq: int) -> Snapshot | None:
    """The files as they were just after the event; None if nothing was done to them since."""
    kept = [(record.seq, files) for record in in_force(records) if (files := _files(record)) is not None]
    since = [files for at, files in kept if at > seq]
    if not since:
        return None
    before = [files for at, files in kept if at <= seq]
    return before[-1] if before else since[0]


def restoring(events: Sequence[AnyEvent], files: Snapshot) -> list[AnyEvent]:
    """The events of a rewind, saying that the files have to follow."""
    return [
        event.model_copy(update={"restores": files}) if isinstance(event, SessionChanged) else event
        for event in events
    ]


def _files(record: Record) -> Snapshot | None:
    if record.type != "step":
        return None
    event = record.event()
    return event.workspace if isinstance(event, StepChanged) else None
