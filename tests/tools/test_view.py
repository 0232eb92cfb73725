"""A tool as it is shown."""

from dataclasses import replace

from belayer.execution.breaker import Breaker
from belayer.sessions.history import ToolMetrics
from belayer.tools.catalog import Means, catalog
from belayer.tools.view import view_tool
from belayer.vocabulary.errors import TransientError
from belayer.wiring import kept_in_memory
from tests.support.engines import memory_engine

TOOLS = {tool.name: tool for tool in catalog(Means())}


async def test_a_tool_is_shown_with_what_it_takes_and_what_it_does() -> None:
    view = await view_tool(TOOLS["files.write"], Breaker(), None)
    assert (view.name, view.effect, view.idempotent, view.asks) == ("files.write", "write", False, False)
    assert set(view.parameters["properties"]) == {"path", "content", "overwrite"}  # pyright: ignore[reportArgumentType]
    assert (view.health, view.breaker, view.metrics) == ("ok", "closed", None)


async def test_a_tool_that_only_reads_can_be_repeated_and_one_that_waits_for_a_person_says_so() -> None:
    assert (await view_tool(TOOLS["files.read"], Breaker(), None)).idempotent
    assert (await view_tool(TOOLS["request_input"], Breaker(), None)).asks


async def test_a_tool_says_how_it_is_and_one_that_cannot_say_is_not_well() -> None:
    async def unwell() -> str:
        return "the other side is away"

    async def failing() -> str:
        raise TransientError("nobody answers")

    for health, said in ((unwell, "the other side is away"), (failing, "nobody answers")):
        view = await view_tool(replace(TOOLS["files.read"], health=health), Breaker(), None)
        assert view.health == said


async def test_a_tool_that_failed_too_often_is_shown_as_left_alone() -> None:
    breaker = Breaker(threshold=1)
    breaker.failed(0.0)
    assert (await view_tool(TOOLS["http_fetch"], breaker, None)).breaker == "open"


async def test_an_engine_shows_every_tool_it_has() -> None:
    async with memory_engine(keeping=kept_in_memory()) as engine:
        views = await engine.tools()
    names = [view.name for view in views]
    assert names == engine.toolbox.names()
    assert {*TOOLS, "shell.run", "browser.open", "code"} <= set(names)
    assert all(view.metrics is None or isinstance(view.metrics, ToolMetrics) for view in views)
