"""A driver's pen: appends under its epoch, waits while the store cannot take it, and knows if others wrote too."""

from datetime import datetime
from typing import Any

import structlog

from belayer.execution.suspended import Suspended
from belayer.sessions.blobs import INLINE_BYTES, Blobs, store_aside, unpack
from belayer.sessions.feed import Feed
from belayer.sessions.log import Log
from belayer.sessions.record import Record
from belayer.sessions.redact import Redactor
from belayer.vocabulary.clock import Clock, sleep
from belayer.vocabulary.errors import NotRunning, StoreBusy, StoreFull
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.plain import decoded, encoded

_STORE_RETRY_SECONDS = 2.0
_logger = structlog.get_logger()


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
                _logger.error("store cannot record; waiting", problem=error.detail, hint=error.hint)
                await sleep(self._clock, _STORE_RETRY_SECONDS)
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

    async def keep(self, value: object) -> Json:
        """A value in the form the log has it: as JSON, large payloads aside. Secrets go when it is appended."""
        content = encoded(value)
        if len(content) > INLINE_BYTES:
            return await store_aside(self._blobs, self._redactor.data(content))
        return decoded(content, value)

    async def restore(self, kept: Json) -> Json:
        return await unpack(self._blobs, kept)

    def clean(self, value: object) -> Json:
        """The value as JSON without secrets."""
        return decoded(self._redactor.data(encoded(value)), value)

    def show(self, type_: str, **data: Json) -> None:
        """Show something to whoever follows; it is not kept."""
        if self._feed.is_watched(self._session_id):
            clean: Any = self.clean(data)
            self._feed.show(self._session_id, type_, clean)

    def now(self) -> datetime:
        return self._clock.now()
