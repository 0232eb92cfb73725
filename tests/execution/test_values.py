"""What a step returns comes back from the log as it went in, or is refused with a reason."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.sessions.blobs import MemoryBlobs
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import SessionFailed, StoreError
from belayer.vocabulary.events.event import Json, Status
from belayer.wiring import kept_in, kept_in_memory
from tests.support.engines import damage_of, engine_on, memory_engine, records_of, settings, twice

SECRET = "hunter2-hunter2"


class Colour(Enum):
    RED = "red"


class Model(BaseModel):
    name: str
    at: datetime


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    at: datetime
    colour: Colour
    pair: tuple[int, str]


class Aliased(BaseModel):
    page_size: int = Field(alias="pageSize")


@dataclass(frozen=True)
class Data:
    name: str
    path: Path


class Named(NamedTuple):
    x: int
    y: str


class Typed(TypedDict):
    x: int
    y: str | None


AT = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)


def _model() -> Model:
    return Model(name="m", at=AT)


def _maybe() -> Model | None:
    return None


def _models() -> list[Model]:
    return [Model(name="a", at=AT), Model(name="b", at=AT)]


def _strict() -> Strict:
    return Strict(at=AT, colour=Colour.RED, pair=(1, "x"))


def _aliased() -> Aliased:
    return Aliased(pageSize=3)


def _data() -> Data:
    return Data("d", Path("/tmp/x"))


def _named() -> Named:
    return Named(1, "y")


def _typed() -> Typed:
    return {"x": 1, "y": None}


def _datetime() -> datetime:
    return AT


def _date() -> date:
    return date(2026, 3, 4)


def _duration() -> timedelta:
    return timedelta(days=400, microseconds=1)


def _enum() -> Colour:
    return Colour.RED


def _tuple() -> tuple[int, str]:
    return (1, "x")


def _set() -> set[str]:
    return {"a", "b", "c"}


def _decimal() -> Decimal:
    return Decimal("0.10")


def _uuid() -> UUID:
    return UUID(int=7)


def _int_keys() -> dict[int, str]:
    return {1: "one"}


def _text_bytes() -> bytes:
    return b"plain"


def _size(value: Any) -> int:
    return len(value)


def _callable(value: Any) -> Callable[[], Any]:
    """An act without annotation."""

    def give():
        return value

    return give


@pytest.mark.parametrize(
    "call",
    [
        _model,
        _maybe,
        _models,
        _strict,
        _aliased,
        _data,
        _named,
        _typed,
        _datetime,
        _date,
        _duration,
        _enum,
        _tuple,
        _set,
        _decimal,
        _uuid,
        _int_keys,
        _text_bytes,
    ],
)
async def test_a_typed_output_comes_back_as_it_was(call: Callable[[], Any]) -> None:
    assert await twice(act(effect="read")(call)) == [call(), call()]


@pytest.mark.parametrize(
    "value",
    [
        None,
        0,
        -1,
        2**63,
        10**40,
        -(10**40),
        0.1 + 0.2,
        5e-324,
        1.7976931348623157e308,
        "",
        "\0\n\x1b[31m\u202e😀",
        [],
        {},
        {"": None, "a": {"b": [None, True, False]}},
        {"type": "step", "key": "x"},
        {"$blob": "0" * 64},
    ],
    ids=repr,
)
async def test_a_plain_output_comes_back_exactly(value: Json) -> None:
    assert await twice(act(effect="read")(_callable(value))) == [value, value]


async def test_an_output_that_looks_like_a_reference_to_a_payload_is_an_output_like_any_other() -> None:
    value = {"$blob": "0" * 64, "bytes": 3}
    assert await twice(act(effect="read")(_callable(value))) == [value, value]


async def test_a_float_keeps_the_sign_of_its_zero() -> None:
    assert [math.copysign(1, value) for value in await twice(act(effect="read")(_callable(-0.0)))] == [-1, -1]


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, {"a": [math.nan]}, b"\xff\xfe", object(), "\ud800", threading.Lock()],
    ids=["nan", "inf", "nested nan", "bytes", "object", "surrogate", "lock"],
)
async def test_an_output_that_json_cannot_hold_fails_the_step_with_a_reason(value: object) -> None:
    with pytest.raises(SessionFailed, match="cannot be kept in the log") as failed:
        await twice(act(effect="read")(_callable(value)))
    assert failed.value.hint is not None


async def test_an_output_that_contains_itself_fails_the_step_with_a_reason() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(SessionFailed, match="cannot be kept in the log"):
        await twice(act(effect="read")(_callable(loop)))


def nested(depth: int) -> Json:
    value: Json = "deep"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [50, *range(180, 260, 3), 1000])
async def test_a_deep_output_is_either_refused_or_comes_back(depth: int) -> None:
    keeping = kept_in_memory()
    try:
        assert (
            await twice(act(effect="read")(_callable(nested(depth))), keeping=keeping) == [nested(depth)] * 2
        )
    except SessionFailed as refused:
        assert "cannot be kept in the log" in refused.detail  # noqa: PT017
    async with memory_engine(keeping=keeping) as engine:
        assert await damage_of(engine) == []


async def test_arguments_that_json_cannot_hold_fail_the_session_with_a_reason() -> None:
    with pytest.raises(SessionFailed, match="cannot be kept in the log"):
        await twice(act(effect="read")(lambda _: 1), math.nan)


async def test_equal_sets_are_equal_arguments_whatever_their_order() -> None:
    orders = iter([{0, 8}, {8, 0}])

    async def workflow(run: Run) -> int:
        size = await run.step("it", act(effect="read")(_size), next(orders))
        await run.ask("go", "Go on?")
        return size

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        await session.answer("yes")
        assert (await session.settled()).status is Status.COMPLETED


async def test_a_large_output_comes_back_and_is_kept_outside_the_log() -> None:
    keeping = kept_in_memory()
    text = "x" * 100_000
    assert await twice(act(effect="read")(_callable(text)), keeping=keeping) == [text, text]
    assert isinstance(keeping.blobs, MemoryBlobs)
    assert len(await keeping.blobs.digests()) == 1


async def test_large_arguments_are_kept_outside_the_log() -> None:
    keeping = kept_in_memory()
    await twice(act(effect="read")(_size), "x" * 100_000, keeping=keeping)
    assert len(await keeping.blobs.digests()) == 1


async def test_a_large_output_comes_back_from_a_folder_after_a_restart(tmp_path: Path) -> None:
    text = "y" * 100_000
    seen: list[str] = []

    @act(effect="read")
    async def read() -> str:
        return text

    async def workflow(run: Run) -> int:
        seen.append(await run.step("it", read))
        await run.ask("go", "Go on?")
        return len(seen)

    clock = ManualClock()
    async with kept_in(tmp_path, clock) as keeping:
        async with engine_on(keeping, clock, [workflow]) as engine:
            session = await engine.start(workflow)
            await session.settled()
        async with engine_on(keeping, clock, [workflow]) as engine:
            await engine.session(session.id).answer("yes")
            await engine.session(session.id).result()
    assert seen == [text, text]


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DOOR_PASSWORD", SECRET)
    assert settings() is not None
    return SECRET


async def test_a_secret_in_an_output_is_the_same_when_done_and_when_replayed(secret: str) -> None:
    first, replayed = await twice(act(effect="read")(_callable({"text": f"the door opens with {secret}"})))
    assert first == replayed


async def test_a_secret_in_an_output_never_reaches_the_log(secret: str) -> None:
    keeping = kept_in_memory()
    await twice(act(effect="read")(_callable(f"it is {secret}!")), keeping=keeping)
    async with memory_engine(keeping=keeping) as engine:
        (row,) = await engine.sessions()
    data = b"".join(record.data for record in await records_of(keeping, row.id))
    assert secret.encode() not in data
    assert b"[redacted]" in data


async def test_a_secret_in_a_large_output_never_reaches_the_payloads(secret: str) -> None:
    keeping = kept_in_memory()
    first, replayed = await twice(act(effect="read")(_callable(f"{secret} " * 10_000)), keeping=keeping)
    assert first == replayed
    (digest,) = await keeping.blobs.digests()
    assert secret.encode() not in await keeping.blobs.get(digest)


async def test_an_act_gets_the_secret_that_the_log_does_not_have(secret: str) -> None:
    given: list[str] = []
    await twice(act(effect="read")(given.append), f"Bearer {secret}")
    assert given == [f"Bearer {secret}"]


async def test_a_secret_in_a_failure_never_reaches_the_log(secret: str) -> None:
    keeping = kept_in_memory()

    def fail() -> None:
        raise ValueError(f"401 for token {secret}")

    with pytest.raises(SessionFailed) as failed:
        await twice(act(effect="read")(fail), keeping=keeping)
    assert secret not in failed.value.detail


async def test_a_number_that_equals_a_secret_does_not_damage_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_TOKEN", "12345678")
    keeping = kept_in_memory()
    first, replayed = await twice(act(effect="read")(_callable({"amount": 12345678})), keeping=keeping)
    assert first == replayed
    async with memory_engine(keeping=keeping) as engine:
        assert await damage_of(engine) == []


async def test_a_secret_shape_that_spans_two_fields_does_not_damage_the_log() -> None:
    keeping = kept_in_memory()
    value = {"a": "-----BEGIN PRIVATE KEY-----", "b": {"c": "-----END PRIVATE KEY-----"}}
    first, replayed = await twice(act(effect="read")(_callable(value)), keeping=keeping)
    assert first == replayed
    async with memory_engine(keeping=keeping) as engine:
        assert await damage_of(engine) == []


async def test_a_payload_that_went_missing_leaves_the_session_alone_and_says_so(tmp_path: Path) -> None:
    keeping = kept_in_memory()
    await twice(act(effect="read")(_callable("z" * 100_000)), keeping=keeping)
    (digest,) = await keeping.blobs.digests()
    await keeping.blobs.remove(digest)
    with pytest.raises(StoreError, match="missing"):
        await keeping.blobs.get(digest)
    async with memory_engine(keeping=keeping) as engine:
        assert len(await damage_of(engine)) == 1
