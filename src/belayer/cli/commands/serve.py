"""Run the server: REST, WebSocket, SSE and MCP over HTTP, on this machine unless told otherwise."""

import asyncio
import resource
from typing import Annotated

import typer
import uvloop

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.loading import code_here
from belayer.cli.options import AsJson, Home


def serve(
    host: Annotated[
        str | None,
        typer.Option(
            help="Where to listen. Beyond this machine only if you say so.", show_default="127.0.0.1"
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0 takes any that is free.", show_default="8700")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Serve the API and drive sessions until stopped."""

    async def work(desk: Desk) -> int:
        # Only this command needs the web framework, which takes a while to import.
        from belayer.api.serve import serve as listen  # noqa: PLC0415
        from belayer.api.token import token_in  # noqa: PLC0415

        settings = desk.settings.model_copy(
            update={name: value for name, value in (("host", host), ("port", port)) if value is not None}
        )
        token = settings.token.get_secret_value() if settings.token else token_in(settings.home)
        desk = Desk(desk.screen, settings, desk.home_given, desk.when_stopped, desk.notices)

        def ready(address: str) -> None:
            desk.screen.say(f"Belayer listens at {address}/?token={token}")
            desk.screen.say(
                "Open this link in a browser, or send the token as `Authorization: Bearer TOKEN`. Ctrl-C stops."
            )
            desk.screen.answer({"address": address, "token": token})

        _allow_many_sockets()
        async with desk.engine("all", *code_here(desk)) as engine:
            try:
                await listen(engine, settings, token, ready)
            except asyncio.CancelledError:
                desk.screen.say("Stopping: steps under way get a few seconds to end.")
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json, loop=uvloop.new_event_loop)


def _allow_many_sockets() -> None:
    """Every follower is a socket, and a process may have a thousand files unless it asks for more."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
