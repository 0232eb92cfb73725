"""How much disk a program has taken: what its folders hold now, less what they held before it began."""

import asyncio
import os
import stat
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

_BLOCK = 512
# A small tree is walked at once, which takes less time than to hand it to a thread; for a large one nobody waits.
_SMALL = 200
# Every so often the folders are looked at even if the disk does not seem to have become fuller.
_LOOKS_AGAIN = 20


class Growth:
    """Watches some folders. The disk's free space, which costs nothing to ask, says when a walk is worth it."""

    def __init__(
        self, folders: Sequence[Path], most_bytes: int, processes: Callable[[], Iterable[int]]
    ) -> None:
        self._folders = folders
        self._most = most_bytes
        self._processes = processes
        self._given_up = threading.Event()
        self._free = 0
        self._asked = 0
        self._before: asyncio.Task[int] | int = 0

    def begin(self) -> None:
        """Look at how things are before the program begins."""
        self._free = _free(self._folders)
        held = _held(self._folders, self._given_up, _SMALL)
        self._before = held if held is not None else asyncio.create_task(self._walked())

    async def too_much(self, *, last: bool = False) -> bool:
        """Whether more was written than may be."""
        self._asked += 1
        taken = self._free - _free(self._folders)
        if taken < self._most // 2 and (last or self._asked % _LOOKS_AGAIN):
            return False
        before = self._before if isinstance(self._before, int) else await self._before
        hidden = await asyncio.to_thread(_without_name, list(self._processes()))
        return hidden + await self._walked() - before > self._most

    def end(self) -> None:
        self._given_up.set()

    async def _walked(self) -> int:
        return await asyncio.to_thread(_held, self._folders, self._given_up) or 0


def _free(folders: Sequence[Path]) -> int:
    """Free bytes on the disks of the folders."""
    disks: dict[int, int] = {}
    for folder in folders:
        try:
            found = os.statvfs(folder)
            disks[found.f_fsid] = found.f_bavail * found.f_frsize
        except OSError:
            continue
    return sum(disks.values())


def _held(folders: Iterable[Path], given_up: threading.Event, most: int | None = None) -> int | None:
    """Bytes on disk below the folders; None if that is more than `most` things.

    A file with several names counts once; no link is followed.
    """
    count = 0
    seen: set[tuple[int, int]] = set()
    total = 0
    waiting = [os.fspath(folder) for folder in folders]
    while waiting and not given_up.is_set():
        with suppress(OSError), os.scandir(waiting.pop()) as entries:  # it may go away while we look
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif found.st_nlink > 1:
                    if (found.st_dev, found.st_ino) in seen:
                        continue
                    seen.add((found.st_dev, found.st_ino))
                total += found.st_blocks * _BLOCK
                count += 1
                if most is not None and count > most:
                    return None
    return total


def _without_name(processes: Iterable[int]) -> int:
    """Bytes of files that were deleted and are still open, so that no walk would find them."""
    held: dict[tuple[int, int], int] = {}
    for pid in processes:
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    found = entry.stat()
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                        held[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
    return sum(held.values())
