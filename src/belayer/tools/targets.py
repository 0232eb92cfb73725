"""Where notifications go: targets that a person has named. The name is all that anybody else gets to know. Pure."""

import base64
import binascii
import re
from dataclasses import dataclass, field

import httpx
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook

from belayer.tools.http_fetch import web_address
from belayer.vocabulary.errors import ConfigurationError

# Services that are reached over HTTP and do nothing but show a message. Apprise knows more: some run programs, talk to
# the desktop or write to the system's log, and mail has a tool of its own.
CHATS = frozenset(
    {"discord", "feishu", "flock", "gchat", "guilded", "lark", "opsgenie", "pagerduty", "pover"}
    | {"ryver", "slack", "tgram", "twist", "webex", "workflow", "workflows", "wxteams", "zulip"}
    | {"gotify", "gotifys", "matrix", "matrixs", "mmost", "mmosts", "nctalk", "nctalks", "ntfy", "ntfys"}
    | {"rocket", "rockets", "signal", "signals", "synology", "synologys"}
    | {"form", "forms", "json", "jsons", "xml", "xmls"}
)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_HOOK = "webhook+"
_KEY = "whsec_"
_SHORTEST_KEY, _LONGEST_KEY = 24, 64
# A part of a URL that is as long as this and holds a digit is taken for a token, unless it is a host with its port.
_TOKEN = re.compile(r"(?![\w.-]+:\d{1,5}(?:[/?#]|$))(?=[^./@?&=#]*\d)[^./@?&=#]{12,}")
_HOW_TO_WRITE = (
    "Write one target a line: team=slack://…, or hook=webhook+https://example.org/hook#whsec_… with the base64 of"
    f" {_SHORTEST_KEY} to {_LONGEST_KEY} bytes after whsec_."
)


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat service, by a URL that Apprise understands."""

    name: str
    kind: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hook:
    """A program that takes signed webhooks."""

    name: str
    url: httpx.URL = field(repr=False)
    signs: Webhook = field(repr=False)
    kind: str = "webhook"


Target = Chat | Hook


def targets_of(written: SecretStr | None) -> dict[str, Target]:
    """The targets that the setting names; ConfigurationError, without any of its secrets, if one is not right."""
    lines = [line.strip() for line in (written.get_secret_value() if written else "").splitlines()]
    targets: dict[str, Target] = {}
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            target = _target(line, number)
            if target.name in targets:
                raise _unfit(f"line {number} names {target.name} again")
            targets[target.name] = target
    return targets


def secrets_of(written: SecretStr | None) -> list[str]:
    """What of the setting must never be recorded or shown: the URLs, and what looks like a token in them."""
    found: list[str] = []
    for line in (written.get_secret_value() if written else "").splitlines():
        rest = line.partition("=")[2].strip().partition("://")[2]
        if rest:
            key = rest.partition(f"#{_KEY}")[2]
            found += [line.partition("=")[2].strip(), rest, key, *_TOKEN.findall(rest)]
            found += [user.partition(":")[2] for user in rest.split("@")[:-1]]
    return [secret for secret in dict.fromkeys(found) if secret]


def _target(line: str, number: int) -> Target:
    name, _, url = (part.strip() for part in line.partition("="))
    if not _NAME.fullmatch(name):
        raise _unfit(f"line {number} does not begin with a name (small letters, digits, - and _) and a =")
    kind = url.partition("://")[0].lower()
    if kind in (f"{_HOOK}https", f"{_HOOK}http"):
        return _hook(name, url.removeprefix(url[: len(_HOOK)]))
    if kind not in CHATS or "://" not in url:
        raise _unfit(
            f"{name} is of no kind that is known here; there are webhook+https and {', '.join(sorted(CHATS))}"
        )
    return Chat(name, kind, url)


def _hook(name: str, url: str) -> Hook:
    address, _, key = url.partition("#")
    try:
        secret = base64.b64decode(key.removeprefix(_KEY), validate=True)
        parsed = web_address(address)
    except (binascii.Error, ValueError) as error:
        raise _unfit(f"{name} has no proper address or key") from error
    if not key.startswith(_KEY) or not _SHORTEST_KEY <= len(secret) <= _LONGEST_KEY:
        raise _unfit(f"{name} has no key to sign with")
    return Hook(name, parsed, Webhook(secret))


def _unfit(what: str) -> ConfigurationError:
    return ConfigurationError(f"BELAYER_NOTIFY_TARGETS is not right: {what}.", _HOW_TO_WRITE)
