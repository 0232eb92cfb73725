"""The shape of a plan: steps that call tools, and what each of them needs."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from belayer.vocabulary.events.event import Json
from belayer.workflows.plan.places import unfit

MOST_STEPS = 1_000
DEEPEST = 50

# Strict: the text "yes" is no boolean and the text "3" no number.
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)


def _fit(value: dict[str, Json]) -> dict[str, Json]:
    if trouble := unfit(value):
        raise PydanticCustomError("unfit", "{trouble}", {"trouble": trouble})
    return value


Id = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
ToolName = Annotated[str, Field(min_length=1, max_length=200)]
Title = Annotated[str, Field(max_length=200)]
Params = Annotated[dict[str, Json], AfterValidator(_fit)]
Inputs = Annotated[dict[Id, Json], AfterValidator(_fit)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class Fallback(BaseModel):
    """What to call instead when a step's own tool cannot do it."""

    model_config = _STRICT

    tool: ToolName
    params: Params = {}


class PlanStep(BaseModel):
    """One call of a tool."""

    model_config = _STRICT

    id: Id
    tool: ToolName
    params: Params = {}
    needs: Annotated[tuple[Id, ...], Field(strict=False, max_length=MOST_STEPS)] = ()
    critical: bool | None = None
    optional: bool = False
    fallback: Fallback | None = None
    timeout: Seconds | None = None
    retries: Annotated[int, Field(ge=0, le=20)] | None = None
    when: Annotated[str, Field(max_length=2_000)] | bool | None = None
    title: Title | None = None

    @property
    def is_critical(self) -> bool:
        """Whether the plan fails when this step does."""
        return not self.optional if self.critical is None else self.critical


class Plan(BaseModel):
    """Steps, how many may run at once, and what has to be given at the start (null) or may be (its default)."""

    model_config = _STRICT

    steps: Annotated[tuple[PlanStep, ...], Field(strict=False, min_length=1, max_length=MOST_STEPS)]
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    title: Title | None = None
    inputs: Inputs = {}
