"""What a person says over REST reaches the session once, or is refused with the reason."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from belayer.engine import Engine
from belayer.vocabulary.events.event import Status
from tests.api.visiting import AT, problem_of
from tests.api.work import (
    ASKS_TO_WRITE,
    NOBODY,
    decision,
    start,
    start_asking,
    start_to_approve,
    writes,
)
from tests.support.engines import Gate, until


async def test_an_answer_lets_the_session_go_on(engine: Engine, client: httpx.AsyncClient) -> None:
    session_id, request_id = await start_asking(engine, client)
    response = await client.post(
        f"{AT}/{session_id}/respond", json={"request_id": request_id, "value": "Ada"}
    )
    assert response.status_code == 200
    assert await engine.result(session_id) == "Ada"


async def test_the_same_answer_again_changes_nothing_and_another_is_refused(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id, request_id = await start_asking(engine, client)
    at = f"{AT}/{session_id}/respond"
    await client.post(at, json={"request_id": request_id, "value": "Ada"})
    await engine.result(session_id)
    before = (await engine.row(session_id)).last_seq
    again = await client.post(at, json={"request_id": request_id, "value": "Ada"})
    other = await client.post(at, json={"request_id": request_id, "value": "Bob"})
    assert (again.status_code, other.status_code) == (200, 409)
    assert problem_of(other)["type"] == "urn:belayer:problem:AlreadyDecided"
    assert (await engine.row(session_id)).last_seq == before


async def test_of_two_answers_at_once_one_counts_and_the_other_is_told(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id, request_id = await start_asking(engine, client)
    answers = await asyncio.gather(
        *(
            client.post(f"{AT}/{session_id}/respond", json={"request_id": request_id, "value": name})
            for name in ("Ada", "Bob")
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    winner = ("Ada", "Bob")[[answer.status_code for answer in answers].index(200)]
    assert await engine.result(session_id) == winner


async def test_a_request_of_another_session_is_as_unknown_as_one_that_never_was(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    mine, _ = await start_asking(engine, client)
    _, theirs = await start_asking(engine, client)
    at = f"{AT}/{mine}/respond"
    foreign = await client.post(at, json={"request_id": theirs, "value": "x"})
    unknown = await client.post(at, json={"request_id": NOBODY, "value": "x"})
    assert (foreign.status_code, unknown.status_code) == (404, 404)
    told = [json.dumps(problem_of(one)) for one in (foreign, unknown)]
    assert told[0].replace(theirs, "ID") == told[1].replace(NOBODY, "ID")


async def test_an_answer_of_the_wrong_kind_is_refused_and_the_question_stays(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id, request_id = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/respond", json={"request_id": request_id, "value": 7})
    assert response.status_code == 422
    assert problem_of(response)["type"] == "urn:belayer:problem:UnfitAnswer"
    assert request_id in (await engine.state(session_id)).pending


async def test_an_approval_lets_the_call_through(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    response = await client.post(f"{AT}/{session_id}/approve", json=decision(request, notes="fine"))
    assert response.status_code == 200
    await engine.result(session_id)
    assert (tmp_path / "work" / "note.txt").read_text() == "note.txt"


async def test_an_approval_can_be_remembered_for_the_session(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    session_id = await start(
        client, plan=writes("a", "a"), workspace=str(tmp_path / "work"), policy=ASKS_TO_WRITE
    )
    await engine.settled(session_id)
    (request,) = (await client.get(f"{AT}/{session_id}")).json()["pending"]
    await client.post(f"{AT}/{session_id}/approve", json=decision(request, remember="session"))
    await engine.result(session_id)


async def test_a_rejection_keeps_the_call_from_happening(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    response = await client.post(f"{AT}/{session_id}/reject", json=decision(request, reason="not now"))
    assert response.status_code == 200
    await engine.settled(session_id)
    assert not (tmp_path / "work" / "note.txt").exists()
    events = (await client.get(f"{AT}/{session_id}/events")).json()["events"]
    (said,) = [event["data"] for event in events if event["type"] == "user_response"]
    assert (said["approved"], said["notes"]) == (False, "not now")


@pytest.mark.parametrize("verb", ["approve", "reject"])
async def test_a_decision_on_something_else_than_what_is_shown_is_refused(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path, verb: str
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    response = await client.post(
        f"{AT}/{session_id}/{verb}", json={"request_id": request["request_id"], "digest": "0" * 64}
    )
    assert response.status_code == 409
    assert problem_of(response)["type"] == "urn:belayer:problem:DigestChanged"
    assert (await engine.state(session_id)).status is Status.WAITING


async def test_an_approval_of_files_that_changed_is_refused_and_asked_for_anew(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    (tmp_path / "work" / "note.txt").write_text("somebody else was here")
    response = await client.post(f"{AT}/{session_id}/approve", json=decision(request))
    assert response.status_code == 409
    assert problem_of(response)["type"] == "urn:belayer:problem:DigestChanged"
    await engine.settled(session_id)
    (anew,) = (await client.get(f"{AT}/{session_id}")).json()["pending"]
    assert anew["request_id"] != request["request_id"]
    assert anew["replaces"] == request["request_id"]
    assert (tmp_path / "work" / "note.txt").read_text() == "somebody else was here"
    await client.post(f"{AT}/{session_id}/approve", json=decision(anew))
    await engine.result(session_id)
    assert (tmp_path / "work" / "note.txt").read_text() == "note.txt"


async def test_an_approval_sent_twice_counts_once(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    both = [client.post(f"{AT}/{session_id}/approve", json=decision(request)) for _ in range(2)]
    assert [answer.status_code for answer in await asyncio.gather(*both)] == [200, 200]
    await engine.result(session_id)
    events = (await client.get(f"{AT}/{session_id}/events")).json()["events"]
    assert len([event for event in events if event["type"] == "user_response"]) == 1


async def test_of_an_approval_and_a_rejection_at_once_one_counts(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    both = [
        client.post(f"{AT}/{session_id}/{verb}", json=decision(request)) for verb in ("approve", "reject")
    ]
    assert sorted(answer.status_code for answer in await asyncio.gather(*both)) == [200, 409]


@pytest.mark.parametrize("verb", ["approve", "reject"])
async def test_nothing_is_decided_after_a_cancel(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path, verb: str
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    await client.post(f"{AT}/{session_id}/cancel")
    response = await client.post(f"{AT}/{session_id}/{verb}", json=decision(request))
    assert response.status_code == 409
    assert not (tmp_path / "work" / "note.txt").exists()


async def test_an_approval_is_not_decided_by_a_get(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session_id, request = await start_to_approve(engine, client, tmp_path / "work")
    for verb in ("approve", "reject", "respond"):
        response = await client.get(f"{AT}/{session_id}/{verb}", params=decision(request))
        assert response.status_code == 405
    assert (await engine.state(session_id)).status is Status.WAITING


async def test_a_question_cannot_be_approved_and_an_approval_cannot_be_answered(
    engine: Engine, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    question, request_id = await start_asking(engine, client)
    body = {"request_id": request_id, "digest": "x"}
    assert (await client.post(f"{AT}/{question}/approve", json=body)).status_code == 422
    approval, request = await start_to_approve(engine, client, tmp_path / "work")
    body = {"request_id": request["request_id"], "value": True}
    assert (await client.post(f"{AT}/{approval}/respond", json=body)).status_code == 422


@pytest.mark.parametrize(
    ("verb", "status"), [("pause", "paused"), ("interrupt", "interrupted"), ("cancel", "cancelled")]
)
@pytest.mark.parametrize("body", [None, {}, {"reason": "lunch"}])
async def test_a_session_is_stopped(
    engine: Engine, client: httpx.AsyncClient, verb: str, status: str, body: dict[str, str] | None
) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/{verb}", json=body)
    assert (response.status_code, response.json()["status"]) == (200, status)
    assert response.json()["reason"] == (body or {}).get("reason")


@pytest.mark.parametrize("verb", ["pause", "interrupt"])
async def test_a_stopped_session_goes_on_when_it_is_resumed(
    engine: Engine, client: httpx.AsyncClient, verb: str
) -> None:
    session_id, request_id = await start_asking(engine, client)
    await client.post(f"{AT}/{session_id}/{verb}")
    response = await client.post(f"{AT}/{session_id}/resume")
    assert (response.status_code, response.json()["status"]) == (200, "queued")
    await client.post(f"{AT}/{session_id}/respond", json={"request_id": request_id, "value": "Ada"})
    assert await engine.result(session_id) == "Ada"


async def test_an_interrupt_stops_the_step_that_runs(client: httpx.AsyncClient, gate: Gate) -> None:
    session_id = await start(client, workflow="passing")
    await gate.reached()
    response = await client.post(f"{AT}/{session_id}/interrupt")
    assert response.json()["status"] == "interrupted"
    await until(lambda: bool(gate.stopped))


async def test_a_pause_says_when_it_ends(engine: Engine, client: httpx.AsyncClient) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/pause", json={"timeout": 3600, "then": "cancel"})
    assert response.json()["wake_at"] is not None


@pytest.mark.parametrize("timeout", [0, -1, 1e-9, 1e12, "soon"])
async def test_a_pause_for_no_time_is_refused(
    engine: Engine, client: httpx.AsyncClient, timeout: object
) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/pause", json={"timeout": timeout})
    assert response.status_code == 422
    assert "timeout" in problem_of(response)["detail"]


@pytest.mark.parametrize(
    ("before", "verb"),
    [
        ("cancel", "pause"),
        ("cancel", "resume"),
        ("cancel", "interrupt"),
        ("cancel", "cancel"),
        ("pause", "pause"),
        ("pause", "interrupt"),
        (None, "resume"),
    ],
)
async def test_what_the_status_does_not_allow_is_refused_with_the_reason(
    engine: Engine, client: httpx.AsyncClient, before: str | None, verb: str
) -> None:
    session_id, _ = await start_asking(engine, client)
    if before is not None:
        await client.post(f"{AT}/{session_id}/{before}")
    status = (await engine.row(session_id)).status
    response = await client.post(f"{AT}/{session_id}/{verb}")
    assert response.status_code == 409
    told = problem_of(response)
    assert told["type"] == "urn:belayer:problem:IllegalTransition"
    assert str(status) in told["detail"]
    assert told["hint"]


async def test_a_message_is_kept_and_an_ended_session_takes_none(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/message", json={"text": "look here"})
    assert response.status_code == 200
    events = (await client.get(f"{AT}/{session_id}/events")).json()["events"]
    assert events[-1]["type"] == "message"
    assert events[-1]["data"]["text"] == "look here"
    await client.post(f"{AT}/{session_id}/cancel")
    refused = await client.post(f"{AT}/{session_id}/message", json={"text": "too late"})
    assert refused.status_code == 409


@pytest.mark.parametrize("text", ["", "x" * 10_001])
async def test_a_message_of_nothing_or_of_too_much_is_refused(
    engine: Engine, client: httpx.AsyncClient, text: str
) -> None:
    session_id, _ = await start_asking(engine, client)
    response = await client.post(f"{AT}/{session_id}/message", json={"text": text})
    assert response.status_code == 422
