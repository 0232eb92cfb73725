"""System calls that Python has no words for: open without leaving a folder, rename without replacing, sync a disk.

Paths and names are bytes, as the kernel has them; failures are OSErrors.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable
from functools import cache

_OPENAT2 = 437  # the same number on every architecture that Python runs on
_NO_MAGIC_LINKS = 0x02
_NO_SYMLINKS = 0x04
_BENEATH = 0x08
_RENAME_NOREPLACE = 1

# Old container runtimes answer an unknown call with "not permitted".
_UNAVAILABLE = frozenset({errno.ENOSYS, errno.EPERM})


def open_beneath(folder: int, path: bytes, flags: int) -> int:
    """Open a path below the folder. No part of it may be a symbolic link (ELOOP) or lead out of the folder (EXDEV)."""
    return _open_at_once(folder, path, flags) if _has_openat2() else walk_beneath(folder, path, flags)


def walk_beneath(folder: int, path: bytes, flags: int) -> int:
    """The same for kernels without openat2: part by part, following nothing."""
    *folders, name = [part for part in path.split(b"/") if part not in (b"", b".")] or [b"."]
    if b".." in (*folders, name) or path.startswith(b"/"):
        raise os_error(errno.EXDEV)
    here = os.dup(folder)
    try:
        for part in folders:
            inner = _open_one(here, part, os.O_RDONLY | os.O_DIRECTORY)
            os.close(here)
            here = inner
        return _open_one(here, name, flags)
    finally:
        os.close(here)


def rename_new(source_folder: int, source: bytes, target_folder: int, target: bytes) -> None:
    """Rename; if the target is there already, fail (EEXIST) and change nothing."""
    try:
        _check(_c().renameat2(source_folder, source, target_folder, target, _RENAME_NOREPLACE))
    except OSError as error:
        if error.errno not in {errno.ENOSYS, errno.EINVAL}:
            raise
        # A file system without that flag: a second name is never given to what is there already.
        os.link(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder, follow_symlinks=False)
        os.unlink(source, dir_fd=source_folder)


def sync_disk(folder: int) -> None:
    """Return once everything written so far to the folder's file system is on the disk."""
    _check(_c().syncfs(folder))


def os_error(number: int) -> OSError:
    """The error that the kernel gives under this number."""
    return OSError(number, os.strerror(number))


def _open_one(folder: int, name: bytes, flags: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        # What openat2 would say of a link that stands where a folder should.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise os_error(errno.ELOOP) from None
        raise


def _open_at_once(folder: int, path: bytes, flags: int) -> int:
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGIC_LINKS)
    return _repeated(lambda: _c().syscall(_OPENAT2, folder, path, how, len(how)))


@cache
def _has_openat2() -> bool:
    try:
        root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.close(_open_at_once(root, b".", os.O_RDONLY | os.O_DIRECTORY))
        finally:
            os.close(root)
    except OSError as error:
        return error.errno not in _UNAVAILABLE
    return True


@cache
def _c() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.argtypes = [
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.syscall.restype = ctypes.c_long
    library.renameat2.argtypes = [
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint,
    ]  # fmt: skip
    return library


def _repeated(call: Callable[[], int]) -> int:
    while True:
        try:
            return _check(call())
        except InterruptedError:
            continue


def _check(answer: int) -> int:
    if answer < 0:
        raise os_error(ctypes.get_errno())
    return answer
