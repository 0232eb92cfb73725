"""What a script costs over the bare machine it runs on, in one run: `python -m bench.codemode`.

The bare machine is driven in this process, with nothing around it: wasmtime with QuickJS turn by turn; Monty by its
async API, which an engine would have to use, and by its blocking one, which is the floor. Ours is what a session uses:
a worker process with limits, reached over a socket. Recording a call in the log is no part of either.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pydantic_monty as monty
from rich.console import Console

from belayer.codemode.javascript import JavaScript
from belayer.codemode.limits import Limits
from belayer.codemode.machines import Machines
from belayer.codemode.script import Language, Script
from bench.rounds import ratio, spread
from bench.table import TIMES, Figure, Row, Wanted, show

CALLS, STARTS, ROUNDS = 500, 50, 7
_LIMITS = Limits(calls=10_000, cpu=60.0)
_SOURCES = {
    "javascript": {
        "start": "return 1",
        "call": "for (let i = 0; i < input; i++) await tools.look({ i }); return input",
    },
    "python": {"start": "1", "call": "for i in range(input): await tools.look(i=i)\ninput"},
}
_BARE_PYTHON = "for i in range(input): await look(i=i)\ninput"
_PAUSE = 0.01
"""Seconds between two starts: time for a worker to make its next machine ready."""

Measure = Callable[[], Awaitable[float]]


def _script(language: Language, kind: str) -> Script:
    return Script(
        language=language,
        source=_SOURCES[language][kind],
        tools=("look",),
        input=CALLS,
        limits=_LIMITS,
    )


async def _our_start(machines: Machines, language: Language) -> float:
    """Seconds from a script to its value, with a warm machine at hand."""
    script, taken = _script(language, "start"), list[float]()
    for _ in range(STARTS):
        await asyncio.sleep(_PAUSE)
        began = time.perf_counter()
        async with machines.machine(language, _LIMITS) as machine:
            report = await machine.start(script, 0.0, 0.5)
            taken.append(time.perf_counter() - began)
            assert report.end is not None
    return spread(taken).median


async def _our_call(machines: Machines, language: Language) -> float:
    """Seconds for a call that is answered at once."""
    script = _script(language, "call")
    async with machines.machine(language, _LIMITS) as machine:
        report = await machine.start(script, 0.0, 0.5)
        began = time.perf_counter()
        while report.end is None:
            report = await machine.settle([b'{"id":%d,"value":1}' % asked.id for asked in report.calls])
        return (time.perf_counter() - began) / CALLS


async def _bare_javascript_start(javascript: JavaScript) -> float:
    script, taken = _script("javascript", "start").beginning(0.0, 0.5), list[float]()
    for _ in range(STARTS):
        await asyncio.sleep(_PAUSE)
        began = time.perf_counter()
        machine = javascript.machine()
        machine.start(script, json.loads(script))
        taken.append(time.perf_counter() - began)
        machine.close()
    return spread(taken).median


async def _bare_javascript_call(javascript: JavaScript) -> float:
    script, machine = _script("javascript", "call").beginning(0.0, 0.5), javascript.machine()
    report: Any = json.loads(machine.start(script, json.loads(script)))
    began = time.perf_counter()
    while report["end"] is None:
        report = json.loads(machine.settle([b'{"id":%d,"value":1}' % one["id"] for one in report["calls"]]))
    taken = time.perf_counter() - began
    machine.close()
    return taken / CALLS


async def _bare_python_start(pool: monty.AsyncMonty) -> float:
    taken: list[float] = []
    for _ in range(STARTS):
        await asyncio.sleep(_PAUSE)
        began = time.perf_counter()
        async with pool.checkout() as session:
            assert await session.feed_run("1") == 1
            taken.append(time.perf_counter() - began)
    return spread(taken).median


async def _bare_python_call(pool: monty.AsyncMonty) -> float:
    async with pool.checkout(limits={"max_suspensions": 1_000_000}) as session:
        began = time.perf_counter()
        snapshot = await session.feed_start(_BARE_PYTHON, inputs={"input": CALLS})
        while not isinstance(snapshot, monty.MontyComplete):
            if isinstance(snapshot, monty.AsyncFutureSnapshot):
                snapshot = await snapshot.resume(
                    {one: {"return_value": 1} for one in snapshot.pending_call_ids}
                )
            else:
                assert isinstance(snapshot, monty.AsyncFunctionSnapshot)
                snapshot = await snapshot.resume({"future": ...})
        return (time.perf_counter() - began) / CALLS


async def _blocking_python_start(pool: monty.Monty) -> float:
    taken: list[float] = []
    for _ in range(STARTS):
        await asyncio.sleep(_PAUSE)
        began = time.perf_counter()
        with pool.checkout() as session:
            assert session.feed_run("1") == 1
            taken.append(time.perf_counter() - began)
    return spread(taken).median


async def _blocking_python_call(pool: monty.Monty) -> float:
    with pool.checkout(limits={"max_suspensions": 1_000_000}) as session:
        began = time.perf_counter()
        snapshot = session.feed_start(_BARE_PYTHON, inputs={"input": CALLS})
        while not isinstance(snapshot, monty.MontyComplete):
            if isinstance(snapshot, monty.FutureSnapshot):
                snapshot = snapshot.resume({one: {"return_value": 1} for one in snapshot.pending_call_ids})
            else:
                assert isinstance(snapshot, monty.FunctionSnapshot)
                snapshot = snapshot.resume({"future": ...})
        return (time.perf_counter() - began) / CALLS


async def _rows(what: str, ours: Measure, **bare: Measure) -> list[Row]:
    """All in turns, a row against each; the first round, in which everything is new, does not count."""
    rounds = [[await ours(), *[await one() for one in bare.values()]] for _ in range(ROUNDS + 1)][1:]
    mine, *theirs = zip(*rounds, strict=True)
    return [
        Row(
            what,
            _microseconds(mine),
            Wanted("at most", 1.5, TIMES),
            {name: _microseconds(times)},
            ratio(mine, times),
        )
        for name, times in zip(bare, theirs, strict=True)
    ]


def _microseconds(times: Sequence[float]) -> Figure:
    return Figure(spread(times).median * 1e6, "µs")


async def compared() -> list[Row]:
    """What `make bench` shows of code mode."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, monty.Monty(max_processes=1) as blocking:
        javascript = JavaScript(Path(folder))
        async with Machines(Path(folder)) as machines, monty.AsyncMonty(max_processes=1) as pool:
            return [
                *await _rows(
                    "JavaScript, warm start",
                    lambda: _our_start(machines, "javascript"),
                    bare=lambda: _bare_javascript_start(javascript),
                ),
                *await _rows(
                    "JavaScript, a call of the host",
                    lambda: _our_call(machines, "javascript"),
                    bare=lambda: _bare_javascript_call(javascript),
                ),
                *await _rows(
                    "Python, warm start",
                    lambda: _our_start(machines, "python"),
                    asynchronous=lambda: _bare_python_start(pool),
                    blocking=lambda: _blocking_python_start(blocking),
                ),
                *await _rows(
                    "Python, a call of the host",
                    lambda: _our_call(machines, "python"),
                    asynchronous=lambda: _bare_python_call(pool),
                    blocking=lambda: _blocking_python_call(blocking),
                ),
            ]


if __name__ == "__main__":
    rows = asyncio.run(compared())
    show(rows, Console(width=140))
    sys.exit(0 if all(row.met for row in rows) else 1)
