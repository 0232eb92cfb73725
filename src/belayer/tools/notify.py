"""Tell somebody: a chat service or a program, by the name that a person gave it. Nobody else names an address."""

import asyncio
import hashlib
import json
import ssl
import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from pydantic_core import to_json

from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.sandbox.child import Limits, run_child
from belayer.sessions.redact import Redactor
from belayer.tools.dialling import Dialler
from belayer.tools.exchange import Answer, Exchange, Request, trouble
from belayer.tools.outgoing import Line, Text, once_key, refuse_secrets
from belayer.tools.targets import Chat, Hook, Target
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.addresses import Allowed, Place
from belayer.vocabulary.clock import Clock, SystemClock, rfc3339
from belayer.vocabulary.errors import (
    AddressBlocked,
    ChildFailed,
    ConfigurationError,
    LimitReached,
    OutcomeUnknown,
    TransientError,
)
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.resolving import Resolver, resolved
from belayer.workspace.workspace import Workspace

_MISSING = "No target for notifications is configured."
_HOW_TO_CONFIGURE = "Name some in BELAYER_NOTIFY_TARGETS, one a line: team=slack://…"
_MEND = "Check the target's address and key in BELAYER_NOTIFY_TARGETS."
_HOOK_ANSWERS_WITHIN = 30.0
_MESSENGER = (sys.executable, "-I", "-m", "belayer.tools.messenger")
# Measured: 0.6 s of CPU time and 90 MB; what it reserves is more.
_MESSENGER_MAY = Limits(
    memory_bytes=1024 * 1024 * 1024, cpu_seconds=15, wall_seconds=40.0, output_bytes=65_536
)


class Notice(Params):
    """What is told, and to whom."""

    target: Annotated[str, Field(min_length=1, max_length=40, description="The name of a target.")]
    text: Annotated[Text, Field(min_length=1, max_length=4_000)]
    title: Annotated[Line | None, Field(min_length=1, max_length=200)] = None
    level: Literal["info", "success", "warning", "failure"] = "info"


def notify(
    targets: Mapping[str, Target],
    allowed: Allowed,
    redactor: Redactor,
    *,
    clock: Clock | None = None,
    resolve: Resolver = resolved,
    tls: ssl.SSLContext | None = None,
) -> Tool[Notice]:
    """The tool that tells; `allowed` are the places inside the house that it may reach."""
    messages = _Messages(
        targets, allowed, redactor, clock or SystemClock(), Exchange(Dialler(allowed, resolve), tls)
    )
    names = ", ".join(sorted(targets)) or "none are configured"
    return Tool(
        name="notify",
        about=f"Send a short message to a chat or a program. Targets: {names}.",
        params=Notice,
        execute=messages.execute,
        effect=Effect.EXTERNAL,
        timeout=75.0,
        rate=Rate(calls=10, seconds=60.0),
        reach=_reach,
        preview=messages.preview,
        health=partial(_health, targets),
    )


def _reach(notice: Notice) -> Reach:
    """Rules see the target's name as its host: it tells two channels of one service apart, and no secret."""
    return Reach(hosts=(notice.target,))


async def _health(targets: Mapping[str, Target]) -> str | None:
    return None if targets else f"{_MISSING} {_HOW_TO_CONFIGURE}"


class _Report(BaseModel):
    """What the messenger says."""

    understood: bool
    delivered: bool
    blocked: bool
    unanswered: bool
    statuses: tuple[int, ...]


class _Messages:
    """Shows messages and sends them."""

    def __init__(
        self,
        targets: Mapping[str, Target],
        allowed: Allowed,
        redactor: Redactor,
        clock: Clock,
        exchange: Exchange,
    ) -> None:
        self._targets = targets
        self._allowed = allowed
        self._redactor = redactor
        self._clock = clock
        self._exchange = exchange

    async def execute(self, notice: Notice, _workspace: Workspace) -> Json:
        match self._checked(notice):
            case Hook() as hook:
                told = await self._signed(hook, notice)
            case Chat() as chat:
                told = await self._chatted(chat, notice)
        return {"target": notice.target, "delivered": True, **told}

    async def preview(self, notice: Notice, _workspace: Workspace) -> Json:
        target = self._checked(notice)
        title: dict[str, Json] = {"title": notice.title} if notice.title else {}
        return {
            "target": target.name,
            "kind": target.kind,
            "level": notice.level,
            **title,
            "text": notice.text,
        }

    def _checked(self, notice: Notice) -> Target:
        target = self._targets.get(notice.target)
        if target is None:
            known = f"There are: {', '.join(sorted(self._targets))}." if self._targets else _HOW_TO_CONFIGURE
            raise ConfigurationError(f"There is no target {notice.target!r}. Nobody was told.", known)
        refuse_secrets(self._redactor, [("title", notice.title or ""), ("text", notice.text)])
        return target

    async def _signed(self, hook: Hook, notice: Notice) -> dict[str, Json]:
        """Post it. The id is the same at each attempt, so to try again does no harm: a receiver has it already."""
        now, id_ = self._clock.now(), f"msg_{hashlib.sha256(once_key().encode()).hexdigest()[:32]}"
        data = {"target": hook.name, "level": notice.level, "title": notice.title, "text": notice.text}
        body = to_json({"type": "notification", "timestamp": rfc3339(now), "data": data})
        headers = {
            "Content-Type": "application/json",
            "webhook-id": id_,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": hook.signs.sign(id_, now, body.decode()),
        }
        try:
            async with asyncio.timeout(_HOOK_ANSWERS_WITHIN):
                answer = await self._exchange(Request("POST", hook.url, headers, body))
        except TimeoutError as error:
            raise TransientError(f"{hook.name} did not answer in time.", "Try again later.") from error
        problem = trouble(hook.name, answer, _MEND)
        if problem is not None:
            raise problem
        return {"status": answer.status, "webhook_id": id_}

    async def _chatted(self, chat: Chat, notice: Notice) -> dict[str, Json]:
        given = {
            "url": chat.url,
            "title": notice.title or "",
            "text": notice.text,
            "level": notice.level,
            "allowed": [_written(place) for place in self._allowed.places],
        }
        try:
            done = await run_child(_MESSENGER, stdin=json.dumps(given).encode(), limits=_MESSENGER_MAY)
        except (LimitReached, ChildFailed):  # its words may hold the URL
            raise OutcomeUnknown(
                f"The message to {chat.name} was cut off, so it may have been delivered.",
                "Look into the chat.",
            ) from None
        return _outcome(chat, _Report.model_validate_json(done.output))


def _outcome(chat: Chat, report: _Report) -> dict[str, Json]:
    """What the wire says about a message: delivered, surely not, or nobody knows."""
    if report.delivered:
        return {"status": report.statuses[-1] if report.statuses else None}
    if not report.understood:
        raise ConfigurationError(
            f"The address of {chat.name} is not a {chat.kind} address. Nobody was told.", _MEND
        )
    taken = [status for status in report.statuses if status < 300]
    if report.unanswered or (taken and len(report.statuses) > 1):
        raise OutcomeUnknown(
            f"{chat.name} did not say whether it took the message, so it may have been delivered.",
            "Look into the chat.",
        )
    if report.blocked:
        raise AddressBlocked(
            f"{chat.name} is inside the house, not on the internet. Nothing was sent to it.",
            "If it may be reached, add its host and port to the setting BELAYER_PRIVATE_HOSTS.",
        )
    if not report.statuses:
        raise TransientError(f"{chat.name} cannot be reached. Nobody was told.", "Try again later.")
    problem = trouble(chat.name, Answer(report.statuses[-1], {}, b""), _MEND)
    raise problem or ConfigurationError(f"{chat.name} answered, but did not take the message.", _MEND)


def _written(place: Place) -> str:
    """The place as `Allowed.of` reads it."""
    return f"[{place.where}]" + (f":{place.port}" if place.port else "")
