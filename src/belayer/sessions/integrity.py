"""Is the store what was written? Every session is looked at by itself, so that one damaged log hides no other."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from belayer.sessions.blobs import Blobs, referred
from belayer.sessions.record import GENESIS, Record, check_chain
from belayer.sessions.rows import SessionRow, from_state
from belayer.sessions.state import fold
from belayer.sessions.store import Store, Wanted
from belayer.vocabulary.errors import BelayerError, CorruptLog, StoreError
from belayer.vocabulary.ids import SessionId

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not what was written. `seq` is None when it is not about one record."""

    session_id: SessionId | None
    seq: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What `verify` says of one session, or (without an id) of the store itself."""

    session_id: SessionId | None
    events: int
    damage: tuple[Damage, ...] = ()


async def verify(store: Store, blobs: Blobs, *, rebuild: bool = False) -> AsyncIterator[Finding]:
    """Look at everything; with `rebuild`, make rows again that do not say what their log says."""
    try:
        yield Finding(None, 0, tuple(Damage(None, None, what) for what in await store.damage()))
    except StoreError as error:
        yield Finding(None, 0, (Damage(None, None, error.detail),))
    before: SessionId | None = None
    while rows := await store.rows(Wanted(before=before, limit=_PAGE)):
        for row in rows:
            yield await _verify_session(store, blobs, row, rebuild)
        before = rows[-1].id


async def intact(store: Store, session_id: SessionId) -> list[Record]:
    """A session's log up to its first damaged record."""
    kept: list[Record] = []
    previous = GENESIS
    try:
        for record in await _readable(store, session_id):
            previous = check_chain([record], len(kept), previous)
            record.event()
            kept.append(record)
    except BelayerError:
        pass
    return kept


async def _verify_session(store: Store, blobs: Blobs, row: SessionRow, rebuild: bool) -> Finding:
    try:
        records = await store.read(row.id)
        last_hash = check_chain(records)
        state = fold(row.id, records)
    except CorruptLog as error:
        return Finding(row.id, row.last_seq, (Damage(row.id, error.seq, error.what),))
    except StoreError as error:
        seq = len(await intact(store, row.id)) + 1
        return Finding(row.id, row.last_seq, (Damage(row.id, seq, error.detail),))
    damage = await _damaged_blobs(blobs, records)
    if len(records) < row.last_seq:
        damage.append(Damage(row.id, len(records) + 1, "the record is missing"))
    elif from_state(state, last_hash) != row:
        if rebuild:
            await store.replace_row(from_state(state, last_hash))
        else:
            what = "its entry in the list of sessions differs from its log; `belayer verify --rebuild` mends this"
            damage.append(Damage(row.id, None, what))
    return Finding(row.id, len(records), tuple(damage))


async def _damaged_blobs(blobs: Blobs, records: list[Record]) -> list[Damage]:
    damage: list[Damage] = []
    for record in records:
        for digest in referred(record):
            try:
                await blobs.get(digest)
            except StoreError as error:
                damage.append(Damage(record.session_id, record.seq, error.detail))
    return damage


async def _readable(store: Store, session_id: SessionId) -> list[Record]:
    """As many records as the store can give, when it cannot give them all."""
    records: list[Record] = []
    try:
        while page := await store.read(session_id, len(records), 1):
            records += page
    except StoreError:
        pass
    return records
