"""A process made to be killed: carries out plans with tools that fail, hang and leave in doubt what they did.

`python -m tests.crash.plan_driver HOME RUNS SEED SPEED` starts or takes up as many plans, and ends once all of them
have. Whoever waits is called SPEED times sooner than the clock says.
What its tools did to the world stands in HOME/ledger, what was done to them in HOME/faults: a line each, never
rewritten.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from belayer.engine import Engine
from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.step import this_step
from belayer.settings import Settings
from belayer.tools import files
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.clock import SystemClock, Timer
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import TransientError
from belayer.vocabulary.events.event import Effect, Json, Mode
from belayer.vocabulary.rules import Rule, Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace

FAILS, HANGS_BEFORE, HANGS_AFTER, WELL = "fails", "hangs before", "hangs after", "well"
_SHARES = {FAILS: 0.20, HANGS_BEFORE: 0.01, HANGS_AFTER: 0.02, WELL: 0.77}
_AT_ONCE = 64
_RETRIES = 10
"""At 20 % faults the default of 3 gives up on 1 step in 600, so on 1 plan of ten steps in 60."""
_PATIENCE = 2.0
"""Seconds a step may really take. A tool that hangs does so for longer."""

ENTRIES = ("open", "pay", "tell", "close")
"""What every plan puts into the ledger."""
FINAL = "The final text of"

PLAN: dict[str, Json] = {
    "title": "Pay and tell",
    "inputs": {"run": None},
    "parallel": 2,
    "steps": [
        {"id": "look", "tool": "flaky_read", "params": {"what": "{{input.run}}"}},
        {
            "id": "open", "tool": "ledger",
            "params": {"entry": "{{input.run}} open", "note": "{{steps.look.output.seen}}"},
        },
        {"id": "draft", "tool": "files.write", "params": {"path": "text.md", "content": "A draft of {{input.run}}.\n"}},
        {
            "id": "mend", "tool": "files.edit", "needs": ["draft"],
            "params": {"path": "text.md", "old": "A draft of", "new": FINAL},
        },
        {"id": "check", "tool": "files.read", "needs": ["mend"], "params": {"path": "text.md"}},
        {
            "id": "pay", "tool": "ledger", "needs": ["open"],
            "params": {"entry": "{{input.run}} pay", "note": "{{steps.check.output.text}}"},
        },
        {"id": "tell", "tool": "ledger", "needs": ["open"], "params": {"entry": "{{input.run}} tell"}},
        {
            "id": "note", "tool": "files.write",
            "params": {"path": "notes/paid.md", "content": "{{steps.pay.output.entry}}"},
        },
        {"id": "again", "tool": "flaky_read", "needs": ["tell"], "params": {"what": "{{input.run}}"}},
        {
            "id": "close", "tool": "ledger", "needs": ["note", "again"],
            "params": {"entry": "{{input.run}} close"}, "when": "steps.tell.status == 'completed'",
        },
    ],
}  # fmt: skip


class Entry(Params):
    """What stands in the ledger."""

    entry: str
    note: str = ""


class Look(Params):
    what: str


@dataclass(slots=True)
class Pages:
    """A file that is only ever added to, a line at a time."""

    path: Path

    def add(self, line: str) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, line.encode() + b"\n")
        finally:
            os.close(descriptor)

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []


class QuickClock(SystemClock):
    """The machine's clock for dates; whoever waits is called sooner."""

    def __init__(self, speed: float) -> None:
        self._speed = speed

    def monotonic(self) -> float:
        return time.monotonic() * self._speed

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds / self._speed, call)


Execute = Callable[[Any, Workspace], Awaitable[Json]]


@dataclass(slots=True)
class World:
    """What the tools act on, and the bad luck they have there."""

    ledger: Pages
    faults: Pages
    luck: random.Random = field(default_factory=random.Random)

    def tools(self) -> list[AnyTool]:
        """The drill's own tools, and those for files as a bad day has them."""
        own: list[AnyTool] = [
            Tool("ledger", "Pay.", Entry, self._enter, effect=Effect.EXTERNAL, probe=self._entered),
            Tool("flaky_read", "Look.", Look, self._look, effect=Effect.READ),
        ]
        return [replace(tool, execute=self._unlucky(tool)) for tool in (*own, *files.TOOLS)]

    async def _enter(self, params: Entry, _workspace: Workspace) -> Json:
        key = this_step().idempotency_key
        self.ledger.add(f"{key}\t{params.entry}")
        return {"entry": params.entry}

    async def _entered(self, params: Entry, _workspace: Workspace) -> Probed:
        found = any(line.partition("\t")[2] == params.entry for line in self.ledger.lines())
        return Happened({"entry": params.entry}) if found else DidNotHappen()

    async def _look(self, params: Look, _workspace: Workspace) -> Json:
        return {"seen": f"saw {params.what}"}

    def _unlucky(self, tool: AnyTool) -> Execute:
        execute = tool.execute
        assert execute is not None

        async def execute_unluckily(params: Any, workspace: Workspace) -> Json:
            (fault,) = self.luck.choices(list(_SHARES), list(_SHARES.values()))
            self.faults.add(f"{tool.name}\t{fault}")
            if fault == FAILS:
                raise TransientError(f"{tool.name} is not in the mood.", "Ask it again.")
            if fault == HANGS_BEFORE:
                await asyncio.Event().wait()
            done = await execute(params, workspace)
            if fault == HANGS_AFTER:
                await asyncio.Event().wait()
            return done

        return execute_unluckily


def world_in(home: Path, seed: int = 0) -> World:
    return World(Pages(home / "ledger"), Pages(home / "faults"), random.Random(seed))


def plan_with(patience: float) -> dict[str, Json]:
    """The plan, each step of which may take so long."""
    assert isinstance(PLAN["steps"], list)
    manners: dict[str, Json] = {"timeout": patience, "retries": _RETRIES}
    return {**PLAN, "steps": [{**one, **manners} for one in PLAN["steps"] if isinstance(one, dict)]}


async def carry_out(engine: Engine, number: int, plan: dict[str, Json]) -> None:
    """Start a plan, or find it, and see it to its end."""
    command = Start(
        workflow="plan",
        input={"plan": plan, "inputs": {"run": f"run {number}"}},
        mode=Mode.AUTONOMOUS,
        idempotency_key=f"run {number}",
        policy=(Rule(verdict=Verdict.ALLOW, tool="ledger", effect="external"),),
    )
    await engine.settled(await engine.begin(command))


async def drive(home: Path, runs: int, seed: int, speed: float) -> None:
    """See so many plans to their end."""
    settings = Settings(home=home, concurrency=_AT_ONCE, session_timeout=0.0, sandbox="off")
    tools, plan = world_in(home, seed).tools(), plan_with(_PATIENCE * speed)
    async with (
        open_engine(settings=settings, tools=tools, clock=QuickClock(speed)) as engine,
        asyncio.TaskGroup() as group,
    ):
        for number in range(runs):
            group.create_task(carry_out(engine, number, plan))


if __name__ == "__main__":
    asyncio.run(drive(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
