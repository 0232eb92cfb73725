"""Send an e-mail: once, to whom a person approved, as it was shown to them."""

import asyncio
import ssl
from collections.abc import Iterator, Mapping

from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.sessions.redact import Redactor
from belayer.tools.letter import Letter, message_id_for, sealed_letter, shown_letter
from belayer.tools.outgoing import once_key, refuse_secrets
from belayer.tools.smtp import LONGEST, Delivery, Relay
from belayer.tools.tool import Tool
from belayer.vocabulary.clock import Clock, SystemClock
from belayer.vocabulary.errors import ConfigurationError, TooLarge
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.rules import Risk
from belayer.workspace.workspace import Workspace

_MOST_ATTACHED = 10_000_000
_MISSING = "No mail server is configured."
_HOW_TO_CONFIGURE = "Set BELAYER_SMTP_URL and BELAYER_MAIL_FROM."


def email(
    relay: Relay | None,
    redactor: Redactor,
    *,
    clock: Clock | None = None,
    tls: ssl.SSLContext | None = None,
) -> Tool[Letter]:
    """The tool that writes to people; without a server it says which settings it misses."""
    post = _Post(relay, redactor, clock or SystemClock(), tls)
    return Tool(
        name="email",
        about="Send an e-mail, with files of the workspace if need be.",
        params=Letter,
        execute=post.execute,
        effect=Effect.EXTERNAL,
        timeout=LONGEST + 15.0,
        rate=Rate(calls=10, seconds=60.0),
        reach=_reach,
        preview=post.preview,
        health=post.health,
    )


def _reach(letter: Letter) -> Reach:
    return Reach(paths=letter.attachments, hosts=letter.domains(), risk=Risk.MEDIUM)


class _Post:
    """Shows letters and sends them."""

    def __init__(
        self, relay: Relay | None, redactor: Redactor, clock: Clock, tls: ssl.SSLContext | None
    ) -> None:
        self._relay = relay
        self._redactor = redactor
        self._clock = clock
        self._tls = tls

    async def execute(self, letter: Letter, workspace: Workspace) -> Json:
        relay = self._configured()
        files = await self._files(letter, workspace)
        message_id = message_id_for(once_key(), relay.sender)
        content = await asyncio.to_thread(
            sealed_letter, letter, relay.sender, files, message_id, self._clock.now()
        )
        return _told(message_id, await relay.deliver(content, letter.recipients(), self._tls))

    async def preview(self, letter: Letter, workspace: Workspace) -> Json:
        relay = self._configured()
        return shown_letter(letter, relay.sender, await self._files(letter, workspace))

    async def health(self) -> str | None:
        return None if self._relay is not None else f"{_MISSING} {_HOW_TO_CONFIGURE}"

    def _configured(self) -> Relay:
        if self._relay is None:
            raise ConfigurationError(f"{_MISSING} Nothing was sent.", _HOW_TO_CONFIGURE)
        return self._relay

    async def _files(self, letter: Letter, workspace: Workspace) -> dict[str, bytes]:
        """What is attached, once nothing that is sent holds a secret."""
        files: dict[str, bytes] = {}
        for path in dict.fromkeys(letter.attachments):
            files[path] = await asyncio.to_thread(workspace.root.read, path, _MOST_ATTACHED)
            if sum(map(len, files.values())) > _MOST_ATTACHED:
                raise TooLarge(
                    f"The attachments have more than {_MOST_ATTACHED:,} bytes together. Nothing was sent.",
                    "Attach less, or send a link.",
                )
        await asyncio.to_thread(refuse_secrets, self._redactor, _texts(letter, files))
        return files


def _texts(letter: Letter, files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    yield "subject", letter.subject
    yield "text", letter.text
    yield "HTML", letter.html or ""
    for path, content in files.items():
        yield f"attachment {path}", content.decode(errors="replace")


def _told(message_id: str, delivery: Delivery) -> Json:
    return {
        "message_id": message_id,
        "accepted": list(delivery.accepted),
        "refused": [
            {"address": refusal.address, "code": refusal.code, "reason": refusal.reason}
            for refusal in delivery.refused
        ],
        "answer": delivery.answer,
    }
