"""One connection to a server while it lasts: what it offers, and calls of its tools. Nothing of it is believed."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitResult,
    Implementation,
    InputRequiredResult,
    InputResponses,
)
from mcp.types import Tool as Listed
from pydantic import TypeAdapter

from belayer.tools.charsets import cleaned
from belayer.tools.mcp.configured import Configured, LocalServer
from belayer.tools.mcp.over_http import over_http
from belayer.tools.mcp.pins import Definition
from belayer.tools.mcp.piped import Begun, piped
from belayer.tools.mcp.watch import Watch
from belayer.vocabulary.errors import LimitReached, LogicError

Progress = Callable[[float, float | None, str | None], None]

_MOST_TOOLS = 500
_MOST_PAGES = 50
_LARGEST_DEFINITION = 64_000
_MOST_ROUNDS = 3
_ANSWER: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)


def connecting(
    configured: Configured, home: Path, watch: Watch, begun: Begun
) -> AbstractAsyncContextManager[Client]:
    """A client of the server. It offers the server nothing: no models, no folders, no person to ask."""
    local = isinstance(configured, LocalServer)
    transport = piped(configured, home, watch, begun) if local else over_http(configured, watch)
    return Client(
        transport, cache=None, client_info=Implementation(name="belayer", version=version("belayer"))
    )


class Connection:
    """A server that answers."""

    def __init__(self, client: Client, watch: Watch) -> None:
        self.watch = watch
        self.tools: Mapping[str, Definition] = {}
        self._client = client

    async def look(self) -> None:
        """Ask what it offers now."""
        self.watch.has_changed = False
        found: dict[str, Definition] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found |= {tool.name: _definition(tool) for tool in page.tools}
            if len(found) > _MOST_TOOLS:
                raise LimitReached(
                    "tools",
                    f"The MCP server {self.watch.server} offers more than {_MOST_TOOLS} tools.",
                    "Have it offer fewer.",
                )
            cursor = page.next_cursor
            if cursor is None:
                break
        self.tools = found

    async def call(self, tool: str, arguments: dict[str, Any], progress: Progress | None) -> CallToolResult:
        """What the tool answers. Whatever the server asks for meanwhile is declined."""
        answers: InputResponses | None = None
        state: str | None = None
        for _ in range(_MOST_ROUNDS):
            params = CallToolRequestParams(
                name=tool, arguments=arguments, input_responses=answers, request_state=state
            )
            # Not `call_tool`: that would check the answer by the server's own schema, however long this takes.
            answer = await self._client.session.send_request(
                CallToolRequest(params=params), _ANSWER, progress_callback=_awaitable(progress)
            )
            if isinstance(answer, CallToolResult):
                return answer
            answers, state = self._declined(answer), answer.request_state
        raise self._asks_too_much()

    def _declined(self, answer: InputRequiredResult) -> InputResponses:
        asked = (answer.input_requests or {}).items()
        for _, request in asked:
            if not isinstance(request, ElicitRequest):
                raise self._asks_too_much()
            self.watch.note("elicitation/create", getattr(request.params, "message", None))
        return {key: ElicitResult(action="decline") for key, _ in asked}

    def _asks_too_much(self) -> LogicError:
        return LogicError(
            f"The MCP server {self.watch.server} wants an answer of a person or a model before it goes on, and gets"
            " none from here.",
            "Give it in the parameters what it needs, or use another tool.",
        )


def _awaitable(progress: Progress | None) -> Any:
    if progress is None:
        return None

    async def told(done: float, total: float | None, message: str | None) -> None:
        progress(done, total, message)

    return told


def _definition(tool: Listed) -> Definition:
    made = Definition(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        takes=tool.input_schema,
        gives=tool.output_schema,
        hints=tool.annotations.model_dump(exclude_none=True) if tool.annotations else None,
    )
    if len(tool.name) > 128 or len(json.dumps(made.model_dump())) > _LARGEST_DEFINITION:
        raise LimitReached(
            "tools",
            f"The tool {cleaned(tool.name)[:100]!r} has a name or description too large to be read.",
            "Have the server describe it in less.",
        )
    return made
