"""Errors as RFC 9457 has them: one shape for everything that goes wrong, and nothing that a stranger should not see."""

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from belayer.api.strict import RequestTooLarge, WrongMediaType
from belayer.vocabulary.errors import (
    AccessDenied,
    AlreadyDecided,
    AmbiguousPrefix,
    AmbiguousSymbol,
    BelayerError,
    Category,
    ConfigurationError,
    DigestChanged,
    EngineClosed,
    GraphMissing,
    IllegalTransition,
    KeyReused,
    LogicError,
    NotReady,
    Refused,
    ResourceShort,
    SessionFailed,
    StoreError,
    TooManySessions,
    UnfitPlan,
    UnknownArtifact,
    UnknownRepository,
    UnknownRequest,
    UnknownSession,
    UnknownSymbol,
    UnknownTool,
    UnknownWorkflow,
    WorkspaceMissing,
    WorkspaceMoved,
)
from belayer.vocabulary.ids import new_reference

_logger = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"

# The first class that fits gives the status.
_STATUSES: tuple[tuple[type[BelayerError], int], ...] = (
    (UnknownSession, 404),
    (UnknownRequest, 404),
    (UnknownArtifact, 404),
    (UnknownRepository, 404),
    (UnknownSymbol, 404),
    (GraphMissing, 404),
    (AmbiguousSymbol, 409),
    (TooManySessions, 429),
    (IllegalTransition, 409),
    (AlreadyDecided, 409),
    (DigestChanged, 409),
    (KeyReused, 409),
    (AmbiguousPrefix, 409),
    (WorkspaceMoved, 409),
    (RequestTooLarge, 413),
    (WrongMediaType, 415),
    (Refused, 422),
    (SessionFailed, 422),
    (UnknownWorkflow, 422),
    (UnknownTool, 422),
    (WorkspaceMissing, 422),
    (NotReady, 503),
    (StoreError, 503),
    (EngineClosed, 503),
    (ResourceShort, 503),
    # What is left of these is about the folder or the path that the request names.
    (ConfigurationError, 422),
    (AccessDenied, 422),
    (LogicError, 422),
)
# Said before the body was read, which may have no end.
_UNREAD = frozenset({400, 401, 403, 413})
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_MOST_ERRORS = 50
_LONGEST = 500


class UnfitRequest(Refused):
    """A request that is not what the route takes."""

    category = Category.CONFIGURATION


class InternalError(BelayerError):
    """An error that nobody foresaw."""


class NoSuchAddress(Refused):
    """There is no such route."""


class WrongMethod(Refused):
    """The route does not take this method."""


class ProblemDetails(BaseModel):
    """What went wrong, what it means, what to do."""

    type: str
    title: str
    status: int
    detail: str
    category: Category
    hint: str | None = None
    errors: list[dict[str, str]] | None = None
    reference: str | None = None


def problem_response(
    error: BelayerError,
    status: int,
    errors: Sequence[dict[str, str]] | None = None,
    reference: str | None = None,
) -> Response:
    """An error as it is sent."""
    problem = error.problem()
    details = ProblemDetails(
        type=f"urn:belayer:problem:{problem.kind}",
        title=title_of(problem.kind),
        status=status,
        detail=problem.detail,
        category=problem.category,
        hint=problem.hint,
        errors=list(errors) if errors else None,
        reference=reference,
    )
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if status in _UNREAD:
        headers["Connection"] = "close"
    if isinstance(error, TooManySessions):
        headers["Retry-After"] = str(error.retry_after)
    return JSONResponse(
        details.model_dump(mode="json", exclude_none=True), status, headers=headers, media_type=MEDIA_TYPE
    )


def status_of(error: BelayerError) -> int:
    """The HTTP status of an error of ours."""
    return next((status for cls, status in _STATUSES if isinstance(error, cls)), 500)


def title_of(kind: str) -> str:
    """UnknownSession → Unknown session."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind).strip()
    return words[:1].upper() + words[1:]


def answer_problems(app: FastAPI) -> None:
    """Have every error of the app answered as a problem."""
    app.add_exception_handler(BelayerError, _ours)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(HTTPException, answer_refusal)
    app.add_middleware(LastResort)


class LastResort:
    """Answers what nobody foresaw, and lets nothing through to the server, which would print it as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, note)
        except (ClientDisconnect, WebSocketDisconnect):
            return
        except Exception as error:  # noqa: BLE001 - this is the door: nothing gets past it
            response = _with_reference(error)
            if scope["type"] == "http" and not begun:
                await response(scope, receive, send)


async def _ours(_request: Request, error: Exception) -> Response:
    assert isinstance(error, BelayerError)
    status = status_of(error)
    if status == 500:
        return _with_reference(error)
    found = error.problems if isinstance(error, UnfitPlan) else ()
    return problem_response(error, status, [_error(place, what) for place, what in found[:_MOST_ERRORS]])


async def _unfit(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [
        _error(_place(item["loc"]), str(item["msg"]).removeprefix("Value error, "))
        for item in error.errors()[:_MOST_ERRORS]
    ]
    told = "; ".join(f"{item['place']}: {item['what']}" for item in found[:5])
    problem = UnfitRequest(f"The request does not fit: {told}.", "Correct these, then send it again.")
    return problem_response(problem, 422, found)


async def answer_refusal(request: Request, error: Exception) -> Response:
    """What the web framework refuses, as a problem."""
    assert isinstance(error, HTTPException)
    problem = _REFUSALS.get(error.status_code) or UnfitRequest(str(error.detail))
    response = problem_response(problem, error.status_code)
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(_methods_at(request))
    return response


_REFUSALS: dict[int, BelayerError] = {
    404: NoSuchAddress("There is nothing at this address.", "GET /openapi.json lists the addresses."),
    405: WrongMethod("This address does not take this method.", "GET /openapi.json lists the methods."),
}


def _with_reference(error: Exception) -> Response:
    """Say nothing of what it was, but how to find it in the log."""
    reference = new_reference()
    _logger.error("request failed", reference=reference, error=type(error).__name__, exc_info=error)
    hidden = InternalError(
        "Something went wrong inside Belayer. Sessions are not harmed.",
        f"Look for {reference} in the log, or tell whoever runs this server.",
    )
    return problem_response(hidden, 500, reference=reference)


def _methods_at(request: Request) -> list[str]:
    """What an address takes. The framework would name the methods of the first route only."""
    app: FastAPI = request.app
    return [
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in app.routes)
    ]


def _error(place: str, what: str) -> dict[str, str]:
    return {"place": place[:_LONGEST], "what": what[:_LONGEST]}


def _place(loc: Sequence[Any]) -> str:
    return ".".join(str(part) for part in loc)
