"""Every tool there is. A new one is a file beside this one and a line below."""

from belayer.tools import files
from belayer.tools.http_fetch import http_fetch
from belayer.tools.request_input import REQUEST_INPUT
from belayer.tools.tool import AnyTool
from belayer.tools.wait import WAIT
from belayer.vocabulary.addresses import Allowed


def catalog(private_hosts: str = "") -> list[AnyTool]:
    """The tools, told which private hosts they may reach."""
    return [
        *files.TOOLS,
        http_fetch(Allowed.of([host.strip() for host in private_hosts.split(",") if host.strip()])),
        REQUEST_INPUT,
        WAIT,
    ]
