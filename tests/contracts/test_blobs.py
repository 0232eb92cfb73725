"""What every place for large payloads promises."""

import asyncio
import hashlib
from pathlib import Path

import pytest

from belayer.sessions.blobs import Blobs, FileBlobs, MemoryBlobs
from belayer.vocabulary.errors import StoreError


@pytest.fixture(params=["memory", "file"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return MemoryBlobs() if request.param == "memory" else FileBlobs(tmp_path / "blobs")


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)), b"\0" * 1_000_000])
async def test_what_was_put_is_got(blobs: Blobs, content: bytes) -> None:
    assert await blobs.get(await blobs.put(content)) == content


async def test_a_payload_is_kept_under_its_sha256(blobs: Blobs) -> None:
    assert await blobs.put(b"content") == hashlib.sha256(b"content").hexdigest()


async def test_the_same_payload_is_kept_once(blobs: Blobs) -> None:
    await asyncio.gather(*(blobs.put(b"content") for _ in range(10)))
    assert await blobs.digests() == {hashlib.sha256(b"content").hexdigest()}


async def test_a_missing_payload_is_named(blobs: Blobs) -> None:
    digest = hashlib.sha256(b"never put").hexdigest()
    with pytest.raises(StoreError, match=f"{digest} is missing"):
        await blobs.get(digest)


async def test_a_removed_payload_is_missing(blobs: Blobs) -> None:
    digest = await blobs.put(b"content")
    await blobs.remove(digest)
    with pytest.raises(StoreError, match="is missing"):
        await blobs.get(digest)


async def test_removing_leaves_the_others(blobs: Blobs) -> None:
    kept, removed = await blobs.put(b"kept"), await blobs.put(b"removed")
    await blobs.remove(removed)
    assert await blobs.digests() == {kept}


async def test_removing_what_is_not_there_is_no_error(blobs: Blobs) -> None:
    await blobs.remove(hashlib.sha256(b"never put").hexdigest())
    assert await blobs.digests() == set()


async def test_an_empty_place_holds_nothing(blobs: Blobs) -> None:
    assert await blobs.digests() == set()
