"""Who drives a session, and whether they still live. The fence (epoch) keeps it right; this only keeps it moving.

A driver is a process that holds a file lock under its own name: the lock ends with the process, however it ends.
"""

import fcntl
import os
from pathlib import Path
from typing import IO, Protocol

from belayer.vocabulary.errors import StoreReadOnly


class Drivers(Protocol):
    """The drivers there are."""

    @property
    def me(self) -> str: ...

    def alive(self, driver: str) -> bool: ...


class OneDriver:
    """A store that only this process can see: whoever is not me is gone."""

    def __init__(self, me: str) -> None:
        self._me = me

    @property
    def me(self) -> str:
        return self._me

    def alive(self, driver: str) -> bool:
        return driver == self._me


class LockedDrivers:
    """Drivers of one machine, each holding a lock on a file of its own."""

    def __init__(self, folder: Path, me: str) -> None:
        self._folder = folder
        self._me = me
        self._held: IO[bytes] | None = None

    @property
    def me(self) -> str:
        return self._me

    def __enter__(self) -> "LockedDrivers":
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._held = _locked(self._folder / self._me)
        except OSError as error:
            raise StoreReadOnly(
                f"The folder {self._folder} cannot be written ({error.strerror}). Nothing was changed.",
                "Give this user write permission to it, or set BELAYER_HOME to a folder that it may write.",
            ) from error
        self._sweep()
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.close()
            (self._folder / self._me).unlink(missing_ok=True)

    def alive(self, driver: str) -> bool:
        return driver == self._me or _is_locked(self._folder / Path(driver).name)

    def _sweep(self) -> None:
        for path in self._folder.iterdir():
            if path.name != self._me:
                _remove_unless_locked(path)


def _locked(path: Path) -> IO[bytes]:
    """The file, made and locked. A neighbour may sweep it away between the two; then it is made again."""
    while True:
        file = path.open("wb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if _is_at(path, file):
            return file
        file.close()


def _is_at(path: Path, file: IO[bytes]) -> bool:
    """Whether the path still leads to this very file, and not to one that was made after it was removed."""
    try:
        return path.stat().st_ino == os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False


def _remove_unless_locked(path: Path) -> None:
    """Remove it while holding its lock, so that nobody can have taken it in between."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, file):
                path.unlink()
    except OSError:
        pass  # its driver lives, or another sweeper was here first


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
