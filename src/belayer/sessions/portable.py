"""A session as one JSON file: out of one store, into another, with its chain checked on the way in."""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AwareDatetime, Field, ValidationError
from pydantic_core import to_json

from belayer.sessions.blobs import Blobs, referred
from belayer.sessions.integrity import intact
from belayer.sessions.log import Log
from belayer.sessions.record import Entry, Record, check_chain
from belayer.sessions.state import fold
from belayer.sessions.store import Store
from belayer.vocabulary.clock import to_micros
from belayer.vocabulary.errors import BelayerError, Unimportable, UnknownSession
from belayer.vocabulary.events.event import FINAL, Json, Shape, Status
from belayer.vocabulary.events.lifecycle import Rehomed, SessionChanged
from belayer.vocabulary.ids import SessionId

_UUID7 = r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"


class PortableEvent(Shape):
    """One event: its envelope on the wire, and what its link in the chain needs."""

    seq: int
    session_id: str
    type: str
    stage: str | None
    timestamp: AwareDatetime
    data: dict[str, Json]
    version: int
    hash: str


class PortableSession(Shape):
    """The file. `complete` is false when the log was damaged and only its intact part is here."""

    format: Literal["belayer/session"]
    version: Literal[1]
    session_id: Annotated[SessionId, Field(pattern=_UUID7)]
    complete: bool
    events: Annotated[tuple[PortableEvent, ...], Field(min_length=1)]
    blobs: dict[str, str]


async def export_session(store: Store, blobs: Blobs, session_id: SessionId) -> bytes:
    """The session's file. Of a damaged log, the part that is intact."""
    row = await store.row(session_id)
    if row is None:
        raise UnknownSession(f"There is no session {session_id}.", "List the sessions with `belayer ls`.")
    records = await intact(store, session_id)
    kept = await _blobs_of(blobs, records)
    head = to_json(
        {
            "format": "belayer/session",
            "version": 1,
            "session_id": session_id,
            "complete": len(records) == row.last_seq,
        }
    )
    events = b",\n".join(_portable(record) for record in records)
    return b'%s,\n"events":[\n%s\n],\n"blobs":%s}\n' % (head[:-1], events, to_json(kept))


async def import_session(
    log: Log, store: Store, blobs: Blobs, content: bytes, workspace: Callable[[SessionId], str]
) -> SessionId:
    """Take a file in. A session that had not ended arrives paused: nothing acts until somebody resumes it.

    `workspace` makes a folder for a session that needs one: the one that the file names is not ours to touch.
    """
    file = _parse(content)
    records = _records(file)
    state = fold(file.session_id, records)
    row = await store.row(file.session_id)
    if row is not None:
        known = await store.read(file.session_id, records[-1].seq - 1, 1)
        if known and known[0].hash == records[-1].hash:
            return file.session_id
        raise Unimportable(
            f"Session {file.session_id} is here already with another history. Nothing was changed.",
            "Remove it first with `belayer prune`, or import into another BELAYER_HOME.",
        )
    for payload in _payloads(file, records):
        await blobs.put(payload)
    entries = [Entry(r.type, r.version, r.at, r.data, r.stage) for r in records]
    folder = workspace(file.session_id) if state.workspace else None
    entries.append(log.entry(Rehomed(because="import", workspace=folder)))
    if state.status not in FINAL:
        entries.append(log.entry(SessionChanged(status=Status.PAUSED, reason="imported")))
    await log.adopt(file.session_id, entries)
    return file.session_id


def _portable(record: Record) -> bytes:
    return b'%s,"version":%d,"hash":"%s"}' % (record.wire()[:-1], record.version, record.hash.hex().encode())


async def _blobs_of(blobs: Blobs, records: list[Record]) -> dict[str, str]:
    digests = {digest for record in records for digest in referred(record)}
    return {digest: base64.b64encode(await blobs.get(digest)).decode() for digest in sorted(digests)}


def _parse(content: bytes) -> PortableSession:
    try:
        return PortableSession.model_validate(
            json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise _no_export(f"{place}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise _no_export(str(error)) from error


def _no_export(what: str) -> Unimportable:
    return Unimportable(
        f"This is not a session export: {what}. Nothing was changed.", "Make the file with `belayer export`."
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key stands twice: two readers might each believe another one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _records(file: PortableSession) -> list[Record]:
    try:
        records = [_record(file.session_id, event) for event in file.events]
        check_chain(records)
        events = [record.event() for record in records]
    except (BelayerError, ValueError) as error:  # ValueError: what JSON can say and nobody can write again
        raise Unimportable(
            f"The file is damaged or was changed: {error} Nothing was changed here.",
            "Export the session again at its source.",
        ) from error
    if not isinstance(events[0], SessionChanged) or events[0].begun is None:
        raise _no_export("its first event does not say what the session is for")
    return records


def _record(session_id: SessionId, event: PortableEvent) -> Record:
    """What was stored. The encoder gives back the very bytes it was read from, or the chain will not hold."""
    at = to_micros(event.timestamp)
    return Record(
        session_id,
        event.seq,
        event.type,
        event.version,
        at,
        event.stage,
        to_json(event.data),
        _hex(event.hash),
    )


def _hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _payloads(file: PortableSession, records: list[Record]) -> list[bytes]:
    needed = {digest for record in records for digest in referred(record)}
    payloads: list[bytes] = []
    for digest in needed:
        try:
            payload = base64.b64decode(file.blobs[digest], validate=True)
        except (KeyError, binascii.Error):
            payload = b""
        if hashlib.sha256(payload).hexdigest() != digest:
            raise Unimportable(
                f"The payload {digest} is missing from the file or damaged. Nothing was changed.",
                "Export the session again at its source.",
            )
        payloads.append(payload)
    return payloads
