"""The server as an ASGI app: every route, behind the door, every error a problem."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI

from belayer.api.door import Door, Doorkeeper
from belayer.api.mcp import mount_mcp
from belayer.api.pages import serve_pages
from belayer.api.problems import MEDIA_TYPE, ProblemDetails, answer_problems
from belayer.api.routes import decisions, execution, health, history, inbox, metrics, repos, tools
from belayer.engine import Engine
from belayer.settings import Settings

_REFUSED = {
    400: "The request names another host, or cannot be read.",
    401: "The token is missing or wrong.",
    403: "A page of another site sent it.",
    404: "There is no such thing.",
    409: "The state of things does not allow it.",
    413: "It is too large.",
    415: "It does not say that it is JSON.",
    422: "It does not fit.",
    429: "As many sessions are live as may be.",
    500: "Something went wrong inside.",
    503: "The store cannot be used now.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": told,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
    for status, told in _REFUSED.items()
}


def make_app(engine: Engine, settings: Settings, door: Door) -> FastAPI:
    """The app on an engine that is open."""
    app = bare_app()
    app.state.engine = engine
    app.state.settings = settings
    app.state.vitals = engine.vitals
    app.add_middleware(Doorkeeper, door=door)
    answer_problems(app)
    serve_pages(app)
    mount_mcp(app, engine, settings, door.token)
    return app


def bare_app() -> FastAPI:
    """The routes and their schema, with nothing behind them."""
    app = App(
        title="Belayer",
        version=version("belayer"),
        description="Durable sessions for agent work with a person in the loop.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=PROBLEMS,
        separate_input_output_schemas=False,
    )
    for router in (
        health.router,
        execution.router,
        decisions.router,
        history.router,
        history.importing,
        inbox.router,
        tools.router,
        metrics.router,
        repos.router,
    ):
        app.include_router(router)
    return app


class App(FastAPI):
    """Has the shape of a problem in its schema, where every route refers to it."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi()["components"]["schemas"]
            shape = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(shape.pop("$defs", {}))
            schemas["ProblemDetails"] = shape
        return super().openapi()
