"""What a script is, what it reports while it runs, and how it ends. What a machine says is read as hostile text."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from belayer.codemode.limits import Limits, most
from belayer.vocabulary.errors import BelayerError, LimitReached, ScriptFailed
from belayer.vocabulary.events.event import Json

Language = Literal["javascript", "python"]
_LAST_LINES = 20
_LONGEST_TAIL = 2_000


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Script(_Shape):
    """A program, what it is given, and the names it may call."""

    language: Language
    source: str
    tools: tuple[str, ...] = ()
    input: Json = None
    limits: Limits = Limits()

    def beginning(self, now: float, seed: float) -> bytes:
        """All that its machine is told."""
        told = {"source": self.source, "tools": self.tools, "input": self.input, "limits": self.limits}
        return to_json({**told, "now": now, "seed": seed})


class Asked(_Shape):
    """A call that the script makes."""

    id: Annotated[int, Field(ge=1)]
    name: str
    params: Json
    line: int | None = None


class Error(_Shape):
    """What a script ended with that went wrong."""

    name: str
    message: str
    line: int | None = None


class End(_Shape):
    """How a script ended: with a value, or with an error."""

    value: Json = None
    error: Error | None = None


class Report(_Shape):
    """What happened in one turn of the machine: until the script waits for calls, or has ended."""

    calls: tuple[Asked, ...]
    output: tuple[str, ...]
    end: End | None


class Ending(_Shape):
    """How a machine ended a script."""

    limit: str | None = None
    what: str | None = None
    line: int | None = None
    output: tuple[str, ...] = ()


class MachineEnded(Exception):
    """The machine is gone: a limit was reached, or it broke."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.limit or ending.what)
        self.ending = ending


def read_report(content: bytes) -> Report:
    """The report; MachineEnded if it is none."""
    try:
        return Report.model_validate_json(content)
    except ValidationError as error:
        what = "what it gave cannot be kept: it is nested too deeply, or no valid text"
        raise MachineEnded(Ending(what=what)) from error


class Ended(_Shape):
    """A script that came through: what it gave, what it printed, how many calls it made."""

    value: Json
    output: tuple[str, ...]
    calls: int


class Failure(_Shape):
    """How a script went wrong, as the log keeps it."""

    detail: str
    hint: str
    limit: str | None = None
    line: int | None = None
    output: tuple[str, ...] = ()

    def error(self) -> BelayerError:
        if self.limit is not None:
            return LimitReached(self.limit, self.detail, self.hint)
        return ScriptFailed(self.detail, self.hint, self.line, self.output)


def ended_by_machine(ending: Ending, output: tuple[str, ...], limits: Limits) -> Failure:
    printed = (*output, *ending.output)
    seen = f" It was last seen in line {ending.line}." if ending.line else ""
    if ending.limit is not None:
        detail = f"The script was stopped: it may have {most(ending.limit, limits)}, and wanted more.{seen}"
        hint = "Let it do less at once, or give it higher limits."
        return Failure(
            detail=detail + _tail(printed), hint=hint, limit=ending.limit, line=ending.line, output=printed
        )
    detail = f"The script's machine broke off: {ending.what}.{seen}"
    hint = "Change the script; nothing else was harmed."
    return Failure(detail=detail + _tail(printed), hint=hint, line=ending.line, output=printed)


def ended_by_itself(error: Error, output: tuple[str, ...]) -> Failure:
    place = f" in line {error.line}" if error.line else ""
    if error.name == "SyntaxError":
        detail = f"The script cannot be read{place}: {error.message}. Nothing of it ran."
    else:
        detail = f"The script failed{place}: {error.name}: {error.message}"
    return Failure(detail=detail + _tail(output), hint="Correct the script.", line=error.line, output=output)


def waits_for_nothing(output: tuple[str, ...]) -> Failure:
    detail = "The script waits for something that no call of its will bring, so it would wait for ever."
    return Failure(detail=detail + _tail(output), hint="Await only calls of tools.", output=output)


def _tail(output: tuple[str, ...]) -> str:
    """What it printed last, for whoever reads the failure."""
    text = "\n".join(output[-_LAST_LINES:])[-_LONGEST_TAIL:]
    return f"\nIt had printed:\n{text}" if text else ""
