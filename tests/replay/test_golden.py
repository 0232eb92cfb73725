"""Logs of every released version still come in, and still fold to what they were."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from belayer.sessions.blobs import MemoryBlobs
from belayer.sessions.integrity import verify
from belayer.sessions.portable import export_session
from belayer.sessions.state import fold
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.events.event import FINAL, Status
from belayer.vocabulary.ids import SessionId
from tests.replay.make_golden import told
from tests.support.records import imported, writing

GOLDEN = sorted(
    path for path in Path(__file__).parent.glob("*/*.json") if not path.name.endswith(".state.json")
)
TYPES_OF_0_1_0 = {
    "session",
    "interrupt",
    "resume",
    "error",
    "checkpoint",
    "log",
    "budget",
    "plan",
    "step",
    "retry",
    "breaker",
    "in_doubt",
    "request_input",
    "approval_request",
    "user_response",
}


def recorded(path: Path) -> dict[str, Any]:
    """The state as the version that wrote the log saw it."""
    return json.loads(path.with_suffix(".state.json").read_bytes())


def known_then(now: Any, then: Any) -> Any:
    """What a newer version says, without what the older one did not know."""
    match now, then:
        case dict(), dict():
            return {name: known_then(value, then[name]) for name, value in now.items() if name in then}
        case list(), list() if len(now) == len(then):
            return [known_then(*pair) for pair in zip(now, then, strict=True)]
        case _:
            return now


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: f"{path.parent.name}/{path.stem}")


ENDED = [path for path in GOLDEN if recorded(path)["view"]["status"] in FINAL]
NOT_ENDED = [path for path in GOLDEN if path not in ENDED]


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "b.db")
    yield opened
    await opened.close()


async def taken_in(path: Path, store: Store, blobs: MemoryBlobs) -> SessionId:
    async with writing(store) as log:
        return await imported(log, store, blobs, path.read_bytes())


@each(GOLDEN)
async def test_an_old_log_folds_to_the_state_it_had(path: Path, store: Store) -> None:
    then = recorded(path)
    session_id = await taken_in(path, store, MemoryBlobs())
    records = await store.read(session_id, 0, then["view"]["seq"])
    assert known_then(told(fold(session_id, records)), then) == then


@each(GOLDEN)
async def test_an_old_log_is_whole(path: Path, store: Store) -> None:
    blobs = MemoryBlobs()
    await taken_in(path, store, blobs)
    assert [found.damage async for found in verify(store, blobs)] == [(), ()]


@each(ENDED)
async def test_an_old_session_that_had_ended_goes_out_as_it_came_in(path: Path, store: Store) -> None:
    blobs = MemoryBlobs()
    session_id = await taken_in(path, store, blobs)
    exported = json.loads(await export_session(store, blobs, session_id))
    assert exported["events"].pop()["type"] == "rehomed"
    assert exported == json.loads(path.read_bytes())


@each(NOT_ENDED)
async def test_an_old_session_that_had_not_ended_arrives_paused(path: Path, store: Store) -> None:
    row = await store.row(await taken_in(path, store, MemoryBlobs()))
    assert row is not None
    assert row.status is Status.PAUSED


def test_the_logs_of_0_1_0_have_every_event_it_knew() -> None:
    logs = [json.loads(path.read_bytes()) for path in GOLDEN if path.parent.name == "0.1.0"]
    assert {event["type"] for log in logs for event in log["events"]} == TYPES_OF_0_1_0
