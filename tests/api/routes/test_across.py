"""What is not about one session: the inbox, the tools, the rules, the server's health."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from belayer.engine import Engine
from belayer.vocabulary.events.event import Status
from tests.api.visiting import AT, visiting
from tests.api.work import asking, start, start_asking, start_to_approve, writes
from tests.support.engines import memory_engine


async def test_the_inbox_has_every_request_of_every_session_the_oldest_first(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    asked = [await start_asking(engine, client) for _ in range(3)]
    approval, request = await start_to_approve(engine, client, tmp_path / "work")
    await client.post(f"{AT}/{asked[1][0]}/pause")
    await client.post(f"{AT}/{asked[2][0]}/cancel")
    inbox = (await client.get("/api/inbox")).json()["requests"]
    expected = [*asked[:2], (approval, request["request_id"])]
    assert [(one["session_id"], one["request"]["request_id"]) for one in inbox] == expected
    assert [one["status"] for one in inbox] == ["waiting", "paused", "waiting"]


async def test_the_inbox_holds_more_than_one_page_of_sessions() -> None:
    async with memory_engine(asking) as engine, visiting(engine) as client:
        sessions = [await engine.start(asking) for _ in range(510)]
        for session in sessions:
            await session.settled()
        inbox = (await client.get("/api/inbox")).json()["requests"]
        assert {one["session_id"] for one in inbox} == {session.id for session in sessions}


async def test_every_tool_is_listed_with_its_health_and_its_past(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id = await start(client, plan=writes("a"))
    await engine.result(session_id)
    tools = {tool["name"]: tool for tool in (await client.get("/api/tools")).json()["tools"]}
    assert {"files.read", "files.write"} <= tools.keys()
    written = tools["files.write"]
    assert (written["health"], written["breaker"], written["effect"]) == ("ok", "closed", "write")
    assert written["metrics"]["calls"] == 1
    assert tools["files.read"]["metrics"] is None


async def test_rules_are_saved_and_hold_from_then_on(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    rule = {"verdict": "deny", "tool": "files.write", "note": "hands off"}
    saved = await client.put("/api/policy", json={"rules": [rule]})
    assert saved.status_code == 200
    (got,) = (await client.get("/api/policy")).json()["rules"]
    assert got["note"] == "hands off"
    session_id = await start(client, plan=writes("a"), mode="autonomous")
    state = await engine.settled(session_id)
    assert state.status is Status.FAILED
    assert (await client.put("/api/policy", json={"rules": []})).json()["rules"] == []


async def test_a_rule_is_tried_on_the_past_and_nothing_is_saved(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id = await start(client, plan=writes("a", "b"))
    await engine.result(session_id)
    tried = await client.post("/api/policy/try", json={"rule": {"verdict": "ask", "tool": "files.*"}})
    assert tried.status_code == 200
    assert (tried.json()["calls"], tried.json()["unasked"]) == (2, 2)
    assert "2 calls" in tried.json()["words"]
    assert (await client.get("/api/policy")).json()["rules"] == []


@pytest.mark.parametrize(
    "rule",
    [
        {"verdict": "maybe", "tool": "x"},
        {"verdict": "ask"},
        {"verdict": "ask", "tool": ""},
        {"verdict": "ask", "tool": "x", "usd": -1},
        {"tool": "x"},
    ],
)
async def test_a_rule_that_says_nothing_is_refused_and_the_old_ones_hold(
    client: httpx.AsyncClient, rule: dict[str, Any]
) -> None:
    old = {"verdict": "deny", "tool": "files.write"}
    await client.put("/api/policy", json={"rules": [old]})
    assert (await client.put("/api/policy", json={"rules": [old, rule]})).status_code == 422
    assert (await client.post("/api/policy/try", json={"rule": rule})).status_code == 422
    assert len((await client.get("/api/policy")).json()["rules"]) == 1


async def test_the_server_says_that_it_is_well(client: httpx.AsyncClient) -> None:
    told = (await client.get("/health")).json()
    assert told["status"] == "ok"
    assert told["version"]
    assert told["reasons"] == []


async def test_what_was_approved_three_times_and_never_rejected_is_suggested(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    suggestions, asks = "/api/policy/suggestions", {"verdict": "ask", "tool": "files.*"}
    await client.put("/api/policy", json={"rules": [asks]})
    for number in range(3):
        assert (await client.get(suggestions)).json() == {"suggestions": []}
        session_id, request = await start_to_approve(engine, client, tmp_path / str(number))
        decision = {"request_id": request["request_id"], "digest": request["digest"]}
        await client.post(f"{AT}/{session_id}/approve", json=decision)
        await engine.settled(session_id)
    (found,) = (await client.get(suggestions)).json()["suggestions"]
    assert (found["approved"], found["rule"]["verdict"]) == (3, "allow")
    await client.put("/api/policy", json={"rules": [found["rule"], asks]})
    assert (await client.get(suggestions)).json() == {"suggestions": []}
