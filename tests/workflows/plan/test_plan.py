"""The shape of a plan."""

import pytest
from pydantic import ValidationError

from belayer.workflows.plan.plan import Plan, PlanStep


@pytest.mark.parametrize(
    ("said", "critical"),
    [
        ({}, True),
        ({"optional": True}, False),
        ({"optional": False}, True),
        ({"critical": False}, False),
        ({"critical": True}, True),
        ({"critical": False, "optional": True}, False),
    ],
)
def test_a_step_is_critical_unless_it_says_otherwise(said: dict[str, bool], critical: bool) -> None:
    assert PlanStep.model_validate({"id": "a", "tool": "t", **said}).is_critical is critical


@pytest.mark.parametrize(
    "unlike", [{"retries": "3"}, {"critical": "yes"}, {"retries": True}, {"timeout": "5"}]
)
def test_a_text_is_not_taken_for_a_number_or_a_boolean(unlike: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PlanStep.model_validate({"id": "a", "tool": "t", **unlike})


def test_a_plan_reads_back_what_it_writes() -> None:
    plan = Plan.model_validate(
        {
            "steps": [{"id": "a", "tool": "t", "needs": ["b"], "timeout": 5}, {"id": "b", "tool": "t"}],
            "parallel": 3,
        }
    )
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert Plan.model_validate(plan.model_dump(mode="json")) == plan
