"""A copy of a session, forked or imported, may do nothing that only the original was allowed to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from belayer import open_engine
from belayer.engine import Engine, Session
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.commands import Approve
from belayer.vocabulary.events.event import Effect, Json, Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.rules import Rule, Verdict
from belayer.workspace.workspace import Workspace


class Nothing(Params):
    pass


class Bell:
    """A tool with an effect outside; counts how often it rang."""

    def __init__(self) -> None:
        self.rung = 0
        self.tool = Tool("bell", "Ring it.", Nothing, self.ring, effect=Effect.EXTERNAL)

    async def ring(self, _params: Nothing, _workspace: Workspace) -> Json:
        self.rung += 1
        return self.rung


@pytest.fixture
def bell() -> Bell:
    return Bell()


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"steps": list(steps)}


RING = {"id": "ring", "tool": "bell"}
AGAIN = {"id": "again", "tool": "bell"}
ASK = {"id": "ask", "tool": "request_input", "params": {"prompt": "Go on?"}}
DELETE = {"id": "delete", "tool": "files.delete", "params": {"path": "precious"}}


async def approve(engine: Engine, session: Session, *, remember: bool) -> None:
    state = await session.settled()
    (request,) = state.pending.values()
    assert isinstance(request, ApprovalRequested)
    command = Approve(
        request_id=request.request_id, digest=request.digest, remember="session" if remember else None
    )
    await engine.tell(session.id, command)


async def carried(tmp_path: Path, content: bytes, bell: Bell) -> tuple[Status, SessionId, list[str]]:
    """A session that was brought to another home and resumed there: how it stands, and what it asks."""
    async with open_engine(tmp_path / "elsewhere", tools=[bell.tool]) as engine:
        session = engine.session(await engine.take_in(content))
        await session.resume()
        state = await session.settled()
        return state.status, session.id, [request.type for request in state.pending.values()]


async def test_a_rule_that_a_session_was_started_with_does_not_travel(tmp_path: Path, bell: Bell) -> None:
    rules = [Rule(verdict=Verdict.ALLOW, tool="bell")]
    async with open_engine(tmp_path / "here", tools=[bell.tool]) as engine:
        session = await engine.carry_out(plan(ASK, RING), policy=rules)
        await session.settled()
        await session.answer("yes")
        await session.result()
        await session.rewind(1)
        content = await engine.export(session.id)
    assert bell.rung == 1
    status, _, asked = await carried(tmp_path, content, bell)
    assert (status, asked) == (Status.WAITING, ["request_input"])
    async with open_engine(tmp_path / "elsewhere", tools=[bell.tool]) as engine:
        session = engine.session(session.id)
        await session.answer("yes")
        state = await session.settled()
        assert [request.type for request in state.pending.values()] == ["approval_request"]
    assert bell.rung == 1


@pytest.mark.parametrize("remember", [False, True])
async def test_an_approval_that_was_given_elsewhere_is_asked_for_again(
    tmp_path: Path, bell: Bell, remember: bool
) -> None:
    async with open_engine(tmp_path / "here", tools=[bell.tool]) as engine:
        session = await engine.carry_out(plan(RING, ASK, AGAIN))
        await session.settled()
        await session.pause()
        await approve(engine, session, remember=remember)
        content = await engine.export(session.id)
    assert bell.rung == 0
    status, _, asked = await carried(tmp_path, content, bell)
    assert (status, asked, bell.rung) == (Status.WAITING, ["approval_request"], 0)


async def test_a_fork_inherits_no_leave_to_do_without_asking(tmp_path: Path, bell: Bell) -> None:
    async with open_engine(tmp_path / "here", tools=[bell.tool]) as engine:
        session = await engine.carry_out(plan(RING, ASK, AGAIN))
        await approve(engine, session, remember=True)
        await session.settled()
        fork = await session.fork()
        for one, rung in ((fork, 1), (session, 2)):
            if one is fork:
                await one.resume()
                await one.settled()
            await one.answer("yes")
            state = await one.settled()
            assert bell.rung == rung
            assert state.status is (Status.WAITING if one is fork else Status.COMPLETED)


async def test_an_imported_session_works_in_a_folder_of_its_own(tmp_path: Path, bell: Bell) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("keep")
    async with open_engine(tmp_path / "here") as engine:
        session = await engine.carry_out(plan(ASK, DELETE), workspace=tmp_path / "mine")
        await session.settled()
        content = await engine.export(session.id)
    forged = json.loads(content)
    assert forged["events"][0]["data"]["begun"]["workspace"] == str(tmp_path / "mine")
    status, session_id, _ = await carried(tmp_path, content, bell)
    assert status is Status.WAITING
    async with open_engine(tmp_path / "elsewhere", tools=[bell.tool]) as engine:
        session = engine.session(session_id)
        assert (await session.state()).workspace == str(tmp_path / "elsewhere" / "workspaces" / session_id)
        await session.answer("yes")
        await session.settled()
    assert (tmp_path / "mine" / "precious").read_text() == "keep"


async def test_a_rewind_to_before_the_import_does_not_make_it_forget_that_it_is_a_copy(
    tmp_path: Path, bell: Bell
) -> None:
    rules = [Rule(verdict=Verdict.ALLOW, tool="bell")]
    async with open_engine(tmp_path / "here", tools=[bell.tool]) as engine:
        session = await engine.carry_out(plan(RING), policy=rules)
        await session.result()
        content = await engine.export(session.id)
    async with open_engine(tmp_path / "elsewhere", tools=[bell.tool]) as engine:
        session = engine.session(await engine.take_in(content))
        await session.rewind(2)
        await session.resume()
        assert (await session.settled()).status is Status.WAITING
    assert bell.rung == 1
