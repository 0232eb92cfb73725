"""What a file held when it was last read, so that it is read again only if it may have changed.

A file changed twice within one tick of the disk's clock looks unchanged. So a note is believed only if the file had
been left alone for a while when it was read. A torn or missing index costs time, not truth.
"""

import hashlib
import os
import struct
from collections.abc import Mapping
from typing import NamedTuple

_MAGIC = b"belayer index 1\n"
_ROW = struct.Struct("<QQqqqIq20sI")
_SEAL_BYTES = 32
# The coarsest clock of a disk in use (FAT) ticks every two seconds.
_TICK_NS = 2_000_000_000


class Stamp(NamedTuple):
    """By what a change shows without reading."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    mode: int


class Note(NamedTuple):
    """That a file with this stamp, read at this time, had this content."""

    stamp: Stamp
    read_ns: int
    sha: bytes

    def holds(self, stamp: Stamp) -> bool:
        """Whether a file with that stamp surely still has the content."""
        return self.stamp == stamp and max(stamp.modified_ns, stamp.changed_ns) + _TICK_NS < self.read_ns


Index = Mapping[bytes, Note]


def stamp_of(state: os.stat_result) -> Stamp:
    return Stamp(
        state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_mode
    )


def packed(index: Index) -> bytes:
    """The index as it lies on the disk, sealed with its own hash."""
    rows = [_ROW.pack(*note.stamp, note.read_ns, note.sha, len(path)) + path for path, note in index.items()]
    body = _MAGIC + b"".join(rows)
    return body + hashlib.sha256(body).digest()


def unpacked(content: bytes) -> dict[bytes, Note]:
    """The index again; an empty one if anything about it is not right."""
    body, seal = content[:-_SEAL_BYTES], content[-_SEAL_BYTES:]
    if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != seal:
        return {}
    index: dict[bytes, Note] = {}
    at = len(_MAGIC)
    while at < len(body):
        *stamp, read_ns, sha, length = _ROW.unpack_from(body, at)
        at += _ROW.size + length
        index[body[at - length : at]] = Note(Stamp(*stamp), read_ns, sha)
    return index
