"""The options and arguments that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="The folder sessions are kept in (else BELAYER_HOME, else .belayer).",
        show_default=False,
    ),
]
SessionPrefix = Annotated[str, typer.Argument(metavar="ID", help="The session's id, or the beginning of it.")]
Detach = Annotated[bool, typer.Option("--detach", help="Do not drive the session on in this process.")]
NoInput = Annotated[bool, typer.Option("--no-input", help="Ask nothing, even at a terminal.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, for the record.", show_default=False)]
RequestName = Annotated[
    str | None,
    typer.Option("--request", help="Which request, if several are open: its id or key.", show_default=False),
]
