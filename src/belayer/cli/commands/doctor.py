"""Is everything there that Belayer needs? Every finding says what to do."""

import platform
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, cast

from rich.text import Text

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home
from belayer.cli.reading import is_driven
from belayer.cli.safe_text import safe_line
from belayer.engine import Engine
from belayer.sandbox.choose import choose
from belayer.sessions.integrity import Finding
from belayer.sessions.lease import LockedDrivers
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Wanted
from belayer.sessions.stores import schema
from belayer.tools.mcp_servers import ServerReport
from belayer.vocabulary.errors import BelayerError, NoSandbox
from belayer.vocabulary.events.event import Status

_LEAST_BYTES = 200_000_000
_MOST_SESSIONS = 100_000


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `todo` says what to do when it is not right."""

    name: str
    found: str
    right: bool = True
    todo: str | None = None


def doctor(as_json: AsJson = False, home: Home = None) -> None:
    """Check the installation, the home folder and the store."""

    async def work(desk: Desk) -> int:
        checks = [check async for check in _checks(desk)]
        for check in checks:
            _tell(desk, check)
        wrong = [check for check in checks if not check.right]
        desk.screen.say(f"{len(wrong)} things need attention." if wrong else "Everything is in order.")
        desk.screen.answer({"right": not wrong, "checks": [asdict(check) for check in checks]})
        return Exit.FAILED if wrong else Exit.DONE

    carry_out(work, home=home, as_json=as_json)


async def _checks(desk: Desk) -> AsyncIterator[Check]:
    yield Check("versions", _versions())
    async for check in _sandbox_checks(desk):
        yield check
    yield Check("home", str(desk.home.resolve()))
    for name, value in desk.settings:
        if name != "home":
            yield Check("setting", f"{name} = {value}")
    try:
        async with desk.engine() as engine:
            yield Check("store", f"opens, schema version {len(schema.SCRIPTS)}")
            yield _space(desk)
            yield _locking(desk)
            async for check in _store_checks(desk, engine):
                yield check
            for report in engine.servers.reports():
                yield _server(desk, report)
    except BelayerError as error:
        yield Check("store", error.detail, right=False, todo=error.hint)


async def _sandbox_checks(desk: Desk) -> AsyncIterator[Check]:
    """Which sandbox commands get, and what it does and does not protect."""
    wanted = desk.settings.sandbox
    if wanted == "off":
        yield Check("sandbox", "commands are switched off (BELAYER_SANDBOX=off)")
        return
    try:
        async with choose(wanted, desk.home) as sandbox:
            rung = sandbox.rung
    except NoSandbox as error:
        yield Check("sandbox", error.detail, right=False, todo=error.hint)
        return
    yield Check("sandbox", rung.name)
    for protected in rung.protects:
        yield Check("protects", protected)
    for open_to in rung.does_not:
        yield Check("does not", open_to)


async def _store_checks(desk: Desk, engine: Engine) -> AsyncIterator[Check]:
    async with aclosing(cast("Any", engine.verify())) as findings:
        first: Finding = await anext(findings)
    for damage in first.damage:
        yield Check("integrity", damage.what, right=False, todo=f"See more with `{desk.command('verify')}`.")
    if not first.damage:
        yield Check("integrity", "the store's file is sound (events: belayer verify)")
    rows = await engine.sessions(Wanted(limit=_MOST_SESSIONS))
    counts = Counter(row.status.value for row in rows)
    yield Check("sessions", ", ".join(f"{n} {status}" for status, n in sorted(counts.items())) or "none")
    for row in rows:
        if row.status is Status.RUNNING and not is_driven(desk.home, row):
            yield _left_behind(desk, row)


def _left_behind(desk: Desk, row: SessionRow) -> Check:
    todo = f"Take it up with `{desk.command('resume', row.id)}`."
    return Check("left behind", f"session {row.id} was running when its process died", right=False, todo=todo)


def _server(desk: Desk, report: ServerReport) -> Check:
    found = f"{report.name}: {len(report.tools)} tools" + (f", {report.problem}" if report.problem else "")
    todo = f"Correct its entry in BELAYER_MCP_SERVERS, or see `{desk.command('tools')}`."
    return Check("MCP server", safe_line(found), right=report.problem is None, todo=todo)


def _versions() -> str:
    return f"Belayer {version('belayer')}, Python {platform.python_version()}, SQLite {schema.sqlite3.sqlite_version}"


def _space(desk: Desk) -> Check:
    free = shutil.disk_usage(desk.home).free
    found = f"{free / 1e9:.1f} GB free"
    return Check("disk", found, free >= _LEAST_BYTES, "Make space: nothing can be recorded on a full disk.")


def _locking(desk: Desk) -> Check:
    """Hold a lock as one driver, and see whether another one sees it."""
    folder = desk.home / "drivers"
    with LockedDrivers(folder, "doctor"):
        works = LockedDrivers(folder, "patient").alive("doctor")
    return Check(
        "file locks",
        "work" if works else "do not work here",
        works,
        "Set BELAYER_HOME to a local disk; on this one two processes might drive one session in turns.",
    )


def _tell(desk: Desk, check: Check) -> None:
    mark = ("✓", "green") if check.right else ("✗", "bold red")
    desk.screen.say(Text.assemble(mark, (f" {check.name:<12} ", "bright_black"), check.found))
    if not check.right and check.todo:
        desk.screen.say(Text.assemble(("               → ", "cyan"), check.todo))
