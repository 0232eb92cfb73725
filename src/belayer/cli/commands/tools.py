"""What plans and agents can do here, how it fares, and what it takes."""

from typing import Annotated

import typer

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home
from belayer.cli.safe_text import safe_line
from belayer.cli.toolpages import example_step, tool_page, tool_table
from belayer.tools.toolbox import Toolbox
from belayer.tools.view import ToolView


def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Everything about this one.", show_default=False)
    ] = None,
    accept: Annotated[
        str | None,
        typer.Option(
            "--accept",
            metavar="SERVER",
            help="Take the tools of this MCP server as they are now.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List the tools with their health and their past, or show all about one."""

    async def work(desk: Desk) -> int:
        async with desk.engine(set()) as engine:  # drives nothing, and tries what driving would need
            if accept is not None:
                _tell_accepted(desk, accept, await engine.servers.accept(accept))
                return Exit.DONE
            views, toolbox = await engine.tools(), engine.toolbox
        group = [view for view in views if name is None or view.name.startswith(f"{name}.")]
        if name is None or (group and name not in toolbox.names()):
            _tell_all(desk, group)
        else:
            wanted = toolbox.named(name).name
            _tell_one(desk, next(view for view in views if view.name == wanted), toolbox)
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def _tell_accepted(desk: Desk, server: str, tools: list[str]) -> None:
    desk.screen.answer({"accepted": tools})
    named = ", ".join(safe_line(name) for name in tools) or "none"
    desk.screen.say(f"The tools of {safe_line(server)} are now as it gives them: {named}.")
    desk.screen.say("They can be used from the next start of Belayer on.", style="bright_black")


def _tell_all(desk: Desk, views: list[ToolView]) -> None:
    desk.screen.answer({"tools": [view.model_dump(mode="json") for view in views]})
    desk.screen.draw(tool_table(views))
    desk.screen.say(f"All about one of them: {desk.command('tools', 'NAME')}", style="bright_black")


def _tell_one(desk: Desk, view: ToolView, toolbox: Toolbox) -> None:
    desk.screen.answer(view.model_dump(mode="json") | {"example": example_step(view, toolbox)})
    for line in tool_page(view, toolbox):
        desk.screen.say(line)
