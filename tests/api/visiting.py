"""A program that uses the API with no socket in between: what it sends reaches the app as a server would hand it on."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import FastAPI

from belayer.api.app import make_app
from belayer.api.door import Door
from belayer.engine import Engine
from tests.support.engines import settings

TOKEN = "a-token-that-only-tests-know"
URL = "http://127.0.0.1:8700"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
AT = "/api/execution/sessions"


def app_on(engine: Engine, **changes: Any) -> FastAPI:
    """The app; `changes` are settings."""
    chosen = settings(**{"max_sessions": 0, **changes})
    return make_app(engine, chosen, Door.of(TOKEN, "127.0.0.1", 8700))


@asynccontextmanager
async def visiting(engine: Engine, **changes: Any) -> AsyncGenerator[httpx.AsyncClient]:
    """A client that has the token."""
    async with visitor(app_on(engine, **changes), BEARER) as client:
        yield client


def visitor(app: FastAPI, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client with these headers and no others. Whatever gets past the app fails the test."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=URL, headers=headers or {})


def problem_of(response: httpx.Response) -> dict[str, Any]:
    """The problem of a response; fails unless it is one as RFC 9457 and PROTOCOL.md have it."""
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["status"] == response.status_code
    assert told["type"].startswith("urn:belayer:problem:")
    assert told["title"]
    assert told["detail"]
    assert told["category"] in {"transient", "configuration", "permission", "resource", "logic"}
    return told
