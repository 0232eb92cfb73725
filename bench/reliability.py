"""The reliability drill: plans carried out by a process that is killed again and again, with tools that fail and hang.

`python -m bench.reliability --runs 1000 --kills 5`. What the tools did is counted outside, in the ledger they add to:
nearly every plan must come through, and nothing may have been done twice.
"""

import argparse
import asyncio
import math
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from belayer.engine import Engine
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Wanted
from belayer.settings import Settings
from belayer.vocabulary.events.event import Status
from belayer.wiring import open_engine
from tests.crash.plan_driver import ENTRIES, FAILS, FINAL, PLAN, WELL, Pages, world_in

SHARE = 0.999
"""Of all plans, so many come through."""
_ROOT = Path(__file__).parents[1]
_LOOK_EVERY = 0.003
_LATEST_KILL = 0.9
"""Of the work: a process that is nearly done might end before it is killed."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of the plans, and of the world."""

    runs: int
    completed: int
    kills: int
    seconds: float
    calls: Counter[str]
    effects: int
    troubles: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.completed >= math.ceil(self.runs * SHARE) and not self.troubles


def drill(home: Path, runs: int, kills: int, seed: int, speed: float = 1.0) -> Verdict:
    """Carry out so many plans through so many kills, then see what was done."""
    home.mkdir(parents=True, exist_ok=True)
    ledger, luck = home / "ledger", random.Random(seed)
    last = int(runs * len(ENTRIES) * _LATEST_KILL)
    moments = sorted(luck.sample(range(1, last), kills))
    began = time.monotonic()
    killed = 0
    for life, moment in enumerate([*moments, None]):
        killed += _live(home, ledger, moment, runs, seed + life, speed)
    return asyncio.run(_judge(home, runs, killed, time.monotonic() - began))


def _live(home: Path, ledger: Path, until: int | None, *arguments: float) -> bool:
    """Let a process work until it has ended, or the ledger has so many lines and it is killed; whether it was."""
    command = [sys.executable, "-m", "tests.crash.plan_driver", str(home), *map(str, arguments)]
    with (
        (home / "stderr").open("ab") as errors,
        subprocess.Popen(command, cwd=_ROOT, stderr=errors) as driver,
    ):
        while until is not None and driver.poll() is None:
            if ledger.exists() and ledger.read_bytes().count(b"\n") >= until:
                driver.kill()
                break
            time.sleep(_LOOK_EVERY)
        ended = driver.wait()
    if ended > 0:
        raise RuntimeError(f"the driver broke down: {(home / 'stderr').read_text()[-2000:]}")
    return ended < 0


async def _judge(home: Path, runs: int, kills: int, seconds: float) -> Verdict:
    world = world_in(home)
    async with open_engine(settings=Settings(home=home), drives="none") as engine:
        rows = await engine.sessions(Wanted(limit=2 * runs + 1))
        troubles = [
            *([] if len(rows) == runs else [f"{len(rows)} sessions instead of {runs}"]),
            *_miscounted(world.ledger, rows),
            *[trouble for row in rows for trouble in await _unlike(engine, row)],
            *[damage.what async for finding in engine.verify() for damage in finding.damage],
        ]
    return Verdict(
        runs=runs,
        completed=sum(row.status is Status.COMPLETED for row in rows),
        kills=kills,
        seconds=seconds,
        calls=Counter(line.partition("\t")[2] for line in world.faults.lines()),
        effects=len(world.ledger.lines()),
        troubles=tuple(troubles),
    )


def _miscounted(ledger: Pages, rows: list[SessionRow]) -> list[str]:
    """Effects that were done twice, and those of completed plans that were never done."""
    keys = Counter(line.partition("\t")[0] for line in ledger.lines())
    entries = Counter(line.partition("\t")[2] for line in ledger.lines())
    wanted = {f"{row.id}:0:{entry}" for row in rows if row.status is Status.COMPLETED for entry in ENTRIES}
    return [
        *[f"{what} was done {count} times" for what, count in (keys | entries).items() if count > 1],
        *[f"{key} was never done" for key in sorted(wanted - keys.keys())],
    ]


async def _unlike(engine: Engine, row: SessionRow) -> list[str]:
    """How a session differs from what its plan promises: every step done, and the files as they should be."""
    state = await engine.state(row.id)
    if state.status is not Status.COMPLETED:
        detail = state.problem.detail if state.problem else state.reason
        return [f"{row.id} is {state.status}: {detail}"] if state.status is not Status.FAILED else []
    assert isinstance(PLAN["steps"], list)
    assert state.workspace is not None
    done, steps = state.progress(), len(PLAN["steps"])
    text = Path(state.workspace, "text.md").read_text()
    return [
        *([] if done == (steps, steps) else [f"{row.id} has done {done} of {steps} steps"]),
        *([] if text.startswith(FINAL) else [f"{row.id} has left {text!r} in its file"]),
    ]


def show(verdict: Verdict, console: Console) -> None:
    """Print the table."""
    calls = verdict.calls.total()
    table = Table("what", "counted", "wanted")
    table.add_row("plans completed", f"{verdict.completed:,} of {verdict.runs:,}", f"at least {SHARE:.1%}")
    table.add_row("processes killed", str(verdict.kills), "")
    table.add_row("calls of tools", f"{calls:,}", "")
    table.add_row("… that failed before they did anything", f"{verdict.calls[FAILS] / calls:.1%}", "20 %")
    hanging = calls - verdict.calls[FAILS] - verdict.calls[WELL]
    table.add_row("… that hung until their time was over", f"{hanging / calls:.1%}", "")
    table.add_row("effects in the ledger", f"{verdict.effects:,}", "each exactly once")
    table.add_row("troubles (doubled, missing, damaged, unlike)", str(len(verdict.troubles)), "0")
    table.add_row("time", f"{verdict.seconds:.0f} s ({verdict.runs / verdict.seconds:.1f} plans/s)", "")
    console.print(table)
    for trouble in verdict.troubles[:_SHOWN]:
        console.print(f"  {trouble}", markup=False)
    console.print("[green]The promise holds.[/]" if verdict.holds else "[red]The promise does not hold.[/]")


def main(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="drill-") as folder:
        verdict = drill(
            arguments.home or Path(folder) / "home", arguments.runs, arguments.kills, arguments.seed
        )
    show(verdict, Console(width=120))
    return 0 if verdict.holds else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--home", type=Path, help="keep everything in this new folder, to look at it afterwards"
    )
    sys.exit(main(parser.parse_args()))
