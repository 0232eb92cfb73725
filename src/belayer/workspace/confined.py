"""Acts below an open folder. Names are taken one at a time from a descriptor; no link is followed.

Speaks in OSErrors: EISDIR, ENXIO, ELOOP and EMLINK for what stands in the way and is no plain file of one name.
"""

import errno
import heapq
import os
import secrets
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import chain, islice

from belayer.workspace.kernel import open_beneath, os_error, rename_new
from belayer.workspace.names import joined, split

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
# A pipe nobody writes to must not hold us up, nor a terminal become ours.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_LONGEST_AT_ONCE = 4000
_CHUNK = 1 << 20


@contextmanager
def folder_at(top: int, path: bytes) -> Generator[int, None, None]:
    """The folder's descriptor. The kernel takes 4,096 bytes at once, so long paths are opened in pieces."""
    here, rest = os.dup(top), path or b"."
    try:
        while rest:
            piece, rest = _piece(rest)
            inner = open_beneath(here, piece, _FOLDER)
            os.close(here)
            here = inner
        yield here
    finally:
        os.close(here)


@contextmanager
def made_folder(
    top: int, path: bytes, admit: Callable[[int, bytes], None] | None = None
) -> Generator[int, None, None]:
    """The same, and every folder on the way is made if it is missing; `admit` may object to a new name."""
    here = os.dup(top)
    try:
        for part in path.split(b"/") if path else []:
            inner = _opened_or_made(here, part, admit)
            os.close(here)
            here = inner
        yield here
    finally:
        os.close(here)


@contextmanager
def file_at(folder: int, path: bytes) -> Generator[int, None, None]:
    """The descriptor of a plain file, for reading."""
    file = open_beneath(folder, path, _FILE)
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            raise os_error(errno.EISDIR)
        if not stat.S_ISREG(mode):
            raise os_error(errno.ENXIO)
        yield file
    finally:
        os.close(file)


def content_of(file: int, most: int) -> bytes:
    """What the file holds, but no more than so many bytes."""
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(file, min(most, _CHUNK))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def state_of(folder: int, name: bytes) -> os.stat_result | None:
    """What stands under this name, itself and not where it leads; None for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def replaceable(folder: int, name: bytes) -> os.stat_result | None:
    """What stands there now, if anything; an error unless it is a plain file with one name."""
    state = state_of(folder, name)
    if state is None:
        return None
    if stat.S_ISLNK(state.st_mode):
        raise os_error(errno.ELOOP)
    if stat.S_ISDIR(state.st_mode):
        raise os_error(errno.EISDIR)
    if not stat.S_ISREG(state.st_mode):
        raise os_error(errno.ENXIO)
    if state.st_nlink > 1:
        raise os_error(errno.EMLINK)
    return state


def refuse_any(folder: int, name: bytes) -> None:
    """An error if anything stands there."""
    if state_of(folder, name) is not None:
        raise os_error(errno.EEXIST)


def rename(source_folder: int, source: bytes, target_folder: int, target: bytes, *, replace: bool) -> None:
    """Without replace, whatever has the target's name already stays, even if it came this moment."""
    if replace:
        os.rename(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)
    else:
        rename_new(source_folder, source, target_folder, target)


def put_file(folder: int, name: bytes, content: bytes, mode: int, *, replace: bool, sync: bool) -> None:
    """Write the whole file or nothing: aside, then under its name. Only with sync does it outlast a power cut."""
    with _aside(folder) as temporary:
        _write_new(folder, temporary, content, mode, sync=sync)
        rename(folder, temporary, folder, name, replace=replace)
    if sync:
        os.fsync(folder)


def put_link(folder: int, name: bytes, leads_to: bytes) -> None:
    """Make a symbolic link, in place of what has the name."""
    with _aside(folder) as temporary:
        os.symlink(leads_to, temporary, dir_fd=folder)
        rename(folder, temporary, folder, name, replace=True)


def entries_of(folder: int, most: int) -> tuple[list[os.DirEntry[str]], bool]:
    """The first so many entries by name, and whether there are more. The folder must stay open to look at them."""
    with os.scandir(folder) as found:
        first = list(islice(found, most + 1))
        if len(first) <= most:
            return sorted(first, key=name_of), False
        return heapq.nsmallest(most, chain(first, found), key=name_of), True


def name_of(entry: os.DirEntry[str]) -> bytes:
    return os.fsencode(entry.name)


def remove_tree(folder: int, name: bytes) -> None:
    """Remove the folder of this name and all below it; of links, only the links."""
    folders, waiting = [name], [name]
    while waiting:
        path = waiting.pop()
        inner = _emptied(folder, path)
        folders += inner
        waiting += inner
    for path in reversed(folders):
        remove_folder(folder, path)


def remove_folder(top: int, path: bytes) -> None:
    """Remove an empty folder."""
    above, name = split(path)
    with folder_at(top, above) as folder:
        os.rmdir(name, dir_fd=folder)


def _opened_or_made(folder: int, name: bytes, admit: Callable[[int, bytes], None] | None) -> int:
    try:
        return open_beneath(folder, name, _FOLDER)
    except FileNotFoundError:
        if admit is not None:
            admit(folder, name)
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)
    return open_beneath(folder, name, _FOLDER)


def _emptied(top: int, path: bytes) -> list[bytes]:
    """Remove what is in the folder except its folders; these."""
    inner: list[bytes] = []
    with folder_at(top, path) as folder, os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                inner.append(joined(path, name_of(entry)))
            else:
                os.unlink(name_of(entry), dir_fd=folder)
    return inner


def _piece(path: bytes) -> tuple[bytes, bytes]:
    if len(path) <= _LONGEST_AT_ONCE:
        return path, b""
    end = path.rfind(b"/", 0, _LONGEST_AT_ONCE)
    return (path[:end], path[end + 1 :]) if end > 0 else (path, b"")


@contextmanager
def _aside(folder: int) -> Generator[bytes, None, None]:
    """A name for what is not whole yet; nothing has it any more when this ends badly."""
    temporary = f".belayer-new-{secrets.token_hex(8)}".encode()
    try:
        yield temporary
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _write_new(folder: int, name: bytes, content: bytes, mode: int, *, sync: bool) -> None:
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fchmod(file, mode)
        if sync:
            os.fsync(file)
    finally:
        os.close(file)
