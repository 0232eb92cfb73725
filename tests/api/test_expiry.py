"""A session that nobody touches expires; over the API it stays readable and can be taken up again (R1.7)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest

from belayer.engine import Engine
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from tests.api.visiting import AT, visiting
from tests.api.work import asking, start_asking
from tests.support.engines import memory_engine, reached, turns, while_time_flies


@dataclass(frozen=True, slots=True)
class Left:
    """A session that was left alone until it expired."""

    engine: Engine
    client: httpx.AsyncClient
    clock: ManualClock
    id: SessionId
    request_id: str
    before: bytes

    @property
    def at(self) -> str:
        return f"{AT}/{self.id}"


@asynccontextmanager
async def left_alone() -> AsyncGenerator[Left]:
    clock = ManualClock()
    async with (
        memory_engine(asking, clock=clock, session_timeout=1800.0) as engine,
        visiting(engine) as client,
    ):
        session_id, request_id = await start_asking(engine, client)
        before = (await client.get(f"{AT}/{session_id}/events")).content
        await while_time_flies(clock, reached(engine.session(session_id), Status.EXPIRED))
        yield Left(engine, client, clock, session_id, request_id, before)


async def test_the_history_of_an_expired_session_stays_readable() -> None:
    async with left_alone() as left:
        events = (await left.client.get(f"{left.at}/events")).content
        assert events.startswith(left.before.partition(b'],"next"')[0])
        detail = (await left.client.get(left.at)).json()
        assert (detail["status"], detail["reason"]) == ("expired", "nobody answered in time")
        listed = (await left.client.get(AT, params={"status": "expired"})).json()["sessions"]
        assert [one["session_id"] for one in listed] == [left.id]
        assert (await left.client.get(f"{left.at}/export")).status_code == 200


async def test_an_expired_session_still_stands_in_the_inbox() -> None:
    async with left_alone() as left:
        (one,) = (await left.client.get("/api/inbox")).json()["requests"]
        assert (one["status"], one["request"]["request_id"]) == ("expired", left.request_id)


async def test_an_answer_after_expiry_lets_the_session_go_on() -> None:
    async with left_alone() as left:
        response = await left.client.post(
            f"{left.at}/respond", json={"request_id": left.request_id, "value": "Ada"}
        )
        assert response.status_code == 200
        assert await left.engine.result(left.id) == "Ada"


async def test_an_expired_session_that_is_resumed_asks_the_same_again_and_goes_on() -> None:
    async with left_alone() as left:
        assert (await left.client.post(f"{left.at}/resume")).json()["status"] == "queued"
        await reached(left.engine.session(left.id), Status.WAITING)
        (request,) = (await left.client.get(left.at)).json()["pending"]
        assert request["request_id"] == left.request_id
        await left.client.post(f"{left.at}/respond", json={"request_id": left.request_id, "value": "Ada"})
        assert await left.engine.result(left.id) == "Ada"


async def test_a_resumed_session_expires_again_when_it_is_left_alone_again() -> None:
    async with left_alone() as left:
        await left.client.post(f"{left.at}/resume")
        await reached(left.engine.session(left.id), Status.WAITING)
        await while_time_flies(left.clock, reached(left.engine.session(left.id), Status.EXPIRED))


@pytest.mark.parametrize("verb", ["pause", "interrupt"])
async def test_an_expired_session_cannot(verb: str) -> None:
    async with left_alone() as left:
        response = await left.client.post(f"{left.at}/{verb}")
        assert response.status_code == 409
        assert "expired" in response.json()["detail"]


async def test_an_expired_session_can_be_cancelled_and_then_takes_no_answer() -> None:
    async with left_alone() as left:
        assert (await left.client.post(f"{left.at}/cancel")).json()["status"] == "cancelled"
        body = {"request_id": left.request_id, "value": "Ada"}
        assert (await left.client.post(f"{left.at}/respond", json=body)).status_code == 409


async def test_a_session_that_somebody_only_looks_at_expires_all_the_same() -> None:
    clock = ManualClock()
    async with (
        memory_engine(asking, clock=clock, session_timeout=1800.0) as engine,
        visiting(engine) as client,
    ):
        session_id, _ = await start_asking(engine, client)
        for _ in range(40):
            clock.advance(60)
            await client.get(f"{AT}/{session_id}")
            await turns()
        assert (await client.get(f"{AT}/{session_id}")).json()["status"] == "expired"
