"""One call of a script, made: to a tool, to a person, to the clock. What comes of it is told as text, and no more."""

from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import to_json

from belayer.codemode.bindings import Bindings, conducted
from belayer.codemode.script import Asked, Ending, MachineEnded
from belayer.execution.foregone import giving
from belayer.execution.run import Run
from belayer.vocabulary.errors import BelayerError, BudgetExhausted, ConfigurationError, Problem, UnknownTool
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import Kind

_NOW, _SLEEP, _TOOLS = "clock.now", "clock.sleep", "tools."
_A_YEAR = 366 * 86_400
_MILLISECONDS = 1_000


class _Params(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Question(_Params):
    question: Annotated[str, Field(min_length=1, max_length=10_000)]
    kind: Kind = "text"
    choices: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=100)
    ] = ()
    form: dict[str, Json] | None = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Who gives choices or a form need not say that it is a choice or a form."""
        if self.kind == "choice" and not self.choices:
            raise ValueError("a choice needs choices")
        if self.kind == "form" and self.form is None:
            raise ValueError("a form needs a form")
        return self


class _Seconds(_Params):
    seconds: Annotated[float, Field(ge=0, le=_A_YEAR, allow_inf_nan=False)]


class _Nothing(_Params):
    pass


P = TypeVar("P", bound=_Params)


async def reach(asked: Asked, bindings: Bindings, line: Run, most: int) -> bytes:
    """What came of the call, as its script is told. Whatever ends the script ends it from here."""
    try:
        value = await _reached(asked, bindings, line, str(asked.id))
    except BudgetExhausted:
        raise
    except BelayerError as error:
        return to_json({"id": asked.id, "problem": _problem(asked.name, error.problem(), bindings)})
    text = to_json({"id": asked.id, "value": value})
    if len(text) > most:
        raise MachineEnded(Ending(limit="result", line=asked.line))
    return text


async def _reached(asked: Asked, bindings: Bindings, line: Run, key: str) -> Json:
    match asked.name:
        case "human.ask":
            question = _read(_Question, asked)
            return await line.ask(
                key, question.question, kind=question.kind, choices=question.choices, form=question.form
            )
        case "clock.now":
            _read(_Nothing, asked)
            now = await line.within(key).now()
            return await line.use(key, giving(_NOW, int(now.timestamp() * _MILLISECONDS)), {})
        case "clock.sleep":
            seconds = _read(_Seconds, asked).seconds
            return await conducted(
                line, key, _SLEEP, {"seconds": seconds}, lambda inner: _slept(inner, seconds)
            )
        case name:
            tool = name.removeprefix(_TOOLS)
            if not name.startswith(_TOOLS) or tool not in bindings.names():
                raise UnknownTool(f"There is no {name!r} for this script.", "Call what it was given.")
            return await bindings.use(line, key, tool, bindings.check(tool, asked.params))


async def _slept(run: Run, seconds: float) -> None:
    await run.sleep(seconds)


def _read(kind: type[P], asked: Asked) -> P:
    try:
        return kind.model_validate(asked.params)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigurationError(
            f"The parameters do not fit {asked.name}: {wrong}.", "Correct them."
        ) from error


def _problem(name: str, problem: Problem, bindings: Bindings) -> dict[str, Json]:
    """Fixed words but for what was written for whoever calls: no host's text goes into a script."""
    told = bindings.told(name.removeprefix(_TOOLS), problem)
    return {
        "tool": name.removeprefix(_TOOLS),
        "kind": problem.kind,
        "category": problem.category.value,
        "message": told or f"{name} failed ({problem.kind}).",
    }
