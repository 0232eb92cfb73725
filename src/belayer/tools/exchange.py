"""One request to a service that a person has chosen, and its answer: within bounds, checked where it is dialled.

No redirect is followed and no address is told but the host: the rest of a URL may be a secret.
"""

import ssl
import zlib
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.metadata import version

import httpcore
import httpx

from belayer.tools.charsets import cleaned
from belayer.tools.dialling import Dialler
from belayer.vocabulary.addresses import plain_host
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    ConfigurationError,
    RateLimited,
    TooLarge,
    TransientError,
)

_TIMEOUTS = {"connect": 10.0, "read": 20.0, "write": 10.0, "pool": 10.0}
_MOST_BYTES = 2_000_000
# A packed body may be a little larger than what is in it.
_PACKING_COSTS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. Headers and body may hold secrets, and so may all of the URL but its host."""

    method: str
    url: httpx.URL = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """Sends requests and reads answers, to where the dialler lets it."""

    def __init__(self, dialler: Dialler, tls: ssl.SSLContext | None = None) -> None:
        self._dialler = dialler
        self._tls = tls

    async def __call__(self, request: Request) -> Answer:
        """The answer, whatever its status; TransientError if there is none, TooLarge if there is no end to it."""
        url = request.url
        async with httpcore.AsyncConnectionPool(
            ssl_context=self._tls or usual_certificates(),
            network_backend=self._dialler,
            max_keepalive_connections=0,
        ) as pool:
            with _understood(host_of(url)):
                async with pool.stream(
                    request.method,
                    httpcore.URL(
                        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                    ),
                    headers=_headers(request),
                    content=request.body or None,
                    extensions={"timeout": _TIMEOUTS, "sni_hostname": host_of(url)},
                ) as response:
                    headers = {
                        name.decode("latin-1").lower(): cleaned(value.decode("latin-1"))
                        for name, value in response.headers
                    }
                    return Answer(
                        response.status, headers, await _body(url, headers, response.aiter_stream())
                    )


def host_of(url: httpx.URL) -> str:
    """The host as it goes over the wire."""
    return plain_host(url.raw_host.decode("ascii"))


def place_of(url: httpx.URL) -> str:
    """The host, with its port unless it is the usual one, as rules and settings write it."""
    host = host_of(url)
    if url.port is None:
        return host
    return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"


def trouble(service: str, answer: Answer, mend: str) -> BelayerError | None:
    """What a status that is not success means; `mend` says what to do about credentials."""
    status = answer.status
    if 200 <= status < 300:
        return None
    if status == 429:
        wait = answer.headers.get("retry-after", "")[:40]
        asked = f" It asks to wait ({wait})." if wait else ""
        return RateLimited(f"{service} was asked too often (429).{asked}", "Wait, or ask less often.")
    if status in (408, 425) or status >= 500:
        return TransientError(f"{service} answered {status}: it has trouble now.", "Try again later.")
    if status in (401, 403, 407):
        return AccessDenied(f"{service} answered {status}: it does not let us in.", mend)
    if 300 <= status < 400:
        return ConfigurationError(
            f"{service} answered {status}: it is somewhere else now, and nobody was sent after it.",
            "Correct its address in the settings.",
        )
    return ConfigurationError(
        f"{service} answered {status}: it does not take what was sent.", "Correct what was asked for."
    )


def wait_asked_for(answer: Answer, now: datetime) -> float | None:
    """The seconds that the answer asks to wait, if it does."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        return max((parsedate_to_datetime(text) - now).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


@cache
def usual_certificates() -> ssl.SSLContext:
    """The authorities that everybody trusts, and those that this machine does: a company's own, or SSL_CERT_FILE."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _headers(request: Request) -> list[tuple[bytes, bytes]]:
    ours = {
        "Host": request.url.netloc.decode("ascii"),
        "User-Agent": f"belayer/{version('belayer')}",
        "Accept-Encoding": "gzip, deflate",
    }
    length = {"Content-Length": str(len(request.body))} if request.body else {}
    return [
        (name.encode(), value.encode("ascii"))
        for name, value in {**ours, **length, **request.headers}.items()
    ]


async def _body(url: httpx.URL, headers: Mapping[str, str], stream: AsyncIterator[bytes]) -> bytes:
    """The whole body, unpacked no further than to its limit."""
    packing = headers.get("content-encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise TransientError(
            f"{host_of(url)} answered in a packing that was not asked for.", "Try again later."
        )
    packed = zlib.decompressobj(zlib.MAX_WBITS | 32) if packing not in ("", "identity") else None
    body, received = bytearray(), 0
    async for chunk in stream:
        received += len(chunk)
        room = _MOST_BYTES + 1 - len(body)
        body += packed.decompress(chunk, room) if packed else chunk[:room]
        if len(body) > _MOST_BYTES or received > _MOST_BYTES + _PACKING_COSTS:
            raise TooLarge(
                f"{host_of(url)} answered with more than {_MOST_BYTES:,} bytes, and was not heard to the end.",
                "Ask for less at once.",
            )
    if packed and received and not packed.eof:
        raise TransientError(f"What {host_of(url)} sent breaks off.", "Try again later.")
    return bytes(body)


@contextmanager
def _understood(host: str) -> Generator[None]:
    """Whatever the network raises, as our own error."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise TransientError(f"{host} did not answer in time.", "Try again later.") from error
    except httpcore.ConnectError as error:
        raise no_connection(host, error) from error
    except (httpcore.NetworkError, httpcore.RemoteProtocolError, zlib.error) as error:
        raise TransientError(
            f"The connection to {host} broke off, or it does not speak HTTP ({type(error).__name__}).",
            "Try again later.",
        ) from error
    except (httpcore.LocalProtocolError, UnicodeEncodeError) as error:  # its text holds what may be a key
        raise ConfigurationError(
            f"{host} cannot be asked: a key or address holds a character that it cannot hold.",
            "Correct it in the settings.",
        ) from error


def no_connection(host: str, error: httpcore.ConnectError) -> BelayerError:
    """What it means that a host cannot be reached, or not be trusted."""
    if isinstance(error.__context__, ssl.SSLError):  # httpcore raises it again "from None", so it is no cause
        return ConfigurationError(
            f"{host} cannot be trusted: the secure connection failed ({error}). Nothing was sent to it.",
            "Check the host's name; its certificate may be expired, self-made or meant for another host.",
        )
    return TransientError(
        f"{host} cannot be reached ({error}).", "Check the host and port, or try again later."
    )
