"""`make bench`: everything the README promises about speed, beside the physical floor and the peers, in one run."""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from belayer import Effect
from bench import belayer_steps, peer_dbos, peer_langgraph, plans, raw_sqlite
from bench.rounds import SETTLED, Contestant, interleaved, ratio, spread
from bench.table import TIMES, Figure, Row, Wanted, show, write

PAYLOAD = "x" * 200
ROUNDS = 3
OURS, EFFECT, FLOOR, LANGGRAPH, DBOS = "Belayer", "Belayer, effect", "raw SQLite", "LangGraph", "DBOS"


async def sequential(steps: int) -> list[Row]:
    """One session, one step after another."""

    async def floor(folder: Path) -> list[float]:
        return await asyncio.to_thread(raw_sqlite.sequential, folder, steps, PAYLOAD)

    results = await interleaved(
        ROUNDS,
        Contestant(FLOOR, floor),
        Contestant(OURS, lambda folder: belayer_steps.sequential(folder, steps, PAYLOAD)),
        Contestant(
            EFFECT,
            lambda folder: belayer_steps.sequential(folder, steps, PAYLOAD, effect=Effect.EXTERNAL),
        ),
        Contestant(LANGGRAPH, lambda folder: peer_langgraph.sequential(folder, steps, PAYLOAD)),
        Contestant(DBOS, lambda folder: peer_dbos.sequential(folder, steps, PAYLOAD)),
    )
    medians = {
        name: [spread(samples[SETTLED:]).median for samples in rounds] for name, rounds in results.items()
    }
    figures = {name: _milliseconds(rounds) for name, rounds in results.items()}
    faster = _faster(medians)
    return [
        Row(
            "a durable step, one after another",
            figures[OURS],
            Wanted("at most", 1.5, TIMES),
            {FLOOR: figures[FLOOR]},
            ratio(medians[OURS], medians[FLOOR]),
        ),
        Row(
            "a step with an effect (two commits: begun, ended)",
            figures[EFFECT],
            Wanted("at most", 3.0, TIMES),
            {FLOOR: figures[FLOOR]},
            ratio(medians[EFFECT], medians[FLOOR]),
        ),
        Row(
            "a durable step, against the faster peer",
            figures[OURS],
            Wanted("at least", 3.0, TIMES),
            {LANGGRAPH: figures[LANGGRAPH], DBOS: figures[DBOS]},
            ratio(medians[faster], medians[OURS]),
        ),
    ]


async def many(sessions: int, steps: int) -> list[Row]:
    """Many sessions at once."""
    results = await interleaved(
        ROUNDS,
        Contestant(OURS, lambda folder: belayer_steps.many(folder, sessions, steps, PAYLOAD)),
        Contestant(LANGGRAPH, lambda folder: peer_langgraph.many(folder, sessions, steps, PAYLOAD)),
        Contestant(DBOS, lambda folder: peer_dbos.many(folder, sessions, steps, PAYLOAD)),
    )
    speeds = {
        name: Figure(sessions * steps / spread(rounds).median, "steps/s") for name, rounds in results.items()
    }
    faster = _faster(results)
    return [
        Row(
            f"{sessions:,} sessions of {steps} steps",
            speeds[OURS],
            Wanted("at least", 20.0, TIMES),
            {LANGGRAPH: speeds[LANGGRAPH], DBOS: speeds[DBOS]},
            ratio(results[faster], results[OURS]),
        )
    ]


async def waiting(sessions: int) -> list[Row]:
    """Sessions that wait for a person, in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        command = [sys.executable, "-m", "bench.waiting", folder, str(sessions)]
        finished = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=True
        )
    found = json.loads(finished.stdout)
    return [
        Row(
            f"{sessions:,} waiting sessions, memory of each",
            Figure(found["bytes"], "bytes"),
            Wanted("at most", 1024, "bytes"),
        ),
        Row(
            f"{sessions:,} waiting sessions, share of one processor",
            Figure(found["cpu"] * 100, "%"),
            Wanted("at most", 1.0, "%"),
        ),
        Row(
            "from an answer to the end of the session",
            Figure(found["resume"] * 1000, "ms", found["resume_p95"] * 1000),
            Wanted("at most", 10.0, "ms"),
        ),
    ]


async def replaying(steps: int) -> list[Row]:
    """A long session answered: it is replayed from its log first."""
    results = await interleaved(
        ROUNDS, Contestant(OURS, lambda folder: belayer_steps.replay(folder, steps, PAYLOAD))
    )
    taken = Figure(spread(results[OURS]).median, "s")
    return [Row(f"replay of {steps:,} steps", taken, Wanted("at most", 0.5, "s"))]


async def storage(steps: int) -> list[Row]:
    """What a step takes on disk, for payloads of several sizes."""
    rows: list[Row] = []
    for size in (200, 1_000, 10_000):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            taken = await belayer_steps.bytes_per_step(Path(folder), steps, "x" * size)
        wanted = Wanted("at most", 2 * size + 200, "bytes")
        rows.append(Row(f"storage of a step with {size:,} bytes", Figure(taken, "bytes"), wanted))
    return rows


async def main(arguments: argparse.Namespace) -> int:
    gc.freeze()  # what was imported so far is no garbage for anybody
    scale = 10 if arguments.quick else 1
    rows = [
        *await sequential(SETTLED + 2_000 // scale),
        *await many(1_000 // scale, 10),
        *await waiting(10_000 // scale),
        *await replaying(10_000 // scale),
        *await storage(2_000 // scale),
        *await plans.overhead(plans.STEPS // scale),
    ]
    show(rows, Console(width=140))
    write(rows, arguments.out, {"rounds": ROUNDS, "payload_bytes": len(PAYLOAD), "quick": arguments.quick})
    return 0 if all(row.met for row in rows) else 1


def _milliseconds(rounds: Sequence[Sequence[float]]) -> Figure:
    all_samples = [sample for samples in rounds for sample in samples[SETTLED:]]
    found = spread(all_samples)
    return Figure(found.median * 1000, "ms", found.p95 * 1000)


def _faster(results: dict[str, list[float]]) -> str:
    """The peer that took less time in this run."""
    return min((LANGGRAPH, DBOS), key=lambda name: spread(results[name]).median)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, to see that it runs")
    parser.add_argument("--out", type=Path, default=Path("bench-results.json"), help="where the JSON goes")
    sys.exit(asyncio.run(main(parser.parse_args())))
