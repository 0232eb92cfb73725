"""A real mail server on loopback (aiosmtpd, in the test's own loop) that does as a test tells it to."""

import asyncio
import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "bot", "correct-horse-battery"


@dataclass(frozen=True)
class Received:
    """A message that the server took."""

    sender: str
    recipients: list[str]
    content: bytes
    encrypted: bool
    user: str | None

    @property
    def message(self) -> EmailMessage:
        return cast("EmailMessage", message_from_bytes(self.content, policy=policy.default))


@dataclass
class MailServer:
    """Takes mail. `refuses` are answers to recipients; `after` is what becomes of a message once it was read."""

    refuses: Mapping[str, str] = field(default_factory=dict[str, str])
    sender_answer: str | None = None
    after: str | Callable[[SMTP], Awaitable[str]] = "250 Queued as 1"
    received: list[Received] = field(default_factory=list[Received])
    read: int = 0
    port: int = 0

    async def handle_MAIL(  # noqa: N802 - the name is aiosmtpd's
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.sender_answer:
            return self.sender_answer
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.read += 1
        answer = self.after if isinstance(self.after, str) else await self.after(server)
        if answer.startswith("250"):
            assert envelope.mail_from is not None
            assert isinstance(envelope.original_content, bytes)
            user = session.auth_data.login.decode() if isinstance(session.auth_data, LoginPassword) else None
            self.received.append(
                Received(
                    envelope.mail_from,
                    list(envelope.rcpt_tos),
                    envelope.original_content,
                    session.ssl is not None,
                    user,
                )
            )
        return answer


class _Session(SMTP):
    """A session that can be ended at any time."""

    made: list[asyncio.BaseTransport]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.made.append(transport)
        super().connection_made(transport)

    async def end(self) -> None:
        for transport in self.made:
            transport.close()
        task = self._handler_coroutine
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def taking_mail(
    server: MailServer,
    *,
    starttls: ssl.SSLContext | None = None,
    tls: ssl.SSLContext | None = None,
    auth: bool = False,
    listening: socket.socket | None = None,
) -> AsyncGenerator[MailServer]:
    """The server for as long as the block lasts, on a socket that listens already, if one is given."""
    sessions: list[_Session] = []

    def make() -> SMTP:
        session = _Session(
            server,
            loop=asyncio.get_running_loop(),
            hostname="mail.test",
            tls_context=starttls,
            require_starttls=starttls is not None,
            authenticator=_authenticated,
            auth_required=auth and tls is None,
            auth_require_tls=tls is None,
        )
        session.made = []
        sessions.append(session)
        return session

    listening = listening.dup() if listening else socket.create_server(("127.0.0.1", 0))
    server.port = listening.getsockname()[1]
    serving = await asyncio.get_running_loop().create_server(make, sock=listening, ssl=tls)
    try:
        yield server
    finally:
        serving.close()
        for session in sessions:
            await session.end()
        await serving.wait_closed()


@asynccontextmanager
async def speaking(*lines: bytes) -> AsyncGenerator[int]:
    """A server that says one line whenever it hears something, hangs up after the last, and knows no SMTP; its port."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            for line in lines:
                writer.write(line)
                await writer.drain()
                if line is not lines[-1]:
                    await reader.readline()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    spoken: list[asyncio.Task[None]] = []
    server = await asyncio.start_server(
        lambda reader, writer: spoken.append(asyncio.create_task(speak(reader, writer))), "127.0.0.1", 0
    )
    async with server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.gather(*spoken)


def hang_up_on(session: SMTP) -> None:
    """Leave without a word."""
    assert isinstance(session.transport, asyncio.Transport)
    session.transport.abort()


def certificate_for(folder: Path, *names: str) -> Path:
    """A certificate for these names, with its key, that nobody but itself has signed."""
    file = folder / f"{names[0]}.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    alternatives = ",".join(f"DNS:{name}" for name in names)
    command += ["-subj", f"/CN={names[0]}", "-addext", f"subjectAltName={alternatives}", "-days", "2"]
    subprocess.run([*command, "-keyout", file, "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


def served_with(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def _authenticated(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: object
) -> AuthResult:
    known = isinstance(given, LoginPassword) and (given.login, given.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    return AuthResult(success=known, handled=False, auth_data=given)
