"""What the sessions of these tests do: tools that a test holds in its hand, a plan that needs a person all the time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from belayer.engine import Engine, Session
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.errors import LogicError
from belayer.vocabulary.events.event import Effect, Json
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace
from tests.support.engines import settings
from tests.support.servers import Address, serving

JOURNEY = """
title: Ship the release
steps:
  - id: who
    title: Ask who it is for
    tool: request_input
    params: {prompt: "Who is the release for?"}
  - id: note
    title: Write the note
    tool: files.write
    params: {path: note.txt, content: "For {{steps.who.output.answer}}\\n"}
  - id: tell
    title: Tell the world
    tool: announce
    params: {text: "A release for {{steps.who.output.answer}}"}
  - id: measure
    title: Measure
    tool: measure
    needs: [tell]
    params: {what: height}
  - id: check
    title: Check the weather
    tool: check
    needs: [measure]
    params: {weather: storm}
  - id: done
    title: Write the end
    tool: files.write
    needs: [check]
    params: {path: done.txt, content: "done\\n"}
"""


class Announce(Params):
    text: str


class Measure(Params):
    what: str


class Check(Params):
    weather: str


@dataclass(slots=True)
class Hands:
    """The tools of the plan: `announce` goes out, `measure` takes until it is let go, `check` dislikes storms."""

    announced: list[str] = field(default_factory=list[str])
    measuring: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    def tools(self) -> list[AnyTool]:
        return [
            Tool("announce", "Tell the world.", Announce, self._announce, effect=Effect.EXTERNAL),
            Tool("measure", "Measure something.", Measure, self._measure, effect=Effect.READ),
            Tool("check", "Check the weather.", Check, self._check, effect=Effect.READ),
        ]

    async def _announce(self, params: Announce, _workspace: Workspace) -> Json:
        self.announced.append(params.text)
        return {"told": params.text}

    async def _measure(self, params: Measure, _workspace: Workspace) -> Json:
        self.measuring.set()
        await self.let_go.wait()
        return {params.what: 8849}

    async def _check(self, params: Check, _workspace: Workspace) -> Json:
        if params.weather == "storm":
            raise LogicError("Nobody climbs in a storm.", "Choose other weather.")
        return {"weather": params.weather}


@dataclass(frozen=True, slots=True)
class Stage:
    """An engine, the server around it, and a folder to work in."""

    engine: Engine
    server: Address
    folder: Path

    async def begin(self, plan: str | dict[str, Any], **more: Any) -> Session:
        """Start a plan."""
        content = yaml.safe_load(plan) if isinstance(plan, str) else plan
        return await self.engine.carry_out(content, workspace=self.folder, **more)

    async def begin_settled(self, plan: str | dict[str, Any], **more: Any) -> Session:
        """Start a plan and wait until it waits."""
        session = await self.begin(plan, **more)
        await session.settled()
        return session


OpenStage = Callable[..., Awaitable[Stage]]
"""`stage` without the folder, for as long as the test lasts."""


@asynccontextmanager
async def stage(
    home: Path,
    *workflows: Callable[..., Awaitable[Any]],
    tools: Iterable[AnyTool] = (),
    **changes: Any,
) -> AsyncGenerator[Stage]:
    """A server with these workflows and tools, on a folder; `changes` are settings."""
    chosen = settings(home / "home", grace=0.0, **changes)
    folder = home / "work"
    folder.mkdir(exist_ok=True)
    async with (
        open_engine(settings=chosen, workflows=workflows, tools=tools) as engine,
        serving(engine, **changes) as server,
    ):
        yield Stage(engine, server, folder)


def asks(prompt: str, **params: Any) -> dict[str, Any]:
    """A plan that only asks."""
    return {
        "title": f"Asks: {prompt}"[:200],
        "steps": [{"id": "ask", "tool": "request_input", "params": {"prompt": prompt, **params}}],
    }


def sends(text: str) -> dict[str, Any]:
    """A plan that needs leave to announce something, and can do without."""
    return {
        "title": f"Announces {text}"[:200],
        "steps": [{"id": "tell", "tool": "announce", "critical": False, "params": {"text": text}}],
    }
