"""A driver's pen: appends under its epoch, waits while the store cannot take it, and knows if others wrote too."""

import asyncio
import threading
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from belayer.execution.suspended import Suspended
from belayer.sessions.blobs import INLINE_BYTES, Blobs, put_aside, whole
from belayer.sessions.feed import Feed
from belayer.sessions.log import Log
from belayer.sessions.record import Record
from belayer.sessions.redact import Redactor
from belayer.vocabulary.clock import Clock, sleep
from belayer.vocabulary.errors import NotRunning, StoreBusy, StoreError, StoreFull
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Aside, Asides, Json
from belayer.vocabulary.events.steps import ArtifactMade
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.plain import decoded, encoded

_STORE_RETRY_SECONDS = 2.0
_logger = structlog.get_logger()


@dataclass(slots=True)
class Kept:
    """A value as an event holds it: in place, or aside."""

    value: Json
    aside: Aside | None = None


def asides(**kept: Kept | None) -> Asides | None:
    """What an event says of the fields whose payload lies aside."""
    found = {name: one.aside for name, one in kept.items() if one is not None and one.aside is not None}
    return found or None


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith(("json", "xml"))


class Recorder:
    """Writes what a driven session does."""

    def __init__(
        self,
        log: Log,
        feed: Feed,
        blobs: Blobs,
        redactor: Redactor,
        clock: Clock,
        session_id: SessionId,
        epoch: int,
        last_seq: int,
    ) -> None:
        self._log = log
        self._feed = feed
        self._blobs = blobs
        self._redactor = redactor
        self._clock = clock
        self._session_id = session_id
        self._epoch = epoch
        self._expected_seq = last_seq
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    async def append(
        self, *events: AnyEvent, needs_running: bool = False, expected_seq: int | None = None
    ) -> list[Record]:
        """Record what has happened; when the store is full or busy, wait: what has happened must be recorded."""
        while True:
            try:
                records = await self._log.append(
                    self._session_id,
                    events,
                    epoch=self._epoch,
                    needs_running=needs_running,
                    expected_seq=expected_seq,
                )
            except (StoreFull, StoreBusy) as error:
                await self._wait(error)
            else:
                self._expected_seq += len(records)
                return records

    async def begin(self, *events: AnyEvent) -> None:
        """Record what is about to happen; leave instead if the session was stopped in the meantime."""
        try:
            await self.append(*events, needs_running=True)
        except NotRunning as error:
            raise Suspended(error.detail) from error

    async def end(self, *events: AnyEvent) -> None:
        """Record how this drive ends, unless the session was stopped or somebody wrote what we have not read."""
        await self.append(*events, needs_running=True, expected_seq=self._expected_seq)

    async def keep(self, value: object) -> Kept:
        """A value in the form the log has it: as JSON, large payloads aside. Secrets go when it is appended."""
        content = encoded(value)
        plain = decoded(content, value)
        while len(content) > INLINE_BYTES:
            try:
                return Kept(None, await put_aside(self._blobs, self._redactor.data(content)))
            except StoreFull as error:
                await self._wait(error)
        return Kept(plain)

    async def put(self, made: ArtifactMade, content: bytes) -> None:
        """Keep what a step made, then record it."""
        if _is_text(made.media_type):
            content = self._redactor.text(content.decode(errors="replace")).encode()
        while True:
            try:
                aside = await put_aside(self._blobs, content)
                break
            except StoreFull as error:
                await self._wait(error)
        await self.append(made.model_copy(update={"aside": {"content": aside}}))

    async def whole(self, field: str, value: Json, asides: Asides | None) -> Json:
        """The value of an event's field, from wherever it lies."""
        return await whole(self._blobs, field, value, asides)

    def clean(self, value: object) -> Json:
        """The value as JSON without secrets."""
        return decoded(self._redactor.data(encoded(value)), value)

    def show(self, type_: str, **data: Json) -> None:
        """Show something to whoever follows; it is not kept. From any thread: sync acts run in others."""
        if threading.get_ident() != self._thread:
            self._loop.call_soon_threadsafe(lambda: self.show(type_, **data))
            return
        if type_ == "token" or self._feed.is_watched(self._session_id):
            clean: Any = self.clean(data)
            self._feed.show(self._session_id, type_, clean)

    async def said_after(self, seq: int) -> list[tuple[int, str]]:
        """What people told the session since."""
        return await self._log.said_after(self._session_id, seq)

    @property
    def is_watched(self) -> bool:
        return self._feed.is_watched(self._session_id)

    async def _wait(self, error: StoreError) -> None:
        _logger.error("store cannot record; waiting", problem=error.detail, hint=error.hint)
        await sleep(self._clock, _STORE_RETRY_SECONDS)

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()
