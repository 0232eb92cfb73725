"""What past steps say about each act: how long it took for how much input, how often it failed, what it used.

A read of the log and nothing more: it can be forgotten at any time and read again.
"""

import asyncio
import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar

from pydantic_core import to_json

from belayer.sessions.record import Record, check_chain
from belayer.sessions.store import Store, Wanted
from belayer.vocabulary.clock import from_micros
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.events.event import Effect, Shape, StepStatus
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.events.steps import NOTHING, Retried, StepChanged
from belayer.vocabulary.ids import SessionId

_SAMPLES_PER_NAME = 500
_MOST_NAMES = 1_000
_MOST_OPEN_STEPS = 10_000
_MOST_SESSIONS = 10_000
_LARGEST_AMOUNT = 1e15
_AT_ONCE = 1_000
_PAGE = 200

K = TypeVar("K")
V = TypeVar("V")


class Sample(NamedTuple):
    """One success: how many bytes went in, and how long it took."""

    size: float
    seconds: float


class ToolMetrics(Shape):
    """How an act did. The quantiles are those of its latest successes; a rate or time nobody knows is None."""

    name: str
    calls: int = 0
    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    success_rate: float | None = None
    p50: float | None = None
    p95: float | None = None
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    last_at: datetime | None = None


class History:
    """Remembers a bounded past. Records may be heard in any order and more than once; each counts once."""

    def __init__(self) -> None:
        self._tallies: dict[str, _Tally] = {}
        self._open: dict[tuple[SessionId, str], _Open] = {}
        self._heard: dict[SessionId, _Heard] = {}

    def hear(self, records: Sequence[Record]) -> None:
        """Count the steps that ended. Never raises: what cannot be read is not counted."""
        copied: dict[SessionId, int] = {}
        for record in records:
            if record.type == "session" and _is_fork(record):
                copied[record.session_id] = record.seq
        for record in records:
            if record.type in ("step", "retry") and record.seq > copied.get(record.session_id, 0):
                self._hear(record)

    def samples(self, name: str) -> Sequence[Sample]:
        """The latest successes of an act, newest last."""
        tally = self._tallies.get(name)
        return [sample for _, sample in tally.samples] if tally else []

    def metrics(self) -> list[ToolMetrics]:
        """How every act did, by name."""
        return [tally.metrics(name) for name, tally in sorted(self._tallies.items())]

    def _hear(self, record: Record) -> None:
        if not _kept(self._heard, record.session_id, _MOST_SESSIONS, _Heard).is_new(record.seq):
            return
        try:
            event = record.event()
        except StoreError:
            return
        if isinstance(event, Retried):
            self._step(record.session_id, event.key).retries += 1
        elif isinstance(event, StepChanged) and event.name:
            self._hear_step(record, event)

    def _hear_step(self, record: Record, event: StepChanged) -> None:
        if event.status is StepStatus.RUNNING:
            self._step(record.session_id, event.key).size = _size(event)
        elif event.status in (StepStatus.COMPLETED, StepStatus.FAILED):
            begun = self._open.pop((record.session_id, event.key), None) or _Open()
            if event.effect is Effect.READ:
                begun.size = _size(event)
            if event.seconds is not None and _is_amount(event.seconds):
                _kept(self._tallies, event.name, _MOST_NAMES, _Tally).add(record.at, event, begun)

    def _step(self, session_id: SessionId, key: str) -> "_Open":
        return _kept(self._open, (session_id, key), _MOST_OPEN_STEPS, _Open)


async def load(store: Store, history: History, sessions: int = 200) -> None:
    """Have the history hear the newest sessions, oldest first; one whose log is damaged is left out."""
    for session_id in reversed(await _newest(store, sessions)):
        try:
            records = await store.read(session_id)
            check_chain(records)
        except StoreError:
            continue
        for start in range(0, len(records), _AT_ONCE):
            history.hear(records[start : start + _AT_ONCE])
            await asyncio.sleep(0)  # others have work to do, too


async def _newest(store: Store, count: int) -> list[SessionId]:
    found: list[SessionId] = []
    while len(found) < count:
        limit = min(_PAGE, count - len(found))
        page = await store.rows(Wanted(before=found[-1] if found else None, limit=limit))
        if not page:
            break
        found += [row.id for row in page]
    return found


@dataclass(slots=True)
class _Open:
    """A step that has not ended. `size` is None while its input was not heard of."""

    size: float | None = None
    retries: int = 0


@dataclass(slots=True)
class _Heard:
    """Which of a session's records were heard: what is written comes in order, what is read may come before it."""

    first: int = 0
    last: int = 0
    before: int = 0

    def is_new(self, seq: int) -> bool:
        """Whether the record was not heard yet; from now on it was."""
        if self.first == 0:
            self.first = self.last = seq
        elif seq > self.last:
            self.last = seq
        elif self.before < seq < self.first:
            self.before = seq
        else:
            return False
        return True


@dataclass(slots=True)
class _Tally:
    """One act's past. Samples stand with their time, in its order."""

    samples: list[tuple[int, Sample]] = field(default_factory=list[tuple[int, Sample]])
    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    last_at: int = 0

    def add(self, at: int, event: StepChanged, begun: _Open) -> None:
        """Count a step that ended. One whose input nobody heard of is no sample."""
        seconds, used = event.seconds or 0.0, event.usage or NOTHING
        self.retried += begun.retries
        self.seconds += seconds
        self.tokens += used.tokens if _is_amount(used.tokens) else 0
        self.usd += used.usd if _is_amount(used.usd) else 0.0
        self.last_at = max(self.last_at, at)
        if event.status is StepStatus.FAILED:
            self.failed += 1
            return
        self.succeeded += 1
        if begun.size is not None:
            insort(self.samples, (at, Sample(begun.size, seconds)), key=_time)
            del self.samples[:-_SAMPLES_PER_NAME]

    def metrics(self, name: str) -> ToolMetrics:
        calls = self.succeeded + self.failed
        ordered = sorted(sample.seconds for _, sample in self.samples)
        return ToolMetrics(
            name=name,
            calls=calls,
            succeeded=self.succeeded,
            failed=self.failed,
            retried=self.retried,
            success_rate=self.succeeded / calls,
            p50=_quantile(ordered, 0.5),
            p95=_quantile(ordered, 0.95),
            seconds=self.seconds,
            tokens=self.tokens,
            usd=self.usd,
            last_at=from_micros(self.last_at),
        )


def _kept(kept: dict[K, V], key: K, most: int, make: type[V]) -> V:
    """The entry of the key, made if need be and now the last to be given up when there are too many."""
    value = kept.pop(key, None) or make()
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
    return value


def _is_fork(record: Record) -> bool:
    """Whether everything up to here was copied from another session, where it counts already."""
    if b'"forked_from"' not in record.data:
        return False
    try:
        event = record.event()
    except StoreError:
        return False
    return isinstance(event, SessionChanged) and event.forked_from is not None


def _size(event: StepChanged) -> float:
    """Bytes of the step's input as JSON."""
    aside = (event.aside or {}).get("input")
    if aside is not None:
        return float(aside.bytes) if _is_amount(aside.bytes) else 0.0
    return 0.0 if event.input is None else float(len(to_json(event.input)))


def _is_amount(value: float) -> bool:
    """A log that came from elsewhere may hold numbers that nothing here can have taken."""
    return 0 <= value <= _LARGEST_AMOUNT


def _time(entry: tuple[int, Sample]) -> int:
    return entry[0]


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that the given share of all does not exceed."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None
