"""What a tool is: a value that says what it takes, what it does to the world, and how to do it safely.

A tool either executes (something is done, once, under the executor) or conducts (it waits for a person or a time
through the run, at no cost).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from belayer.execution.act import Act, Guard, Probed
from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.execution.run import Run
from belayer.vocabulary.errors import ConfigurationError
from belayer.vocabulary.events.event import Effect, Json
from belayer.workspace.workspace import Workspace


class Params(BaseModel):
    """What a tool takes. Strict: a wrong name or type is a mistake worth telling."""

    model_config = ConfigDict(frozen=True, extra="forbid")


P = TypeVar("P", bound=Params)

Given = dict[str, Json]


def nowhere(_params: Params) -> Reach:
    """The reach of a call that touches neither files nor hosts."""
    return Reach()


@dataclass(frozen=True, slots=True)
class Tool(Generic[P]):
    """One thing that can be done. `about` is a sentence for people and models.

    `hurried` gives the parameters with no more than so many seconds, for a tool that conducts and sees to its own time.
    """

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
    estimate: Callable[[P], float] | None = None
    hurried: Callable[[P, float], P] | None = None

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
        bound = _Bound(self, workspace)
        return Act(
            name=self.name,
            call=bound.execute,
            effect=self.effect,
            idempotent=self.idempotent,
            timeout=self.timeout,
            retries=self.retries,
            probe=bound.probe if self.probe else None,
            refresh=self.refresh,
            guard=Guard(
                reach=bound.reach,
                targets=bound.targets if self.effect is not Effect.READ else None,
                preview=bound.preview if self.preview else None,
                rate=self.rate,
                at_once=self.at_once,
                health=self.health,
            ),
        )


AnyTool = Tool[Any]


class _Bound:
    """A tool in a workspace. Reads the parameters once, however often they are asked about."""

    def __init__(self, tool: AnyTool, workspace: Workspace) -> None:
        self._tool = tool
        self._workspace = workspace
        self._last: tuple[Given, Any] | None = None

    async def execute(self, given: Given) -> Json:
        assert self._tool.execute is not None
        return await self._tool.execute(self._read(given), self._workspace)

    async def probe(self, given: Given) -> Probed:
        assert self._tool.probe is not None
        return await self._tool.probe(self._read(given), self._workspace)

    async def preview(self, given: Given) -> Json:
        assert self._tool.preview is not None
        return await self._tool.preview(self._read(given), self._workspace)

    async def targets(self, given: Given) -> dict[str, str | None]:
        """The state of the files that the call would touch."""
        return await self._workspace.digests(self.reach(given).paths)

    def reach(self, given: Given) -> Reach:
        return self._tool.reach(self._read(given))

    def _read(self, given: Given) -> Any:
        if self._last is None or self._last[0] is not given:
            self._last = given, self._tool.read(given)
        return self._last[1]
