"""A message as it will be sent, and as a person sees it before: the same parts, made once. Pure."""

import hashlib
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field

from belayer.tools.outgoing import Line, Text
from belayer.tools.tool import Params
from belayer.vocabulary.addresses import is_name
from belayer.vocabulary.events.event import Json

_MOST_RECIPIENTS = 50
_MOST_FILES = 10
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
# Seven bits everywhere: no server has to be asked whether it takes more.
_POLICY = SMTP.clone(cte_type="7bit")


def mail_address(text: str) -> str:
    """The address in one spelling; ValueError unless it is a plain one: no name, no comment, nothing but ASCII."""
    local, _, domain = text.rpartition("@")
    if not _LOCAL_PART.fullmatch(local) or len(local) > 64 or len(text) > 254:
        raise ValueError("it is a plain address, without a name and in ASCII: ada@example.org")
    if not is_name(domain.lower()) or "_" in domain:
        raise ValueError("after the @ comes the name of a host: example.org, xn--….de")
    return f"{local}@{domain.lower()}"


Address = Annotated[str, AfterValidator(mail_address), Field(max_length=254)]
Addresses = Annotated[tuple[Address, ...], Field(max_length=_MOST_RECIPIENTS)]


class Letter(Params):
    """What is sent, and to whom."""

    to: Annotated[Addresses, Field(min_length=1, description="Plain addresses: ada@example.org")]
    cc: Addresses = ()
    bcc: Annotated[Addresses, Field(description="Gets it too; the others do not see that.")] = ()
    subject: Annotated[Line, Field(min_length=1, max_length=250)]
    text: Annotated[Text, Field(min_length=1, max_length=500_000)]
    html: Annotated[Text | None, Field(max_length=1_000_000, description="The same as HTML.")] = None
    reply_to: Address | None = None
    attachments: Annotated[
        tuple[Annotated[Line, Field(min_length=1, max_length=4096)], ...],
        Field(max_length=_MOST_FILES, description="Files of the workspace."),
    ] = ()

    def recipients(self) -> tuple[str, ...]:
        """Everybody who gets it, once."""
        return tuple(dict.fromkeys((*self.to, *self.cc, *self.bcc)))

    def domains(self) -> tuple[str, ...]:
        """Where they are."""
        return tuple(dict.fromkeys(address.rpartition("@")[2] for address in self.recipients()))


@dataclass(frozen=True, slots=True)
class Sender:
    """Who writes."""

    address: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.name else self.address

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]


def shown_letter(letter: Letter, sender: Sender, files: Mapping[str, bytes]) -> dict[str, Json]:
    """Everything that the recipients will get, and who they are."""
    people = {"to": letter.to, "cc": letter.cc, "bcc": letter.bcc}
    return {
        "from": str(sender),
        **{name: list(addresses) for name, addresses in people.items() if addresses},
        **({"reply_to": letter.reply_to} if letter.reply_to else {}),
        "subject": letter.subject,
        "text": letter.text,
        **({"html": letter.html} if letter.html else {}),
        "attachments": [_shown_file(path, content) for path, content in files.items()],
    }


def sealed_letter(
    letter: Letter, sender: Sender, files: Mapping[str, bytes], message_id: str, at: datetime
) -> bytes:
    """The message as it goes over the wire. Whoever gets a blind copy is not in it."""
    message = EmailMessage(policy=_POLICY)
    message["From"] = str(sender)
    message["To"] = ", ".join(letter.to)
    if letter.cc:
        message["Cc"] = ", ".join(letter.cc)
    if letter.reply_to:
        message["Reply-To"] = letter.reply_to
    message["Subject"] = letter.subject
    message["Date"] = format_datetime(at)
    message["Message-ID"] = message_id
    message.set_content(letter.text)
    if letter.html:
        message.add_alternative(letter.html, subtype="html")
    for path, content in files.items():
        main, sub = _kind(path).split("/")
        message.add_attachment(content, maintype=main, subtype=sub, filename=_name(path))
    return message.as_bytes()


def message_id_for(key: str, sender: Sender) -> str:
    """The same for every attempt at one step, so that a duplicate can be recognised."""
    return f"<belayer.{hashlib.sha256(key.encode()).hexdigest()[:32]}@{sender.domain}>"


def _shown_file(path: str, content: bytes) -> Json:
    return {
        "path": path,
        "name": _name(path),
        "content_type": _kind(path),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _kind(path: str) -> str:
    """What the file's name says it is. Not `message/…` or `multipart/…`, which would have to be taken apart."""
    kind, packing = mimetypes.guess_type(path)
    known = kind is not None and packing is None and not kind.startswith(("message/", "multipart/"))
    return kind if kind is not None and known else "application/octet-stream"
