"""Start a session, or take one up, and go along with it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from belayer.cli.company import drive_on
from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home, NoInput
from belayer.cli.outlook import takes_in_words
from belayer.cli.plans import PlanFile, is_plan_file, open_plan
from belayer.cli.rehearsal import prospect_lines, prospects
from belayer.cli.safe_text import safe_line
from belayer.cli.targets import PLAN, workflow_for
from belayer.cli.values import json_or_text, object_from, pairs_from, unfit_refused, value_for
from belayer.cli.wording import counted
from belayer.engine import Engine
from belayer.execution.estimate import FEWEST_SAMPLES, Eta
from belayer.vocabulary.clock import SystemClock
from belayer.vocabulary.commands import Start
from belayer.vocabulary.events.event import Budget, Json, Mode
from belayer.workflows.plan.check import CheckedPlan
from belayer.workflows.plan.forecast import Forecast

Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A plan (plan.yaml, plan.json), a workflow (flow.py, flow.py:function), or a workflow's name (`survey`).",
    ),
]


@dataclass(frozen=True, slots=True)
class Order:
    """What the person asked for beside the thing to run."""

    pairs: dict[str, str]
    given: dict[str, Json]
    title: str | None
    mode: Mode
    budget: Budget
    key: str | None
    workspace: Path | None

    def start(self, workflow: str, given: Json, title: str | None, workspace: Path | None) -> Start:
        with unfit_refused():
            return Start(
                workflow=workflow,
                input=given,
                title=self.title or title,
                mode=self.mode,
                budget=self.budget,
                idempotency_key=self.key,
                workspace=str(workspace.absolute()) if workspace else None,
            )


def run(
    target: Target,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "-i", metavar="NAME=VALUE", help="One input; VALUE is JSON if it can be.", show_default=False
        ),
    ] = None,
    whole_input: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="All inputs at once.", show_default=False)
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace", metavar="DIR", help="The folder to work in.", show_default="here, for a plan"
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What to call the session.", show_default=False)] = None,
    mode: Annotated[Mode, typer.Option(help="Whether it may stop for a person.")] = Mode.HITL,
    steps: Annotated[
        int | None,
        typer.Option("--budget-steps", min=1, help="Ask again after so many steps.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--budget-seconds", min=0, help="… seconds of work.", show_default=False)
    ] = None,
    tokens: Annotated[
        int | None, typer.Option("--budget-tokens", min=0, help="… tokens.", show_default=False)
    ] = None,
    usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0, help="… US dollars.", show_default=False)
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="The same key gives the same session.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check a plan, and say what it would do.")
    ] = False,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Start a plan or a workflow and drive it until it ends or needs somebody."""
    if dry_run and not is_plan_file(target):
        raise typer.BadParameter("Only a plan (.yaml or .json) can be checked.", param_hint="--dry-run")
    budget = Budget(steps=steps, seconds=seconds, tokens=tokens, usd=usd)
    order = Order(pairs_from(inputs or []), object_from(whole_input), title, mode, budget, key, workspace)

    async def work(desk: Desk) -> int:
        if dry_run:
            return await _rehearse(desk, open_plan(Path(target)), order)
        if is_plan_file(target):
            return await _run_plan(desk, open_plan(Path(target)), order)
        return await _run_workflow(desk, target, order)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


async def _run_workflow(desk: Desk, target: str, order: Order) -> int:
    workflow = workflow_for(target, desk.home)
    values = {name: value_for(workflow.call, name, text) for name, text in order.pairs.items()}
    command = order.start(workflow.name, {**order.given, **values}, None, order.workspace)
    async with desk.engine("none", workflow) as engine:
        session_id = await engine.begin(command)
    return await drive_on(desk, session_id, (workflow,))


async def _run_plan(desk: Desk, file: PlanFile, order: Order) -> int:
    inputs = _inputs(order)
    async with desk.engine() as engine:
        plan = file.checked(engine.toolbox, inputs)
        command = order.start(PLAN, file.input(inputs), file.title(plan), order.workspace or Path.cwd())
        session_id = await engine.begin(command)
    return await drive_on(desk, session_id, ())


async def _rehearse(desk: Desk, file: PlanFile, order: Order) -> int:
    """Say what the plan would do, and do nothing."""
    async with desk.engine() as engine:
        plan = file.checked(engine.toolbox, _inputs(order))
        found = prospects(plan, engine.toolbox, engine.rulebook.rules())
        eta = await _estimate(engine, plan)
    title, count = order.title or file.title(plan), len(plan.order)
    desk.screen.say(
        Text.assemble(
            (safe_line(title), "bold"), f": {counted(count, 'step')}, up to {plan.plan.parallel} at once"
        )
    )
    for line in prospect_lines(found, order.mode):
        desk.screen.say(line)
    takes = takes_in_words(eta._asdict())
    unknown = f"nobody can say yet (each tool has to succeed {FEWEST_SAMPLES} times first)"
    desk.screen.say(f"It would take: {takes or unknown}. Nothing was run.")
    desk.screen.answer(
        {
            "title": title,
            "steps": [asdict(one) for one in found],
            "estimate": eta._asdict(),
            "digest": plan.digest,
        }
    )
    return Exit.DONE


async def _estimate(engine: Engine, plan: CheckedPlan) -> Eta:
    return Forecast(plan, engine.toolbox, await engine.past(), SystemClock()).eta()


def _inputs(order: Order) -> dict[str, Json]:
    return {**order.given, **{name: json_or_text(text) for name, text in order.pairs.items()}}
