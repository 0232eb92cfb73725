"""The list of sessions beside the log: only so that lists are fast. Always what the log says, never more."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from belayer.sessions.record import GENESIS, Record
from belayer.sessions.state import SessionState
from belayer.vocabulary.clock import from_micros, to_micros
from belayer.vocabulary.events.event import Mode, Status
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.ids import SessionId


class SessionRow(NamedTuple):
    """One session in a list. Times are microseconds since 1970."""

    id: SessionId
    workflow: str = ""
    title: str = ""
    mode: Mode = Mode.HITL
    status: Status = Status.QUEUED
    last_seq: int = 0
    last_hash: bytes = GENESIS
    epoch: int = 0
    driver: str | None = None
    wake_at: int | None = None
    created_at: int = 0
    updated_at: int = 0
    idempotency_key: str | None = None

    @property
    def created(self) -> datetime:
        return from_micros(self.created_at)

    @property
    def updated(self) -> datetime:
        return from_micros(self.updated_at)


def after(row: SessionRow, records: Sequence[Record]) -> SessionRow:
    """The row once these records are in the log."""
    for record in records:
        if record.type == "session":
            row = _changed(row, record)
    last = records[-1]
    return row._replace(last_seq=last.seq, last_hash=last.hash, updated_at=last.at)


def from_state(state: SessionState, last_hash: bytes) -> SessionRow:
    """The row that belongs to a whole log: what `verify` compares with and rebuilds."""
    wake = state.after_pause.at if state.after_pause else state.wake_at
    return SessionRow(
        id=state.id,
        workflow=state.workflow,
        title=state.title,
        mode=state.mode,
        status=state.status,
        last_seq=state.seq,
        last_hash=last_hash,
        epoch=state.epoch,
        driver=state.driver,
        wake_at=to_micros(wake) if wake else None,
        created_at=to_micros(state.created_at) if state.created_at else 0,
        updated_at=to_micros(state.updated_at) if state.updated_at else 0,
        idempotency_key=state.idempotency_key,
    )


def _changed(row: SessionRow, record: Record) -> SessionRow:
    event = record.event()
    assert isinstance(event, SessionChanged)
    wake = event.after_pause.at if event.after_pause else event.wake_at
    row = row._replace(
        status=event.status,
        driver=event.driver,
        wake_at=to_micros(wake) if wake else None,
        epoch=max(row.epoch, event.epoch or 0),
    )
    if event.forked_from is not None:
        row = row._replace(created_at=record.at, idempotency_key=None)
    if event.begun is None:
        return row
    return row._replace(
        workflow=event.begun.workflow,
        title=event.begun.title,
        mode=event.begun.mode,
        created_at=record.at,
        idempotency_key=event.begun.idempotency_key,
    )
