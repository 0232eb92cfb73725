"""How a step of a plan came out, and what the whole plan came to. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from belayer.tools.tool import AnyTool, Given
from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Json, StepStatus
from belayer.workflows.plan.check import CheckedPlan


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step came out. `call` is what was done in the end, for whoever wants to undo it."""

    status: StepStatus
    output: Json = None
    problem: Problem | None = None
    reason: str | None = None
    call: tuple[AnyTool, Given] | None = None

    @property
    def is_done(self) -> bool:
        return self.status is StepStatus.COMPLETED

    @property
    def undoable(self) -> bool:
        return self.is_done and self.call is not None and self.call[0].undo is not None


def impact_of(plan: CheckedPlan, step_id: str) -> str:
    """What a failure of the step means for the rest."""
    needing = plan.needing(step_id)
    if not needing:
        return "No other step needs it."
    if len(needing) == 1:
        return f"Without it, 1 later step is skipped because it needs it: {needing[0]}."
    return f"Without it, {len(needing)} later steps are skipped because they need it: {', '.join(needing)}."


def result_of(plan: CheckedPlan, outcomes: Mapping[str, Outcome]) -> Json:
    """What the plan came to. Outputs are those that no other step of the plan took up."""
    wanted = {need for needs in plan.needs.values() for need in needs}
    steps: dict[str, Json] = {step_id: outcomes[step_id].status.value for step_id in plan.order}
    outputs: dict[str, Json] = {
        step_id: one.output for step_id, one in outcomes.items() if one.is_done and step_id not in wanted
    }
    failed: dict[str, Json] = {
        step_id: one.problem.detail for step_id, one in outcomes.items() if one.problem
    }
    skipped: dict[str, Json] = {
        step_id: one.reason for step_id, one in outcomes.items() if one.status is StepStatus.SKIPPED
    }
    return {"steps": steps, "outputs": outputs, "failed": failed, "skipped": skipped}
