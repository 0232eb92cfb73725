"""Hand a message to a mail server, and say what became of it for each recipient.

Until the server has the whole message nothing has happened, and it may be tried again; once it has it and does not say
what it did with it, nobody knows, and that is what is said.
"""

import asyncio
import ipaddress
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parseaddr
from functools import cache
from urllib.parse import unquote, urlsplit

import aiosmtplib
from aiosmtplib import SMTP
from pydantic import SecretStr

from belayer.tools.charsets import cleaned
from belayer.tools.letter import Sender, mail_address
from belayer.tools.visible import one_line
from belayer.vocabulary.addresses import is_name, plain_host
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    ConfigurationError,
    OutcomeUnknown,
    TransientError,
)

_BEFORE_THE_MESSAGE = 45.0
_FOR_THE_MESSAGE = 60.0
_FOR_GOODBYE = 2.0
LONGEST = _BEFORE_THE_MESSAGE + _FOR_THE_MESSAGE + _FOR_GOODBYE
_SHOWN = 200
_EXAMPLE = (
    "Write smtp://user:password@mail.example.org:587 (STARTTLS) or smtps://user:password@mail.example.org."
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A recipient that the server does not take."""

    address: str
    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the server said it does with a message."""

    accepted: tuple[str, ...]
    refused: tuple[Refusal, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Relay:
    """The server that takes our mail, and who we are to it."""

    host: str
    port: int
    encryption: str
    sender: Sender
    user: str = ""
    password: str = field(default="", repr=False)

    async def deliver(
        self, content: bytes, recipients: Sequence[str], tls: ssl.SSLContext | None = None
    ) -> Delivery:
        """Hand it over; OutcomeUnknown if the server had it and did not say what it did with it."""
        client = SMTP(
            hostname=self.host,
            port=self.port,
            use_tls=self.encryption == "tls",
            start_tls=self.encryption == "starttls",
            tls_context=tls or _usual_certificates(),
            local_hostname=self.sender.domain,
            timeout=_BEFORE_THE_MESSAGE,
        )
        try:
            refused = await self._prepared(client, content, recipients)
            answer = await self._sent(client, content)
            await _say_goodbye(client)
        finally:
            client.close()
        names = {refusal.address for refusal in refused}
        return Delivery(
            tuple(address for address in recipients if address not in names), refused, _said(answer)
        )

    async def _prepared(self, client: SMTP, content: bytes, recipients: Sequence[str]) -> tuple[Refusal, ...]:
        """Come as far as the server being ready for the message; those of the recipients that it does not take."""
        try:
            async with asyncio.timeout(_BEFORE_THE_MESSAGE):
                await client.connect()
                if self.user:
                    await client.login(self.user, self.password)
                size = [f"size={len(content)}"] if client.supports_extension("size") else []
                await client.mail(self.sender.address, options=size)
                asked = [await _asked_for(client, address) for address in recipients]
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            raise self._not_sent(error) from error
        refused = tuple(refusal for refusal in asked if refusal is not None)
        if len(refused) == len(recipients):
            raise self._nobody_taken(refused)
        return refused

    async def _sent(self, client: SMTP, content: bytes) -> str:
        try:
            async with asyncio.timeout(_FOR_THE_MESSAGE):
                return (await client.data(content, timeout=_FOR_THE_MESSAGE)).message
        except aiosmtplib.SMTPDataError as error:
            raise self._not_sent(error) from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            raise OutcomeUnknown(
                f"The connection to {self.host} was lost while the message was handed over, so it may have been sent.",
                "Look for it in the mailbox or the server's log: its Message-ID is the same at each attempt.",
            ) from error

    def _not_sent(self, error: Exception) -> BelayerError:
        """What it means that nothing was sent."""
        match error:
            case aiosmtplib.SMTPResponseException() if 400 <= error.code < 500:
                return TransientError(
                    f"{self.host} does not take mail now ({error.code} {_said(error.message)}).",
                    "Try again later.",
                )
            case aiosmtplib.SMTPAuthenticationError():
                return AccessDenied(
                    f"{self.host} does not let {self.user} in ({error.code}).",
                    "Check the user and password in BELAYER_SMTP_URL.",
                )
            case aiosmtplib.SMTPResponseException() if 500 <= error.code < 600:
                return ConfigurationError(
                    f"{self.host} refuses the message ({error.code} {_said(error.message)}). Nothing was sent.",
                    "Correct the message, or BELAYER_MAIL_FROM.",
                )
            case ssl.SSLError() | aiosmtplib.SMTPConnectError(__cause__=ssl.SSLError()):
                return ConfigurationError(
                    f"{self.host} cannot be trusted: the secure connection failed. Nothing was sent to it.",
                    "Check the host's name; its certificate may be expired, self-made or meant for another host.",
                )
            case aiosmtplib.SMTPTimeoutError() | OSError():
                return TransientError(
                    f"{self.host}:{self.port} cannot be reached, or went away ({type(error).__name__}).",
                    "Check BELAYER_SMTP_URL, or try again later.",
                )
            case aiosmtplib.SMTPResponseException():
                return TransientError(f"{self.host} does not speak SMTP properly.", "Try again later.")
            case _:
                return ConfigurationError(
                    f"{self.host} does not offer what is needed: STARTTLS, or a way to log in. Nothing was sent.",
                    _EXAMPLE,
                )

    def _nobody_taken(self, refused: Sequence[Refusal]) -> BelayerError:
        told = "; ".join(f"{refusal.address}: {refusal.code} {refusal.reason}" for refusal in refused)
        detail = f"{self.host} takes none of the recipients, so nothing was sent: {told}."
        if any(400 <= refusal.code < 500 for refusal in refused):
            return TransientError(detail, "Try again later.")
        return ConfigurationError(detail, "Correct the addresses.")


def relay_of(url: SecretStr | None, sender: str | None) -> Relay | None:
    """The server that the settings name, if they name one; ConfigurationError if they do not do so properly."""
    written = url.get_secret_value().strip() if url else ""
    if not written and not sender:
        return None
    if not written or not sender:
        raise ConfigurationError(
            "E-mail needs both a server and an address to write from.",
            "Set BELAYER_SMTP_URL and BELAYER_MAIL_FROM, or neither.",
        )
    try:
        parts = urlsplit(written)
        host, port = plain_host(parts.hostname or ""), parts.port
    except ValueError as error:
        raise _unfit_url() from error
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    rest = parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in ("smtp", "smtps") or rest or not (is_name(host) or _is_address(host)) or port == 0:
        raise _unfit_url()
    if bool(user) != bool(password):
        raise _unfit_url()
    if parts.scheme == "smtps":
        return Relay(host, port or 465, "tls", _sender_of(sender), user, password)
    if _is_loopback(host) and not user:
        return Relay(host, port or 25, "none", _sender_of(sender))
    return Relay(host, port or 587, "starttls", _sender_of(sender), user, password)


async def _asked_for(client: SMTP, address: str) -> Refusal | None:
    try:
        await client.rcpt(address)
    except aiosmtplib.SMTPRecipientRefused as error:
        return Refusal(address, error.code, _said(error.message))
    return None


async def _say_goodbye(client: SMTP) -> None:
    """Polite, and no more: what comes of it changes nothing."""
    with suppress(aiosmtplib.SMTPException, OSError, TimeoutError):
        await client.quit(timeout=_FOR_GOODBYE)


def _said(text: str) -> str:
    """What the server says, as far as it can be shown."""
    return " ".join(cleaned(text[:_SHOWN]).split())


def _sender_of(text: str) -> Sender:
    name, address = parseaddr(text)
    try:
        if str(Sender(address, name)) != text.strip() and address != text.strip():
            raise ValueError("it is not written in the usual way")
        return Sender(mail_address(address), one_line(name))
    except ValueError as error:
        raise ConfigurationError(
            f"BELAYER_MAIL_FROM cannot be written from: {error}.",
            "Write bot@example.org, or Bot <bot@example.org>.",
        ) from error


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _unfit_url() -> ConfigurationError:
    return ConfigurationError("BELAYER_SMTP_URL is not the address of a mail server.", _EXAMPLE)


@cache
def _usual_certificates() -> ssl.SSLContext:
    return ssl.create_default_context()
