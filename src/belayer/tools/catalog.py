"""Every tool that needs nothing to be kept open. A new one is a file beside this one and a line below.

Those that keep something open (a sandbox, a browser, machines, servers) are added in wiring.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from belayer.sessions.redact import Redactor
from belayer.tools import files
from belayer.tools.http_fetch import http_fetch
from belayer.tools.mail import email
from belayer.tools.mcp.configured import Configured
from belayer.tools.notify import notify
from belayer.tools.request_input import REQUEST_INPUT
from belayer.tools.search.provider import Provider
from belayer.tools.smtp import Relay
from belayer.tools.targets import Target
from belayer.tools.tool import AnyTool
from belayer.tools.wait import WAIT
from belayer.tools.web_search import web_search
from belayer.vocabulary.addresses import Allowed


@dataclass(frozen=True, slots=True)
class Means:
    """What the tools have to work with, as a person has set it up."""

    redactor: Redactor = field(default_factory=Redactor)
    allowed: Allowed = field(default_factory=Allowed)
    provider: Provider | None = None
    relay: Relay | None = None
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])
    servers: Mapping[str, Configured] = field(default_factory=dict[str, Configured])


def catalog(means: Means) -> list[AnyTool]:
    """The tools on these means."""
    return [
        *files.TOOLS,
        http_fetch(means.allowed),
        web_search(means.provider, means.redactor),
        email(means.relay, means.redactor),
        notify(means.targets, means.allowed, means.redactor),
        REQUEST_INPUT,
        WAIT,
    ]
