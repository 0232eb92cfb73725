"""Where a page is, in the words that rules use. Pure."""

import httpx

from belayer.execution.policy import Reach
from belayer.tools.http_fetch import web_address
from belayer.vocabulary.addresses import plain_host


def reach_of(url: str) -> Reach:
    """What opening an address touches; ValueError says what is wrong with it."""
    return Reach(hosts=(_host(web_address(url)),))


def host_of(url: str) -> str | None:
    """The host in an address, with its port if that is not the usual one; None if it has none."""
    try:
        return _host(web_address(url))
    except ValueError:
        return None


def _host(url: httpx.URL) -> str:
    host = plain_host(url.raw_host.decode("ascii"))
    if url.port is None:
        return host
    return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"
