"""The server as an ASGI app: every route, behind the door, every error a problem."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI

from belayer.api.door import Door, Doorkeeper
from belayer.api.problems import MEDIA_TYPE, ProblemDetails, answer_problems
from belayer.api.routes import decisions, execution, health, history, inbox, tools
from belayer.engine import Engine
from belayer.settings import Settings

_REFUSED = {
    400: "The request names another host, or cannot be read.",
    401: "The token is missing or wrong.",
    403: "A page of another site sent it.",
    404: "There is no such thing.",
    409: "The state of things does not allow it.",
    413: "It is too large.",
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
    app = FastAPI(
        title="Belayer",
        version=version("belayer"),
        description="Durable sessions for agent work with a person in the loop.",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        separate_input_output_schemas=False,
    )
    app.state.engine = engine
    app.state.settings = settings
    for router in (
        health.router,
        execution.router,
        decisions.router,
        history.router,
        history.importing,
        inbox.router,
        tools.router,
    ):
        app.include_router(router)
    answer_problems(app)
    describe_problems(app)
    app.add_middleware(Doorkeeper, door=door)
    return app


def describe_problems(app: FastAPI) -> None:
    """Put the shape of a problem into the schema, where every route refers to it."""
    whole = app.openapi()
    shape = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = whole["components"]["schemas"]
    schemas.update(shape.pop("$defs", {}))
    schemas["ProblemDetails"] = shape
