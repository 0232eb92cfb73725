"""What one Belayer has on the machine while it lives, so that whoever comes after a killed one can clear it away.

A locked folder in its home, which names its control groups and the sessions of processes it has started: what is not in
there is never touched.
"""

import asyncio
import fcntl
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

import structlog

from belayer.sandbox.groups import Groups, remove_tree
from belayer.sandbox.sandbox import Rung
from belayer.sandbox.usage import session_of, started_at

_logger = structlog.get_logger()

_FOLDER = "sandbox"
_LOCK, _GROUPS, _SESSIONS = "lock", "groups", "sessions"
_LIMITS = "limits: memory, CPU, processes, disk and output of all its processes together, open files of each"
_GAPS = "stop a burst of memory or processes between two looks (no cgroup can be used here)"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Camp:
    """The folder of this Belayer, and its control groups if it may have any."""

    def __init__(self, folder: Path, lock: IO[bytes], groups: Groups | None, *, is_ours: bool) -> None:
        self.folder = folder
        self.groups = groups
        self._lock = lock
        self._is_ours = is_ours
        self._count = 0

    @classmethod
    def pitch(cls, home: Path | None, *, grouped: bool = True) -> "Camp":
        """A new one in this home, or in a temporary folder that goes with it."""
        top = home.resolve() if home is not None else Path(tempfile.mkdtemp(prefix="belayer-"))
        name = f"belayer-{uuid4().hex}"
        folder = top / _FOLDER / name
        lock = _locked(folder)
        (folder / "boot").write_text(_BOOT.read_text())
        groups = Groups.open(name) if grouped else None
        (folder / _GROUPS).write_text("".join(f"{path}\n" for path in groups.folders()) if groups else "")
        return cls(folder, lock, groups, is_ours=home is None)

    def strike(self) -> None:
        """Leave nothing."""
        if self.groups is not None:
            self.groups.close()
        shutil.rmtree(self.folder.parent.parent if self._is_ours else self.folder, ignore_errors=True)
        self._lock.close()

    def described(self, name: str, protects: tuple[str, ...], does_not: tuple[str, ...]) -> Rung:
        """The rung, with what its limits are worth here."""
        if self.groups is None:
            return Rung(
                name, (*protects, f"{_LIMITS}, by looking at it ten times a second"), (*does_not, _GAPS)
            )
        return Rung(name, (*protects, f"{_LIMITS}, by cgroup v{self.groups.version}"), does_not)

    def temporary(self) -> Path:
        """A new empty folder."""
        self._count += 1
        folder = self.folder / f"tmp-{self._count}"
        folder.mkdir(mode=0o700)
        return folder

    def note(self, session: int) -> None:
        """Remember a session of processes that is led by a process we have started."""
        with (self.folder / _SESSIONS).open("a") as file:
            file.write(f"{session} {started_at(session) or 0}\n")


def _locked(folder: Path) -> IO[bytes]:
    """The folder made, and its lock held. A neighbour may sweep it away between the two; then it is made again."""
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("wb")
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(OSError):
            if (folder / _LOCK).stat().st_ino == os.fstat(lock.fileno()).st_ino:
                return lock
        lock.close()


async def sweep(home: Path) -> int:
    """End and remove what dead Belayers have left in this home; how many there were."""
    return await asyncio.to_thread(_swept, home / _FOLDER)


def _swept(folder: Path) -> int:
    count = 0
    for camp in sorted(folder.glob("belayer-*")):
        with suppress(OSError), (camp / _LOCK).open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # its Belayer lives
            _clear(camp)
            count += 1
    if count:
        _logger.info("leftovers of dead Belayers removed", count=count)
    return count


def _clear(camp: Path) -> None:
    for line in _lines(camp / _GROUPS):
        group = Path(line)
        if group.name == camp.name and (group / "cgroup.procs").is_file():
            remove_tree(group)
    if _lines(camp / "boot") == _lines(_BOOT):
        for line in _lines(camp / _SESSIONS):
            session, _, began = line.partition(" ")
            _end_session(int(session), int(began))
    shutil.rmtree(camp, ignore_errors=True)


def _end_session(session: int, began: int) -> None:
    """Kill what is left of a session, unless its number has come to mean another."""
    if (leader := started_at(session)) is not None and int(leader) != began:
        return
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and session_of(int(entry.name)) == session:
            when = started_at(int(entry.name))
            if when is not None and int(when) >= began > 0:
                with suppress(OSError):
                    os.kill(int(entry.name), signal.SIGKILL)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
