"""The stored form of an event: one link of a session's hash chain, and its envelope on the wire."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic_core import to_json

from belayer.vocabulary.clock import from_micros, rfc3339
from belayer.vocabulary.errors import CorruptLog
from belayer.vocabulary.events.catalog import AnyEvent, from_data
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.ids import SessionId

GENESIS = bytes(32)


# Entries and records are made by the thousand, and a frozen dataclass takes thrice as long to make: treat as frozen.


@dataclass(slots=True)
class Entry:
    """An event ready to be appended: not yet numbered, not yet chained."""

    type: str
    version: int
    at: int
    data: bytes
    stage: str | None = None
    parsed: AnyEvent | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class Record:
    """An event as it lies in the log. `parsed` spares reading the data again where the event is at hand."""

    session_id: SessionId
    seq: int
    type: str
    version: int
    at: int
    stage: str | None
    data: bytes
    hash: bytes
    parsed: AnyEvent | None = field(default=None, compare=False, repr=False)

    def event(self) -> AnyEvent:
        if self.parsed is None:
            self.parsed = from_data(self.session_id, self.seq, self.type, self.version, self.data)
        return self.parsed

    def wire(self) -> bytes:
        """The envelope of PROTOCOL.md. The same bytes for everybody: the stored data is not encoded again."""
        head = to_json(
            {
                "seq": self.seq,
                "session_id": self.session_id,
                "type": self.type,
                "stage": self.stage,
                "timestamp": rfc3339(from_micros(self.at)),
            }
        )
        return b'%s,"data":%s}' % (head[:-1], self.data)

    def follows(self, previous: bytes) -> bool:
        """Whether this is what was written after the record with the given hash."""
        return self.hash == chained(previous, self.session_id, self.seq, self)


def chained(previous: bytes, session_id: SessionId, seq: int, entry: Entry | Record) -> bytes:
    """The hash that binds an entry to its place and to everything before it."""
    head = f"{session_id}\0{seq}\0{entry.at}\0{entry.type}\0{entry.version}\0{entry.stage or ''}\0"
    return hashlib.sha256(b"%s%s%s" % (previous, head.encode(), entry.data)).digest()


def chain(session_id: SessionId, after: int, previous: bytes, entries: Iterable[Entry]) -> list[Record]:
    """Number and link entries after the record that is last now."""
    records: list[Record] = []
    for seq, entry in enumerate(entries, after + 1):
        previous = chained(previous, session_id, seq, entry)
        records.append(
            Record(
                session_id,
                seq,
                entry.type,
                entry.version,
                entry.at,
                entry.stage,
                entry.data,
                previous,
                entry.parsed,
            )
        )
    return records


def check_chain(records: Iterable[Record], after: int = 0, previous: bytes = GENESIS) -> bytes:
    """Raise at the first record that is not what was written; else the hash of the last."""
    for record in records:
        if record.seq != after + 1:
            raise CorruptLog(record.session_id, after + 1, "the record is missing")
        if not record.follows(previous):
            raise CorruptLog(record.session_id, record.seq, "the record is not what was written")
        after, previous = record.seq, record.hash
    return previous


def rewound_to(record: Record) -> int | None:
    """Where a rewind goes back to, if the record is one."""
    if record.type != "session" or b'"rewound_to"' not in record.data:
        return None
    event = record.event()
    return event.rewound_to if isinstance(event, SessionChanged) else None


def in_force(records: Iterable[Record]) -> list[Record]:
    """The records that still count: what a rewind left behind is in the log and in nothing else."""
    kept: list[Record] = []
    for record in records:
        target = rewound_to(record)
        while target is not None and kept and kept[-1].seq > target:
            kept.pop()
        kept.append(record)
    return kept
