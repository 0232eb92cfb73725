"""Tools of other people's MCP servers, under the same rules as ours: asked about, bounded, and used as accepted.

What a server says of its own tools is a hint and nothing more; what it answers is data.
"""

import asyncio
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from belayer.execution.policy import Reach
from belayer.execution.step import UNDER_WAY
from belayer.sandbox.camp import Camp, sweep
from belayer.tools.browsing.places import reach_of
from belayer.tools.charsets import cleaned
from belayer.tools.mcp.configured import Configured, LocalServer, plain_name
from belayer.tools.mcp.pins import Definition, Pins
from belayer.tools.mcp.schemas import ServerParams, params_for
from belayer.tools.mcp.server import CONNECT_SECONDS, Server
from belayer.tools.tool import AnyTool, Tool
from belayer.vocabulary.clock import Clock, SystemClock
from belayer.vocabulary.errors import BelayerError, ConfigurationError
from belayer.vocabulary.events.event import Effect, Json
from belayer.workspace.workspace import Workspace

# How long an engine waits at its start for servers that it has never seen.
FIRST_SIGHT_SECONDS = 5.0
_AT_ONCE = 8
_LONGEST_ABOUT = 1_000
_SPARE = 5.0


@dataclass(frozen=True, slots=True)
class ServerReport:
    """How a server is, for a person."""

    name: str
    tools: tuple[str, ...]
    left_out: tuple[str, ...]
    starts: int
    problem: str | None


class McpServers:
    """The servers of an engine, for as long as the block lasts. Those seen before are started when they are needed."""

    def __init__(
        self,
        servers: Mapping[str, Configured],
        home: Path | None = None,
        *,
        taken: Collection[str] = (),
        clock: Clock | None = None,
    ) -> None:
        self._configured = dict(servers)
        self._home = home
        self._clock = clock or SystemClock()
        self._pins = Pins.of(home)
        self._servers: dict[str, Server] = {}
        self._stack = AsyncExitStack()
        own = {name.partition(".")[0] for name in taken}
        wrong = [name for name in servers if plain_name(name) in own]
        if wrong:
            raise ConfigurationError(
                f"An MCP server cannot be called {wrong[0]}: Belayer's own tools have that name.",
                "Give it another name in the file of BELAYER_MCP_SERVERS.",
            )

    async def __aenter__(self) -> Self:
        begun = await self._noting() if self._configured else _forgotten
        group = await self._stack.enter_async_context(asyncio.TaskGroup())
        self._stack.push_async_callback(self._close)
        for name, configured in self._configured.items():
            home = await asyncio.to_thread(self._own_folder, name)
            self._servers[name] = Server(name, configured, home, self._pins, self._clock, group, begun)
        strangers = [server for server in self._servers.values() if self._pins.tools(server.name) is None]
        if strangers:
            await self._meet(strangers, group)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def tools(self) -> list[AnyTool]:
        """The tools of all servers that are known, as they were accepted."""
        return [
            self._tool(server, name, definition)
            for server in self._servers.values()
            for name, definition in self._named(server)[0].items()
        ]

    def reports(self) -> list[ServerReport]:
        """How the servers are."""
        return [self._report(server) for server in self._servers.values()]

    async def accept(self, name: str) -> list[str]:
        """Take a server's tools as they are now. They are there when the engine is started the next time."""
        server = self._servers.get(name)
        if server is None:
            raise ConfigurationError(
                f"There is no MCP server {name!r}.", f"There are: {', '.join(self._servers) or 'none'}."
            )
        return [f"{plain_name(name)}.{plain_name(tool)}" for tool in await server.accept()]

    async def _noting(self) -> Callable[[int], None]:
        """Write down what is started, so that the next Belayer ends what outlives a killed one; end what did."""
        if self._home is None:
            return _forgotten
        await sweep(self._home)
        camp = await asyncio.to_thread(Camp.pitch, self._home, grouped=False)
        self._stack.callback(camp.strike)
        return camp.note

    async def _meet(self, strangers: list[Server], group: asyncio.TaskGroup) -> None:
        """See what new servers offer; one that takes its time is not waited for."""

        async def seen(server: Server) -> None:
            with suppress(BelayerError):  # it is in the report
                await server.connected()

        meeting = {group.create_task(seen(server)) for server in strangers}
        await asyncio.wait(meeting, timeout=FIRST_SIGHT_SECONDS)

    async def _close(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    def _own_folder(self, name: str) -> Path:
        """A home of the server's own: kept in ours, so that it need not fetch what it needs at every start."""
        if self._home is None:
            return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="belayer-mcp-")))
        folder = self._home.resolve() / "mcp" / plain_name(name)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _named(self, server: Server) -> tuple[dict[str, Definition], list[str]]:
        """The server's tools by the names that they have here, and those that cannot have one."""
        found: dict[str, list[Definition]] = {}
        for definition in (self._pins.tools(server.name) or {}).values():
            found.setdefault(plain_name(definition.name), []).append(definition)
        named = {name: same[0] for name, same in found.items() if name and len(same) == 1}
        return named, [one.name for name, same in found.items() if name not in named for one in same]

    def _tool(self, server: Server, name: str, definition: Definition) -> Tool[ServerParams]:
        looks = server.configured.only_looks(definition.name)
        return Tool(
            name=f"{plain_name(server.name)}.{name}",
            about=_about(server.name, definition),
            params=params_for(definition.takes),
            execute=partial(_execute, server, definition, looks),
            effect=Effect.READ if looks else Effect.EXTERNAL,
            timeout=server.configured.timeout + 2 * CONNECT_SECONDS + _SPARE,
            at_once=_AT_ONCE,
            reach=_reach_of(server.configured),
            health=partial(_health, server, definition),
        )

    def _report(self, server: Server) -> ServerReport:
        named, left_out = self._named(server)
        changed = [why for one in named.values() if (why := server.changed(one)) is not None]
        trouble = server.trouble or next(iter(changed), None)
        if trouble is None and self._pins.tools(server.name) is None:
            trouble = ConfigurationError("It has not said yet what it offers.", "Look again later.")
        return ServerReport(
            server.name,
            tuple(f"{plain_name(server.name)}.{name}" for name in named),
            tuple(cleaned(name)[:100] for name in left_out),
            server.starts,
            f"{trouble.detail} {trouble.hint or ''}".strip() if trouble is not None else None,
        )


def _forgotten(_session: int) -> None:
    """Without a home there is nobody who could read of it."""


async def _execute(
    server: Server, definition: Definition, looks: bool, params: ServerParams, _workspace: Workspace
) -> Json:
    from belayer.tools.mcp.results import recorded  # noqa: PLC0415 - loads the library of the protocol

    answer, asked = await server.call(definition, params.arguments(), repeatable=looks, progress=_progress())
    return await recorded(server.name, definition.name, answer, asked)


def _progress() -> Callable[[float, float | None, str | None], None] | None:
    step = UNDER_WAY.get(None)
    if step is None:
        return None

    def told(done: float, total: float | None, message: str | None) -> None:
        percent = min(max(100.0 * done / total, 0.0), 100.0) if total else 0.0
        step.progress(percent, cleaned(message or "")[:200])

    return told


async def _health(server: Server, definition: Definition) -> str | None:
    changed = server.changed(definition)
    if changed is not None:
        return f"{changed.detail} {changed.hint}"
    return await server.health()


def _reach_of(configured: Configured) -> Callable[[ServerParams], Reach]:
    reach = Reach() if isinstance(configured, LocalServer) else reach_of(configured.url)
    return lambda _params: reach


def _about(server: str, definition: Definition) -> str:
    said = " ".join(cleaned(definition.description or definition.title or "").split())[:_LONGEST_ABOUT]
    return f"From the MCP server {server}: {said or 'it does not say what this does.'}"
