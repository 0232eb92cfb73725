"""The step that is under way, as its act may see it."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

from belayer.execution.policy import Reach
from belayer.vocabulary.errors import LogicError
from belayer.vocabulary.events.event import Json, Usage
from belayer.vocabulary.events.steps import ArtifactMade

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 200


@dataclass(slots=True)
class StepUnderWay:
    """What an act may want to know of the step it runs in, and tell to those who watch."""

    key: str
    attempt: int
    idempotency_key: str
    reduced: bool
    show: Callable[..., None]
    permits: Callable[[Reach], bool]
    lets_load: Callable[[str], bool]
    put: Callable[[ArtifactMade, bytes], Awaitable[None]]
    usage: Usage | None = None
    seconds: float | None = None

    def took(self, seconds: float) -> None:
        """Say how long it took, for what was done before the step could be put on record."""
        self.seconds = seconds

    def use(self, *, tokens: int = 0, usd: float = 0.0) -> None:
        """Count something against the session's budget."""
        self.usage = (self.usage or Usage()).plus(Usage(tokens=tokens, usd=usd))

    def log(self, text: str) -> None:
        """Show a line to those who watch."""
        self.show("log", text=text, step=self.key)

    def progress(self, percent: float, text: str = "") -> None:
        """Show how far the step is."""
        self.show("progress", percent=percent, text=text, key=self.key)

    async def keep(self, name: str, media_type: str, content: bytes) -> dict[str, Json]:
        """Keep something to look at or take away; by the name in the answer it can be fetched from the session."""
        made = ArtifactMade(key=self.key, name=artifact_name(self.key, name), media_type=media_type)
        await self.put(made, content)
        return {"artifact": made.name, "media_type": media_type, "bytes": len(content)}


def artifact_name(key: str, name: str) -> str:
    """A name that no other step of the session gives, fit for an address and for a file. Pure."""
    place = _UNFIT.sub("-", key).strip(".-")
    if place != key:
        place += f"-{hashlib.sha256(key.encode()).hexdigest()[:6]}"
    return f"{place}.{_UNFIT.sub('-', name)}".lstrip("._-")[-_LONGEST_NAME:].lstrip("._-") or "artifact"


def may_reach(reach: Reach) -> bool:
    """Whether the rules let the calling act touch this too, which nobody knew of when it began: a redirect's host."""
    step = UNDER_WAY.get(None)
    return step is None or step.permits(reach)


def may_load(host: str) -> bool:
    """Whether the rules let the calling act load something from this host on its way: a page's picture or script."""
    step = UNDER_WAY.get(None)
    return step is None or step.lets_load(host)


UNDER_WAY: ContextVar[StepUnderWay] = ContextVar("step_under_way")


def this_step() -> StepUnderWay:
    """The step that the calling act runs in."""
    step = UNDER_WAY.get(None)
    if step is None:
        raise LogicError(
            "No step is under way here.", "Call this_step() from inside an act that run.step runs."
        )
    return step
