"""Serve other agents over MCP: the engine runs in this process, the protocol on its stdin and stdout."""

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.loading import code_here
from belayer.cli.options import Home


def mcp(home: Home = None) -> None:
    """Serve an MCP client on stdin and stdout, and drive the sessions of this home meanwhile. Logs go to the home."""

    async def work(desk: Desk) -> int:
        # Only this command needs the protocol's library, which takes a while to import.
        from belayer.api.mcp import serve_stdio  # noqa: PLC0415

        desk.when_stopped = "Stopped. Sessions are kept; they go on when somebody serves or resumes them."
        async with desk.engine("all", *code_here(desk)) as engine:
            await serve_stdio(engine, desk.settings)
        return Exit.DONE

    carry_out(work, home=home, as_json=False, no_input=True)
