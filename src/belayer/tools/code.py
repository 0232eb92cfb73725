"""Run a program whose only powers are other tools. Each of its calls is a step: ruled, approved and recorded."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import Field

from belayer.codemode.bindings import conducted
from belayer.codemode.drive import carry_out
from belayer.codemode.limits import Limits
from belayer.codemode.machines import Machines
from belayer.codemode.script import Language, Script
from belayer.execution.foregone import failing
from belayer.execution.run import Run
from belayer.tools.tool import AnyTool, Given, Params, Tool
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import ConfigurationError, PolicyDenied, Problem, Rejected
from belayer.vocabulary.events.event import Effect, Json
from belayer.workspace.workspace import Workspace, Workspaces

NAME = "code"
_LONGEST_SOURCE = 200_000
# Errors that tell of the machine we run on rather than of the call.
_NOT_FOR_SCRIPTS = ("ChildFailed", "InDoubt", "OutcomeUnknown", "Unrecordable", "WorkspaceMissing")


class Code(Params):
    language: Language = "javascript"
    source: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_LONGEST_SOURCE,
            description="The program. It awaits tools.files.read(…), human.ask(…), clock.sleep(…), and has `input`."
            " JavaScript gives a value with `return`, Python with its last expression.",
        ),
    ]
    tools: Annotated[
        tuple[str, ...] | None,
        Field(
            description="Names of the tools it may call, or patterns: files.*. Left out: all that only read."
        ),
    ] = None
    input: Annotated[Json, Field(description="What the program finds as `input`.")] = None
    limits: Limits = Limits()


def code(toolbox: Callable[[], Toolbox], workspaces: Workspaces, machines: Machines) -> AnyTool:
    """The tool. It looks into the toolbox when it is used, for it lies there itself."""

    async def run_code(params: Code, run: Run) -> Json:
        tools = _allowed(toolbox().tools(), params.tools)
        workspace = workspaces.of(Path(run.workspace or workspaces.private(run.session_id)))
        hands = _Hands({_name(tool): tool for tool in tools}, workspace)
        script = Script(
            language=params.language,
            source=params.source,
            tools=tuple(hands.names()),
            input=params.input,
            limits=params.limits,
        )
        ended = await carry_out(script, hands, machines, run)
        return {"value": ended.value, "output": "\n".join(ended.output), "calls": ended.calls}

    return Tool(
        NAME,
        "Run a small program in JavaScript or Python that can call other tools and nothing else.",
        Code,
        conduct=run_code,
        effect=Effect.READ,
        hurried=_hurried,
    )


def _hurried(params: Code, seconds: float) -> Code:
    limits = params.limits.model_copy(update={"wall": min(params.limits.wall, seconds)})
    return params.model_copy(update={"limits": limits})


@dataclass(frozen=True, slots=True)
class _Hands:
    """The tools of one script in its workspace, by the names it calls them."""

    tools: dict[str, AnyTool]
    workspace: Workspace

    def names(self) -> Sequence[str]:
        return sorted(self.tools)

    def check(self, name: str, params: Json) -> Given:
        if not isinstance(params, dict):
            raise ConfigurationError(f"{name} takes an object of parameters.", "Give it names and values.")
        self.tools[name].read(params)
        return params

    async def use(self, line: Run, key: str, name: str, params: Given) -> Json:
        tool = self.tools[name]
        act, conduct = tool.act(self.workspace), tool.conduct
        if conduct is None:
            return await line.use(key, act, params)
        try:
            await line.let(key, act, params)
        except (PolicyDenied, Rejected) as error:
            return await line.use(key, failing(tool.name, error), params)
        read = tool.read(params)
        return await conducted(line, key, tool.name, params, lambda inner: conduct(read, inner))

    def told(self, name: str, problem: Problem) -> str | None:
        """What was written for whoever calls. A foreign exception's text begins with the tool's name and `failed`."""
        tool = self.tools.get(name)
        foreign = tool is not None and problem.detail.startswith(f"{tool.name} failed: ")
        if foreign or problem.kind in _NOT_FOR_SCRIPTS:
            return None
        told = f"{problem.detail} {problem.hint}" if problem.hint else problem.detail
        return told.replace(str(self.workspace.folder), ".")


def _allowed(tools: Sequence[AnyTool], patterns: Sequence[str] | None) -> list[AnyTool]:
    """The tools that a script may have. It never has this one."""
    others = [tool for tool in tools if tool.name != NAME]
    if patterns is None:
        return [tool for tool in others if tool.effect is Effect.READ]
    for pattern in patterns:
        if not any(_fits(tool.name, pattern) for tool in others):
            raise ConfigurationError(
                f"No tool that a script may call fits {pattern!r}.",
                f"There are: {', '.join(tool.name for tool in others)}.",
            )
    return [tool for tool in others if any(_fits(tool.name, pattern) for pattern in patterns)]


def _fits(name: str, pattern: str) -> bool:
    """`files` means all of files; `files.*` does, too."""
    return fnmatchcase(name, pattern) or name.startswith(f"{pattern}.")


def _name(tool: AnyTool) -> str:
    """The tool's name as words that both languages can write."""
    return re.sub(r"[^\w.]", "_", tool.name)
