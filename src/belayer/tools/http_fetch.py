"""Read a page of the web: as text, within bounds, and never from inside the house.

What comes back was written by strangers: it is data, and nothing in it is obeyed but a redirect.
"""

import asyncio
import re
import ssl
import sys
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Protocol

import httpcore
import httpx
from pydantic import BaseModel, Field, field_validator

from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.execution.step import may_reach
from belayer.sandbox.child import Limits, run_child
from belayer.tools.charsets import cleaned, declared_charset, decoded
from belayer.tools.dialling import Dialler
from belayer.tools.exchange import no_connection, usual_certificates
from belayer.tools.readable import MOST_CHARACTERS
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.addresses import Allowed, is_name, plain_host
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    ChildFailed,
    ConfigurationError,
    LimitReached,
    PolicyDenied,
    RateLimited,
    TransientError,
)
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.resolving import Resolver, resolved
from belayer.workspace.workspace import Workspace

_MOST_REDIRECTS = 5
_LONGEST_URL = 4096
_TIMEOUTS = {"connect": 10.0, "read": 20.0, "write": 10.0, "pool": 10.0}
_HEADERS = {
    "User-Agent": f"belayer/{version('belayer')}",
    "Accept": "text/html, text/*, application/json, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
# A packed body may be a little larger than what is in it; beyond that it is padding without an end.
_PACKING_COSTS = 64 * 1024
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(
    r"text/.*|.*\+(json|xml|yaml)"
    r"|application/(json|x-ndjson|jsonl|xml|(x-)?yaml|toml|(x-)?javascript|ecmascript|sql)"
)
_READABLE = Path(__file__).with_name("readable.py")
# Measured: the worst markup found took 352 MB and 5.1 s; by the crude way 208 MB and 2 s, at 10 MB.
_READING = Limits(
    memory_bytes=512 * 1024 * 1024, cpu_seconds=10, wall_seconds=25, output_bytes=8 * MOST_CHARACTERS
)


class HttpFetchParams(Params):
    url: Annotated[str, Field(max_length=_LONGEST_URL, description="http or https, without credentials")]
    max_bytes: Annotated[int, Field(ge=1, le=10_000_000, description="stop reading there")] = 2_000_000
    raw: Annotated[bool, Field(description="HTML as it was sent instead of its readable text")] = False

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, url: str) -> str:
        web_address(url)
        return url


def http_fetch(
    allowed: Allowed, *, resolve: Resolver = resolved, tls: ssl.SSLContext | None = None
) -> Tool[HttpFetchParams]:
    """The tool that reads pages; `allowed` are the places inside the house that it may reach."""
    return Tool(
        name="http_fetch",
        about="Read a page of the web (GET): the readable text of HTML, or any other text as it is.",
        params=HttpFetchParams,
        execute=partial(_execute, Dialler(allowed, resolve), tls),
        effect=Effect.READ,
        idempotent=True,
        timeout=60.0,
        rate=Rate(calls=10, seconds=10.0),
        reach=_reach,
    )


def web_address(text: str) -> httpx.URL:
    """The URL in one spelling; ValueError says what is wrong with it."""
    try:
        url = httpx.URL(text).copy_with(fragment=None)
    except httpx.InvalidURL as error:
        raise ValueError(f"this is not a URL ({error})") from error
    if url.scheme not in ("http", "https"):
        raise ValueError("a URL begins with http:// or https:// here")
    if url.userinfo:
        raise ValueError(
            "a URL with a user's name or password in it is not fetched: leave out the part before the @"
        )
    if not _is_host(_host(url)):
        raise ValueError(f"{url.host!r} is not a host: use its name, or its address in the usual form")
    if url.port is not None and not 0 < url.port < 65536:
        raise ValueError("a port is a number from 1 to 65535")
    return url


def _is_host(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return is_name(plain_host(host))
    return "%" not in host


def _host(url: httpx.URL) -> str:
    return url.raw_host.decode("ascii")


def _reach(params: HttpFetchParams) -> Reach:
    return _reached(web_address(params.url))


def _reached(url: httpx.URL) -> Reach:
    host = plain_host(_host(url))
    if url.port is None:
        return Reach(hosts=(host,))
    return Reach(hosts=(f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}",))


@dataclass(frozen=True, slots=True)
class _Page:
    url: httpx.URL
    status: int
    kind: str
    charset: str | None
    body: bytes
    truncated: bool
    redirects: tuple[str, ...]


class _Packing(Protocol):
    """What zlib gives to unpack with."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Readable(BaseModel):
    """What the child says."""

    title: str | None
    text: str


async def _execute(
    dialler: Dialler, tls: ssl.SSLContext | None, params: HttpFetchParams, _workspace: Workspace
) -> Json:
    async with httpcore.AsyncConnectionPool(
        ssl_context=tls or usual_certificates(), network_backend=dialler, max_keepalive_connections=0
    ) as pool:
        page = await _get(pool, web_address(params.url), params.max_bytes)
    seen = await _seen(page, raw=params.raw)
    return {
        "url": str(page.url),
        "status": page.status,
        "content_type": page.kind,
        "title": cleaned(seen.title) if seen.title else None,
        "text": cleaned(seen.text[:MOST_CHARACTERS]),
        "bytes": len(page.body),
        "truncated": page.truncated or len(seen.text) > MOST_CHARACTERS,
        "redirects": list(page.redirects),
    }


async def _get(pool: httpcore.AsyncConnectionPool, url: httpx.URL, most: int) -> _Page:
    """The page at the end of its redirects."""
    passed: list[str] = []
    while True:
        with _understood(url):
            async with pool.stream(
                "GET",
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers={**_HEADERS, "Host": url.netloc},
                extensions={"timeout": _TIMEOUTS, "sni_hostname": plain_host(_host(url))},
            ) as response:
                ahead = _redirect(url, response)
                if ahead is None:
                    return await _page(url, response, most, tuple(passed))
        passed.append(str(url))
        if len(passed) > _MOST_REDIRECTS:
            raise ConfigurationError(
                f"{passed[0]} leads from one redirect to the next; after {_MOST_REDIRECTS} it was given up.",
                "Fetch the page itself, if you know where it is.",
            )
        url = ahead


def _redirect(url: httpx.URL, response: httpcore.Response) -> httpx.URL | None:
    location = _header(response, b"location")
    if response.status not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        ahead = web_address(str(url.join(location[:_LONGEST_URL])))
    except (ValueError, httpx.InvalidURL) as error:
        raise ConfigurationError(
            f"{_short(url)} redirects to a place that is not fetched: {error}.", "Fetch another page."
        ) from error
    if (url.scheme, ahead.scheme) == ("https", "http"):
        raise ConfigurationError(
            f"{_short(url)} redirects from https to http, where anybody could change the page on its way.",
            f"If that is acceptable, fetch {_short(ahead)} itself.",
        )
    if _reached(ahead) != _reached(url) and not may_reach(_reached(ahead)):
        raise PolicyDenied(
            f"{_short(url)} redirects to {ahead.host}, which the rules do not allow without asking.",
            f"Fetch {_short(ahead)} itself, so that it can be decided on.",
        )
    return ahead


async def _page(url: httpx.URL, response: httpcore.Response, most: int, passed: tuple[str, ...]) -> _Page:
    trouble = _trouble(url, response)
    if trouble is not None:
        raise trouble
    kind, charset = _content_type(_header(response, b"content-type"))
    if kind and not _TEXT.fullmatch(kind) and kind not in _HTML:
        raise _not_text(url, kind)
    body, truncated = await _body(url, response, most)
    if not kind:
        kind = _guessed(url, body)
    return _Page(url, response.status, kind, charset, body, truncated, passed)


def _content_type(header: str) -> tuple[str, str | None]:
    kind, _, rest = cleaned(header)[:200].partition(";")
    charset = re.search(r"charset\s*=\s*[\"']?([\w-]{1,20})", rest, re.IGNORECASE)
    return kind.strip().lower(), charset[1] if charset else None


def _guessed(url: httpx.URL, body: bytes) -> str:
    """What a page without a type is."""
    if b"\0" in body:
        raise _not_text(url, "of no known type")
    return "text/html" if body.lstrip().startswith(b"<") else "text/plain"


async def _body(url: httpx.URL, response: httpcore.Response, most: int) -> tuple[bytes, bool]:
    """The body, unpacked no further than to its limit, and whether there was more."""
    packed = _packing(url, _header(response, b"content-encoding"))
    body = bytearray()
    received = 0
    async for chunk in response.aiter_stream():
        received += len(chunk)
        room = most + 1 - len(body)
        body += packed.decompress(chunk, room) if packed else chunk[:room]
        if len(body) > most or received > most + _PACKING_COSTS:
            return bytes(body[:most]), True
        if packed and packed.eof:
            return bytes(body), False
    return bytes(body), bool(packed and received)


def _packing(url: httpx.URL, encoding: str) -> _Packing | None:
    if encoding.strip().lower() in ("", "identity"):
        return None
    if encoding.strip().lower() in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(zlib.MAX_WBITS | 32)
    raise ConfigurationError(
        f"{_short(url)} came packed as {cleaned(encoding)[:50]!r}, which was not asked for.",
        "Fetch another page.",
    )


async def _seen(page: _Page, *, raw: bool) -> _Readable:
    """The text of the page; of HTML what a reader sees, unless it is wanted raw."""
    is_html = page.kind in _HTML
    charset = page.charset or (declared_charset(page.body) if is_html else None)
    text = await asyncio.to_thread(decoded, page.body, charset)
    if raw or not is_html:
        return _Readable(title=None, text=text)
    try:
        return await _read(text)
    except (LimitReached, ChildFailed):
        return await _read(text, "--crude")


async def _read(text: str, *options: str) -> _Readable:
    argv = [sys.executable, "-I", str(_READABLE), *options]
    done = await run_child(argv, stdin=text.encode(errors="replace"), limits=_READING)
    return _Readable.model_validate_json(done.output)


def _trouble(url: httpx.URL, response: httpcore.Response) -> BelayerError | None:
    """What a status that is not success means."""
    status, page = response.status, _short(url)
    if status == 429:
        wait = cleaned(_header(response, b"retry-after"))[:40]
        asked = f" It asks to wait ({wait})." if wait else ""
        return RateLimited(
            f"{page} was asked for too often (429).{asked}", "Wait, or fetch fewer pages from there."
        )
    if status in (408, 425) or status >= 500:
        return TransientError(f"{page} answered {status}: its server has trouble now.", "Try again later.")
    if status in (401, 403, 407):
        return AccessDenied(
            f"{page} answered {status}: it is not for everyone, and no credentials are sent.",
            "Fetch a public page.",
        )
    if status in (404, 410):
        return ConfigurationError(
            f"There is no page at {page} ({status}).", "Check the URL, or look for the page."
        )
    if status >= 400:
        return ConfigurationError(
            f"{page} answered {status}: it cannot be fetched like this.", "Check the URL."
        )
    return None


@contextmanager
def _understood(url: httpx.URL) -> Generator[None]:
    """Whatever the network raises, as our own error."""
    host = _host(url)
    try:
        yield
    except httpcore.TimeoutException as error:
        raise TransientError(f"{host} did not answer in time.", "Try again later.") from error
    except httpcore.ConnectError as error:
        raise no_connection(host, error) from error
    except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
        raise TransientError(
            f"The connection to {host} broke off, or it does not speak HTTP ({error}).", "Try again later."
        ) from error
    except httpcore.LocalProtocolError as error:
        raise ConfigurationError(f"{_short(url)} cannot be asked for ({error}).", "Check the URL.") from error
    except zlib.error as error:
        raise TransientError(f"What {host} sent cannot be unpacked ({error}).", "Try again later.") from error


def _not_text(url: httpx.URL, kind: str) -> ConfigurationError:
    return ConfigurationError(
        f"{_short(url)} is not text but {kind[:100]}; this tool reads only text.",
        "Fetch a page that has the same as HTML or text, or use a tool for documents or images.",
    )


def _header(response: httpcore.Response, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "")


def _short(url: httpx.URL) -> str:
    return str(url) if len(str(url)) <= 200 else f"{str(url)[:199]}…"
