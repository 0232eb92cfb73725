"""Signed webhooks for what a person would want to be called for. Reads the log behind the sessions' backs.

Told at least once, in order for each session, also after a crash; a receiver that is slow or gone delays nobody.
"""

import asyncio
import base64
import binascii
import ssl
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx
import structlog
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook

from belayer.api.announcement import TELLING, announcement
from belayer.sessions.outbox import Letter, Outbox
from belayer.sessions.record import Record
from belayer.sessions.redact import Redactor
from belayer.sessions.store import Changes, Mark
from belayer.vocabulary.clock import Clock, SystemClock, sleep
from belayer.vocabulary.errors import BelayerError, ConfigurationError, CorruptLog, StoreError, UnknownSession
from belayer.vocabulary.events.lifecycle import SessionChanged
from belayer.vocabulary.ids import SessionId

_logger = structlog.get_logger()

LOOKS_EVERY = 1.0
ANSWERS_WITHIN = 10.0
TRIES_AFTER = (5.0, 300.0, 1_800.0, 7_200.0)
"""Seconds before each attempt but the first."""
_AT_ONCE = 8
_SHORTEST_KEY, _LONGEST_KEY = 24, 64
_PREFIX = "whsec_"


class Source(Protocol):
    """Where it is read what has happened."""

    async def written_last(self) -> Mark: ...

    async def changed_since(self, mark: Mark) -> Changes: ...

    async def records(self, session_id: SessionId) -> list[Record]: ...


@dataclass(frozen=True, slots=True)
class Receiver:
    """Who is told, and the key that proves that it is us."""

    url: str
    signs: Webhook = field(repr=False)


def receiver_of(url: str | None, secret: SecretStr | None) -> Receiver | None:
    """The receiver that the settings name, if they name one; ConfigurationError if they do not do so properly."""
    key = secret.get_secret_value() if secret else ""
    if not url and not key:
        return None
    if not url or not key:
        raise ConfigurationError(
            "Webhooks need both an address and a secret.",
            "Set BELAYER_WEBHOOK_URL and BELAYER_WEBHOOK_SECRET, or neither.",
        )
    if not _is_address(url):
        raise ConfigurationError(
            "BELAYER_WEBHOOK_URL is no http or https address.", "Give one like https://example.com/hooks."
        )
    return Receiver(url, Webhook(_key(key)))


@asynccontextmanager
async def sending_webhooks(
    source: Source,
    receiver: Receiver | None,
    home: Path,
    address: str,
    redactor: Redactor,
    clock: Clock | None = None,
) -> AsyncGenerator[None]:
    """Tell the receiver, if there is one, while the block lasts. `address` is where a person finds sessions."""
    if receiver is None:
        yield
        return
    webhooks = Webhooks(
        source, receiver, Outbox(home / "webhooks.json"), address, redactor, clock or SystemClock()
    )
    sending = asyncio.create_task(webhooks.run())
    sending.add_done_callback(_tell_of_its_end)
    try:
        yield
    finally:
        sending.cancel()
        await asyncio.wait({sending})


@dataclass(slots=True)
class Webhooks:
    """Takes in what has happened, and sends it until it arrives or is given up."""

    source: Source
    receiver: Receiver
    outbox: Outbox
    address: str
    redactor: Redactor
    clock: Clock
    _under_way: set[SessionId] = field(default_factory=set[SessionId])
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Send for as long as this runs. Of several processes on one home, one does so."""
        try:
            while not self.outbox.hold():
                await sleep(self.clock, LOOKS_EVERY)
            while not await self._begun():
                await sleep(self.clock, LOOKS_EVERY)
            await self._go_on()
        finally:
            self.outbox.release()

    async def _begun(self) -> bool:
        """Go on where somebody stopped. The very first time, what lies in the past stays there."""
        try:
            if not self.outbox.read():
                self.outbox.take((), await self.source.written_last())
        except BelayerError as error:
            _logger.error("store cannot say what has happened", problem=error.detail, hint=error.hint)
            return False
        return True

    async def _go_on(self) -> None:
        try:
            async with _client() as client, asyncio.TaskGroup() as group:
                while True:
                    await self._take_in()
                    self._send_due(client, group)
                    await self._wait()
        finally:
            await self.outbox.save()

    async def _take_in(self) -> None:
        try:
            while self.outbox.has_room:
                changes = await self.source.changed_since(self.outbox.mark)
                if changes.mark == self.outbox.mark:
                    break
                self.outbox.take(filter(_may_be_told, changes.records), changes.mark)
        except BelayerError as error:
            _logger.error("store cannot say what has happened", problem=error.detail, hint=error.hint)
        await self.outbox.save()

    def _send_due(self, client: httpx.AsyncClient, group: asyncio.TaskGroup) -> None:
        room = _AT_ONCE - len(self._under_way)
        for letter in self.outbox.due(self.clock.micros(), self._under_way, room):
            self._under_way.add(letter.session_id)
            group.create_task(self._send(client, letter))

    async def _send(self, client: httpx.AsyncClient, letter: Letter) -> None:
        try:
            problem = await self._tried(client, letter)
            if problem is None:
                self.outbox.settle(letter)
            else:
                self._tell_later(letter, problem)
        finally:
            self._under_way.discard(letter.session_id)
            self._news.set()

    def _tell_later(self, letter: Letter, problem: str) -> None:
        facts = {"session_id": letter.session_id, "webhook_id": _id(letter), "attempt": letter.attempts + 1}
        if letter.attempts >= len(TRIES_AFTER):
            self.outbox.settle(letter)
            _logger.error("webhook given up", problem=problem, **facts)
            return
        delay = TRIES_AFTER[letter.attempts]
        self.outbox.postpone(letter, self.clock.micros() + int(delay * 1e6))
        _logger.warning("webhook not delivered", problem=problem, delay=delay, **facts)

    async def _tried(self, client: httpx.AsyncClient, letter: Letter) -> str | None:
        """Why it did not arrive; None if it did, or there is nothing to tell any more."""
        try:
            body = await self._body(letter)
        except UnknownSession:
            return None
        except BelayerError as error:
            return error.detail
        if body is None:
            return None
        return await _within(self.clock, ANSWERS_WITHIN, self._post(client, _id(letter), body))

    async def _body(self, letter: Letter) -> str | None:
        records = await self.source.records(letter.session_id)
        if len(records) < letter.seq:
            raise CorruptLog(letter.session_id, letter.seq, "the record is missing")
        told = await asyncio.to_thread(announcement, records, letter.seq, self.address)
        return told and self.redactor.data(told.model_dump_json().encode()).decode()

    async def _post(self, client: httpx.AsyncClient, id_: str, body: str) -> str | None:
        now = self.clock.now()
        headers = {
            "content-type": "application/json",
            "webhook-id": id_,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self.receiver.signs.sign(id_, now, body),
        }
        try:
            async with client.stream("POST", self.receiver.url, content=body, headers=headers) as response:
                return None if response.is_success else f"The receiver answered {response.status_code}."
        except httpx.HTTPError as error:
            return f"{type(error).__name__}: {error}"

    async def _wait(self) -> None:
        """Until something was sent, or it is time to look again."""
        self._news.clear()
        waits = [asyncio.create_task(self._news.wait()), asyncio.create_task(sleep(self.clock, LOOKS_EVERY))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _client() -> httpx.AsyncClient:
    """Trusts whom this machine trusts, and goes nowhere but where it was told to."""
    return httpx.AsyncClient(
        verify=ssl.create_default_context(), timeout=ANSWERS_WITHIN, follow_redirects=False, trust_env=False
    )


def _may_be_told(record: Record) -> bool:
    """Whether the change is of a kind that is told; one that cannot be read must not keep the others from it."""
    try:
        event = record.event()
    except StoreError:
        return False
    return isinstance(event, SessionChanged) and event.status in TELLING


async def _within(clock: Clock, seconds: float, post: Coroutine[Any, Any, str | None]) -> str | None:
    """What came of it; a receiver that drips its answer is held to the time as well."""
    posting = asyncio.create_task(post)
    patience = asyncio.create_task(sleep(clock, seconds))
    try:
        await asyncio.wait({posting, patience}, return_when=asyncio.FIRST_COMPLETED)
        return (
            posting.result() if posting.done() else f"The receiver did not answer within {seconds:g} seconds."
        )
    finally:
        patience.cancel()
        posting.cancel()
        with suppress(asyncio.CancelledError):
            await posting


def _id(letter: Letter) -> str:
    """The same each time this is told, so that the receiver can tell it has it already."""
    return f"evt_{letter.session_id}_{letter.seq}"


def _is_address(url: str) -> bool:
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parts.scheme in ("http", "https") and bool(parts.host)


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(_PREFIX) or not _SHORTEST_KEY <= len(key) <= _LONGEST_KEY:
        raise ConfigurationError(
            f"BELAYER_WEBHOOK_SECRET is no secret for webhooks: {_PREFIX} and the base64 of"
            f" {_SHORTEST_KEY} to {_LONGEST_KEY} bytes.",
            "Make one with: echo whsec_$(openssl rand -base64 32)",
        )
    return key


def _tell_of_its_end(sending: asyncio.Task[None]) -> None:
    if not sending.cancelled() and (error := sending.exception()) is not None:
        _logger.error("webhooks stopped; restart the server", error=type(error).__name__, exc_info=error)
