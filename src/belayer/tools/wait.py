"""Wait for a while, or until a time. Costs nothing, and survives restarts."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from belayer.execution.run import Run
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.clock import EPOCH, rfc3339
from belayer.vocabulary.events.event import Effect, Json

_A_YEAR = 366 * 86_400
# Beyond this, a time in one zone may be none in another.
_LAST = datetime(9999, 1, 1, tzinfo=EPOCH.tzinfo)


class Wait(Params):
    seconds: Annotated[float, Field(ge=0, le=_A_YEAR, allow_inf_nan=False)] | None = None
    until: Annotated[
        AwareDatetime | None, Field(description="A time with its zone: 2027-01-01T09:00:00Z.")
    ] = None

    @model_validator(mode="after")
    def _says_how_long(self) -> Self:
        if (self.seconds is None) == (self.until is None):
            raise ValueError("give either `seconds` or `until`")
        if self.until is not None and not EPOCH <= self.until < _LAST:
            raise ValueError("`until` lies between the years 1970 and 9999")
        return self


async def wait(params: Wait, run: Run) -> Json:
    if params.until is not None:
        await run.sleep_until(params.until)
        return {"waited_until": rfc3339(params.until)}
    assert params.seconds is not None
    if params.seconds > 0:
        await run.sleep(params.seconds)
    return {"waited": params.seconds}


def known(params: Wait) -> float:
    """How long it takes; a time of day is known only to whoever has a clock, so it counts as one's own time."""
    return params.seconds or 0.0


WAIT = Tool(
    "wait",
    "Wait for some seconds or until a time, at no cost.",
    Wait,
    conduct=wait,
    effect=Effect.READ,
    estimate=known,
)
