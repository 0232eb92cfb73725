"""DBOS with a SQLite system database, in the fastest sane way a user would write it.

DBOS leaves SQLite's journal at its default (DELETE, four fdatasyncs a step). WAL is a property of the file,
so we set it before DBOS opens it: one fdatasync a step, the same promise, 1.4 ms a step instead of 2.0. DBOS
sets no `synchronous`, so it gets the library's default; we refuse to measure where that is not FULL.

Synchronous workflows and steps, because asynchronous ones are slower (2.0 ms against 1.4): they do the same
blocking calls through `asyncio.to_thread`.
"""

import asyncio
import sqlite3
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from dbos import DBOS

# SQLite admits one writer and the losers sleep: 4 was best of 1, 2, 4, 8 threads, with the default pool.
THREADS = 4
FULL = 2


async def sequential(folder: Path, steps: int, payload: str) -> list[float]:
    """Seconds per durable step in one workflow of `steps` steps."""
    return await asyncio.to_thread(_sequential, folder, steps, payload)


async def many(folder: Path, sessions: int, steps: int, payload: str) -> float:
    """Seconds for `sessions` workflows of `steps` durable steps each."""
    return await asyncio.to_thread(_many, folder, sessions, steps, payload)


@DBOS.step()
def work(payload: str) -> str:
    """A step that costs nothing, so that what is left is the engine."""
    return payload


@DBOS.workflow()
def flow(steps: int, payload: str) -> list[float]:
    """Run the steps one after another; the result is the seconds each took."""
    taken: list[float] = []
    for _ in range(steps):
        started = time.perf_counter()
        work(payload)
        taken.append(time.perf_counter() - started)
    return taken


def _sequential(folder: Path, steps: int, payload: str) -> list[float]:
    with _launched(folder):
        return flow(steps, payload)


def _many(folder: Path, sessions: int, steps: int, payload: str) -> float:
    with _launched(folder), ThreadPoolExecutor(THREADS) as threads:
        started = time.perf_counter()
        for run in [threads.submit(flow, steps, payload) for _ in range(sessions)]:
            run.result()
        return time.perf_counter() - started


@contextmanager
def _launched(folder: Path) -> Generator[None, None, None]:
    """DBOS is one per process: launched here, destroyed here, so that rounds do not see each other."""
    file = folder / "dbos.db"
    _prepare(file)
    DBOS(config={"name": "bench-peer", "system_database_url": f"sqlite:///{file}", "log_level": "ERROR"})
    DBOS.launch()
    try:
        yield
    finally:
        DBOS.destroy()


def _prepare(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    if synchronous != FULL:
        raise RuntimeError(
            f"This SQLite opens files with synchronous={synchronous}, not FULL, so DBOS would be measured "
            "with a weaker promise than ours. Run the bench with a Python whose SQLite keeps the default."
        )
