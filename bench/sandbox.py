"""`python -m bench.sandbox`: what a start in the sandbox takes, beside the bare `bwrap` command, in one run."""

import asyncio
import shutil
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich.console import Console

from belayer.sandbox.choose import Wanted as Rung
from belayer.sandbox.choose import choose
from belayer.sandbox.sandbox import Program, Sandbox
from bench.rounds import Contestant, interleaved, ratio, spread
from bench.table import TIMES, Figure, Row, Wanted, show

ROUNDS = 100
TRUE = "/bin/true"
OURS, BARE, PLAIN, WEAKER = "Belayer", "bare bwrap", "no sandbox", "landlock"


def bare(folder: Path) -> list[str]:
    """What one would write by hand to run a program in a folder: namespaces, the system read-only, the folder."""
    system = [path for path in (Path("/bin"), Path("/lib"), Path("/lib64"), Path("/sbin")) if path.exists()]
    links = [
        option
        for path in system
        for option in (
            ("--symlink", str(path.readlink()), str(path))
            if path.is_symlink()
            else ("--ro-bind", str(path), str(path))
        )
    ]
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--ro-bind", "/usr", "/usr", *links, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *("--bind", str(folder), str(folder), "--chdir", str(folder), "--", TRUE),
    ]


async def seconds(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began


def command(*argv: str) -> Callable[[], Awaitable[object]]:
    async def run() -> None:
        process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
        await process.communicate()
        assert process.returncode == 0

    return run


def sandboxed(sandbox: Sandbox, folder: Path) -> Callable[[], Awaitable[object]]:
    async def run() -> None:
        process = await sandbox.start(Program((TRUE,), folder))
        assert (await process.wait()).exit_code == 0

    return run


def in_sandbox(name: str, sandbox: Sandbox) -> Contestant[float]:
    return Contestant(name, lambda folder: seconds(sandboxed(sandbox, folder)))


async def starts(rounds: int) -> list[Row]:
    """From the call until the program's end is known, and nothing of it is left."""
    rows: list[Row] = []
    plain = Contestant(PLAIN, lambda _: seconds(command(TRUE)))
    rungs: list[tuple[Rung, str]] = [("landlock", WEAKER)]
    if shutil.which("bwrap") is not None:
        rungs.insert(0, ("bubblewrap", OURS))
    for rung, name in rungs:
        async with choose(rung, None) as sandbox:
            others = (
                [Contestant(BARE, lambda folder: seconds(command(*bare(folder))))] if name == OURS else []
            )
            found = await interleaved(rounds, in_sandbox(name, sandbox), *others, plain)
        rows.append(_row(f"start of {TRUE} in {rung}", name, found))
    return rows


def _row(what: str, name: str, found: dict[str, list[float]]) -> Row:
    theirs = {other: _figure(samples) for other, samples in found.items() if other != name}
    if BARE in found:
        return Row(
            what, _figure(found[name]), Wanted("at most", 1.5, TIMES), theirs, ratio(found[name], found[BARE])
        )
    return Row(what, _figure(found[name]), Wanted("at most", 500, "ms"), theirs)


def _figure(samples: list[float]) -> Figure:
    found = spread(samples)
    return Figure(found.median * 1000, "ms", found.p95 * 1000)


async def main() -> int:
    rows = await starts(ROUNDS)
    show(rows, Console(width=140))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
