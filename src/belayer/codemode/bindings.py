"""What a script's calls reach. The layer above says what tools are; here they are names that take and give JSON."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from belayer.execution.foregone import Given, giving
from belayer.execution.run import Run
from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Json


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
    if line.knows(key) and not line.knows(f"{key}/call"):  # it never came to the waiting, or was another call
        return await line.use(key, giving(name, None), params)
    inner = line.within(key)
    await inner.use("call", giving("call", None), {"name": name, "params": params})
    began = line.monotonic()
    value = await conduct(inner)
    return await line.use(key, giving(name, value, line.monotonic() - began), params)
