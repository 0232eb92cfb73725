"""The most that a script may use. Sizes are characters of JSON, times are the machine's own: waiting is free."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_MIB = 1 << 20


class Limits(BaseModel):
    """What one script may use; a script that wants more is ended."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: Annotated[int, Field(ge=_MIB, le=512 * _MIB, description="Bytes of memory.")] = 64 * _MIB
    cpu: Annotated[float, Field(gt=0, le=60, description="Seconds of processor time.")] = 10.0
    wall: Annotated[
        float, Field(gt=0, le=300, description="Seconds that it may run, waiting not counted.")
    ] = 60.0
    calls: Annotated[int, Field(ge=0, le=10_000, description="Calls in all.")] = 1_000
    in_flight: Annotated[int, Field(ge=1, le=1_000, description="Calls that have not come back.")] = 100
    argument: Annotated[int, Field(ge=1, le=8 * _MIB, description="Size of a call's parameters.")] = _MIB
    result: Annotated[
        int, Field(ge=1, le=16 * _MIB, description="Size of what a call or the script gives.")
    ] = 4 * _MIB
    output: Annotated[int, Field(ge=0, le=4 * _MIB, description="Size of what it prints.")] = 256 * 1024


MOST = {
    "memory": "{0.memory:,} bytes of memory",
    "cpu": "{0.cpu:g} s of processor time",
    "wall": "{0.wall:g} s of running time",
    "calls": "{0.calls:,} calls",
    "in_flight": "{0.in_flight:,} calls at once",
    "argument": "{0.argument:,} characters of parameters in one call",
    "result": "{0.result:,} characters in what a call or the script gives",
    "output": "{0.output:,} characters of output",
    "recursion": "only so many calls within each other",
}


def most(limit: str, limits: Limits) -> str:
    """What a script may have of something, in words."""
    return MOST[limit].format(limits) if limit in MOST else limit
