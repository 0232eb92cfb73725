"""The command line: every command, its example, and the way in."""

import logging
import sys
from collections.abc import Callable
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from belayer.cli.commands import (
    carry,
    decide,
    demo,
    doctor,
    graph,
    history,
    look,
    mcp,
    policy,
    resume,
    run,
    serve,
    stop,
    tools,
    upkeep,
)

_ABOUT = "Durable sessions for agent work with a person in the loop. Agents climb; you hold the rope."
_CODES = "Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for a person, 4 refused."

app = typer.Typer(
    help=_ABOUT, epilog=_CODES, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
)

COMMANDS: dict[str, list[tuple[str, Callable[..., Any], str]]] = {
    "Start and look": [
        ("run", run.run, "belayer run plan.yaml -i name=Ada"),
        ("ls", look.ls, "belayer ls --status waiting"),
        ("show", look.show, "belayer show 0199a3f2 --events"),
        ("follow", look.follow, "belayer follow 0199a3f2"),
        ("demo", demo.demo, "belayer demo"),
        ("serve", serve.serve, "belayer serve --port 8700"),
        ("mcp", mcp.mcp, "belayer mcp"),
    ],
    "Answer": [
        ("answer", decide.answer, 'belayer answer 0199a3f2 "the blue one"'),
        ("approve", decide.approve, "belayer approve 0199a3f2 --notes 'looks right'"),
        ("reject", decide.reject, "belayer reject 0199a3f2 --reason 'not on a Friday'"),
    ],
    "Stop and go on": [
        ("pause", stop.pause, "belayer pause 0199a3f2 --timeout 3600 --then cancel"),
        ("resume", resume.resume, "belayer resume 0199a3f2"),
        ("interrupt", stop.interrupt, "belayer interrupt 0199a3f2"),
        ("cancel", stop.cancel, "belayer cancel 0199a3f2 --reason 'no longer needed'"),
    ],
    "Go back": [
        ("rewind", history.rewind, "belayer rewind 0199a3f2 17"),
        ("fork", history.fork, "belayer fork 0199a3f2 --seq 17"),
        ("checkpoint", history.checkpoint, "belayer checkpoint 0199a3f2 'before the release'"),
    ],
    "What may be done": [
        ("graph", graph.graph, "belayer graph . impact shop.cart.Cart.add"),
        ("tools", tools.tools, "belayer tools files.write"),
    ],
    "Keep in order": [
        ("export", carry.export, "belayer export 0199a3f2 -o session.json"),
        ("import", carry.import_, "belayer import session.json"),
        ("verify", upkeep.verify, "belayer verify"),
        ("prune", upkeep.prune, "belayer prune --older-than 30d --keep 100"),
        ("doctor", doctor.doctor, "belayer doctor"),
    ],
}

POLICY: list[tuple[str, Callable[..., Any], str]] = [
    ("allow", policy.allow, "belayer policy allow --tool http_fetch --host '*.example.org'"),
    ("ask", policy.ask, "belayer policy ask --tool files.delete"),
    ("deny", policy.deny, "belayer policy deny --path 'secrets/**' --note 'never'"),
    ("try", policy.try_, "belayer policy try allow --tool 'files.*'"),
    ("remove", policy.remove, "belayer policy remove 2"),
    ("accept", policy.accept, "belayer policy accept"),
    ("suggest", policy.suggest, "belayer policy suggest"),
]

for _panel, _commands in COMMANDS.items():
    for _name, _command, _example in _commands:
        app.command(_name, epilog=f"Example: {_example}", rich_help_panel=_panel)(_command)

_rules = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
for _name, _command, _example in POLICY:
    _rules.command(_name, epilog=f"Example: {_example}")(_command)
_rules.callback(
    invoke_without_command=True, epilog="Example: belayer policy", subcommand_metavar="[COMMAND] [ARGS]..."
)(policy.show)
app.add_typer(_rules, name="policy", rich_help_panel="What may be done")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"belayer {version('belayer')}")
        raise typer.Exit


@app.callback()
def belayer(
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Nothing of its own: every command opens what it needs."""


def main() -> None:
    """The entry point. A character that the terminal's encoding lacks must not end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logging.raiseExceptions = False  # a log that cannot be written is no reason to spoil the screen
    app(prog_name="belayer")
