"""What a tool is: a value that says what it takes, what it does to the world, and how to do it safely.

A tool either executes (something is done, once, under the executor) or conducts (it waits for a person or a time
through the run, at no cost).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from belayer.execution.act import Act, Guard, Probed
from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.execution.run import Run
from belayer.vocabulary.errors import ConfigurationError
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.plain import encoded
from belayer.workspace.workspace import Workspace


class Params(BaseModel):
    """What a tool takes. Strict: a wrong name or type is a mistake worth telling."""

    model_config = ConfigDict(frozen=True, extra="forbid")


P = TypeVar("P", bound=Params)

Given = dict[str, Json]


def nowhere(_params: Params) -> Reach:
    """The reach of a call that touches neither files nor hosts."""
    return Reach()


def bytes_of(params: Params) -> float:
    """How large a call is, as far as its duration goes: the size of its parameters."""
    return float(len(encoded(params.model_dump(mode="json"))))


@dataclass(frozen=True, slots=True)
class Tool(Generic[P]):
    """One thing that can be done. `about` is a sentence for people and models."""

    name: str
    about: str
    params: type[P]
    execute: Callable[[P, Workspace], Awaitable[Json]] | None = None
    conduct: Callable[[P, Run], Awaitable[Json]] | None = None
    effect: Effect = Effect.EXTERNAL
    idempotent: bool = False
    timeout: float = 60.0
    retries: int | None = None
    rate: Rate | None = None
    at_once: int | None = None
    reach: Callable[[P], Reach] = nowhere
    preview: Callable[[P, Workspace], Awaitable[Json]] | None = None
    probe: Callable[[P, Workspace], Awaitable[Probed]] | None = None
    undo: Callable[[P, Json, Workspace], Awaitable[Json]] | None = None
    health: Callable[[], Awaitable[str | None]] | None = None
    refresh: Callable[[], Awaitable[None]] | None = None
    size: Callable[[P], float] = bytes_of
    estimate: Callable[[P], float] | None = None

    def read(self, given: Given) -> P:
        """The parameters in their types; ConfigurationError with every problem at once."""
        try:
            return self.params.model_validate(given)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'params'}: {item['msg']}" for item in error.errors()
            )
            raise ConfigurationError(
                f"The parameters do not fit {self.name}: {wrong}.",
                f"See what it takes: belayer tools {self.name}",
            ) from error

    def act(self, workspace: Workspace) -> Act[[Given], Json]:
        """The tool as an act of a session that works in this workspace. It takes the parameters as JSON."""
        return Act(
            name=self.name,
            call=partial(_execute, self, workspace),
            effect=self.effect,
            idempotent=self.idempotent,
            timeout=self.timeout,
            retries=self.retries,
            probe=partial(_probe, self, workspace) if self.probe else None,
            refresh=self.refresh,
            guard=Guard(
                reach=partial(_reach, self),
                targets=partial(_targets, self, workspace) if self.effect is not Effect.READ else None,
                preview=partial(_preview, self, workspace) if self.preview else None,
                rate=self.rate,
                at_once=self.at_once,
                health=self.health,
            ),
        )


AnyTool = Tool[Any]


async def _execute(tool: AnyTool, workspace: Workspace, given: Given) -> Json:
    assert tool.execute is not None
    return await tool.execute(tool.read(given), workspace)


async def _probe(tool: AnyTool, workspace: Workspace, given: Given) -> Probed:
    assert tool.probe is not None
    return await tool.probe(tool.read(given), workspace)


async def _preview(tool: AnyTool, workspace: Workspace, given: Given) -> Json:
    assert tool.preview is not None
    return await tool.preview(tool.read(given), workspace)


async def _targets(tool: AnyTool, workspace: Workspace, given: Given) -> dict[str, str | None]:
    """The state of the files that the call would touch."""
    return await workspace.digests(tool.reach(tool.read(given)).paths)


def _reach(tool: AnyTool, given: Given) -> Reach:
    return tool.reach(tool.read(given))
