"""The only place that picks parts: which store, which clock, which drivers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import structlog

from belayer.codemode.machines import Machines
from belayer.engine import Engine
from belayer.execution.executor import Breakers
from belayer.execution.limits import Limits
from belayer.execution.retry import RetryPolicy
from belayer.execution.rulebook import Rulebook
from belayer.runner.driving import Parts
from belayer.runner.runner import Habits, Runner
from belayer.runner.tracing import tracing
from belayer.runner.vitals import Vitals
from belayer.sandbox.choose import choose
from belayer.sandbox.sandbox import Missing, Sandbox
from belayer.sessions.blobs import Blobs, FileBlobs, MemoryBlobs
from belayer.sessions.feed import Feed
from belayer.sessions.history import History, load
from belayer.sessions.lease import Drivers, LockedDrivers, OneDriver
from belayer.sessions.log import Log
from belayer.sessions.redact import Redactor
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.settings import Settings, read_settings, secrets_in
from belayer.tools.browser import Browsers
from belayer.tools.catalog import Means, catalog
from belayer.tools.code import code
from belayer.tools.jobs import Jobs
from belayer.tools.mcp.configured import read_servers_file
from belayer.tools.mcp.configured import secrets_of as secrets_of_servers
from belayer.tools.mcp_servers import McpServers
from belayer.tools.search.choice import chosen_provider
from belayer.tools.shell import shell
from belayer.tools.smtp import relay_of
from belayer.tools.targets import secrets_of as secrets_of_targets
from belayer.tools.targets import targets_of
from belayer.tools.tool import AnyTool
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.addresses import Allowed
from belayer.vocabulary.clock import Clock, SystemClock
from belayer.vocabulary.errors import NoSandbox, StoreError, StoreReadOnly
from belayer.vocabulary.ids import SessionId, uuid7
from belayer.workflows.graph.repositories import Repositories
from belayer.workflows.graph.workflow import Graphs
from belayer.workflows.plan.workflow import Plans
from belayer.workflows.workflow import Workflow, Workflows, as_workflow
from belayer.workspace.clone import Cloner
from belayer.workspace.workspace import Workspaces

Drives = Literal["all", "none"] | set[SessionId]

_logger = structlog.get_logger()

_NOT_TRIED = Missing(
    NoSandbox("This process runs no commands, so no sandbox was tried.", "See `belayer doctor`.")
)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where things are kept, and who else may be at work there."""

    store: Store
    blobs: Blobs
    drivers: Drivers
    home: Path | None = None


@asynccontextmanager
async def open_engine(
    home: Path | str | None = None,
    *,
    workflows: Iterable[Callable[..., Awaitable[Any]] | Workflow] = (),
    tools: Iterable[AnyTool] = (),
    drives: Drives = "all",
    settings: Settings | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[Engine]:
    """An engine on the folder `home`, driving sessions for as long as the block lasts."""
    settings = settings or read_settings(home=home)
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        keeping = await stack.enter_async_context(kept_in(settings.home, clock))
        known = Workflows(as_workflow(call) for call in workflows)
        yield await stack.enter_async_context(running(keeping, known, drives, settings, clock, tools))


@asynccontextmanager
async def kept_in(home: Path, clock: Clock) -> AsyncGenerator[Keeping]:
    """A folder with a SQLite file, blobs, and the locks of the processes that drive."""
    try:
        await asyncio.to_thread(home.mkdir, mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(
            f"The folder {home} cannot be made ({error.strerror}).",
            "Set BELAYER_HOME to a folder you may write.",
        ) from error
    store = await SqliteStore.open(home / "belayer.db")
    try:
        with drivers_in(home, uuid7(clock.now())) as drivers:
            yield Keeping(store, blobs_in(home), drivers, home)
    finally:
        await store.close()


def drivers_in(home: Path, me: str) -> LockedDrivers:
    """The processes that drive sessions of this folder."""
    return LockedDrivers(home / "drivers", me)


def blobs_in(home: Path) -> Blobs:
    """The large payloads of this folder."""
    return FileBlobs(home / "blobs")


def kept_in_memory(home: Path | None = None) -> Keeping:
    """Everything is forgotten with the process, but for the workspaces in `home`, if there is one."""
    return Keeping(MemoryStore(), MemoryBlobs(), OneDriver("only"), home)


@asynccontextmanager
async def running(
    keeping: Keeping,
    workflows: Workflows,
    drives: Drives,
    settings: Settings,
    clock: Clock,
    tools: Iterable[AnyTool] = (),
) -> AsyncGenerator[Engine]:
    """The engine on what is kept, with its tasks; on leaving, steps under way get their grace."""
    means, workspaces = means_from(settings), Workspaces(keeping.home)
    async with furnished(keeping, settings, drives, means, workspaces, clock, tools) as furniture:
        toolbox = furniture.toolbox
        log = Log(keeping.store, clock, means.redactor)
        feed = Feed(keeping.store, clock)
        log.listen(feed.publish)
        history = History()
        log.listen(history.hear)
        log.listen(furniture.jobs.hear)
        repositories = Repositories(keeping.home, clock)
        workflows.add(Plans(toolbox, workspaces, history, clock).workflow())
        cloner = Cloner(means.allowed, settings.tokens(), settings.ssh_folder)
        workflows.add(Graphs(repositories, cloner).workflow())
        breakers = Breakers()
        vitals = Vitals(keeping.store, history, breakers, toolbox.names(), clock)
        log.listen(vitals.hear)
        parts = Parts(
            keeping.store,
            log,
            feed,
            keeping.blobs,
            means.redactor,
            clock,
            keeping.drivers,
            workflows,
            breakers,
            RetryPolicy(retries=settings.max_retries),
            Limits(clock),
            Rulebook(keeping.home),
            workspaces,
            settings.grace,
            furniture.sandbox.rung.name,
        )
        engine = Engine(parts, toolbox, history, vitals, repositories, furniture.servers)
        async with (
            tracing(log, settings.otlp_endpoint, toolbox.names()),
            aclosing(repositories),
            _at_work(parts, drives, settings, history),
        ):
            yield engine


@asynccontextmanager
async def _at_work(
    parts: Parts, drives: Drives, settings: Settings, history: History
) -> AsyncGenerator[None]:
    """The tasks of an engine, for as long as the block lasts."""
    only = drives if isinstance(drives, set) else None
    runner = Runner(parts, Habits(settings.concurrency, settings.session_timeout, only))
    raised: Exception | None = None
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(parts.log.run())
        hearing = group.create_task(_hear_others(parts.store, parts.feed, runner))
        driving = group.create_task(runner.run()) if drives != "none" else None
        learning = group.create_task(_learn(parts.store, history)) if drives != "none" else None
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the caller's own: raised below, outside the group that would wrap it
            raised = error
        finally:
            hearing.cancel()
            if learning is not None:
                learning.cancel()
            if driving is not None:
                await runner.drain()
                driving.cancel()
                await asyncio.wait({driving})
            writing.cancel()
    if raised is not None:
        raise raised


@dataclass(frozen=True, slots=True)
class Furniture:
    """The tools, and what some of them need for as long as the engine is open."""

    toolbox: Toolbox
    servers: McpServers
    sandbox: Sandbox
    jobs: Jobs


@asynccontextmanager
async def furnished(
    keeping: Keeping,
    settings: Settings,
    drives: Drives,
    means: Means,
    workspaces: Workspaces,
    clock: Clock,
    others: Iterable[AnyTool],
) -> AsyncGenerator[Furniture]:
    """The tools on these means; machines, browsers and servers are started when they are first needed."""
    home = keeping.home
    async with AsyncExitStack() as stack:
        machines = await stack.enter_async_context(Machines(home / "machines" if home else None))
        browsers = await stack.enter_async_context(Browsers(means.allowed))
        jobs = await stack.enter_async_context(Jobs())
        sandbox = await _sandbox(stack, settings, home) if drives != "none" else _NOT_TRIED
        own = [
            *catalog(means),
            *shell(sandbox, jobs, means.allowed),
            *browsers.tools(),
            code(lambda: toolbox, workspaces, machines),
        ]
        servers = McpServers(means.servers, home, taken=[tool.name for tool in own], clock=clock)
        await stack.enter_async_context(servers)
        toolbox = Toolbox([*own, *servers.tools(), *others])
        yield Furniture(toolbox, servers, sandbox, jobs)


async def _sandbox(stack: AsyncExitStack, settings: Settings, home: Path | None) -> Sandbox:
    """The best that works here. Where none does, everything else works, and a command says why it cannot be run."""
    if settings.sandbox == "off":
        return Missing(
            NoSandbox("Commands are switched off here.", "Set BELAYER_SANDBOX to auto to run them.")
        )
    try:
        return await stack.enter_async_context(choose(settings.sandbox, home))
    except NoSandbox as error:
        _logger.warning("no sandbox", problem=error.detail, hint=error.hint)
        return Missing(error)


def means_from(settings: Settings) -> Means:
    """What the settings give to the tools. Their secrets are kept out of the log like those of the environment."""
    relay = relay_of(settings.smtp_url, settings.mail_from)
    servers = read_servers_file(settings.mcp_servers) if settings.mcp_servers else {}
    secrets = [*secrets_in(), *secrets_of_targets(settings.notify_targets), *secrets_of_servers(servers)]
    secrets += settings.tokens().values()
    return Means(
        redactor=Redactor([*secrets, *([relay.password] if relay and relay.password else [])]),
        allowed=Allowed.of([host.strip() for host in settings.private_hosts.split(",") if host.strip()]),
        provider=chosen_provider(
            searxng_url=settings.searxng_url,
            brave_api_key=settings.brave_api_key,
            tavily_api_key=settings.tavily_api_key,
            brave_url=settings.brave_url,
            tavily_url=settings.tavily_url,
        ),
        relay=relay,
        targets=targets_of(settings.notify_targets),
        servers=servers,
    )


async def _learn(store: Store, history: History) -> None:
    """Hear of the past, as far as the store can tell; without it, estimates are unknown for a while."""
    try:
        await load(store, history)
    except StoreError as error:
        _logger.warning("past not heard", problem=error.detail)


async def _hear_others(store: Store, feed: Feed, runner: Runner) -> None:
    async for _ in store.changes():
        await feed.catch_up()
        await runner.look_again()
