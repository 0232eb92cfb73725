"""Acts whose outcome is there before they are: they only put it on record, so nothing about them is tried again."""

from belayer.execution.act import Act
from belayer.execution.step import this_step
from belayer.vocabulary.events.event import Effect, Json

Given = dict[str, Json]


def giving(name: str, value: Json, seconds: float = 0.0) -> Act[[Given], Json]:
    """An act that gives what a person, a time or a program has brought already, and took so long to come by."""

    async def give(_params: Given) -> Json:
        this_step().took(seconds)
        return value

    return Act(name, give, Effect.READ, foregone=True)


def failing(name: str, error: Exception) -> Act[[Given], Json]:
    """An act that fails in a way that is known already."""

    async def fail(_params: Given) -> Json:
        raise error

    return Act(name, fail, Effect.READ, retries=0, foregone=True)
