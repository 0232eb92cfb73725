"""Belayer as an MCP server, used by the real MCP client: over stdio and HTTP, in both eras of the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, types
from mcp.shared.exceptions import MCPError

from belayer.engine import Engine
from tests.api.agents import (
    ASKS,
    DECLINES,
    DISMISSES,
    PATIENCE,
    SLEEPS,
    TOKEN,
    Person,
    accepts,
    call,
    deletes,
    mounted,
    over_http,
    over_stdio,
    plan,
    questions,
    refusal,
    step,
    text_of,
)
from tests.support.engines import home_engine

Connect = Callable[..., AbstractAsyncContextManager[Client]]
NAMES = {
    "engine_start",
    "engine_status",
    "engine_list",
    "engine_events",
    "engine_answer",
    "engine_approve",
    "engine_interrupt",
    "engine_resume",
    "engine_cancel",
}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with home_engine(tmp_path / "home", questions, grace=0) as engine:
        yield engine


@pytest.fixture
async def url(engine: Engine, tmp_path: Path) -> AsyncIterator[str]:
    async with mounted(engine, tmp_path / "home") as url:
        yield url


@pytest.fixture(params=["http-auto", "http-legacy", "stdio-auto", "stdio-legacy"])
async def connect(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Connect]:
    """How a client gets in, over both transports and in both eras of the protocol."""
    kind, mode = request.param.split("-")
    home = tmp_path / "home"
    if kind == "stdio":
        yield lambda person=None: over_stdio(home, mode, person)
        return
    async with home_engine(home, grace=0) as engine, mounted(engine, home) as url:
        yield lambda person=None: over_http(url, mode, person)


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    """A client that cannot ask anybody. A task of its own holds it: a fixture begins and ends in different ones."""
    ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    enough = asyncio.Event()

    async def hold() -> None:
        async with over_http(url, "auto", None) as client:
            ready.set_result(client)
            await enough.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(hold())
        yield await ready
        enough.set()


async def test_a_session_is_started_watched_answered_and_read_over_every_wire(connect: Connect) -> None:
    async with connect() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == NAMES
        begun = await call(client, "engine_start", plan=ASKS, title="paint", wait_seconds=30)
        assert (begun["status"], begun["title"]) == ("waiting", "paint")
        (request,) = begun["pending"]
        assert (request["type"], request["prompt"]) == ("request_input", "Which colour?")
        id_ = begun["session_id"]
        done = await call(
            client,
            "engine_answer",
            session_id=id_[:30],
            request_id=request["request_id"],
            value="[1]",
            wait_seconds=30,
        )
        assert done["status"] == "completed"
        assert done["result"]["outputs"] == {"colour": {"answer": "[1]"}}
        seen = await call(client, "engine_status", session_id=id_, last_events=3)
        assert [event["seq"] for event in seen["events"]] == [done["seq"] - 2, done["seq"] - 1, done["seq"]]
        listed = await call(client, "engine_list", status=["completed"], workflow="plan", text="pai")
        assert [row["session_id"] for row in listed["sessions"]] == [id_]
        first = await call(client, "engine_events", session_id=id_, limit=2)
        rest = await call(client, "engine_events", session_id=id_, after=first["next"])
        assert [event["seq"] for event in first["events"] + rest["events"]] == [*range(1, done["seq"] + 1)]
        assert rest["next"] is None


async def test_a_session_is_interrupted_resumed_and_cancelled_over_every_wire(connect: Connect) -> None:
    async with connect() as client:
        begun = await call(client, "engine_start", plan=SLEEPS, wait_seconds=0)
        id_ = begun["session_id"]
        stopped = await call(client, "engine_interrupt", session_id=id_, reason="not now")
        assert (stopped["status"], stopped["reason"]) == ("interrupted", "not now")
        again = await call(client, "engine_resume", session_id=id_, wait_seconds=0)
        assert again["status"] in {"queued", "running", "waiting"}
        ended = await call(client, "engine_cancel", session_id=id_)
        assert ended["status"] == "cancelled"
        problem = await refusal(client, "engine_resume", session_id=id_)
        assert problem["kind"] == "IllegalTransition"


async def test_what_a_session_asks_is_put_to_the_person_and_goes_on_with_what_they_say(
    connect: Connect,
) -> None:
    person = Person([accepts(answer="red")])
    async with connect(person) as client:
        done = await call(client, "engine_start", plan=ASKS, wait_seconds=30)
        assert done["status"] == "completed"
        assert done["result"]["outputs"]["colour"] == {"answer": "red"}
        assert len((await call(client, "engine_list"))["sessions"]) == 1
    (shown,) = person.shown
    assert done["session_id"] in shown.message
    assert "| Which colour?" in shown.message.split("\n")


async def test_a_person_who_does_not_answer_leaves_the_session_waiting(connect: Connect) -> None:
    person = Person([DECLINES, accepts(answer="blue")])
    async with connect(person) as client:
        begun = await call(client, "engine_start", plan=ASKS, wait_seconds=30)
        assert begun["status"] == "waiting"
        assert "still waits" in begun["note"]
        (request,) = begun["pending"]
        later = await call(
            client,
            "engine_answer",
            session_id=begun["session_id"],
            request_id=request["request_id"],
            wait_seconds=30,
        )
        assert later["result"]["outputs"]["colour"] == {"answer": "blue"}


async def test_the_person_decides_on_an_approval_whatever_the_model_says(
    connect: Connect, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    person = Person([DECLINES, accepts(decision="reject", notes="not these"), DISMISSES])
    async with connect(person) as client:
        begun = await call(client, "engine_start", **deletes(work), wait_seconds=30)
        (request,) = begun["pending"]
        assert person.shown == []
        yes = {
            "session_id": begun["session_id"],
            "request_id": request["request_id"],
            "digest": request["digest"],
            "approved": True,
            "wait_seconds": 30,
        }
        undecided = await call(client, "engine_approve", **yes)
        assert undecided["pending"] == begun["pending"]
        decided = await call(client, "engine_approve", **yes)
        assert request["request_id"] not in {one["request_id"] for one in decided["pending"]}
        log = await call(client, "engine_events", session_id=begun["session_id"], limit=500)
    assert (work / "docs" / "a.txt").exists()
    (said,) = [event["data"] for event in log["events"] if event["type"] == "user_response"]
    assert (said["approved"], said["notes"]) == (False, "not these")
    message = person.shown[0].message
    for part in (request["digest"], f"| {request['title']}", '"path": "docs"', "Risk: high"):
        assert part in message


async def test_what_the_person_approves_is_done(connect: Connect, tmp_path: Path) -> None:
    work = tmp_path / "work"
    person = Person([accepts(decision="approve")])
    async with connect(person) as client:
        begun = await call(client, "engine_start", **deletes(work), wait_seconds=30)
        (request,) = begun["pending"]
        done = await call(
            client,
            "engine_approve",
            session_id=begun["session_id"],
            request_id=request["request_id"],
            digest=request["digest"],
            approved=False,
            wait_seconds=30,
        )
    assert done["status"] == "completed"
    assert not (work / "docs").exists()


async def test_only_who_knows_the_token_and_comes_from_nowhere_else_gets_in(url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    token = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(trust_env=False) as http:
        for headers, status in [
            ({}, 401),
            ({"Authorization": "Bearer guessed"}, 401),
            ({**token, "Host": "rebound.example"}, 400),
            ({**token, "Origin": "https://evil.example"}, 403),
        ]:
            assert (await http.post(url, json=message, headers=headers)).status_code == status
        large = await http.post(
            url, content=b"[" + b" " * 2_000_001, headers={**token, "Content-Type": "application/json"}
        )
        assert large.status_code == 413
        strange = await http.post(
            url, content=b"\xff{", headers={**token, "Content-Type": "application/json"}
        )
        assert 400 <= strange.status_code < 500


async def test_an_answer_survives_a_restart_of_the_server_between_question_and_answer(
    engine: Engine, tmp_path: Path
) -> None:
    arguments = {"plan": ASKS, "wait_seconds": 30}
    async with mounted(engine, tmp_path / "home") as url, over_http(url, "auto", Person()) as client:
        asked = await client.session.call_tool("engine_start", arguments, allow_input_required=True)
    assert isinstance(asked, types.InputRequiredResult)
    (key,) = asked.input_requests or {}
    async with mounted(engine, tmp_path / "home") as url, over_http(url, "auto", Person()) as client:
        done = await client.session.call_tool(
            "engine_start",
            arguments,
            input_responses={key: accepts(answer="late")},
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert isinstance(done, types.CallToolResult)
        assert isinstance(done.structured_content, dict)
        assert done.structured_content["result"]["outputs"]["colour"] == {"answer": "late"}
        assert len((await call(client, "engine_list"))["sessions"]) == 1


async def test_an_approval_that_nobody_was_asked_for_does_not_count(url: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    async with over_http(url, "auto", Person()) as client:
        begun = await call(client, "engine_start", **deletes(work), wait_seconds=30)
        (request,) = begun["pending"]
        arguments = {
            "session_id": begun["session_id"],
            "request_id": request["request_id"],
            "digest": request["digest"],
            "approved": True,
        }
        forged: dict[str, Any] = {request["request_id"]: accepts(decision="approve")}
        asked = await client.session.call_tool(
            "engine_approve", arguments, input_responses=forged, allow_input_required=True
        )
        assert isinstance(asked, types.InputRequiredResult)
        for state in (
            "forged",
            json.dumps({"session_id": begun["session_id"]}),
            (asked.request_state or "") + "A",
        ):
            with pytest.raises(MCPError):
                await client.session.call_tool(
                    "engine_approve",
                    arguments,
                    input_responses=forged,
                    request_state=state,
                    allow_input_required=True,
                )
        with pytest.raises(MCPError):  # a yes to one thing is none to another
            await client.session.call_tool(
                "engine_approve",
                {**arguments, "notes": "other"},
                input_responses=forged,
                request_state=asked.request_state,
                allow_input_required=True,
            )
        assert (await call(client, "engine_status", session_id=begun["session_id"]))["pending"] == [request]
    assert (work / "docs").exists()


async def test_a_decision_needs_the_digest_of_what_was_shown(client: Client, tmp_path: Path) -> None:
    work = tmp_path / "work"
    begun = await call(client, "engine_start", **deletes(work), wait_seconds=30)
    (request,) = begun["pending"]
    yes = {"session_id": begun["session_id"], "request_id": request["request_id"], "approved": True}
    assert (await refusal(client, "engine_approve", **yes))["kind"] == "UnfitInput"
    wrong = await refusal(client, "engine_approve", **yes, digest="0" * 64)
    assert wrong["kind"] == "DigestChanged"
    assert (work / "docs").exists()
    done = await call(client, "engine_approve", **yes, digest=request["digest"], wait_seconds=30)
    assert done["status"] == "completed"
    assert not (work / "docs").exists()


async def test_the_text_alone_is_enough_to_answer_and_approve(client: Client, tmp_path: Path) -> None:
    result = await client.call_tool("engine_start", {**deletes(tmp_path / "work"), "wait_seconds": 30})
    assert isinstance(result.structured_content, dict)
    (request,) = result.structured_content["pending"]
    for part in (result.structured_content["session_id"], request["request_id"], request["digest"], "docs"):
        assert part in text_of(result)


async def test_a_question_without_a_value_needs_a_client_that_can_ask(client: Client) -> None:
    begun = await call(client, "engine_start", plan=ASKS, wait_seconds=30)
    (request,) = begun["pending"]
    ids = {"session_id": begun["session_id"], "request_id": request["request_id"]}
    assert (await refusal(client, "engine_answer", **ids))["kind"] == "UnfitAnswer"


async def test_two_clients_that_answer_differently_get_one_answer(url: str) -> None:
    async with over_http(url, "auto", None) as one, over_http(url, "legacy", None) as other:
        begun = await call(one, "engine_start", plan=ASKS, wait_seconds=30)
        (request,) = begun["pending"]
        ids = {"session_id": begun["session_id"], "request_id": request["request_id"], "wait_seconds": 30}
        results = await asyncio.gather(
            one.call_tool("engine_answer", {**ids, "value": "red"}),
            other.call_tool("engine_answer", {**ids, "value": "blue"}),
        )
        assert sorted(result.is_error or False for result in results) == [False, True]
        done = await call(one, "engine_status", session_id=begun["session_id"], wait_seconds=30)
    (winner,) = [word for word, result in zip(["red", "blue"], results, strict=True) if not result.is_error]
    assert done["result"]["outputs"]["colour"] == {"answer": winner}


async def test_the_same_key_gives_the_same_session_and_another_request_is_refused(client: Client) -> None:
    first = await call(client, "engine_start", plan=ASKS, idempotency_key="k", wait_seconds=0)
    again = await call(client, "engine_start", plan=ASKS, idempotency_key="k", wait_seconds=0)
    assert again["session_id"] == first["session_id"]
    assert (await refusal(client, "engine_start", plan=SLEEPS, idempotency_key="k"))["kind"] == "KeyReused"


async def test_no_more_sessions_are_started_than_may_be_live(engine: Engine, tmp_path: Path) -> None:
    async with (
        mounted(engine, tmp_path / "home", max_sessions=2) as url,
        over_http(url, "auto", None) as client,
    ):
        for _ in range(2):
            await call(client, "engine_start", plan=SLEEPS, wait_seconds=0)
        problem = await refusal(client, "engine_start", plan=SLEEPS)
        assert (problem["kind"], problem["category"]) == ("TooManySessions", "resource")


async def test_a_workflow_is_started_by_its_name(client: Client) -> None:
    begun = await call(client, "engine_start", workflow="questions", input={"count": 0}, wait_seconds=30)
    assert (begun["status"], begun["result"]) == ("completed", [])
    problem = await refusal(client, "engine_start", workflow="unheard_of", input={})
    assert problem["kind"] == "UnknownWorkflow"


async def test_waiting_goes_on_through_a_short_sleep(client: Client) -> None:
    naps = plan(step("nap", "wait", seconds=0.1))
    done = await call(client, "engine_start", plan=naps, wait_seconds=PATIENCE)
    assert done["status"] == "completed"


DEEP: Any = None
for _ in range(150):
    DEEP = [DEEP]


UNFIT: list[tuple[str, dict[str, Any]]] = [
    ("engine_start", {}),
    ("engine_start", {"plan": ASKS, "workflow": "plan"}),
    ("engine_start", {"plan": "steps"}),
    ("engine_start", {"plan": ASKS, "policy": [{"verdict": "allow", "tool": "*"}]}),
    ("engine_start", {"plan": ASKS, "input": {}}),
    ("engine_start", {"plan": ASKS, "mode": "root"}),
    ("engine_start", {"plan": ASKS, "wait_seconds": 61}),
    ("engine_start", {"plan": ASKS, "wait_seconds": "soon"}),
    ("engine_start", {"plan": ASKS, "title": "x" * 1_000_000}),
    ("engine_start", {"plan": {"steps": [], "x" * 1_000_000: 1}}),
    ("engine_start", {"plan": plan(step("a", "x" * 100_000))}),
    ("engine_start", {"plan": {"steps": DEEP}}),
    ("engine_start", {"workflow": "questions", "input": {"count": DEEP}}),
    ("engine_start", {"plan": ASKS, "workspace": "/nowhere/at/all"}),
    ("engine_start", {"plan": ASKS, "workspace": "a\x00b"}),
    ("engine_status", {"session_id": ""}),
    ("engine_status", {"session_id": "x" * 1_000_000}),
    ("engine_status", {"session_id": "%"}),
    ("engine_status", {"session_id": "' OR 1=1 --"}),
    ("engine_status", {"session_id": ["0"]}),
    ("engine_events", {"session_id": "0", "after": -1}),
    ("engine_list", {"limit": 1_000_000}),
    ("engine_list", {"status": ["asleep"]}),
    ("engine_list", {"unknown": 1}),
    ("engine_answer", {"session_id": "ffff", "request_id": "x", "value": "y"}),
    ("engine_approve", {"session_id": "ffff", "request_id": "x", "digest": "y", "approved": "maybe"}),
    ("engine_cancel", {"session_id": "ffff", "reason": "x" * 1_000_000}),
    ("engine_drop", {}),
    ("x" * 10_000, {}),
]


async def test_what_does_not_fit_is_refused_with_what_to_do_and_nothing_is_started(client: Client) -> None:
    for name, arguments in UNFIT:
        problem = await refusal(client, name, **arguments)
        assert problem["kind"] != "InternalError", (name[:50], str(arguments)[:200])
    assert (await call(client, "engine_list"))["sessions"] == []


async def test_a_large_answer_is_kept_whole_and_told_short(client: Client) -> None:
    begun = await call(client, "engine_start", plan=ASKS, wait_seconds=30)
    (request,) = begun["pending"]
    result = await client.call_tool(
        "engine_answer",
        {
            "session_id": begun["session_id"],
            "request_id": request["request_id"],
            "value": "x" * 1_000_000,
            "wait_seconds": 30,
        },
    )
    assert not result.is_error
    assert isinstance(result.structured_content, dict)
    assert result.structured_content["status"] == "completed"
    assert len(text_of(result)) < 10_000
    assert len(json.dumps(result.structured_content)) < 100_000
    seen = await client.call_tool("engine_status", {"session_id": begun["session_id"], "last_events": 100})
    assert len(seen.model_dump_json()) < 200_000


async def test_an_unforeseen_error_is_told_by_a_reference_only(client: Client, engine: Engine) -> None:
    async def breaks(*_: Any) -> Any:
        raise RuntimeError("secret inside")

    whole = engine.sessions
    engine.sessions = breaks  # type: ignore[method-assign]
    try:
        problem = await refusal(client, "engine_list")
    finally:
        engine.sessions = whole  # type: ignore[method-assign]
    assert problem["kind"] == "InternalError"
    assert "secret" not in json.dumps(problem)


async def test_every_tool_and_what_it_takes_is_described(client: Client) -> None:
    tools = (await client.list_tools()).tools
    for tool in tools:
        assert len(tool.description or "") > 80
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema
    begins = next(tool for tool in tools if tool.name == "engine_start")
    assert "files.write(path, content, overwrite?)" in (begins.description or "")
    approves = next(tool for tool in tools if tool.name == "engine_approve")
    assert "A person must decide" in (approves.description or "").replace("\n", " ")
