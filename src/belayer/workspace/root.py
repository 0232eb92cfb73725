"""Files below one folder, and none outside it: the kernel refuses links and ways out while it opens, not before.

Blocking: callers use threads. Refuses to write the state of other programs, and to show Belayer's own.
"""

import hashlib
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from belayer.vocabulary.errors import (
    DiskShort,
    LogicError,
    NotAFile,
    PathMissing,
    ProtectedPath,
    TooLarge,
    WorkspaceMissing,
)
from belayer.workspace.confined import (
    content_of,
    entries_of,
    file_at,
    folder_at,
    made_folder,
    name_of,
    put_file,
    refuse_any,
    remove_tree,
    rename,
    replaceable,
    state_of,
)
from belayer.workspace.kernel import open_beneath
from belayer.workspace.names import (
    cleaned,
    is_within,
    joined,
    protected_part,
    shown,
    split,
    twin_key,
    visible,
)
from belayer.workspace.troubles import told

_MEGABYTE = 1_000_000
_MOST_READ = 10 * _MEGABYTE
_RESERVE = 64 * _MEGABYTE
_DEEPEST_LISTED = 100
_DEEPEST_DELETED = 1000
_CHUNK = 1 << 20

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path. Bytes of a name that are not UTF-8 are shown as in `m\\xe9`."""

    path: str
    kind: Kind
    size: int
    modified: float
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds, by path, and whether there is more."""

    entries: list[Entry]
    truncated: bool


class Root:
    """One folder. Paths are relative to it; `kept_out` are folders in it that are nobody's business."""

    def __init__(self, folder: Path, kept_out: Sequence[Path] = ()) -> None:
        self.folder = folder.resolve()
        inside = [path for path in (path.resolve() for path in kept_out) if path.is_relative_to(self.folder)]
        self.kept_out = frozenset(_below(self.folder, path) for path in inside)

    @contextmanager
    def open(self) -> Generator[int, None, None]:
        """The folder's own descriptor, for those who walk it."""
        slash = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            top = open_beneath(slash, _below(Path("/"), self.folder) or b".", os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise WorkspaceMissing(
                f"The workspace {shown(os.fsencode(self.folder))} cannot be opened ({error.strerror}).",
                "Put the folder back where it was, or start a new session in another one.",
            ) from error
        finally:
            os.close(slash)
        try:
            yield top
        finally:
            os.close(top)

    def read(self, path: str, most_bytes: int = _MOST_READ) -> bytes:
        """The content of a plain file."""
        place = self._readable(path)
        with self.open() as top, told(place), file_at(top, place or b".") as file:
            content = content_of(file, most_bytes + 1)
        if len(content) > most_bytes:
            raise TooLarge(
                f"{shown(place)} is larger than the {most_bytes:,} bytes that may be read at once.",
                "Read a part of it with a command, or search in it.",
            )
        return content

    def digest(self, path: str) -> str | None:
        """The SHA-256 of a plain file's content; None if there is nothing."""
        place = self._readable(path)
        digest = hashlib.sha256()
        try:
            with self.open() as top, told(place), file_at(top, place or b".") as file:
                while piece := os.read(file, _CHUNK):
                    digest.update(piece)
        except PathMissing:
            return None
        return digest.hexdigest()

    def look(self, path: str) -> Entry | None:
        """What stands at the path, itself and not where it leads; None for nothing."""
        place = self._readable(path)
        above, name = split(place)
        try:
            with self.open() as top, told(place), folder_at(top, above) as folder:
                state = state_of(folder, name or b".")
        except PathMissing:
            return None
        return None if state is None else _entry(place or b".", state)

    def entries(self, path: str = ".", depth: int = 1, most: int = 10_000) -> Listing:
        """What the folder holds, so many levels deep. Whoever has to stop early has seen the upper levels first."""
        place = self._readable(path)
        found: list[Entry] = []
        level, truncated = [place], False
        with self.open() as top:
            with told(place), folder_at(top, place):
                pass  # from here on, a folder that is gone is just not listed
            for _ in range(min(depth, _DEEPEST_LISTED)):
                below: list[bytes] = []
                for folder in level:
                    truncated |= self._list(top, folder, found, below, most)
                level = below
        truncated |= bool(level) and depth > _DEEPEST_LISTED
        return Listing(sorted(found, key=lambda entry: entry.path), truncated)

    def write(self, path: str, data: bytes, *, replace: bool = True, executable: bool = False) -> None:
        """Write the whole file or leave things as they are. Folders on the way are made.

        A file that is there keeps its mode; a new one is `executable` if that is said.
        """
        place = self._writable(path)
        above, name = split(place)
        with self.open() as top, told(place):
            _check_space(top, len(data))
            with made_folder(top, above, _refuse_twin) as folder:
                old = replaceable(folder, name) if replace else refuse_any(folder, name)
                if old is None:
                    _refuse_twin(folder, name)
                new = 0o755 if executable else 0o644
                mode = new if old is None else stat.S_IMODE(old.st_mode) & 0o777
                put_file(folder, name, data, mode, replace=replace, sync=True)

    def make_folder(self, path: str) -> None:
        """Make the folder, and those above it, unless it is there."""
        place = self._writable(path)
        with self.open() as top, told(place), made_folder(top, place, _refuse_twin) as folder:
            os.fsync(folder)

    def delete(self, path: str, *, folder: bool = False) -> None:
        """Remove a file or a link; with `folder`, also a folder and all it holds."""
        place = self._writable(path)
        above, name = split(place)
        with self.open() as top, told(place), folder_at(top, above) as parent:
            state = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode):
                os.unlink(name, dir_fd=parent)
            elif folder:
                self._refuse_protected_below(top, place)
                remove_tree(parent, name)
            else:
                raise NotAFile(
                    f"{shown(place)} is a folder; nothing was deleted.", "Ask for the folder to be deleted."
                )
            os.fsync(parent)

    def move(self, source: str, target: str, *, replace: bool = False) -> None:
        """Give a file, link or folder another path in the workspace."""
        origin, place = self._writable(source), self._writable(target)
        self._refuse_holding_kept_out(origin)
        if is_within(place, origin):
            raise LogicError(f"{shown(origin)} cannot be moved into itself.", "Choose another target.")
        (above, name), (target_above, target_name) = split(origin), split(place)
        with self.open() as top, told(origin), folder_at(top, above) as source_folder:
            os.stat(name, dir_fd=source_folder, follow_symlinks=False)
            with told(place), made_folder(top, target_above, _refuse_twin) as target_folder:
                if not replace or replaceable(target_folder, target_name) is None:
                    _refuse_twin(target_folder, target_name, but=name if above == target_above else b"")
                rename(source_folder, name, target_folder, target_name, replace=replace)
                os.fsync(target_folder)
            os.fsync(source_folder)

    def check_space(self, size: int) -> None:
        """Raise DiskShort unless so many bytes can be written with some to spare."""
        with self.open() as top:
            _check_space(top, size)

    def _readable(self, path: str) -> bytes:
        place = cleaned(path)
        if any(is_within(place, kept) for kept in self.kept_out):
            raise ProtectedPath(
                f"{shown(place)} belongs to Belayer itself, so no session may look at it or change it.",
                "Use another path.",
            )
        return place

    def _writable(self, path: str) -> bytes:
        place = self._readable(path)
        if not place:
            raise LogicError(
                "The workspace itself cannot be written, moved or deleted.", "Give a path inside it."
            )
        part = protected_part(place)
        if part is not None:
            raise _protected(place, part)
        return place

    def _refuse_holding_kept_out(self, place: bytes) -> None:
        if any(is_within(kept, place) for kept in self.kept_out):
            raise ProtectedPath(
                f"{shown(place)} holds Belayer's own files, so it stays.", "Use another path."
            )

    def _refuse_protected_below(self, top: int, place: bytes) -> None:
        self._refuse_holding_kept_out(place)
        waiting = [place]
        while waiting:
            path = waiting.pop()
            if path.count(b"/") - place.count(b"/") > _DEEPEST_DELETED:
                raise TooLarge(
                    f"{shown(place)} is more than {_DEEPEST_DELETED} folders deep; nothing was deleted.",
                    "Delete it with a command.",
                )
            with folder_at(top, path) as folder, os.scandir(folder) as found:
                for entry in found:
                    name = name_of(entry)
                    if protected_part(name) is not None:
                        raise _protected(joined(path, name), name)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(joined(path, name))

    def _list(self, top: int, path: bytes, found: list[Entry], below: list[bytes], most: int) -> bool:
        """Add what the folder holds; whether there was more than may be listed."""
        try:
            with folder_at(top, path) as folder:
                entries, truncated = entries_of(folder, most - len(found))
                for entry in entries:
                    place = joined(path, name_of(entry))
                    if place not in self.kept_out and (state := _state(entry)) is not None:
                        found.append(_entry(place, state))
                        if stat.S_ISDIR(state.st_mode):
                            below.append(place)
        except OSError:
            return False  # the folder is gone, or has become something else
        return truncated


def _below(folder: Path, path: Path) -> bytes:
    inner = path.relative_to(folder)
    return b"" if inner == Path() else os.fsencode(inner)


def _state(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None  # gone since it was listed


def _entry(path: bytes, state: os.stat_result) -> Entry:
    kind = _kind(state.st_mode)
    size = state.st_size if kind == "file" else 0
    return Entry(visible(path), kind, size, state.st_mtime, bool(state.st_mode & 0o100))


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _check_space(top: int, size: int) -> None:
    disk = os.fstatvfs(top)
    if disk.f_bavail * disk.f_frsize < size + _RESERVE:
        raise DiskShort(
            f"Nothing was written: {size:,} more bytes would leave fewer than the {_RESERVE // _MEGABYTE} MB that are"
            " always kept free on the disk.",
            "Make space on the disk, then try again.",
        )


def _refuse_twin(folder: int, name: bytes, but: bytes = b"") -> None:
    """A name that differs from one that is there only in case or composition is one name on other machines."""
    key = twin_key(name)
    with os.scandir(folder) as found:
        twins = (name_of(entry) for entry in found if twin_key(name_of(entry)) == key)
        twin = next((twin for twin in twins if twin not in (name, but)), None)
    if twin is not None:
        raise LogicError(
            f"{visible(name)!a} was not written: {visible(twin)!a} is there, and on some disks the two are one name.",
            "Use the name that is there, or choose one that differs in more than case or accents' spelling.",
        )


def _protected(place: bytes, part: bytes) -> ProtectedPath:
    return ProtectedPath(
        f"{shown(place)} is not written or deleted: {shown(part)} holds the state or the rules of other programs.",
        "Leave it to those programs; to change it yourself, do it outside of Belayer.",
    )
