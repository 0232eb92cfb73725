"""LangGraph with its SQLite checkpointer, in the fastest idiom we found that makes the same promise as ours.

The promise: the next step begins only after the last one is committed, in WAL with synchronous=FULL. A graph
that loops by `Command` under durability="sync" keeps it, with two commits a step: the node's writes, and the
checkpoint. The functional API (@entrypoint, @task) does not: `await task()` returns while the write is still
queued, whatever `durability` says; a reader saw 38 of 200 awaited tasks committed. So it is not used here.

The synchronous saver stands in for AsyncSqliteSaver because it is faster, 1.0 ms a step against 1.8 ms and
860 steps/s against 530 in many runs: the asynchronous one hops to a thread for every statement.
"""
# LangGraph leaves type arguments open in its own signatures, and a part of it is untyped.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

import asyncio
import sqlite3
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

# The saver is one lock around one connection, so more threads only contend: 2 was best of 1, 2, 4, 8, 16.
THREADS = 2


class Progress(TypedDict):
    """The run's state; only the last payload, so that checkpoints do not grow with the number of steps."""

    done: int
    payload: str


Graph: TypeAlias = CompiledStateGraph[Progress, None, Progress, Progress]


async def sequential(folder: Path, steps: int, payload: str) -> list[float]:
    """Seconds per durable step in one run of `steps` steps, from one node's start to the next one's."""
    return await asyncio.to_thread(_sequential, folder, steps, payload)


async def many(folder: Path, sessions: int, steps: int, payload: str) -> float:
    """Seconds for `sessions` runs of `steps` durable steps each."""
    return await asyncio.to_thread(_many, folder, sessions, steps, payload)


def _sequential(folder: Path, steps: int, payload: str) -> list[float]:
    starts: list[float] = []
    with _saver(folder) as saver:
        _run(_graph(saver, steps, payload, starts), "only", steps)
        ended = time.perf_counter()
    return [after - before for before, after in pairwise([*starts, ended])]


def _many(folder: Path, sessions: int, steps: int, payload: str) -> float:
    with _saver(folder) as saver, ThreadPoolExecutor(THREADS) as threads:
        graph = _graph(saver, steps, payload, starts=[])
        started = time.perf_counter()
        for run in [threads.submit(_run, graph, str(n), steps) for n in range(sessions)]:
            run.result()
        return time.perf_counter() - started


@contextmanager
def _saver(folder: Path) -> Generator[SqliteSaver, None, None]:
    with closing(sqlite3.connect(folder / "langgraph.db", check_same_thread=False)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        saver = SqliteSaver(connection)
        saver.setup()
        yield saver


def _graph(saver: SqliteSaver, steps: int, payload: str, starts: list[float]) -> Graph:
    def work(state: Progress) -> Command[Literal["work", "__end__"]]:
        starts.append(time.perf_counter())
        done = state["done"] + 1
        return Command(update={"done": done, "payload": payload}, goto="work" if done < steps else "__end__")

    builder = StateGraph[Progress, None, Progress, Progress](Progress)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    return builder.compile(checkpointer=saver)


def _run(graph: Graph, thread: str, steps: int) -> None:
    graph.invoke(
        {"done": 0, "payload": ""},
        {"configurable": {"thread_id": thread}, "recursion_limit": steps + 5},
        durability="sync",
    )
