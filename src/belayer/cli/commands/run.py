"""Start a session, or take one up, and go along with it."""

from typing import Annotated

import typer

from belayer.cli.company import drive_on
from belayer.cli.desk import Desk, carry_out
from belayer.cli.options import AsJson, Home, NoInput
from belayer.cli.targets import workflow_for
from belayer.cli.values import object_from, pairs_from, unfit_refused, value_for
from belayer.vocabulary.commands import Start
from belayer.vocabulary.events.event import Budget, Mode

Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET", help="path/file.py, path/file.py:function, or a workflow's name (like `survey`)."
    ),
]


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
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Start a workflow and drive it until it ends or needs somebody."""
    pairs, given = pairs_from(inputs or []), object_from(whole_input)
    budget = Budget(steps=steps, seconds=seconds, tokens=tokens, usd=usd)

    async def work(desk: Desk) -> int:
        workflow = workflow_for(target, desk.home)
        values = {name: value_for(workflow.call, name, text) for name, text in pairs.items()}
        with unfit_refused():
            command = Start(
                workflow=workflow.name,
                input={**given, **values},
                title=title,
                mode=mode,
                budget=budget,
                idempotency_key=key,
            )
        async with desk.engine("none", workflow) as engine:
            session_id = await engine.begin(command)
        return await drive_on(desk, session_id, workflow)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)
