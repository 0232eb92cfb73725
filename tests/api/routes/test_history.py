"""Go back, branch off, carry away and bring in, over REST."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from belayer import Run, act
from belayer.engine import Engine
from belayer.execution.step import this_step
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from tests.api.visiting import AT, problem_of, visiting
from tests.api.work import asking, echoing, start, start_asking, writes
from tests.support.engines import Gate, home_engine, memory_engine


async def test_places_to_go_back_to_are_listed_by_step_and_by_name(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id = await start(client, plan=writes("a", "b"))
    await engine.result(session_id)
    made = await client.post(f"{AT}/{session_id}/checkpoints", json={"name": "done"})
    assert made.status_code == 201
    listed = (await client.get(f"{AT}/{session_id}/checkpoints")).json()["checkpoints"]
    assert [(one["kind"], one["name"]) for one in listed] == [
        ("step", "w0"),
        ("step", "w1"),
        ("named", "done"),
    ]
    assert [one["seq"] for one in listed] == sorted(one["seq"] for one in listed)


async def test_a_rewind_says_what_it_would_do_to_the_files_and_then_does_it(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    session_id = await start(client, plan=writes("a", "b"), workspace=str(folder))
    await engine.result(session_id)
    listed = (await client.get(f"{AT}/{session_id}/checkpoints")).json()["checkpoints"]
    seq = listed[0]["seq"]
    preview = (await client.get(f"{AT}/{session_id}/rewind", params={"seq": seq})).json()
    assert preview["changes"] == [{"path": "b", "kind": "delete", "why": None}]
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]
    response = await client.post(f"{AT}/{session_id}/rewind", json={"seq": seq})
    assert (response.status_code, response.json()["status"]) == (200, "paused")
    assert [path.name for path in folder.iterdir()] == ["a"]
    await client.post(f"{AT}/{session_id}/resume")
    await engine.result(session_id)
    assert (folder / "b").read_text() == "b"


async def test_a_rewind_leaves_the_files_when_it_is_told_to(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    session_id = await start(client, plan=writes("a"), workspace=str(folder))
    await engine.result(session_id)
    response = await client.post(f"{AT}/{session_id}/rewind", json={"seq": 1, "files": False})
    assert response.status_code == 200
    assert (folder / "a").exists()


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("seq", [0, -1, 1000, "x"])
async def test_a_rewind_to_what_is_not_there_is_refused(
    engine: Engine, client: httpx.AsyncClient, method: str, seq: object
) -> None:
    session_id, _ = await start_asking(engine, client)
    given: Any = {"params": {"seq": seq}} if method == "GET" else {"json": {"seq": seq}}
    response = await client.request(method, f"{AT}/{session_id}/rewind", **given)
    assert response.status_code == 422
    problem_of(response)
    assert (await engine.row(session_id)).status is Status.WAITING


async def test_a_running_session_is_not_rewound(client: httpx.AsyncClient, gate: Gate) -> None:
    session_id = await start(client, workflow="passing")
    await gate.reached()
    response = await client.post(f"{AT}/{session_id}/rewind", json={"seq": 1})
    assert response.status_code == 409
    assert "pause" in problem_of(response)["hint"]
    await client.post(f"{AT}/{session_id}/cancel")


async def test_a_fork_has_the_same_past_and_goes_its_own_way(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id, request_id = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/fork")
    assert (response.status_code, response.json()["status"]) == (201, "paused")
    other = SessionId(response.json()["session_id"])
    await client.post(f"{AT}/{other}/resume")
    await engine.settled(other)
    await client.post(f"{AT}/{other}/respond", json={"request_id": request_id, "value": "Ada"})
    assert await engine.result(other) == "Ada"
    assert (await engine.row(session_id)).status is Status.WAITING
    detail = (await client.get(f"{AT}/{other}")).json()
    assert detail["forked_from"] == {"session_id": session_id, "seq": 4}


async def test_a_fork_of_what_is_not_there_is_refused(engine: Engine, client: httpx.AsyncClient) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/fork", json={"seq": 1000})
    assert response.status_code == 422
    assert problem_of(response)["type"] == "urn:belayer:problem:BadCursor"


async def test_an_exported_session_has_the_same_events_on_another_home_and_one_that_says_so(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id = await start(client, workflow="echoing", input={"text": "héllo"})
    await engine.result(session_id)
    exported = await client.get(f"{AT}/{session_id}/export")
    assert exported.headers["content-disposition"] == f'attachment; filename="{session_id}.json"'
    async with home_engine(tmp_path / "elsewhere", echoing) as elsewhere, visiting(elsewhere) as other:
        taken = await other.post("/api/execution/import", content=exported.content)
        assert (taken.status_code, taken.json()["session_id"]) == (201, session_id)
        again = await other.post("/api/execution/import", content=exported.content)
        assert again.status_code == 201
        there = await other.get(f"{AT}/{session_id}/events")
    here = await client.get(f"{AT}/{session_id}/events")
    assert there.content.startswith(here.content.removesuffix(b'],"next":null}'))
    assert [event["type"] for event in there.json()["events"]][len(here.json()["events"]) :] == ["rehomed"]


async def test_a_session_that_had_not_ended_arrives_paused_and_goes_on_where_it_was(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request_id = await start_asking(engine, client)
    exported = await client.get(f"{AT}/{session_id}/export")
    async with home_engine(tmp_path / "elsewhere", asking) as elsewhere, visiting(elsewhere) as other:
        taken = await other.post("/api/execution/import", content=exported.content)
        assert taken.json()["status"] == "paused"
        await other.post(f"{AT}/{session_id}/respond", json={"request_id": request_id, "value": "Ada"})
        await other.post(f"{AT}/{session_id}/resume")
        assert await elsewhere.result(session_id) == "Ada"


async def test_a_file_that_was_changed_is_not_taken_in(engine: Engine, client: httpx.AsyncClient) -> None:
    session_id = await start(client, workflow="echoing", input={"text": "honest"})
    await engine.result(session_id)
    exported = (await client.get(f"{AT}/{session_id}/export")).content
    for content in (exported.replace(b"honest", b"forged"), exported[:-30], b"", b"[]", b"\xff\xfe"):
        response = await client.post("/api/execution/import", content=content)
        assert response.status_code == 422
        assert problem_of(response)["type"] == "urn:belayer:problem:Unimportable"


async def _drawn(run: Run) -> None:
    @act(effect="read")
    async def draw() -> None:
        await this_step().keep("page.png", "image/png", b"\x89PNG")
        await this_step().keep("page.html", "text/html", b"<script>alert(1)</script>")

    await run.step("look", draw)


async def test_a_picture_that_a_session_made_is_shown_and_anything_else_is_only_saved() -> None:
    async with memory_engine(_drawn) as engine, visiting(engine) as site:
        session = await engine.start(_drawn)
        await session.result()
        picture = await site.get(f"/api/execution/sessions/{session.id}/artifacts/look.page.png")
        page = await site.get(f"/api/execution/sessions/{session.id}/artifacts/look.page.html")
        missing = await site.get(f"/api/execution/sessions/{session.id}/artifacts/..%2Fsecret")
    assert (picture.content, picture.headers["content-type"]) == (b"\x89PNG", "image/png")
    assert page.headers["content-type"] == "application/octet-stream"
    assert page.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in page.headers["content-security-policy"]
    assert missing.status_code == 404
