"""What a script's calls reach. The layer above says what tools are; here they are names that take and give JSON."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from belayer.execution.act import Act
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Effect, Json

Given = dict[str, Json]


class Bindings(Protocol):
    """The tools that a script may call."""

    def names(self) -> Sequence[str]:
        """Each with dots: `files.read` is called as `tools.files.read`."""
        ...

    def check(self, name: str, params: Json) -> Given:
        """The parameters if they fit; a BelayerError with every problem else. Nothing is recorded by it."""
        ...

    async def use(self, line: Run, key: str, name: str, params: Given) -> Json:
        """Call the tool as a step of the session under this key."""
        ...

    def told(self, name: str, problem: Problem) -> str | None:
        """What a script may read of a problem; None for what is not meant for it."""
        ...


async def conducted(
    line: Run, key: str, name: str, params: Given, conduct: Callable[[Run], Awaitable[Json]]
) -> Json:
    """Wait for a person or a time under this key. What is waited for is on record before the waiting begins."""
    if line.knows(key) and not line.knows(
        f"{key}/call"
    ):  # it never came to the waiting, or it was another call
        return await line.use(key, giving(name, None), params)
    inner = line.within(key)
    await inner.use("call", giving("call", None), {"name": name, "params": params})
    began = line.monotonic()
    value = await conduct(inner)
    return await line.use(key, giving(name, value, line.monotonic() - began), params)


def giving(name: str, value: Json, seconds: float = 0.0) -> Act[[Given], Json]:
    """An act that gives what is there already, and took so long to come by."""

    async def give(_params: Given) -> Json:
        this_step().took(seconds)
        return value

    return Act(name, give, Effect.READ, foregone=True)


def failing(name: str, error: Exception) -> Act[[Given], Json]:
    """An act that fails in a way that is known already."""

    async def fail(_params: Given) -> Json:
        raise error

    return Act(name, fail, Effect.READ, retries=0, foregone=True)
