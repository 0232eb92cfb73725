"""Belayer for other agents: an MCP server over stdio or HTTP. Every error is told as one that a model can act on."""

import hmac
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, cast

import structlog
from fastapi import FastAPI
from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import Route

from belayer.api.mcp_about import INSTRUCTIONS
from belayer.api.mcp_arguments import read
from belayer.api.mcp_lines import lines_of_stdin
from belayer.api.mcp_people import Person
from belayer.api.mcp_results import told, told_problem
from belayer.api.mcp_tools import Counter, McpTool
from belayer.api.problems import InternalError
from belayer.api.strict import MOST_BYTES
from belayer.engine import Engine
from belayer.settings import Settings
from belayer.vocabulary.errors import BelayerError, UnknownTool
from belayer.vocabulary.ids import new_reference

_logger = structlog.get_logger()

_NAME = "belayer"
_MOST_CLIENTS = 1_000
# How long a person may think about a form before the call it belongs to is lost; the session itself waits on.
_THINKING_SECONDS = 86_400.0

Result = types.CallToolResult | types.InputRequiredResult


def make_mcp(engine: Engine, settings: Settings, key: bytes) -> Server[Any]:
    """The server on an engine that is open. The key seals what a client carries between the rounds of a call."""
    tools = {tool.name: tool for tool in Counter(engine, settings).tools()}
    listed = types.ListToolsResult(tools=[_listed(tool) for tool in tools.values()])

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> Result:
        return await _called(tools, context, params)

    server: Server[Any] = Server(
        _NAME,
        version=version("belayer"),
        title="Belayer",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    sealed = RequestStateSecurity(keys=[key], ttl=_THINKING_SECONDS)
    server.middleware.append(RequestStateBoundary(sealed, default_audience=_NAME))
    return server


async def serve_stdio(engine: Engine, settings: Settings) -> None:
    """Serve the client at stdin and stdout until it leaves."""
    server = make_mcp(engine, settings, secrets.token_bytes(32))
    async with lines_of_stdin() as lines, stdio_server(stdin=lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def mount_mcp(app: FastAPI, engine: Engine, settings: Settings, token: str) -> None:
    """Serve MCP at `/mcp` of the app, for as long as the app's lifespan lasts. Who may come in is the door's to say.

    What a client carries is sealed with the token, so that an answer survives a restart of the server.
    """
    key = hmac.digest(token.encode(), b"belayer mcp", "sha256")
    clients = StreamableHTTPSessionManager(
        make_mcp(engine, settings, key), max_request_body_size=MOST_BYTES, max_sessions=_MOST_CLIENTS
    )
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(of: Any) -> AsyncGenerator[Any]:
        async with before(of) as state, clients.run():
            yield state

    app.router.lifespan_context = lifespan
    app.router.routes.append(Route("/mcp", endpoint=StreamableHTTPASGIApp(clients), include_in_schema=False))


async def _called(
    tools: dict[str, McpTool], context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> Result:
    try:
        tool = tools.get(params.name)
        if tool is None:
            raise UnknownTool(
                f"There is no tool {params.name[:100]!r} here.", f"There are: {', '.join(tools)}."
            )
        done = await tool.do(read(tool.takes, params.arguments or {}, tool.name), Person(context, params))
    except BelayerError as error:
        return told_problem(error)
    except Exception as error:  # noqa: BLE001 - the API's door: a stranger sees a reference, the log the rest
        return _hidden(params.name, error)
    return done if isinstance(done, types.InputRequiredResult) else told(done)


def _hidden(name: str, error: Exception) -> types.CallToolResult:
    reference = new_reference()
    _logger.error("call failed", tool=name[:100], reference=reference, exc_info=error)
    return told_problem(
        InternalError(
            "Something went wrong inside Belayer. Sessions are not harmed.",
            f"Look for {reference} in the log, or tell whoever runs this server.",
        )
    )


def _listed(tool: McpTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=_untitled(tool.takes.model_json_schema()),
        output_schema=_untitled(tool.gives.model_json_schema(mode="serialization")),
        annotations=tool.hints,
    )


def _untitled(schema: Any) -> Any:
    """The schema without the titles that only repeat the names: a model has to read all of it."""
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema).items()
        return {name: _untitled(part) for name, part in members if name != "title" or isinstance(part, dict)}
    return [_untitled(part) for part in cast("list[Any]", schema)] if isinstance(schema, list) else schema
