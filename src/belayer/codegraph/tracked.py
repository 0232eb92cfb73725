"""What git keeps although a .gitignore names it: read from the index's bytes, without asking git."""

import os
import stat
from contextlib import suppress

_MOST_BYTES = 128 * 1024 * 1024
_LENGTH_BITS = 0xFFF
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Tracked:
    """The index of a repository (versions 2 and 3, which git writes unless it is told otherwise)."""

    def __init__(self, index: bytes = b"") -> None:
        self._index = index

    @classmethod
    def of(cls, folder: int) -> "Tracked":
        """The index of the repository whose top folder this is; an empty one if there is none that can be read."""
        with suppress(OSError):
            git = os.open(".git", _DIRECTORY, dir_fd=folder)
            try:
                return cls(_content(git, "index"))
            finally:
                os.close(git)
        return cls()

    def has(self, path: str, *, folder: bool) -> bool:
        """Whether git keeps the file, or something in the folder."""
        sought = os.fsencode(path) + (b"/" if folder else b"\0")
        place = self._index.find(sought)
        while place >= 0:
            if self._begins_at(place):
                return True
            place = self._index.find(sought, place + 1)
        return False

    def _begins_at(self, place: int) -> bool:
        """Whether a path begins here: its length stands before it, so the end of another one is told apart."""
        length = self._index.find(b"\0", place) - place
        stands = int.from_bytes(self._index[max(place - 2, 0) : place], "big") & _LENGTH_BITS
        return stands == min(length, _LENGTH_BITS)


def _content(folder: int, name: str) -> bytes:
    descriptor = os.open(name, _FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
