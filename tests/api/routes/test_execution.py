"""Start sessions, look at them, list them: what the routes give, and how they say no."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from belayer.engine import Engine
from belayer.vocabulary.ids import SessionId
from tests.api.visiting import AT, problem_of
from tests.api.work import (
    NOBODY,
    start,
    start_asking,
    writes,
)


async def test_a_workflow_is_started_with_its_input(engine: Engine, client: httpx.AsyncClient) -> None:
    body = {"workflow": "echoing", "input": {"text": "hi"}, "title": "An echo", "mode": "autonomous"}
    response = await client.post("/api/execution/start", json=body)
    assert response.status_code == 201
    told = response.json()
    assert (told["title"], told["workflow"], told["mode"]) == ("An echo", "echoing", "autonomous")
    assert await engine.result(SessionId(told["session_id"])) == "hi"


async def test_a_plan_is_started_with_its_inputs(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    plan: dict[str, Any] = writes("a") | {"inputs": {"text": {"type": "string"}}}
    plan["steps"][0]["params"]["content"] = "{{input.text}}"
    folder = tmp_path / "work"
    folder.mkdir()
    session_id = await start(client, plan=plan, inputs={"text": "given"}, workspace=str(folder))
    await engine.result(session_id)
    assert (folder / "a").read_text() == "given"
    assert (await engine.row(session_id)).title == "write things"


async def test_the_limits_of_a_start_are_kept_with_the_session(client: httpx.AsyncClient) -> None:
    session_id = await start(
        client, workflow="asking", max_steps=7, timeout=60, budget={"steps": 9, "tokens": 100}
    )
    detail = (await client.get(f"{AT}/{session_id}")).json()
    assert detail["budget"] == {"tokens": 100, "usd": None, "steps": 7, "seconds": 60.0}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "exactly one of"),
        ({"workflow": "asking", "plan": {"steps": []}}, "exactly one of"),
        ({"workflow": "nobody_knows_it"}, "nobody_knows_it"),
        ({"workflow": "echoing"}, "text is missing"),
        ({"workflow": "asking", "inputs": {}}, "inputs belong to a plan"),
        ({"plan": {"steps": []}, "input": {}}, "input belongs to a workflow"),
        ({"plan": {"steps": [{"id": "a", "tool": "nope"}]}}, "nope"),
        ({"goal": "make tea"}, "a goal cannot be started"),
        ({"workflow": "asking", "colour": "red"}, "colour"),
        ({"workflow": "asking", "mode": "fast"}, "mode"),
        ({"workflow": "asking", "max_steps": 0}, "max_steps"),
        ({"workflow": "asking", "timeout": -1}, "timeout"),
        ({"workflow": "asking", "budget": {"usd": -1}}, "budget.usd"),
        ({"workflow": "asking", "policy": [{"verdict": "ask"}]}, "a rule must say"),
        ({"workflow": "asking", "workspace": "/there/is/no/such/folder"}, "/there/is/no/such/folder"),
        ({"workflow": "asking", "workspace": "/"}, "cannot be a workspace"),
        ({"workflow": "asking", "title": ""}, "title"),
        ([], "dictionary"),
    ],
)
async def test_a_start_that_does_not_fit_is_refused_with_the_place(
    client: httpx.AsyncClient, body: object, named: str
) -> None:
    response = await client.post("/api/execution/start", json=body)
    assert response.status_code == 422
    assert named in problem_of(response)["detail"]
    assert (await client.get(AT)).json()["sessions"] == []


async def test_every_problem_of_a_plan_is_told_with_its_place(client: httpx.AsyncClient) -> None:
    steps = [{"id": "a", "tool": "nope"}, {"id": "a", "tool": "files.read", "needs": ["zz"]}]
    response = await client.post("/api/execution/start", json={"plan": {"steps": steps}})
    told = problem_of(response)
    assert told["type"] == "urn:belayer:problem:UnfitPlan"
    assert len(told["errors"]) >= 3
    assert all(set(error) == {"place", "what"} for error in told["errors"])


async def test_the_same_key_gives_the_same_session(client: httpx.AsyncClient) -> None:
    body = {"workflow": "echoing", "input": {"text": "hi"}, "idempotency_key": "once"}
    answers = await asyncio.gather(*(client.post("/api/execution/start", json=body) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["session_id"] for answer in answers}) == 1
    assert len((await client.get(AT)).json()["sessions"]) == 1


async def test_the_same_key_with_another_request_is_refused(client: httpx.AsyncClient) -> None:
    session_id = await start(client, workflow="echoing", input={"text": "hi"}, idempotency_key="once")
    body = {"workflow": "echoing", "input": {"text": "ho"}, "idempotency_key": "once"}
    response = await client.post("/api/execution/start", json=body)
    assert response.status_code == 409
    assert session_id in problem_of(response)["detail"]


async def test_a_session_is_shown_with_its_state_and_its_events(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id, request_id = await start_asking(engine, client)
    detail = (await client.get(f"{AT}/{session_id}")).json()
    assert (detail["status"], detail["workflow"], detail["mode"]) == ("waiting", "asking", "hitl")
    assert [request["request_id"] for request in detail["pending"]] == [request_id]
    assert [event["seq"] for event in detail["events"]] == list(range(1, detail["seq"] + 1))
    assert detail["next"] is None


async def test_a_session_is_found_by_the_beginning_of_its_id(client: httpx.AsyncClient) -> None:
    session_id = await start(client, workflow="asking")
    response = await client.get(f"{AT}/{session_id[:9].upper()}")
    assert response.json()["session_id"] == session_id


async def test_a_beginning_that_several_share_is_refused_with_their_ids(client: httpx.AsyncClient) -> None:
    ids = [await start(client, workflow="asking") for _ in range(2)]
    response = await client.get(f"{AT}/{ids[0][:4]}")
    assert response.status_code == 409
    assert all(session_id in problem_of(response)["detail"] for session_id in ids)


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("GET", "", None),
        ("GET", "/events", None),
        ("POST", "/respond", {"request_id": "x", "value": 1}),
        ("POST", "/approve", {"request_id": "x", "digest": "y"}),
        ("POST", "/reject", {"request_id": "x", "digest": "y"}),
        ("POST", "/pause", None),
        ("POST", "/resume", None),
        ("POST", "/interrupt", None),
        ("POST", "/cancel", None),
        ("POST", "/message", {"text": "hello"}),
        ("GET", "/checkpoints", None),
        ("POST", "/checkpoints", {"name": "here"}),
        ("GET", "/rewind?seq=1", None),
        ("POST", "/rewind", {"seq": 1}),
        ("POST", "/fork", None),
        ("GET", "/export", None),
    ],
)
async def test_a_session_that_is_not_there_is_said_to_be_missing(
    client: httpx.AsyncClient, method: str, rest: str, body: object
) -> None:
    response = await client.request(method, f"{AT}/{NOBODY}{rest}", json=body)
    assert response.status_code == 404
    assert problem_of(response)["type"] == "urn:belayer:problem:UnknownSession"


async def test_events_come_page_by_page_without_gaps(engine: Engine, client: httpx.AsyncClient) -> None:
    session_id, _ = await start_asking(engine, client)
    for number in range(8):
        await client.post(f"{AT}/{session_id}/message", json={"text": str(number)})
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        page = (await client.get(f"{AT}/{session_id}/events", params={"after": after, "limit": 5})).json()
        assert len(page["events"]) <= 5
        seen += [event["seq"] for event in page["events"]]
        after = page["next"]
    assert seen == list(range(1, (await engine.row(session_id)).last_seq + 1))


@pytest.mark.parametrize("cursor", ["-1", "x", "1.5", "9" * 30, ""])
async def test_a_cursor_that_is_none_is_refused(
    engine: Engine, client: httpx.AsyncClient, cursor: str
) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.get(f"{AT}/{session_id}/events", params={"after": cursor})
    assert response.status_code == 422
    assert "after" in problem_of(response)["detail"]


async def test_beyond_the_last_event_there_is_nothing(engine: Engine, client: httpx.AsyncClient) -> None:
    session_id, _ = await start_asking(engine, client)
    page = (await client.get(f"{AT}/{session_id}/events", params={"after": 1000})).json()
    assert page == {"events": [], "next": None}


async def test_sessions_are_listed_newest_first_and_can_be_chosen(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    waiting, _ = await start_asking(engine, client)
    done = await start(client, workflow="echoing", input={"text": "x"}, title="100% sure", mode="autonomous")
    await engine.result(done)

    async def found(**wanted: Any) -> list[str]:
        listed = (await client.get(AT, params=wanted)).json()["sessions"]
        return [one["session_id"] for one in listed]

    assert await found() == [done, waiting]
    assert await found(status="waiting") == [waiting]
    assert await found(status=["waiting", "completed"]) == [done, waiting]
    assert await found(mode="autonomous") == [done]
    assert await found(workflow="asking") == [waiting]
    assert await found(q="100%") == [done]
    assert await found(q="0_%") == []
    assert await found(status="failed") == []


async def test_pages_of_sessions_have_no_gaps_and_no_repeats_while_others_start(
    client: httpx.AsyncClient,
) -> None:
    first = [await start(client, workflow="asking") for _ in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        wanted = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(AT, params=wanted)).json()
        seen += [one["session_id"] for one in page["sessions"]]
        await start(client, workflow="asking")
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == first[::-1]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "cursor=zz", "status=tired", "mode=x", "q=" + "x" * 201]
)
async def test_a_list_is_refused_for_what_it_cannot_mean(client: httpx.AsyncClient, query: str) -> None:
    response = await client.get(f"{AT}?{query}")
    assert response.status_code == 422
    assert f"query.{query.partition('=')[0]}" in problem_of(response)["detail"]
