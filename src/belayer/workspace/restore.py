"""Carry out a restore's moves. May be cut off and done again: every move is whole or not done.

Looks again before each move, since a sandboxed program may change the files meanwhile: what is in the way is skipped.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping

from belayer.workspace.confined import (
    folder_at,
    made_folder,
    put_file,
    put_link,
    remove_folder,
    replaceable,
    state_of,
)
from belayer.workspace.kernel import sync_disk
from belayer.workspace.names import folders_above, joined, split
from belayer.workspace.plan import Move
from belayer.workspace.root import Root
from belayer.workspace.scan import LINK, PROGRAM, Item
from belayer.workspace.troubles import trouble

# Something else than was planned stands at the path, or it is not ours to change.
_IN_THE_WAY = frozenset(
    {
        errno.ELOOP, errno.EXDEV, errno.EMLINK, errno.EISDIR, errno.ENOTDIR, errno.ENXIO, errno.ENOTEMPTY,
        errno.EACCES, errno.EPERM,
    }
)  # fmt: skip

Content = Callable[[Item], bytes]


def carry_out(
    root: Root, moves: Iterable[Move], wanted: Mapping[bytes, Item], content: Content
) -> list[Move]:
    """Make the moves; each as it was really made."""
    done: list[Move] = []
    with root.open() as top:
        ordered = sorted(moves, key=lambda move: (move.kind != "delete", move.path))
        deletions = [move for move in ordered if move.kind == "delete"]
        done += [_made(move, lambda path: _delete(top, path)) for move in deletions]
        _remove_emptied(top, {folder for move in deletions for folder in folders_above(move.path)})
        for move in ordered[len(deletions) :]:
            done.append(_made(move, lambda path: _write(top, path, wanted[path], content)))
        if done:
            sync_disk(top)
    return sorted(done, key=lambda move: move.path)


def _made(move: Move, make: Callable[[bytes], None]) -> Move:
    if move.kind == "skip":
        return move
    try:
        make(move.path)
    except OSError as error:
        if error.errno not in _IN_THE_WAY:
            raise trouble(move.path, error) from error
        return Move(move.path, "skip", trouble(move.path, error).detail)
    return move


def _delete(top: int, path: bytes) -> None:
    above, name = split(path)
    try:
        with folder_at(top, above) as folder:
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass  # a restore that was cut off has done it


def _remove_emptied(top: int, folders: set[bytes]) -> None:
    for folder in sorted(folders, key=lambda path: path.count(b"/"), reverse=True):
        try:
            remove_folder(top, folder)
        except OSError:
            continue  # it holds something still, or is gone


def _write(top: int, path: bytes, item: Item, content: Content) -> None:
    above, name = split(path)
    with made_folder(top, above) as folder:
        state = state_of(folder, name)
        if state is not None and stat.S_ISDIR(state.st_mode):
            _remove_hollow(folder, name)
            state = None
        if item.mode == LINK:
            if state is None or not stat.S_ISLNK(state.st_mode):
                replaceable(folder, name)
            put_link(folder, name, content(item))
        else:
            old = replaceable(folder, name)
            mode = _mode(item, 0o644 if old is None else stat.S_IMODE(old.st_mode))
            put_file(folder, name, content(item), mode, replace=True, sync=False)


def _mode(item: Item, mode: int) -> int:
    """The rights that the file has, made to run or not as the snapshot says: for whom it can be read."""
    mode &= 0o666
    return mode | (mode & 0o444) >> 2 if item.mode == PROGRAM else mode


def _remove_hollow(parent: int, name: bytes) -> None:
    """Remove a folder that holds nothing but empty folders; ENOTEMPTY for any other."""
    folders, waiting = [name], [name]
    while waiting:
        path = waiting.pop()
        with folder_at(parent, path) as folder, os.scandir(folder) as found:
            inner = [
                joined(path, os.fsencode(entry.name))
                for entry in found
                if entry.is_dir(follow_symlinks=False)
            ]
        folders += inner
        waiting += inner
    for path in reversed(folders):
        remove_folder(parent, path)
