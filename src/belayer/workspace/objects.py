"""Our own store of contents and trees, in git's format so that git can read it. Never runs git, never near the user's.

An object is written aside and then named by the SHA-1 of what it holds; `sync` makes all of them outlast a power cut.
"""

import errno
import hashlib
import os
import secrets
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from belayer.vocabulary.errors import CorruptSnapshot, StoreError, StoreFull
from belayer.workspace.kernel import os_error, sync_disk

Kind = Literal["blob", "tree"]

# No object is larger than this: a tree of 200,000 names of the longest kind.
_MOST_BYTES = 64_000_000
_FASTEST = 1
_RESERVE = 64_000_000
# So many are written to the disk one by one; for more, it is quicker to have all of the disk written.
_FEW = 32
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


class Objects:
    """Contents and trees under their hash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._whole: set[bytes] = set()
        self._unsynced: list[Path] = []
        self._made = False

    def put(self, kind: Kind, content: bytes) -> bytes:
        """Keep the content; its hash. Not sure to outlast a power cut until `sync`."""
        whole = _framed(kind, content)
        sha = hashlib.sha1(whole, usedforsecurity=False).digest()
        if sha not in self._whole:
            with _said(self.folder):
                self._make()
                if not self._has(kind, sha, content):
                    self._check_space(len(content))
                    self._write(self._place(sha), zlib.compress(whole, _FASTEST))
                    self._unsynced.append(self._place(sha))
            self._whole.add(sha)
        return sha

    def get(self, kind: Kind, sha: bytes) -> bytes:
        """What was kept under the hash, just as it was."""
        try:
            packed = self._place(sha).read_bytes()
            whole = zlib.decompressobj().decompress(packed, _MOST_BYTES)
        except (OSError, zlib.error) as error:
            raise self.corrupt(sha, "is missing or cannot be read") from error
        if hashlib.sha1(whole, usedforsecurity=False).digest() != sha:
            raise self.corrupt(sha, "is not what was written")
        head, _, content = whole.partition(b"\0")
        if not head.startswith(kind.encode() + b" "):
            raise self.corrupt(sha, f"is no {kind}")
        return content

    def sync(self) -> None:
        """Return once all that was put is on the disk."""
        if not self._unsynced:
            return
        with _said(self.folder):
            if len(self._unsynced) > _FEW:
                _synced(self.folder, sync_disk)
            else:
                for place in {*self._unsynced, *(place.parent for place in self._unsynced)}:
                    _synced(place, os.fsync)
        self._unsynced = []

    def share(self, folder: Path) -> None:
        """Give another store every object there is, as links: what is written once is never changed."""
        other = Objects(folder)
        with _said(folder):
            other._make()
            for place in self.folder.glob("objects/??/*"):
                target = folder / place.relative_to(self.folder)
                target.parent.mkdir(exist_ok=True)
                with suppress(FileExistsError):
                    target.hardlink_to(place)

    def write_aside(self, place: Path, content: bytes) -> None:
        """Write a whole file or none, for those who keep something beside the objects."""
        with _said(self.folder):
            self._make()
            self._write(place, content)

    def _has(self, kind: Kind, sha: bytes, content: bytes) -> bool:
        """Whether it is there whole: after a power cut, a file may have its name but not its content."""
        try:
            return self._place(sha).exists() and self.get(kind, sha) == content
        except CorruptSnapshot:
            return False

    def _check_space(self, size: int) -> None:
        """The log lies on the same disk: leave it room to say that there is none."""
        disk = os.statvfs(self.folder)
        if disk.f_bavail * disk.f_frsize < size + _RESERVE:
            raise os_error(errno.ENOSPC)

    def _place(self, sha: bytes) -> Path:
        name = sha.hex()
        return self.folder / "objects" / name[:2] / name[2:]

    def _write(self, place: Path, content: bytes) -> None:
        aside = self.folder / f"new-{secrets.token_hex(8)}"
        try:
            with aside.open("xb", buffering=0) as file:
                file.write(content)
            _rename(aside, place)
        except BaseException:
            with suppress(OSError):
                aside.unlink()
            raise

    def _make(self) -> None:
        """Make the folder what git takes for a bare repository. Two processes may do so at once."""
        if self._made:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "refs").mkdir(exist_ok=True)
        (self.folder / "objects").mkdir(exist_ok=True)
        for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", _CONFIG)):
            if not (self.folder / name).exists():
                self._write(self.folder / name, text.encode())
        self._made = True

    def corrupt(self, sha: bytes, what: str) -> CorruptSnapshot:
        return CorruptSnapshot(
            f"Object {sha.hex()} of the snapshots in {self.folder} {what}. No file of the workspace was changed.",
            "Restore that folder from a backup, or go on from the files as they are.",
        )


def _synced(place: Path, sync: Callable[[int], None]) -> None:
    handle = os.open(place, os.O_RDONLY)
    try:
        sync(handle)
    finally:
        os.close(handle)


def hash_of(kind: Kind, content: bytes) -> bytes:
    """The hash under which the content would be kept."""
    return hashlib.sha1(_framed(kind, content), usedforsecurity=False).digest()


def _framed(kind: Kind, content: bytes) -> bytes:
    return b"%s %d\0%s" % (kind.encode(), len(content), content)


def _rename(aside: Path, place: Path) -> None:
    try:
        aside.replace(place)
    except FileNotFoundError:  # the first object that begins like this
        place.parent.mkdir(exist_ok=True)
        aside.replace(place)


@contextmanager
def _said(folder: Path) -> Generator[None, None, None]:
    try:
        yield
    except FileNotFoundError as error:
        raise StoreError(f"The snapshots' folder {folder} was removed in mid-use.", "Try again.") from error
    except OSError as error:
        raise StoreFull(
            f"The files' state cannot be kept in {folder} ({error.strerror}). No file of the workspace was changed.",
            "Make space on the disk, or give this user the right to write there; then try again.",
        ) from error
