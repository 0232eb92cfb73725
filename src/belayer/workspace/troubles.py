"""What the kernel says of a path, as one of our errors: what happened, what it means, what to do."""

import errno
from collections.abc import Generator
from contextlib import contextmanager

from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    DiskShort,
    LogicError,
    NotAFile,
    OutsideWorkspace,
    PathExists,
    PathMissing,
    ResourceShort,
    TooLarge,
)
from belayer.workspace.names import shown

_PLAIN_FILES = "Only plain files can be read and written here."
_SPACE = "Make space on the disk, then try again."
_RIGHTS = "Give the user who runs Belayer the right to do this, or choose another path."

_TROUBLES: dict[int, tuple[type[BelayerError], str, str]] = {
    errno.ELOOP: (
        OutsideWorkspace,
        "is a symbolic link or leads through one; links are not followed, since they may lead out of the workspace",
        "Use the path of the file itself, if it lies in the workspace.",
    ),
    errno.EXDEV: (
        OutsideWorkspace,
        "leads out of the workspace or onto another disk, so nothing was done",
        "Use a path inside the workspace.",
    ),
    errno.EMLINK: (
        OutsideWorkspace,
        "has a second name (a hard link), which may lie outside the workspace, so it is not written",
        "Copy it to a new name and write that, or remove the other name.",
    ),
    errno.ENOENT: (PathMissing, "does not exist", "List the folder to see what is there."),
    errno.ENOTDIR: (PathMissing, "is no folder, or leads through a file", "List the folders above it."),
    errno.EISDIR: (NotAFile, "is a folder", _PLAIN_FILES),
    errno.ENXIO: (NotAFile, "is a pipe, a socket or a device", _PLAIN_FILES),
    errno.EEXIST: (PathExists, "exists already; it was left as it is", "Choose another path, or replace it."),
    errno.ENOTEMPTY: (PathExists, "is a folder that is not empty", "Choose another path, or empty it first."),
    errno.ENAMETOOLONG: (LogicError, "has a name that is too long for the disk", "Choose a shorter name."),
    errno.EINVAL: (LogicError, "has a name that the disk does not take", "Choose another name."),
    errno.EFBIG: (TooLarge, "would be larger than a file may be here; it was left as it is", "Write less."),
    errno.ENOSPC: (DiskShort, "cannot be written: the disk is full. What was there before is intact", _SPACE),
    errno.EDQUOT: (DiskShort, "cannot be written: the quota is used up. What was there is intact", _SPACE),
    errno.EACCES: (AccessDenied, "may not be read or changed by this user", _RIGHTS),
    errno.EPERM: (AccessDenied, "may not be read or changed by this user", _RIGHTS),
    errno.EROFS: (AccessDenied, "lies on a disk that cannot be written", "Mount the disk for writing."),
}


@contextmanager
def told(path: bytes) -> Generator[None, None, None]:
    """Whatever the kernel refuses in here is said of this path."""
    try:
        yield
    except OSError as error:
        raise trouble(path, error) from error


def trouble(path: bytes, error: OSError) -> BelayerError:
    kind, what, hint = _TROUBLES.get(
        error.errno or 0,
        (ResourceShort, f"cannot be used now ({error.strerror})", "See to the disk, then try again."),
    )
    return kind(f"{shown(path or b'.')} {what}.", hint)
