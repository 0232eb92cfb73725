"""A tool as it is shown: what it takes, how it is, what the past says of it."""

from typing import Any

from belayer.execution.breaker import Breaker
from belayer.sessions.history import ToolMetrics
from belayer.tools.tool import AnyTool
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Effect, Json, Shape


class ToolView(Shape):
    """One tool in a list."""

    name: str
    about: str
    effect: Effect
    idempotent: bool
    asks: bool
    timeout: float
    parameters: dict[str, Json]
    health: str
    breaker: str
    metrics: ToolMetrics | None


async def view_tool(tool: AnyTool, breaker: Breaker, metrics: ToolMetrics | None) -> ToolView:
    """The tool now; its health is asked for."""
    schema: dict[str, Any] = tool.params.model_json_schema()
    return ToolView(
        name=tool.name,
        about=tool.about,
        effect=tool.effect,
        idempotent=tool.idempotent or tool.effect is Effect.READ,
        asks=tool.conduct is not None,
        timeout=tool.timeout,
        parameters=schema,
        health=await _health(tool) or "ok",
        breaker=breaker.state.value,
        metrics=metrics,
    )


async def _health(tool: AnyTool) -> str | None:
    """What is wrong with the tool, if anything; one that cannot say is not well."""
    try:
        return await tool.health() if tool.health else None
    except BelayerError as error:
        return error.detail
