"""Who may come in: the right Host, no foreign Origin, a token. Stands before everything else the server does."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from belayer.api.problems import problem_response
from belayer.api.token import cookie_for, is_same
from belayer.vocabulary.errors import AccessDenied, BelayerError, Refused

COOKIE = "belayer"
_OPEN = frozenset({"/health"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_HOW_TO = (
    "Send `Authorization: Bearer TOKEN`. `belayer serve` prints it; it lies in the file `token` of the home."
)
_PROGRAMS_ONLY = ("/api/", "/ws/", "/mcp", "/metrics", "/openapi.json")
_SIGN_IN = """<!doctype html><title>Belayer</title><p>This browser is not known here yet.
Open the link that <code>belayer serve</code> printed; it ends in <code>?token=…</code>.</p>"""


class NoToken(AccessDenied):
    """A request came without the token, or with a wrong one."""


class ForeignHost(Refused):
    """A request names a host that this server is not."""


class ForeignOrigin(AccessDenied):
    """A page of another site sent a request."""


@dataclass(frozen=True, slots=True)
class Door:
    """What a request must show."""

    token: str
    hosts: frozenset[str]

    @classmethod
    def of(cls, token: str, host: str, port: int, others: Iterable[str] = ()) -> "Door":
        """The door of a server that listens there and may also be reached by other names (`name` or `name:port`)."""
        names = [*_LOCAL, _bracketed(host), *others]
        return cls(token, frozenset(named for name in names for named in _with_port(name.lower(), port)))

    def refusal(self, scope: Scope) -> tuple[int, BelayerError] | None:
        """Why a request may not come in; None if it may."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return 400, ForeignHost(
                f"This server is not called {host[:200]!r}.",
                "Use the address that `belayer serve` prints, or add the name to BELAYER_HOSTS.",
            )
        if self._is_foreign(scope, headers, host):
            return 403, ForeignOrigin(
                "A page of another site may not use this server.", "Use Belayer's own page."
            )
        if scope["path"] in _OPEN or self._knows(headers):
            return None
        return 401, NoToken("The token is missing or wrong.", _HOW_TO)

    def welcome(self, scope: Scope) -> Response | None:
        """The answer to a first visit by a link with the token: a cookie, and the page without the token."""
        if not _is_visit(scope):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not given or not is_same(given, self.token):
            return None
        response = RedirectResponse(quote(f"/{scope['path'].lstrip('/')}"), status_code=303)
        response.set_cookie(COOKIE, cookie_for(self.token), httponly=True, samesite="strict", path="/")
        return response

    def _knows(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return is_same(given.strip(), self.token)
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        return is_same(cookie, cookie_for(self.token))

    def _is_foreign(self, scope: Scope, headers: Headers, host: str) -> bool:
        """A browser says where a request comes from when it matters; a program says nothing."""
        origin = headers.get("origin")
        if origin is None or (scope["type"] == "http" and scope["method"] in _SAFE):
            return False
        try:
            return urlsplit(origin).netloc.lower() != host or urlsplit(origin).scheme not in ("http", "https")
        except ValueError:
            return True


class Doorkeeper:
    """Lets in what the door lets in. What goes out is what it says it is: no browser may take it for a page."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        response = self._answer(scope)
        if response is None:
            await self._app(scope, receive, _labelled(send))
            return
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        await response(scope, receive, _labelled(send))

    def _answer(self, scope: Scope) -> Response | None:
        """What the door itself says to a request; None if it may pass."""
        refused = self._door.refusal(scope)
        if refused is None or isinstance(refused[1], NoToken):
            # Also for one who has the cookie already: the token shall not stay in the address.
            welcome = self._door.welcome(scope)
            if welcome is not None:
                return welcome
        if refused is None:
            return None
        status, error = refused
        if isinstance(error, NoToken) and _is_visit(scope) and _wants_page(scope):
            return HTMLResponse(_SIGN_IN, status)
        return problem_response(error, status)


def _is_visit(scope: Scope) -> bool:
    """A person comes to a page; no program uses the API."""
    return (
        scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith(_PROGRAMS_ONLY)
    )


def _wants_page(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


def _labelled(send: Send) -> Send:
    async def labelled(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["X-Content-Type-Options"] = "nosniff"
        await send(message)

    return labelled


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if ip_address(host).version == 6 else host
    except ValueError:
        return host


def _with_port(name: str, port: int) -> tuple[str, ...]:
    has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]") and name.count(":") == 1
    return (name,) if has_port else (name, f"{name}:{port}")
