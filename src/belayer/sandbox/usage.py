"""What a program and all that it has started use together, at one moment."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Reading:
    """What is used now. `starved` and `crowded`: the kernel has already refused it memory, or another process."""

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    peak_bytes: int = 0
    processes: int = 0
    starved: bool = False
    crowded: bool = False


class Meter(Protocol):
    """Somebody who can tell."""

    def read(self) -> Reading: ...


class TreeMeter:
    """Adds up a process and all its descendants, for where no cgroup does it.

    Shared pages are counted once each, but only when it matters: telling them apart is slow.
    """

    def __init__(self, top: Callable[[], int | None], most_bytes: int) -> None:
        self._top = top
        self._most = most_bytes
        self._peak = 0
        self._cpu = 0.0

    def read(self) -> Reading:
        top = self._top()
        pids = list(family(top)) if top is not None else []
        memory = sum(map(_resident, pids))
        if memory > self._most:
            memory = sum(map(_share, pids))
        self._peak = max(self._peak, memory)
        self._cpu = max(self._cpu, sum(map(_cpu_seconds, pids)))
        return Reading(self._cpu, memory, self._peak, sum(map(_threads, pids)))


def family(top: int) -> Iterator[int]:
    """A process and all that came from it and is still there."""
    waiting = [top]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += children(pid)


def children(pid: int) -> list[int]:
    """The children of a process, the oldest first."""
    found: list[int] = []
    with suppress(OSError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def started_at(pid: int) -> str | None:
    """When a process was started, in the kernel's count: with its number, this tells it from any other."""
    stat = _stat(pid)
    return stat[19] if stat else None


def session_of(pid: int) -> int | None:
    stat = _stat(pid)
    return int(stat[3]) if stat else None


def _threads(pid: int) -> int:
    """What the kernel counts as processes: each thread."""
    stat = _stat(pid)
    return int(stat[17]) if stat else 0


def _cpu_seconds(pid: int) -> float:
    """Its own, and that of its children that are gone."""
    stat = _stat(pid)
    return sum(map(int, stat[11:15])) / _TICKS if stat else 0.0


def _stat(pid: int) -> list[str]:
    """The fields of /proc/…/stat after the name, which may hold anything; empty for a process that is gone."""
    with suppress(OSError):
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return []


def _resident(pid: int) -> int:
    with suppress(OSError):
        return int((_PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE
    return 0


def _share(pid: int) -> int:
    with suppress(OSError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)
