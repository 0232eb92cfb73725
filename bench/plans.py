"""What a plan's step costs over the same step of a Python workflow, on one store: `python -m bench.plans`."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from belayer.engine import Engine
from belayer.execution.act import Act
from belayer.execution.run import Run
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.commands import Start
from belayer.vocabulary.events.event import Effect, Json
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace
from bench.rounds import ratio, spread
from bench.table import TIMES, Figure, Row, Wanted, show

STEPS = 200
ROUNDS = 9
SHORT = 10
CORE_READ, PLAN_READ = "a core step that reads", "a plan's step that reads"
_FILES = 10
_PAYLOAD = "x" * 200
_FIRST = 2  # rounds in which the files of the store still grow


class Work(Params):
    number: int
    payload: str


@dataclass(slots=True)
class Measuring:
    """Seconds from one call to the next, whoever calls."""

    times: list[float] = field(default_factory=list[float])

    async def work(self, params: Work, _workspace: Workspace) -> Json:
        self.times.append(time.perf_counter())
        return {"number": params.number}

    async def work_plainly(self, given: dict[str, Any]) -> Json:
        self.times.append(time.perf_counter())
        return {"number": given["number"]}

    def tools(self) -> list[AnyTool]:
        return [
            Tool("look", "Look.", Work, self.work, effect=Effect.READ),
            Tool("put", "Put.", Work, self.work, effect=Effect.WRITE, idempotent=True),
        ]

    async def steps(self, run: Run, steps: int, effect: Effect) -> None:
        """The core's side: the same calls without a plan."""
        act = Act("work", self.work_plainly, effect=effect, idempotent=True)
        for number in range(steps):
            await run.step(f"s{number}", act, {"number": number, "payload": _PAYLOAD})

    async def between(self, doing: Awaitable[object]) -> float:
        """The median of the seconds from one call to the next."""
        self.times.clear()
        await doing
        return spread(
            [later - earlier for earlier, later in zip(self.times, self.times[1:], strict=False)]
        ).median


async def measure(home: Path, steps: int) -> dict[str, list[float]]:
    """Seconds for each contestant and round, in turns."""
    measuring = Measuring()
    folder = home / "small"
    folder.mkdir()
    for number in range(_FILES):
        (folder / f"{number}.txt").write_text(_PAYLOAD)
    results: dict[str, list[float]] = {}
    async with open_engine(home / "home", workflows=[measuring.steps], tools=measuring.tools()) as engine:
        contestants: dict[str, Callable[[], Awaitable[float]]] = {
            CORE_READ: lambda: measuring.between(_core(engine, measuring, steps, Effect.READ)),
            PLAN_READ: lambda: measuring.between(_plan(engine, _calls("look", steps))),
            "a core step that writes": lambda: measuring.between(
                _core(engine, measuring, steps, Effect.WRITE)
            ),
            "a plan's step that writes": lambda: measuring.between(
                _plan(engine, _calls("put", steps), folder)
            ),
            "a plan's files.write": lambda: _timed(_plan(engine, _writes(steps), folder), steps),
            f"a plan of {SHORT}, from start to result": lambda: _timed(_plan(engine, _calls("look", SHORT))),
        }
        for number in range(_FIRST + ROUNDS):
            for name, contestant in contestants.items():
                taken = await contestant()
                if number >= _FIRST:
                    results.setdefault(name, []).append(taken)
    return results


async def _core(engine: Engine, measuring: Measuring, steps: int, effect: Effect) -> None:
    await (await engine.start(measuring.steps, steps, effect)).result()


async def _plan(engine: Engine, steps: Sequence[Json], folder: Path | None = None) -> None:
    command = Start(
        workflow="plan", input={"plan": {"steps": list(steps)}}, workspace=str(folder) if folder else None
    )
    await engine.result(await engine.begin(command))


async def _timed(doing: Awaitable[object], parts: int = 1) -> float:
    began = time.perf_counter()
    await doing
    return (time.perf_counter() - began) / parts


def _calls(tool: str, steps: int) -> list[Json]:
    return [
        {"id": f"s{number}", "tool": tool, "params": {"number": number, "payload": _PAYLOAD}}
        for number in range(steps)
    ]


def _writes(steps: int) -> list[Json]:
    return [
        {
            "id": f"s{number}",
            "tool": "files.write",
            "params": {"path": f"{number % _FILES}.txt", "content": f"{number} {_PAYLOAD}"},
        }
        for number in range(steps)
    ]


async def overhead(steps: int = STEPS) -> list[Row]:
    """The promise, for the table of `python -m bench`."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return [_row(await measure(Path(folder), steps))]


def _row(results: dict[str, list[float]]) -> Row:
    ours, core = results[PLAN_READ], results[CORE_READ]
    return Row(
        "a plan's step that reads, over the core's own",
        _milliseconds(ours),
        Wanted("at most", 2.0, TIMES),
        {"core": _milliseconds(core)},
        ratio(ours, core),
    )


def _milliseconds(samples: Sequence[float]) -> Figure:
    return Figure(spread(samples).median * 1000, "ms")


async def main() -> int:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        results = await measure(Path(folder), STEPS)
    row, console = _row(results), Console(width=140)
    show([row], console)
    for name, samples in results.items():
        console.print(f"{name:>40} {_milliseconds(samples).value:8.3f} ms")
    return 0 if row.met else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
