"""Carry a session out of one store and into another, as a file."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home, SessionPrefix
from belayer.cli.outcome import tell_status
from belayer.vocabulary.errors import ConfigurationError, Unimportable

Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write it.", show_default="stdout"),
]


def export(prefix: SessionPrefix, output: Output = None, as_json: AsJson = False, home: Home = None) -> None:
    """Write a session with everything that belongs to it into one file."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            session_id = await engine.find(prefix)
            content = await engine.export(session_id)
        complete = bool(json.loads(content)["complete"])
        _write(content, output)
        if output is not None:
            desk.screen.say(f"Wrote {len(content)} bytes to {output}.")
            desk.screen.answer({"session_id": session_id, "file": str(output), "complete": complete})
        if complete:
            return Exit.DONE
        desk.screen.warn(
            f"warning: the log of session {session_id} is damaged; only the intact part before the damage was written."
            f" `{desk.command('verify')}` says where."
        )
        return Exit.FAILED

    carry_out(work, home=home, as_json=as_json)


def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file from `belayer export`; - is stdin.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Take a session in. One that had not ended is paused until somebody resumes it."""

    async def work(desk: Desk) -> int:
        content = _read(file)
        async with desk.engine() as engine:
            session_id = await engine.take_in(content)
            tell_status(desk, await engine.state(session_id))
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def _write(content: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    aside = output.with_name(f".{output.name}.new")
    try:
        aside.write_bytes(content)
        aside.replace(output)
    except OSError as error:
        raise ConfigurationError(
            f"{output} cannot be written ({error.strerror}).", "Choose another place with -o FILE."
        ) from error


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Unimportable(
            f"{file} cannot be read ({error.strerror}). Nothing was changed.",
            "Give a file that `belayer export` made, or - for stdin.",
        ) from error
