"""Whether the server is well."""

from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from belayer.api.asked import TheEngine
from belayer.api.problems import title_of
from belayer.sessions.store import Wanted
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.events.event import Shape

router = APIRouter(tags=["health"])


class Health(Shape):
    """How the server is; `reasons` say why when it is degraded."""

    status: Literal["ok", "degraded"]
    version: str
    store: str
    workers: int
    model: str | None = None
    reasons: tuple[str, ...] = ()


@router.get("/health", response_model=Health, responses={503: {"model": Health}})
async def health(engine: TheEngine) -> Response:
    """200 when sessions can be recorded, 503 with the reasons when not."""
    reasons: list[str] = []
    try:
        await engine.sessions(Wanted(limit=1))
    except StoreError as error:
        reasons.append(title_of(type(error).__name__))  # no more: whoever asks has shown no token
    told = Health(
        status="degraded" if reasons else "ok",
        version=version("belayer"),
        store="sqlite",
        workers=1,
        reasons=tuple(reasons),
    )
    return JSONResponse(told.model_dump(mode="json"), 503 if reasons else 200)
