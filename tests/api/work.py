"""Sessions for tests of the API: started over it, brought to where something is wanted of a person."""

from pathlib import Path
from typing import Any

import httpx

from belayer.engine import Engine
from belayer.execution.run import Run
from belayer.vocabulary.ids import SessionId
from tests.api.visiting import AT

NOBODY = "00000000-0000-7000-8000-000000000000"
"""The id of a session that is not there."""
ASKS_TO_WRITE = [{"verdict": "ask", "tool": "files.write"}]


async def asking(run: Run) -> str:
    return await run.ask("name", "Your name?")


async def echoing(run: Run, text: str) -> str:
    return text


async def start(client: httpx.AsyncClient, **body: Any) -> SessionId:
    response = await client.post("/api/execution/start", json=body)
    assert response.status_code == 201, response.text
    return SessionId(response.json()["session_id"])


async def start_asking(engine: Engine, client: httpx.AsyncClient) -> tuple[SessionId, str]:
    """A session that waits for an answer, and what it asks."""
    session_id = await start(client, workflow="asking")
    state = await engine.settled(session_id)
    return session_id, next(iter(state.pending))


def writes(*names: str) -> dict[str, Any]:
    """A plan that writes its name into each file."""
    steps = [
        {"id": f"w{number}", "tool": "files.write", "params": {"path": name, "content": name}}
        for number, name in enumerate(names)
    ]
    return {"title": "write things", "steps": steps}


async def start_to_approve(
    engine: Engine, client: httpx.AsyncClient, folder: Path
) -> tuple[SessionId, dict[str, Any]]:
    """A session that wants to write a file and has to ask, and its request."""
    folder.mkdir(exist_ok=True)
    session_id = await start(client, plan=writes("note.txt"), workspace=str(folder), policy=ASKS_TO_WRITE)
    await engine.settled(session_id)
    (request,) = (await client.get(f"{AT}/{session_id}")).json()["pending"]
    return session_id, request


def decision(request: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"request_id": request["request_id"], "digest": request["digest"], **more}
