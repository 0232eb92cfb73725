"""Plans for tests: tools that do as they are told and remember it, and an engine that has them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from belayer.engine import Engine, Session
from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.policy import Reach
from belayer.execution.step import this_step
from belayer.tools import files
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.clock import Clock, ManualClock
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import LogicError
from belayer.vocabulary.events.event import Effect, Json, Mode
from belayer.vocabulary.rules import Risk, Rule
from belayer.wiring import Keeping, kept_in_memory, running
from belayer.workflows.workflow import Workflows
from belayer.workspace.workspace import Workspace
from tests.support.engines import Life, settings, turns

_ENDLESS = 86_400.0
"""Seconds: a test's clock jumps, and real files take real time."""


class Job(Params):
    """What to do."""

    name: str
    host: str | None = None
    risk: Risk = Risk.LOW


@dataclass(slots=True)
class Hands:
    """What the tools of a test do, and what they did. The world outside: it survives every engine.

    `look` reads, `put` writes and can be undone, `send` goes out and cannot be repeated, `post` is the same with a
    probe. `deeds` has the key of the step for everything done. `failing` says what fails now, and how.
    """

    life: Life | None = None
    failing: dict[str, Exception] = field(default_factory=dict[str, Exception])
    done: list[str] = field(default_factory=list[str])
    tried: list[str] = field(default_factory=list[str])
    undone: list[str] = field(default_factory=list[str])
    deeds: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unwell: str | None = None
    busy: int = 0
    busiest: int = 0

    def tools(self) -> list[AnyTool]:
        def tool(name: str, effect: Effect, **more: Any) -> AnyTool:
            return Tool(name, name, Job, self._do, effect=effect, reach=_reach, timeout=_ENDLESS, **more)

        return [
            tool("look", Effect.READ),
            tool("call", Effect.READ, health=self._health),
            tool("put", Effect.WRITE, undo=self._undo),
            tool("send", Effect.EXTERNAL),
            tool("post", Effect.EXTERNAL, probe=self._probe),
            *(replace(one, execute=self._alive(one), timeout=_ENDLESS) for one in files.TOOLS),
        ]

    def fail(self, *names: str, error: Exception | None = None) -> None:
        self.failing |= {
            name: error or LogicError(f"{name} cannot be done.", "Do another.") for name in names
        }

    async def _do(self, params: Job, _workspace: Workspace) -> Json:
        await self._live()
        self.tried.append(params.name)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            await turns(3)
            if params.name in self.failing:
                raise self.failing[params.name]
            await self._live()
            self.done.append(params.name)
            self.deeds.append((params.name, this_step().key))
            await turns(3)
        finally:
            self.busy -= 1
        return {"name": params.name}

    async def _probe(self, params: Job, _workspace: Workspace) -> Probed:
        await self._live()
        return Happened({"name": params.name}) if params.name in self.done else DidNotHappen()

    async def _undo(self, params: Job, _output: Json, _workspace: Workspace) -> Json:
        await self._live()
        if f"undo {params.name}" in self.failing:
            raise self.failing[f"undo {params.name}"]
        self.undone.append(params.name)
        return None

    async def _health(self) -> str | None:
        return self.unwell

    def _alive(self, tool: AnyTool) -> Any:
        """The tool as it is, for as long as there is a process."""
        execute = tool.execute
        assert execute is not None

        async def execute_alive(params: Any, workspace: Workspace) -> Json:
            await self._live()
            if this_step().key in self.failing:
                raise self.failing.pop(this_step().key)
            done = await execute(params, workspace)
            self.done.append(this_step().key)
            return done

        return execute_alive

    async def _live(self) -> None:
        if self.life is not None:
            await self.life.still_here()


def _reach(params: Job) -> Reach:
    return Reach(hosts=(params.host,) if params.host else (), risk=params.risk)


@asynccontextmanager
async def plan_engine(
    hands: Hands, keeping: Keeping | None = None, clock: Clock | None = None
) -> AsyncGenerator[Engine]:
    """An engine with these tools; while it closes, a manual clock goes on by itself."""
    clock = clock or ManualClock()
    turning: asyncio.Task[None] | None = None
    try:
        async with running(
            keeping or kept_in_memory(), Workflows(), "all", settings(), clock, hands.tools()
        ) as engine:
            try:
                yield engine
            finally:
                turning = asyncio.create_task(_turn(clock))
    finally:
        if turning is not None:
            turning.cancel()


async def _turn(clock: Clock) -> None:
    while isinstance(clock, ManualClock):
        await turns(30)
        clock.advance(0.5)


def step(id_: str, tool: str = "look", **more: Any) -> dict[str, Any]:
    """A step of a plan that does its own name."""
    return {"id": id_, "tool": tool, "params": {"name": id_}, **more}


async def begin(
    engine: Engine,
    *listed: dict[str, Any],
    steps: Sequence[dict[str, Any]] = (),
    mode: Mode = Mode.HITL,
    policy: tuple[Rule, ...] | None = None,
    workspace: Any = None,
    key: str | None = None,
    **more: Any,
) -> Session:
    """Start a plan with these steps."""
    command = Start(
        workflow="plan",
        input={"plan": {"steps": [*listed, *steps], **more}},
        mode=mode,
        policy=policy,
        workspace=workspace and str(workspace),
        idempotency_key=key,
    )
    return engine.session(await engine.begin(command))


async def statuses(session: Session) -> dict[str, str]:
    """How each step of a completed plan came out."""
    result = await session.result()
    assert isinstance(result, dict)
    return result["steps"]  # pyright: ignore[reportReturnType]
