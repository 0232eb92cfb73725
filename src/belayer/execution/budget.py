"""Whether a session has used up what it was given. Pure."""

from dataclasses import dataclass
from typing import Literal

from belayer.vocabulary.events.event import Budget, Usage

Limit = Literal["tokens", "usd", "steps", "seconds"]
_LIMITS: tuple[Limit, ...] = ("tokens", "usd", "steps", "seconds")


@dataclass(frozen=True, slots=True)
class Exceeded:
    """The limit that was reached."""

    limit: Limit
    allowed: float
    used: float


def exceeded(budget: Budget, grants: int, usage: Usage) -> Exceeded | None:
    """The first limit reached, when the budget was granted so many times over."""
    for limit in _LIMITS:
        given: float | None = getattr(budget, limit)
        used: float = getattr(usage, limit)
        if given is not None and used >= given * grants:
            return Exceeded(limit, given * grants, used)
    return None
