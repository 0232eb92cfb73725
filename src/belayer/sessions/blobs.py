"""Large payloads, kept under their own hash; the event holds only the hash."""

import asyncio
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Protocol

from pydantic_core import from_json

from belayer.vocabulary.errors import StoreError, StoreFull
from belayer.vocabulary.events.event import Json

INLINE_BYTES = 32 * 1024
_REF = re.compile(rb'\{"\$blob":"([0-9a-f]{64})","bytes":\d+\}')


class Blobs(Protocol):
    """A place for bytes under their SHA-256."""

    async def put(self, content: bytes) -> str: ...

    async def get(self, digest: str) -> bytes: ...

    async def digests(self) -> set[str]: ...

    async def remove(self, digest: str) -> None: ...


async def store_aside(blobs: Blobs, content: bytes) -> Json:
    """Keep a large JSON text aside; what stands for it in the event."""
    return {"$blob": await blobs.put(content), "bytes": len(content)}


async def unpack(blobs: Blobs, value: Json) -> Json:
    """The value that was kept aside, or the value itself."""
    if not isinstance(value, dict) or set(value) != {"$blob", "bytes"}:
        return value
    return from_json(await blobs.get(str(value["$blob"])))


def referred(data: bytes) -> list[str]:
    """The blobs that an event's data refers to."""
    if b'"$blob"' not in data:
        return []
    return [found.decode() for found in _REF.findall(data)]


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
        return await asyncio.to_thread(
            lambda: {path.parent.name + path.name for path in self._folder.glob("??/*")}
        )

    async def remove(self, digest: str) -> None:
        await asyncio.to_thread(lambda: self._place(digest).unlink(missing_ok=True))

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]

    def _write(self, digest: str, content: bytes) -> None:
        place = self._place(digest)
        if place.exists():
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix="new-", delete=False) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(place)
            _sync_folder(place.parent)
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
                f"Blob {digest} is not what was written.", "Restore the store's folder from a backup."
            )
        return content


def _missing(digest: str) -> StoreError:
    return StoreError(f"Blob {digest} is missing.", "Restore the store's folder from a backup.")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
