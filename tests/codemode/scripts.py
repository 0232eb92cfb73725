"""Scripts for tests: an engine that has the tool `code` beside others, and a plan of one step that runs a script."""

import atexit
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from belayer.codemode.limits import Limits
from belayer.codemode.machines import Machines
from belayer.codemode.script import Ending, MachineEnded, Report, Script
from belayer.engine import Engine, Session
from belayer.execution.run import Run
from belayer.tools.code import code
from belayer.tools.request_input import REQUEST_INPUT
from belayer.tools.tool import AnyTool
from belayer.tools.toolbox import Toolbox
from belayer.tools.wait import WAIT
from belayer.vocabulary.clock import Clock, ManualClock
from belayer.vocabulary.errors import LimitReached, ScriptFailed
from belayer.vocabulary.events.event import Json, Mode
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.rules import Rule
from belayer.wiring import Keeping, kept_in_memory, running
from belayer.workflows.workflow import Workflows
from belayer.workspace.workspace import Workspaces
from tests.support.engines import events_of, memory_engine, settings
from tests.support.plans import begin

LANGUAGES = ("javascript", "python")


@cache
def compiled() -> Path:
    """A private folder where the machine is compiled once for all tests of a process."""
    folder = Path(tempfile.mkdtemp(prefix="belayer-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@asynccontextmanager
async def machines() -> AsyncGenerator[Machines]:
    async with Machines(compiled()) as known:
        yield known


@asynccontextmanager
async def script_engine(
    tools: Iterable[AnyTool] = (), keeping: Keeping | None = None, clock: Clock | None = None
) -> AsyncGenerator[Engine]:
    """An engine with these tools and `code`; while it closes, a manual clock goes on by itself."""
    keeping, clock = keeping or kept_in_memory(), clock or ManualClock()
    async with machines() as known:
        script = code(lambda: box, Workspaces(keeping.home), known)
        box = Toolbox([*tools, REQUEST_INPUT, WAIT, script])
        given = [*tools, script]
        async with running(keeping, Workflows(), "all", settings(), clock, given) as engine:
            yield engine


async def begin_script(
    engine: Engine,
    source: str,
    language: str = "javascript",
    *,
    tools: Sequence[str] | None = ("*",),
    given: Json = None,
    limits: dict[str, Any] | None = None,
    mode: Mode = Mode.HITL,
    policy: tuple[Rule, ...] | None = None,
    workspace: Path | None = None,
) -> Session:
    """Start a session whose one step `it` runs the script."""
    params: dict[str, Any] = {"language": language, "source": source, "input": given}
    params |= {"tools": list(tools)} if tools is not None else {}
    params |= {"limits": limits} if limits else {}
    step = {"id": "it", "tool": "code", "params": params}
    return await begin(engine, step, mode=mode, policy=policy, workspace=workspace)


async def came_to(session: Session) -> dict[str, Any]:
    """What the script gave, printed and called."""
    result: Any = await session.result()
    return result["outputs"]["it"]


async def keys_of(keeping: Keeping, session_id: SessionId) -> list[str]:
    """The keys of the session's steps that ended, in the order of the log."""
    return [
        event.key for event in await events_of(keeping, session_id, StepChanged) if event.status != "running"
    ]


async def alone(source: str, language: str, given: Json = None, **limits: Any) -> Report:
    """The first turn of a script on a machine of its own."""
    script = Script(
        language=language,  # pyright: ignore[reportArgumentType]
        source=source,
        tools=("files.read", "look"),
        input=given,
        limits=Limits(**limits),
    )
    async with machines() as known, known.machine(script.language, script.limits) as machine:
        return await machine.start(script, 1_800_000_000.0, 0.5)


async def ending_of(source: str, language: str, given: Json = None, **limits: Any) -> Ending:
    """How a machine ended a script in its first turn."""
    try:
        report = await alone(source, language, given, **limits)
    except MachineEnded as ended:
        return ended.ending
    raise AssertionError(f"it was not ended: {report}")


async def judged(source: str, language: str, tools: Sequence[AnyTool] = (), **limits: Any) -> dict[str, Any]:
    """What a workflow sees of a script that it runs as a tool: its value, or its error's class and what that knows."""
    keeping = kept_in_memory()
    async with machines() as known:
        script = code(lambda: Toolbox(tools), Workspaces(keeping.home), known)
        params = {
            "language": language,
            "source": source,
            "tools": [tool.name for tool in tools],
            "limits": limits,
        }

        async def judging(run: Run) -> Json:
            assert script.conduct is not None
            try:
                return {"value": await script.conduct(script.read(params), run)}
            except LimitReached as error:
                return {"kind": "LimitReached", "limit": error.limit, "detail": error.detail}
            except ScriptFailed as error:
                return {
                    "kind": "ScriptFailed",
                    "line": error.line,
                    "detail": error.detail,
                    "output": [*error.output],
                }

        async with memory_engine(judging, keeping=keeping) as engine:
            result: Any = await (await engine.start(judging)).result()
            return result
