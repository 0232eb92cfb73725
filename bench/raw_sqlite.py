"""The physical floor: what SQLite itself asks for a durable step, with no engine around it.

WAL with synchronous=FULL: one fdatasync a commit (seen with strace), so a commit outlives a power cut.
"""

import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path


def sequential(folder: Path, steps: int, payload: str) -> list[float]:
    """Seconds per step when every step is one transaction of one INSERT, all in the calling thread."""
    taken: list[float] = []
    with _log(folder) as connection:
        for seq in range(steps):
            started = time.perf_counter()
            _append(connection, [(seq, payload)])
            taken.append(time.perf_counter() - started)
    return taken


def grouped(folder: Path, rows: int, per_commit: int, payload: str) -> float:
    """Rows per second when `per_commit` of them share a transaction: the ceiling of any group commit."""
    with _log(folder) as connection:
        started = time.perf_counter()
        for first in range(0, rows, per_commit):
            last = min(first + per_commit, rows)
            _append(connection, [(seq, payload) for seq in range(first, last)])
        return rows / (time.perf_counter() - started)


@contextmanager
def _log(folder: Path) -> Generator[sqlite3.Connection, None, None]:
    with closing(sqlite3.connect(folder / "floor.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE step (seq INTEGER PRIMARY KEY, payload TEXT NOT NULL)")
        yield connection


def _append(connection: sqlite3.Connection, rows: list[tuple[int, str]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO step VALUES (?, ?)", rows)
    connection.execute("COMMIT")
