"""Walk a workspace and say what it holds, contents by their hash. Follows no link, stops at limits, reads little twice.

What is left out is not silently absent: it stands in the tree as an item of its own mode (git's submodule), so that a
restore knows to leave it alone.
"""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from belayer.workspace.confined import content_of, entries_of, file_at, folder_at, name_of
from belayer.workspace.index import Index, Note, stamp_of
from belayer.workspace.names import is_living, joined
from belayer.workspace.root import Root
from belayer.workspace.troubles import trouble

FILE = 0o100644
PROGRAM = 0o100755
LINK = 0o120000
LEFT_OUT = 0o160000

# Under this name no file is ever kept: in a tree it says that the folder held more than was kept.
CUT = b".belayer"

MOST_BYTES = 20_000_000
MOST_ENTRIES = 200_000
MOST_LEVELS = 1000

# Made by tools out of what is kept, large, and made again by them.
_HEAVY = frozenset(
    {
        b"node_modules", b".venv", b"venv", b"__pycache__",
        b".mypy_cache", b".pytest_cache", b".ruff_cache", b".tox",
    }
)  # fmt: skip


# Not to be read by us, or another kind of thing than it was a moment ago.
_UNREADABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}
)


class Item(NamedTuple):
    """What stands at a path: a mode of git's, and the hash of the content."""

    mode: int
    sha: bytes


Keep = Callable[[bytes], bytes]
"""Takes a content and answers with its hash; may keep it."""


@dataclass(slots=True)
class Scan:
    """What was found. `kept` is there but none of ours: other programs' state, heavy folders, pipes, Belayer's home."""

    items: dict[bytes, Item] = field(default_factory=dict[bytes, Item])
    folders: set[bytes] = field(default_factory=set[bytes])
    kept: set[bytes] = field(default_factory=set[bytes])
    hard_linked: set[bytes] = field(default_factory=set[bytes])
    notes: dict[bytes, Note] = field(default_factory=dict[bytes, Note])
    truncated: bool = False
    seen: int = 0

    def leave_out(self, path: bytes, why: bytes) -> None:
        self.items[path] = Item(LEFT_OUT, hashlib.sha1(why, usedforsecurity=False).digest())
        self.truncated = True


def scan(root: Root, index: Index, keep: Keep) -> Scan:
    """What the workspace holds now."""
    found = Scan()
    waiting = [b""]
    with root.open() as top:
        while waiting:
            path = waiting.pop()
            inner = _Folder(root, index, keep, found, path).visit(top)
            waiting += reversed(inner)
    return found


@dataclass(frozen=True, slots=True)
class _Folder:
    """One folder of the walk."""

    root: Root
    index: Index
    keep: Keep
    found: Scan
    path: bytes

    def visit(self, top: int) -> list[bytes]:
        """Add what the folder holds; the folders in it."""
        if self.path.count(b"/") >= MOST_LEVELS:
            self.found.leave_out(self.path, b"too deep")
            return []
        try:
            with folder_at(top, self.path) as folder:
                return self._entries(folder)
        except OSError as error:
            self._missed(self.path, error)
            return []

    def _entries(self, folder: int) -> list[bytes]:
        entries, cut = entries_of(folder, MOST_ENTRIES - self.found.seen)
        self.found.seen += len(entries)
        if cut:
            self.found.leave_out(joined(self.path, CUT), b"too many")
        inner: list[bytes] = []
        for entry in entries:
            name = name_of(entry)
            path = joined(self.path, name)
            if is_living(name) or path in self.root.kept_out:
                self.found.kept.add(path)
            elif entry.is_dir(follow_symlinks=False):
                self._folder(path, name, inner)
            else:
                self._thing(folder, path, name, entry)
        return inner

    def _folder(self, path: bytes, name: bytes, inner: list[bytes]) -> None:
        if name in _HEAVY:
            self.found.kept.add(path)
        else:
            self.found.folders.add(path)
            inner.append(path)

    def _thing(self, folder: int, path: bytes, name: bytes, entry: os.DirEntry[str]) -> None:
        try:
            state = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(state.st_mode):
                self._file(folder, path, name, state)
            elif stat.S_ISLNK(state.st_mode):
                self.found.items[path] = Item(LINK, self.keep(os.readlink(name, dir_fd=folder)))
            else:
                self.found.kept.add(path)
        except OSError as error:
            self._missed(path, error)

    def _missed(self, path: bytes, error: OSError) -> None:
        """What is gone since it was listed is not there; what cannot be read is left out; the rest is trouble."""
        if path and error.errno in _UNREADABLE:
            self.found.leave_out(path, b"unreadable")
        elif not path or error.errno != errno.ENOENT:
            raise trouble(path, error) from error

    def _file(self, folder: int, path: bytes, name: bytes, state: os.stat_result) -> None:
        if state.st_nlink > 1:
            self.found.hard_linked.add(path)
        note = self.index.get(path)
        if note is None or not note.holds(stamp_of(state)):
            note = self._read(folder, name, state)
        if note is None:
            self.found.leave_out(path, b"too large %d %d" % (state.st_size, state.st_mtime_ns))
            return
        self.found.notes[path] = note
        self.found.items[path] = Item(PROGRAM if state.st_mode & 0o100 else FILE, note.sha)

    def _read(self, folder: int, name: bytes, state: os.stat_result) -> Note | None:
        if state.st_size > MOST_BYTES:
            return None
        read_ns = time.time_ns()
        with file_at(folder, name) as file:
            stamp = stamp_of(os.fstat(file))
            content = content_of(file, MOST_BYTES + 1)
        return None if len(content) > MOST_BYTES else Note(stamp, read_ns, self.keep(content))
