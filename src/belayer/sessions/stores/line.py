"""A connection to the SQLite file: how it is opened, which thread uses it, and what SQLite's errors mean to us."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from belayer.sessions.stores.schema import check_version
from belayer.vocabulary.errors import StoreBroken, StoreBusy, StoreError, StoreFull, StoreReadOnly

T = TypeVar("T")

_BUSY_SECONDS = 10
_QUICK_SECONDS = 0.001
_WEIGHT_OF_THE_LAST = 0.1
_NO_ROOM_TO_OPEN = (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN)


class Line:
    """A connection, used by one thread at a time. Foreign errors become ours here.

    Where the disk answers quicker than another thread would, the caller's own thread is used.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._connection: sqlite3.Connection | None = None
        self._broken: StoreBroken | None = None
        self._in_thread = 0
        self._typical = 0.0

    async def do(self, act: Callable[[sqlite3.Connection], T]) -> T:
        if self._is_quick():
            try:
                return self._do(act)
            except StoreBusy:
                pass  # another process is writing: wait for it where waiting does no harm
        self._in_thread += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._do_patiently, act)
        finally:
            self._in_thread -= 1

    def do_now(self, act: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do it in this thread if it is quick, else not at all."""
        if not self._is_quick():
            return None
        try:
            return self._do(act)
        except StoreBusy:
            return None

    def in_transaction(self, connection: sqlite3.Connection, act: Callable[[], T]) -> T:
        """Do it all or not at all; and learn how quick the disk is."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = act()
            began = time.perf_counter()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._typical += (time.perf_counter() - began - self._typical) * _WEIGHT_OF_THE_LAST
        return result

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _is_quick(self) -> bool:
        return self._connection is not None and self._in_thread == 0 and self._typical < _QUICK_SECONDS

    def _do_patiently(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Where waiting does no harm, wait for other processes; elsewhere a lock is an answer at once."""

        def patiently(connection: sqlite3.Connection) -> T:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
            try:
                return act(connection)
            finally:
                connection.execute("PRAGMA busy_timeout = 0")

        return self._do(patiently)

    def _do(self, act: Callable[[sqlite3.Connection], T]) -> T:
        if self._broken is not None:
            raise self._broken
        try:
            if self._connection is None:
                self._connection = _connect(self._path)
            return act(self._connection)
        except sqlite3.Error as error:
            ours = _translated(error, self._path)
            if isinstance(ours, StoreBroken):
                self._broken = ours
            raise ours from error

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False)
    connection.text_factory = _decoded
    try:
        check_version(connection)  # before anything is changed
        connection.create_function("casefold", 1, _casefold, deterministic=True)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -1024")
    except BaseException:
        connection.close()
        raise
    return connection


def _decoded(text: bytes) -> str:
    """A text that is damaged must not hide the texts beside it."""
    return text.decode("utf-8", "replace")


def _casefold(text: str) -> str:
    return text.casefold()


def _translated(error: sqlite3.Error, path: Path) -> StoreError:
    """SQLite's code, not its text, says which of our errors it is."""
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if code == sqlite3.SQLITE_FULL or extended in _NO_ROOM_TO_OPEN:
        return StoreFull(
            f"The disk that holds {path} is full, so nothing can be recorded. Nothing was lost.",
            "Make space; sessions that were under way go on by themselves.",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreReadOnly(
            f"The store {path} cannot be opened for writing ({error}). Nothing was changed.",
            "Give this user write permission to the folder, or set BELAYER_HOME to one that it may write.",
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(
            f"Another process has kept the store {path} locked for over {_BUSY_SECONDS} seconds.",
            "Try again, or see what holds it with `belayer doctor`.",
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreBroken(
            f"The disk failed while writing {path} ({error}). Nothing more is accepted until Belayer restarts.",
            "Check the disk, restart, then run `belayer verify`.",
        )
    return StoreError(
        f"The store {path} cannot be used: {error}.",
        "If it can still be opened, `belayer verify` says what is damaged; else restore it from a backup.",
    )
