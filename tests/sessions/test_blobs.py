"""Payloads as files, and values that are kept aside."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

from belayer.execution.run import Run
from belayer.sessions.blobs import FileBlobs, MemoryBlobs, put_aside, referred, whole
from belayer.settings import Settings
from belayer.vocabulary.clock import SystemClock
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.events.event import Json, Status
from belayer.wiring import Keeping, kept_in_memory, running
from belayer.workflows.workflow import Workflows
from tests.support.records import named, records, stepped

LOOKS_LIKE_ONE = {"aside": {"output": {"digest": "a" * 64, "bytes": 5}}, "$blob": "a" * 64, "bytes": 5}


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def test_a_flipped_byte_in_a_payload_is_found(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    digest = await blobs.put(b"a payload")
    (file,) = files(tmp_path)
    file.write_bytes(b"a pbyload")
    with pytest.raises(StoreError, match=f"{digest} is not what was written"):
        await blobs.get(digest)


async def test_a_truncated_payload_is_found(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    digest = await blobs.put(b"a payload")
    (file,) = files(tmp_path)
    file.write_bytes(b"")
    with pytest.raises(StoreError, match="not what was written"):
        await blobs.get(digest)


async def test_a_payload_that_was_damaged_is_whole_again_once_it_is_put_again(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    digest = await blobs.put(b"a payload")
    (file,) = files(tmp_path)
    file.write_bytes(b"a pbyload")
    await blobs.put(b"a payload")
    assert await blobs.get(digest) == b"a payload"


async def test_payloads_survive_their_process(tmp_path: Path) -> None:
    digest = await FileBlobs(tmp_path).put(b"a payload")
    assert await FileBlobs(tmp_path).get(digest) == b"a payload"


async def test_writing_leaves_no_file_beside_the_payload(tmp_path: Path) -> None:
    await asyncio.gather(*(FileBlobs(tmp_path).put(b"a payload") for _ in range(20)))
    assert len(files(tmp_path)) == 1


async def test_a_half_written_payload_of_a_killed_process_is_not_taken_for_one(tmp_path: Path) -> None:
    await FileBlobs(tmp_path).put(b"a payload")
    (tmp_path / "new-abc").write_bytes(b"half")
    assert len(await FileBlobs(tmp_path).digests()) == 1


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=str(tmp_path)):
        await FileBlobs(tmp_path / "file").put(b"a payload")


async def test_a_value_put_aside_comes_back() -> None:
    blobs = MemoryBlobs()
    value: Json = {"rows": [None, 1, 2.5, "☃", True]}
    asides = {"output": await put_aside(blobs, to_json(value))}
    assert await whole(blobs, "output", None, asides) == value


@pytest.mark.parametrize("value", [None, 1, "text", [1], {}, {"aside": "x"}])
async def test_a_value_that_was_not_put_aside_is_itself(value: Json) -> None:
    blobs = MemoryBlobs()
    asides = {"input": await put_aside(blobs, b'"another field"')}
    assert await whole(blobs, "output", value, asides) == await whole(blobs, "output", value, None) == value


async def test_a_record_refers_to_what_was_put_aside() -> None:
    blobs = MemoryBlobs()
    asides = {name: await put_aside(blobs, name.encode()) for name in ("input", "output")}
    (record,) = records(named(1), stepped("a", aside=asides))
    assert referred(record) == await blobs.digests()


@pytest.mark.parametrize(
    "value", [{"aside": {"output": {"digest": "a" * 64, "bytes": 5}}}, '"aside":{"output":{"digest":"aaaa"}}']
)
def test_a_value_that_looks_like_a_reference_is_none(value: Json) -> None:
    (record,) = records(named(1), stepped("a", output=value))
    assert referred(record) == set()


def an_engine(keeping: Keeping) -> Any:
    return running(keeping, Workflows(()), "all", Settings(), SystemClock())


async def test_a_step_may_return_what_looks_like_a_reference() -> None:
    def look_alike() -> dict[str, Any]:
        return LOOKS_LIKE_ONE

    async def work(run: Run) -> Any:
        return await run.step("look", look_alike)

    async with asyncio.timeout(20), an_engine(kept_in_memory()) as engine:
        session = await engine.start(work)
        state = await engine.settled(session.id)
    assert (state.status, state.result) == (Status.COMPLETED, LOOKS_LIKE_ONE)


async def test_an_answer_that_looks_like_a_reference_is_no_damage() -> None:
    async def work(run: Run) -> Any:
        return await run.ask("q", "Which?", form={"properties": {}})

    async with asyncio.timeout(20), an_engine(kept_in_memory()) as engine:
        session = await engine.start(work)
        await engine.settled(session.id)
        await session.answer(LOOKS_LIKE_ONE)
        await engine.settled(session.id)
        damage = [found.damage async for found in engine.verify()]
    assert damage == [(), ()]
