"""Hand one message to a chat service: JSON on stdin, JSON on stdout.

A program of its own (`python -I -m belayer.tools.messenger`), because Apprise blocks, cannot be stopped, and dials by
itself: here it can be killed, every address is checked when it is dialled, no program can be started, and what was sent
and answered is seen on the wire. It says nothing else: an exception of Apprise's may hold the URL.
"""

import http.client
import json
import sys
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from typing import Any, cast

import apprise

from belayer.vocabulary.addresses import Allowed

_FORBIDDEN = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"}
    | {"subprocess.Popen"}
)
_DIALS = ("socket.connect", "socket.sendto", "socket.sendmsg")


@dataclass(slots=True)
class Seen:
    """What happened on the wire."""

    blocked: bool = False
    unanswered: bool = False
    statuses: list[int] = field(default_factory=list[int])


def main() -> None:
    given: dict[str, Any] = json.load(sys.stdin)
    seen, library = Seen(), cast("Any", apprise)
    asset = library.AppriseAsset(
        app_id="Belayer",
        app_desc="Belayer",
        async_mode=False,
        storage_mode="memory",
        http_redirects=False,
        interpret_escapes=False,
        interpret_emojis=False,
    )
    service = library.Apprise.instantiate(given["url"], asset=asset)
    if service is None:
        _tell(understood=False, delivered=False, seen=seen)
        return
    _watch(seen, Allowed.of(given["allowed"]))
    sender = library.Apprise(asset=asset)
    sender.add(service)
    delivered = sender.notify(
        body=given["text"], title=given["title"], notify_type=given["level"], body_format="text"
    )
    _tell(understood=True, delivered=bool(delivered), seen=seen)


def _watch(seen: Seen, allowed: Allowed) -> None:
    """From here on nothing is dialled or started unchecked. An audit hook cannot be taken off again."""
    asked: set[str] = {""}
    begin = http.client.HTTPResponse.begin

    def answered(self: http.client.HTTPResponse) -> None:
        begin(self)
        seen.unanswered = False
        seen.statuses.append(self.status)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _FORBIDDEN:
            raise PermissionError(event)
        if event == "socket.getaddrinfo":
            asked.add(str(args[0]))
        elif event == "http.client.send":
            seen.unanswered = True
        elif event in _DIALS and not _is_allowed(allowed, asked, args[-1]):
            seen.blocked = True
            raise PermissionError("the address is inside the house")

    http.client.HTTPResponse.begin = answered
    sys.addaudithook(hook)


def _is_allowed(allowed: Allowed, asked: set[str], place: object) -> bool:
    if not isinstance(place, tuple):  # a socket of this machine
        return False
    host, port = cast("tuple[str, int]", place[:2])
    address = ip_address(host.partition("%")[0])
    return any(allowed.permits(name, address, port) for name in asked)


def _tell(*, understood: bool, delivered: bool, seen: Seen) -> None:
    json.dump({"understood": understood, "delivered": delivered, **asdict(seen)}, sys.stdout)


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001 - a third door: whatever a plugin raises may hold the URL, and is not told
        sys.exit(3)
