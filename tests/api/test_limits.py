"""As many sessions are live as may be, and not one more (R1.6)."""

import asyncio

import httpx
import pytest

from belayer.engine import Engine
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from tests.api.visiting import AT, problem_of, visiting
from tests.api.work import asking, echoing, start
from tests.support.engines import memory_engine, reached, while_time_flies

FIVE = {"max_sessions": 5}


async def start_waiting(engine: Engine, client: httpx.AsyncClient, count: int) -> list[SessionId]:
    """So many sessions that wait for a person."""
    ids = [await start(client, workflow="asking") for _ in range(count)]
    for session_id in ids:
        await engine.settled(session_id)
    return ids


async def try_one_more(client: httpx.AsyncClient) -> httpx.Response:
    return await client.post("/api/execution/start", json={"workflow": "asking"})


async def test_a_sixth_session_is_refused_with_the_names_of_the_five() -> None:
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        ids = await start_waiting(engine, client, 5)
        response = await try_one_more(client)
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) > 0
        told = problem_of(response)
        assert told["category"] == "resource"
        assert all(session_id in told["detail"] for session_id in ids)
        assert "BELAYER_MAX_SESSIONS" in told["hint"]
        assert len((await client.get(AT)).json()["sessions"]) == 5


async def test_a_paused_session_counts_as_live() -> None:
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        for session_id in await start_waiting(engine, client, 5):
            await client.post(f"{AT}/{session_id}/pause")
        assert (await try_one_more(client)).status_code == 429


@pytest.mark.parametrize("verb", ["cancel", "interrupt"])
async def test_a_session_that_was_stopped_makes_room(verb: str) -> None:
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        ids = await start_waiting(engine, client, 5)
        await client.post(f"{AT}/{ids[2]}/{verb}")
        assert (await try_one_more(client)).status_code == 201


async def test_finished_sessions_do_not_count() -> None:
    async with memory_engine(asking, echoing) as engine, visiting(engine, **FIVE) as client:
        for _ in range(7):
            await engine.result(await start(client, workflow="echoing", input={"text": "x"}))
        assert len(await start_waiting(engine, client, 5)) == 5


async def test_expired_sessions_do_not_count() -> None:
    clock = ManualClock()
    async with (
        memory_engine(asking, clock=clock, session_timeout=1800.0) as engine,
        visiting(engine, **FIVE) as client,
    ):
        for session_id in await start_waiting(engine, client, 5):
            await while_time_flies(clock, reached(engine.session(session_id), Status.EXPIRED))
        assert (await try_one_more(client)).status_code == 201


async def test_of_two_starts_at_once_beside_four_exactly_one_passes() -> None:
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        await start_waiting(engine, client, 4)
        answers = await asyncio.gather(*(try_one_more(client) for _ in range(2)))
        assert sorted(answer.status_code for answer in answers) == [201, 429]


async def test_of_twenty_starts_at_once_exactly_five_pass() -> None:
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        answers = await asyncio.gather(*(try_one_more(client) for _ in range(20)))
        assert [answer.status_code for answer in answers].count(201) == 5


async def test_a_start_that_was_made_before_is_told_again_although_no_more_fit() -> None:
    body = {"workflow": "asking", "idempotency_key": "once"}
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        first = await client.post("/api/execution/start", json=body)
        await start_waiting(engine, client, 4)
        again = await client.post("/api/execution/start", json=body)
        assert again.status_code == 201
        assert again.json()["session_id"] == first.json()["session_id"]


async def test_a_start_that_does_not_fit_takes_no_place() -> None:
    async with memory_engine(asking) as engine, visiting(engine, **FIVE) as client:
        await start_waiting(engine, client, 4)
        for _ in range(3):
            refused = await client.post(
                "/api/execution/start", json={"workflow": "asking", "input": {"x": 1}}
            )
            assert refused.status_code == 422
        assert (await try_one_more(client)).status_code == 201


async def test_without_a_limit_any_number_is_live() -> None:
    async with memory_engine(asking) as engine, visiting(engine, max_sessions=0) as client:
        assert len(await start_waiting(engine, client, 30)) == 30
