"""Large payloads, kept under their own hash; the event holds only the hash."""

import asyncio
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Protocol

from pydantic_core import from_json

from belayer.sessions.record import Record
from belayer.vocabulary.errors import StoreError, StoreFull
from belayer.vocabulary.events.event import Aside, Asides, Json

INLINE_BYTES = 32 * 1024


class Blobs(Protocol):
    """A place for bytes under their SHA-256."""

    async def put(self, content: bytes) -> str: ...

    async def get(self, digest: str) -> bytes: ...

    async def digests(self) -> set[str]: ...

    async def remove(self, digest: str) -> None: ...


async def put_aside(blobs: Blobs, content: bytes) -> Aside:
    """Keep a large JSON text; what stands for it in the event."""
    return Aside(digest=await blobs.put(content), bytes=len(content))


async def whole(blobs: Blobs, field: str, value: Json, asides: Asides | None) -> Json:
    """The value of an event's field, from wherever it lies."""
    if asides is None or field not in asides:
        return value
    return from_json(await blobs.get(asides[field].digest))


def referred(record: Record) -> set[str]:
    """The blobs that a record refers to."""
    if b'"aside"' not in record.data:
        return set()
    return {aside.digest for aside in (record.event().aside or {}).values()}


class MemoryBlobs:
    """Blobs that are forgotten with the process."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}

    async def put(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        self._content[digest] = content
        return digest

    async def get(self, digest: str) -> bytes:
        if digest not in self._content:
            raise _missing(digest)
        return self._content[digest]

    async def digests(self) -> set[str]:
        return set(self._content)

    async def remove(self, digest: str) -> None:
        self._content.pop(digest, None)


class FileBlobs:
    """Blobs as files: written aside, synced, then named, so that a name always has its whole content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        await asyncio.to_thread(self._write, digest, content)
        return digest

    async def get(self, digest: str) -> bytes:
        return await asyncio.to_thread(self._read, digest)

    async def digests(self) -> set[str]:
        return await asyncio.to_thread(self._names)

    async def remove(self, digest: str) -> None:
        await asyncio.to_thread(lambda: self._place(digest).unlink(missing_ok=True))

    def _names(self) -> set[str]:
        return {path.parent.name + path.name for path in self._folder.glob("??/*")}

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]

    def _write(self, digest: str, content: bytes) -> None:
        place = self._place(digest)
        try:
            if place.exists() and place.read_bytes() == content:
                return
            place.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(place, content)
        except OSError as error:
            raise StoreFull(
                f"A payload of {len(content)} bytes cannot be written to {self._folder} ({error.strerror}).",
                "Make space; sessions that were under way go on by themselves.",
            ) from error

    def _read(self, digest: str) -> bytes:
        try:
            content = self._place(digest).read_bytes()
        except OSError as error:
            raise _missing(digest) from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise StoreError(
                f"Payload {digest} is not what was written.", "Restore the store's folder from a backup."
            )
        return content


def _missing(digest: str) -> StoreError:
    return StoreError(f"Payload {digest} is missing.", "Restore the store's folder from a backup.")


def _write_whole(place: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=place.parent.parent, prefix="new-", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(place)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    _sync_folder(place.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
