"""What a plan would do, said without doing it: its order, and what the rules say to each call. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from belayer.cli.safe_text import safe_line, shortened
from belayer.execution.policy import Call, rule_on
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Json, Mode
from belayer.vocabulary.rules import Rule
from belayer.workflows.plan.check import CheckedPlan
from belayer.workflows.plan.plan import Fallback, PlanStep
from belayer.workflows.plan.template import Scope, references, render

_STYLES = {"allow": "green", "ask": "bold yellow", "deny": "bold red", "open": "bright_black"}
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a call of the plan would meet: allow, ask, deny, or open as long as its parameters are not known."""

    step: str
    title: str
    tool: str
    verdict: str
    why: str
    instead: bool = False


def prospects(plan: CheckedPlan, tools: Toolbox, rules: Sequence[Rule]) -> list[Prospect]:
    """Every call in the order of the plan, each step's fallback after it."""
    found: list[Prospect] = []
    for step in plan.steps():
        found.append(_prospect(plan, step, step, tools, rules))
        if step.fallback is not None:
            found.append(_prospect(plan, step, step.fallback, tools, rules))
    return found


def prospect_lines(found: Sequence[Prospect], mode: Mode) -> Iterator[Text]:
    """The calls for a person to read, and what they mean in this mode."""
    widest = max((len(one.title) for one in found), default=0)
    number = 0
    for one in found:
        number += not one.instead
        place = "      or" if one.instead else f"  {number:>4}. "
        yield Text.assemble(
            (place, "cyan"),
            f" {safe_line(one.title):<{min(widest, 40)}}  {safe_line(one.tool):<16} ",
            (f"{one.verdict:<6}", _STYLES[one.verdict]),
            (shortened(safe_line(one.why), _LONGEST), "bright_black"),
        )
    asks = [one.step for one in found if one.verdict == "ask" and not one.instead]
    if asks and mode is Mode.AUTONOMOUS:
        yield Text(
            f"It would fail at {safe_line(asks[0])}: nobody is there to ask in autonomous mode.", "red"
        )


def _prospect(
    plan: CheckedPlan, step: PlanStep, call: PlanStep | Fallback, tools: Toolbox, rules: Sequence[Rule]
) -> Prospect:
    verdict, why = _ruled(plan, call, tools, rules)
    return Prospect(step.id, step.title or step.id, call.tool, verdict, why, isinstance(call, Fallback))


def _ruled(
    plan: CheckedPlan, call: PlanStep | Fallback, tools: Toolbox, rules: Sequence[Rule]
) -> tuple[str, str]:
    needed = sorted({one.step for one in references({**call.params}) if one.step is not None})
    if needed:
        return "open", f"depends on what {', '.join(needed)} gives"
    try:
        tool, given = tools.resolve(call.tool, _filled(plan, call))
        ruling = rule_on(Call(tool.name, tool.effect, tool.reach(tool.read(given))), rules)
    except BelayerError as error:
        return "open", error.detail
    if ruling.rule is None:
        return ruling.verdict.value, "no rule is about it"
    return ruling.verdict.value, ruling.rule.note or ruling.rule.in_words()


def _filled(plan: CheckedPlan, call: PlanStep | Fallback) -> dict[str, Json]:
    filled = render({**call.params}, Scope(inputs=plan.inputs))
    return filled if isinstance(filled, dict) else {}
