"""Several sessions over one real WebSocket: every frame of the chat either way, and what nobody may do with them."""

import asyncio
import json
import socket as sockets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from belayer.api.app import make_app
from belayer.api.chat import stream_chat
from belayer.api.door import Door
from belayer.api.fanout import Fanout
from belayer.engine import Engine, Session
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.commands import Say
from belayer.vocabulary.errors import StoreBusy
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from belayer.wiring import kept_in_memory
from tests.api.work import ASKS_TO_WRITE, NOBODY, start, writes
from tests.support.engines import Gate, home_engine, memory_engine, reached, settings, until
from tests.support.servers import TOKEN, Address, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

_PATIENCE = 30.0
_WELCOME = {"status": "connected", "message": "Belayer is here.", "session_id": None}


async def planning(run: Run) -> bool:
    return bool(await run.approve("plan", {"do": "this"}))


async def asking(run: Run) -> Any:
    return await run.ask("go", "Go on?", kind="confirm")


async def change(run: Run, message: str, repo_url: str) -> str:
    await run.approve("plan", {"message": message, "repo": repo_url})
    return "changed"


class Chat:
    """A client that looks for what it wants, and keeps what came before it for later."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.kept: list[tuple[str, dict[str, Any]]] = []

    async def say(self, event: str, **data: Any) -> None:
        await self.socket.send(json.dumps({"event": event, "data": data}))

    async def next(self) -> tuple[str, dict[str, Any]]:
        frame = json.loads(await self.socket.recv())
        assert frame.keys() == {"event", "data"}
        return frame["event"], frame["data"]

    async def until_it(self, event: str, **wanted: Any) -> dict[str, Any]:
        """The next frame like this."""
        number = 0
        while True:
            if number == len(self.kept):
                self.kept.append(await self.next())
            name, data = self.kept[number]
            if name == event and wanted.items() <= data.items():
                del self.kept[number]
                return data
            number += 1

    async def refused(self, event: str, **data: Any) -> dict[str, Any]:
        """Why this was not carried out."""
        await self.say(event, **data)
        return await self.until_it("error")

    async def join(self, session_id: str, after: int | None = None) -> None:
        """Follow a session, and say nothing to it."""
        given: dict[str, Any] = {} if after is None else {"after": after}
        await self.say("chat_message", message="", session_id=session_id, **given)
        await self.until_it("connection_status", status="connected", session_id=session_id)

    async def updates(self, count: int) -> list[dict[str, Any]]:
        return [await self.until_it("agent_update") for _ in range(count)]

    async def plan(self) -> dict[str, str]:
        """The next plan that is shown, as a decision names it."""
        shown = await self.until_it("agent_update", type="approval_request")
        return {"session_id": shown["session_id"], "plan_id": shown["data"]["request_id"]}

    async def to_the_end(self) -> tuple[list[tuple[str, dict[str, Any]]], int | None]:
        """Whatever still comes, and how the server closed the connection."""
        seen = self.kept
        with suppress(ConnectionClosed):
            while True:
                seen.append(await self.next())
        return seen, self.socket.close_code


@asynccontextmanager
async def chatting(server: Address, **options: Any) -> AsyncGenerator[Chat]:
    async with asyncio.timeout(_PATIENCE), server.socket_at("/ws/chat", **options) as socket:
        chat = Chat(socket)
        assert await chat.next() == ("connection_status", _WELCOME)
        yield chat


@asynccontextmanager
async def served_plainly(engine: Engine, fanout: Fanout) -> AsyncGenerator[Address]:
    """The chat behind a server that knows nothing of prepared frames."""
    listening = sockets.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = make_app(engine, settings(), Door.of(TOKEN, "127.0.0.1", port))
    stream_chat(app, fanout)
    server = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", log_config=None))
    running = asyncio.create_task(server._serve([listening]))
    await until(lambda: server.started or running.done())
    try:
        yield Address(f"http://127.0.0.1:{port}", TOKEN)
    finally:
        server.should_exit = True
        await running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncGenerator[Engine]:
    async with memory_engine(planning, asking) as engine:
        yield engine


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(engine: Engine) -> AsyncGenerator[Address]:
    async with serving(engine) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def planned(engine: Engine) -> Session:
    """A session that shows a plan; it has four events."""
    session = await engine.start(planning)
    await session.settled()
    return session


def kind(problem: dict[str, Any]) -> str:
    return problem["type"].removeprefix("urn:belayer:problem:")


def plan_of(session_id: SessionId, plan_id: object) -> dict[str, Any]:
    return {"session_id": session_id, "plan_id": plan_id}


async def plan_id_of(session: Session) -> str:
    return next(iter((await session.state()).pending))


class TestFollowing:
    async def test_a_session_that_is_joined_is_told_from_its_first_event_then_live(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            assert [update["seq"] for update in await chat.updates(4)] == [1, 2, 3, 4]
            await planned.approve()
            assert [update["seq"] for update in await chat.updates(4)] == [5, 6, 7, 8]

    async def test_an_update_has_the_very_bytes_of_the_envelope(
        self, server: Address, engine: Engine, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            got = [await chat.socket.recv(decode=False) for _ in range(4)]
            await planned.approve()
            got += [await chat.socket.recv(decode=False) for _ in range(4)]
        wires = await engine.events(planned.id)
        assert got == [b'{"event":"agent_update","data":%s}' % wire for wire in wires]

    async def test_a_client_is_told_which_session_it_follows(self, server: Address, planned: Session) -> None:
        async with chatting(server) as chat:
            await chat.say("chat_message", message="", session_id=planned.id[:30])
            name, data = await chat.next()
            assert (name, data["status"], data["session_id"]) == (
                "connection_status",
                "connected",
                planned.id,
            )

    async def test_a_message_is_said_to_the_session_and_seen_by_who_said_it(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.say("chat_message", message="mind the gap", repo_url="x", session_id=planned.id)
            said = await chat.until_it("agent_update", type="message")
            assert (said["seq"], said["data"]["text"]) == (5, "mind the gap")

    async def test_a_second_message_does_not_tell_everything_again(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            await chat.updates(4)
            for number in range(3):
                await chat.say("chat_message", message=f"{number}", session_id=planned.id)
            assert [update["seq"] for update in await chat.updates(3)] == [5, 6, 7]

    async def test_a_session_that_has_ended_can_be_read_but_not_talked_to(
        self, server: Address, planned: Session
    ) -> None:
        await planned.approve()
        await planned.result()
        async with chatting(server) as chat:
            refused = await chat.refused("chat_message", message="hello?", session_id=planned.id)
            assert (kind(refused), refused["status"]) == ("IllegalTransition", 409)
            assert refused["session_id"] == planned.id
            assert [update["seq"] for update in await chat.updates(8)] == list(range(1, 9))

    async def test_who_comes_back_with_a_cursor_gets_only_what_it_missed(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            last = (await chat.updates(2))[-1]["seq"]
            chat.socket.transport.abort()
        await planned.approve()
        await planned.result()
        async with chatting(server) as chat:
            await chat.join(planned.id, last)
            assert [update["seq"] for update in await chat.updates(6)] == [3, 4, 5, 6, 7, 8]

    async def test_a_cursor_on_a_session_that_is_followed_already_begins_anew_from_there(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            await chat.updates(4)
            await chat.join(planned.id, 2)
            assert [update["seq"] for update in await chat.updates(2)] == [3, 4]
            await planned.approve()
            assert [update["seq"] for update in await chat.updates(4)] == [5, 6, 7, 8]

    @pytest.mark.parametrize("cursor", [5, 99, 10**15, 10**18])
    async def test_a_cursor_that_the_session_never_gave_is_refused_and_the_connection_stays(
        self, server: Address, planned: Session, cursor: int
    ) -> None:
        async with chatting(server) as chat:
            refused = await chat.refused("chat_message", message="", session_id=planned.id, after=cursor)
            assert (kind(refused), refused["session_id"]) == ("BadCursor", planned.id)
            await chat.join(planned.id, 3)
            assert [update["seq"] for update in await chat.updates(1)] == [4]

    async def test_text_that_is_being_written_comes_as_a_snapshot_then_token_by_token(self) -> None:
        gate = Gate()

        async def write() -> str:
            this_step().show("token", message="say", text="Good")
            await gate.pass_("said")
            this_step().show("token", message="say", text=" day")
            return "Good day"

        async def writing(run: Run) -> None:
            await run.step("say", write)

        async with memory_engine(writing) as engine, serving(engine) as server, chatting(server) as chat:
            session = await engine.start(writing)
            await gate.reached()
            await chat.join(session.id)
            snapshot = await chat.until_it("agent_update", type="snapshot")
            gate.open()
            token = await chat.until_it("agent_update", type="token")
        assert (snapshot["seq"], snapshot["data"]) == (None, {"messages": {"say": "Good"}})
        assert token["data"]["text"] == " day"


class TestSeveralSessions:
    async def test_two_sessions_share_a_connection_each_in_its_own_order(
        self, server: Address, engine: Engine
    ) -> None:
        one, two = [await engine.start(planning) for _ in range(2)]
        async with chatting(server) as chat:
            await chat.join(one.id)
            await chat.join(two.id)
            plans = [await chat.plan(), await chat.plan()]
            for plan in reversed(plans):
                await chat.say("approve_plan", **plan, approved=plan["session_id"] == one.id)
            assert (await one.result(), await two.result()) == (True, False)
        async with chatting(server) as chat:
            await chat.say("chat_message", message="", session_id=one.id)
            await chat.say("chat_message", message="", session_id=two.id)
            count = (await one.state()).seq + (await two.state()).seq
            seen = await chat.updates(count)
        for session in (one, two):
            seqs = [update["seq"] for update in seen if update["session_id"] == session.id]
            assert seqs == list(range(1, len(seqs) + 1))

    async def test_a_session_that_nobody_joined_is_not_told(self, server: Address, engine: Engine) -> None:
        joined, other = [await engine.start(asking) for _ in range(2)]
        async with chatting(server) as chat:
            await chat.join(joined.id)
            await other.settled()
            await joined.settled()
            await other.answer(True)
            await joined.answer(True)
            seen = await chat.updates((await joined.settled()).seq)
        assert {update["session_id"] for update in seen} == {joined.id}

    async def test_a_connection_follows_only_so_many(
        self, server: Address, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("belayer.api.chat._MOST_FOLLOWED", 2)
        sessions = [await engine.start(asking) for _ in range(3)]
        async with chatting(server) as chat:
            for session in sessions[:2]:
                await chat.join(session.id)
            refused = await chat.refused("chat_message", message="", session_id=sessions[2].id)
            assert (kind(refused), refused["status"]) == ("TooManySessions", 429)
            await chat.join(sessions[1].id, 0)

    async def test_one_whose_log_cannot_be_read_does_not_take_the_others_along(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keeping = kept_in_memory()
        async with (
            memory_engine(asking, keeping=keeping) as engine,
            serving(engine) as server,
            chatting(server) as chat,
        ):
            bad, good = [await engine.start(asking) for _ in range(2)]
            await bad.settled()
            await good.settled()
            read = keeping.store.read

            async def failing(session_id: SessionId, *more: Any) -> Any:
                if session_id == bad.id:
                    raise StoreBusy("Busy.", "Wait.")
                return await read(session_id, *more)

            await chat.join(good.id)
            await chat.updates(4)
            with monkeypatch.context() as broken:
                broken.setattr(keeping.store, "read", failing)
                await chat.join(bad.id)
                error = await chat.until_it("error")
                status = await chat.until_it("connection_status")
            assert (kind(error), error["session_id"]) == ("StoreBusy", bad.id)
            assert (status["status"], status["session_id"]) == ("error", bad.id)
            await good.answer(True)
            assert [update["seq"] for update in await chat.updates(4)] == [5, 6, 7, 8]
            await chat.join(bad.id)
            assert [update["seq"] for update in await chat.updates(4)] == [1, 2, 3, 4]

    async def test_one_that_breaks_off_while_it_is_followed_can_be_joined_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with (
            memory_engine(asking, drives="none") as engine,
            serving(engine) as server,
            chatting(server) as chat,
        ):
            session = await engine.start(asking)
            with monkeypatch.context() as broken:
                broken.setattr(engine, "follow", _breaking)
                await chat.join(session.id)
                status = await chat.until_it("connection_status")
            assert (status["status"], status["session_id"]) == ("error", session.id)
            await chat.join(session.id, 1)
            await engine.tell(session.id, Say(text="x"))
            assert [update["seq"] for update in await chat.updates(2)] == [1, 2]


async def _breaking(*_: Any) -> AsyncGenerator[Any]:
    raise StoreBusy("Busy.", "Wait.")
    yield


class TestStarting:
    async def test_without_the_workflow_a_change_is_refused_and_nothing_is_started(
        self, server: Address, engine: Engine
    ) -> None:
        before = len(await engine.sessions())
        async with chatting(server) as chat:
            refused = await chat.refused("chat_message", message="rename it", repo_url="https://x.test/r")
        assert (kind(refused), refused["status"], refused["session_id"]) == ("UnknownWorkflow", 422, None)
        assert "Nothing was started" in refused["detail"]
        assert refused["hint"]
        assert len(await engine.sessions()) == before

    async def test_with_the_workflow_it_is_started_followed_and_carried_through(self) -> None:
        async with memory_engine(change) as engine, serving(engine) as server, chatting(server) as chat:
            await chat.say("chat_message", message="rename it", repo_url="https://x.test/r", session_id=None)
            joined = await chat.until_it("connection_status")
            plan = await chat.plan()
            assert plan["session_id"] == joined["session_id"]
            await chat.say("approve_plan", **plan, approved=True)
            session = engine.session(SessionId(plan["session_id"]))
            assert await session.result() == "changed"
            state = await session.state()
        assert state.workflow == "change"
        assert state.input == {"message": "rename it", "repo_url": "https://x.test/r"}

    async def test_no_more_are_started_than_may_be_live(self) -> None:
        async with (
            memory_engine(change) as engine,
            serving(engine, max_sessions=1) as server,
            chatting(server) as chat,
        ):
            await chat.say("chat_message", message="one", repo_url="r")
            await chat.plan()
            refused = await chat.refused("chat_message", message="two", repo_url="r")
            assert (kind(refused), refused["status"]) == ("TooManySessions", 429)
            assert len(await engine.sessions()) == 1

    async def test_a_connection_that_follows_all_it_may_starts_none(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("belayer.api.chat._MOST_FOLLOWED", 1)
        async with memory_engine(change) as engine, serving(engine) as server, chatting(server) as chat:
            await chat.say("chat_message", message="one", repo_url="r")
            await chat.plan()
            assert kind(await chat.refused("chat_message", message="two", repo_url="r")) == "TooManySessions"
            assert len(await engine.sessions()) == 1

    @pytest.mark.parametrize(
        "data",
        [
            {"message": "x"},
            {"message": "", "repo_url": "r"},
            {"message": " \n", "repo_url": "r"},
            {"message": "x", "repo_url": ""},
            {"message": "x", "repo_url": "r" * 2_001},
            {"message": "x", "repo_url": "r", "after": 0},
            {"message": "x", "repo_url": "r", "session_id": ""},
        ],
        ids=repr,
    )
    async def test_a_request_that_says_too_little_is_refused_with_what_is_missing(
        self, server: Address, data: dict[str, Any]
    ) -> None:
        async with chatting(server) as chat:
            refused = await chat.refused("chat_message", **data)
        assert (kind(refused), refused["status"]) == ("UnfitRequest", 422)


class TestDeciding:
    async def test_a_plan_that_was_shown_is_approved_with_notes(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            await chat.say("approve_plan", **await chat.plan(), approved=True, notes="fine")
            said = await chat.until_it("agent_update", type="user_response")
        assert (said["data"]["approved"], said["data"]["notes"]) == (True, "fine")
        assert await planned.result() is True

    async def test_a_plan_that_is_shown_live_can_be_approved(self, server: Address, engine: Engine) -> None:
        gate = Gate()

        async def thinking(run: Run) -> bool:
            await run.step("think", gate.pass_, "it")
            return bool(await run.approve("plan", {"do": "this"}))

        session = await engine.start(thinking)
        async with chatting(server) as chat:
            await gate.reached()
            await chat.join(session.id)
            await chat.updates((await session.state()).seq)
            gate.open()
            await chat.say("approve_plan", **await chat.plan(), approved=True)
            assert await session.result() is True

    @pytest.mark.parametrize(
        ("event", "said"),
        [("reject_plan", {"reason": "too much"}), ("approve_plan", {"approved": False, "notes": "too much"})],
    )
    async def test_a_no_is_a_no_however_it_is_said(
        self, server: Address, planned: Session, event: str, said: dict[str, Any]
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            await chat.say(event, **await chat.plan(), **said)
            answer = await chat.until_it("agent_update", type="user_response")
        assert (answer["data"]["approved"], answer["data"]["notes"]) == (False, "too much")
        assert await planned.result() is False

    @pytest.mark.parametrize(
        ("event", "said"), [("approve_plan", {"approved": True}), ("reject_plan", {"reason": "no"})]
    )
    async def test_a_plan_that_was_never_shown_here_cannot_be_decided_on(
        self, server: Address, planned: Session, event: str, said: dict[str, Any]
    ) -> None:
        plan = plan_of(planned.id, await plan_id_of(planned))
        async with chatting(server) as elsewhere, chatting(server) as chat:
            await elsewhere.join(planned.id)
            assert await elsewhere.plan() == plan
            refused = await chat.refused(event, **plan, **said)
            assert (kind(refused), refused["status"]) == ("UnknownRequest", 404)
            assert refused["session_id"] == planned.id
        assert (await planned.state()).status is Status.WAITING

    async def test_a_plan_before_the_cursor_has_to_be_shown_first(
        self, server: Address, planned: Session
    ) -> None:
        plan = plan_of(planned.id, await plan_id_of(planned))
        async with chatting(server) as chat:
            await chat.join(planned.id, 4)
            refused = await chat.refused("approve_plan", **plan, approved=True)
            assert kind(refused) == "UnknownRequest"
            assert '"after": 0' in refused["hint"]
            await chat.join(planned.id, 0)
            assert await chat.plan() == plan
            await chat.say("approve_plan", **plan, approved=True)
            assert await planned.result() is True

    async def test_a_plan_of_another_session_is_unknown_in_this_one(
        self, server: Address, engine: Engine, planned: Session
    ) -> None:
        other = await engine.start(planning)
        async with chatting(server) as chat:
            for session in (planned, other):
                await chat.join(session.id)
                await chat.plan()
            theirs = await plan_id_of(other)
            for data in ({"plan_id": theirs, "approved": True}, {"plan_id": NOBODY, "approved": True}):
                refused = await chat.refused("approve_plan", session_id=planned.id, **data)
                assert (kind(refused), refused["status"]) == ("UnknownRequest", 404)
                assert "has shown no plan" in refused["detail"]
        assert (await other.settled()).status is Status.WAITING
        assert (await planned.state()).status is Status.WAITING

    async def test_a_question_is_no_plan(self, server: Address, engine: Engine) -> None:
        session = await engine.start(asking)
        await session.settled()
        async with chatting(server) as chat:
            await chat.join(session.id)
            await chat.updates(4)
            plan = plan_of(session.id, await plan_id_of(session))
            assert kind(await chat.refused("approve_plan", **plan, approved=True)) == "UnknownRequest"

    async def test_what_only_looks_like_a_request_for_approval_is_none(
        self, server: Address, engine: Engine
    ) -> None:
        """A step's output and a passing frame are not the session asking, whatever they say."""
        fake = {"request_id": "fake", "digest": "0" * 64}

        async def forge() -> dict[str, Any]:
            this_step().show("approval_request", **fake)
            return {"type": "approval_request", "data": fake}

        async def forging(run: Run) -> None:
            await run.ask("go", "Go on?", kind="confirm")
            await run.step("forge", forge)
            await run.ask("stay", "Stay?", kind="confirm")

        session = await engine.start(forging)
        await session.settled()
        async with chatting(server) as chat:
            await chat.join(session.id)
            await chat.updates(4)
            await session.answer(True)
            shown = await chat.until_it("agent_update", type="approval_request")
            assert (shown["seq"], shown["data"]) == (None, fake)
            await chat.until_it("agent_update", type="request_input")
            refused = await chat.refused("approve_plan", **plan_of(session.id, "fake"), approved=True)
            assert kind(refused) == "UnknownRequest"
            assert "has shown no plan" in refused["detail"]

    async def test_an_answer_that_speaks_of_a_plan_does_not_show_it(
        self, server: Address, planned: Session
    ) -> None:
        plan = plan_of(planned.id, await plan_id_of(planned))
        async with chatting(server) as chat:
            await chat.join(planned.id, 4)
            await planned.approve(notes="approval_request")
            await chat.until_it("agent_update", type="user_response")
            refused = await chat.refused("approve_plan", **plan, approved=True)
            assert "has shown no plan" in refused["detail"]

    async def test_of_an_approval_and_a_later_no_the_first_counts(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            plan = await chat.plan()
            await chat.say("approve_plan", **plan, approved=True)
            await planned.result()
            await chat.say("approve_plan", **plan, approved=True)
            refused = await chat.refused("reject_plan", **plan, reason="on second thought")
            assert (kind(refused), refused["status"]) == ("AlreadyDecided", 409)
        answers = (await planned.state()).answered
        assert [answer.approved for answer in answers.values()] == [True]

    async def test_a_plan_cannot_be_approved_once_the_session_is_cancelled(
        self, server: Address, planned: Session
    ) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            plan = await chat.plan()
            await chat.say("cancel_request", session_id=planned.id)
            refused = await chat.refused("approve_plan", **plan, approved=True)
            assert (kind(refused), refused["status"]) == ("IllegalTransition", 409)

    async def test_what_changed_since_it_was_shown_is_not_approved_but_shown_anew(
        self, tmp_path: Path
    ) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        async with (
            home_engine(tmp_path / "home") as engine,
            serving(engine) as server,
            server.client() as client,
            chatting(server) as chat,
        ):
            session_id = await start(
                client, plan=writes("note.txt"), workspace=str(folder), policy=ASKS_TO_WRITE
            )
            await chat.join(session_id)
            first = await chat.plan()
            await engine.settled(session_id)
            (folder / "note.txt").write_text("somebody else was here")
            await chat.say("approve_plan", **first, approved=True)
            refused, anew = await chat.until_it("error"), await chat.plan()
            assert (kind(refused), refused["status"]) == ("DigestChanged", 409)
            assert anew["plan_id"] != first["plan_id"]
            assert (folder / "note.txt").read_text() == "somebody else was here"
            assert kind(await chat.refused("approve_plan", **first, approved=True)) == "UnknownRequest"
            await chat.say("approve_plan", **anew, approved=True)
            await engine.result(session_id)
        assert (folder / "note.txt").read_text() == "note.txt"

    async def test_a_request_is_cancelled(self, server: Address, planned: Session) -> None:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            await chat.say("cancel_request", session_id=planned.id)
            await reached(planned, Status.CANCELLED)
            refused = await chat.refused("cancel_request", session_id=planned.id)
            assert (kind(refused), refused["status"]) == ("IllegalTransition", 409)

    @pytest.mark.parametrize("named", [NOBODY, "nope", "é", " ", "%", "x" * 200])
    @pytest.mark.parametrize(
        ("event", "data"),
        [
            ("chat_message", {"message": "x", "repo_url": "r"}),
            ("approve_plan", {"plan_id": "p", "approved": True}),
            ("reject_plan", {"plan_id": "p", "reason": "no"}),
            ("cancel_request", {}),
        ],
        ids=lambda given: given if isinstance(given, str) else "",
    )
    async def test_a_session_that_is_not_there_is_unknown_to_every_frame(
        self, server: Address, event: str, data: dict[str, Any], named: str
    ) -> None:
        async with chatting(server) as chat:
            refused = await chat.refused(event, session_id=named, **data)
        assert (kind(refused), refused["status"]) == ("UnknownSession", 404)
        assert refused["session_id"] == named


class TestHostileFrames:
    @pytest.mark.parametrize(
        "frame",
        [
            "",
            "x",
            "null",
            "5",
            "[]",
            '"chat_message"',
            "{}",
            '{"event":"cancel_request"',
            '{"event":"cancel_request"}',
            '{"event":"cancel_request","data":null}',
            '{"event":"cancel_request","data":[]}',
            '{"event":"cancel_request","data":{"session_id":null}}',
            '{"event":"cancel_request","data":{"session_id":["SESSION"]}}',
            '{"event":"cancel_request","data":{"session_id":"SESSION"},"more":1}',
            '{"event":"cancel_request","data":{"session_id":"SESSION","session_id":"x"}}',
            '{"event":"cancel_request","data":{"session_id":"SESSION","force":true}}',
            '{"event":"cancel_request","data":{"session_id":"%s"}}' % ("x" * 201),
            '{"type":"cancel","data":{"session_id":"SESSION"}}',
            '{"event":"nope","data":{"session_id":"SESSION"}}',
            '{"event":5,"data":{}}',
            '{"event":"agent_update","data":{"session_id":"SESSION"}}',
            '{"event":"approve_plan","data":{"session_id":"SESSION","plan_id":"PLAN"}}',
            '{"event":"approve_plan","data":{"session_id":"SESSION","plan_id":"PLAN","approved":"true"}}',
            '{"event":"approve_plan","data":{"session_id":"SESSION","plan_id":"PLAN","approved":1}}',
            '{"event":"approve_plan","data":{"session_id":"SESSION","plan_id":5,"approved":true}}',
            '{"event":"approve_plan","data":{"session_id":"SESSION","plan_id":"PLAN","approved":true,"digest":"x"}}',
            '{"event":"approve_plan","data":{"session_id":"SESSION","plan_id":"%s","approved":true}}'
            % ("x" * 201),
            '{"event":"reject_plan","data":{"session_id":"SESSION","plan_id":"PLAN"}}',
            '{"event":"chat_message","data":{"session_id":"SESSION"}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":5}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"%s"}}' % ("x" * 10_001),
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"\\ud800"}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"","after":-1}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"","after":"0"}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"","after":true}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"","after":NaN}}',
            '{"event":"chat_message","data":{"session_id":"SESSION","message":"","after":1e400}}',
            '{"event":"%s"}' % ("x" * 100_000),
            "[" * 10_000,
            '{"a":' * 10_000 + "1" + "}" * 10_000,
            b"",
            b'{"event":"cancel_request","data":{"session_id":"SESSION"}}',
            b"\xff\xfe",
            "\x1b]52;c;eA==\x07\r\nfake log line",
        ],
        ids=lambda frame: repr(frame[:70]),
    )
    async def test_a_frame_that_is_none_is_answered_with_an_error_and_the_connection_stays(
        self, server: Address, planned: Session, frame: str | bytes
    ) -> None:
        before = await planned.state()
        async with chatting(server) as chat:
            await chat.join(planned.id)
            plan = await chat.plan()
            await chat.updates(3)
            if isinstance(frame, str):
                frame = frame.replace("SESSION", planned.id).replace("PLAN", plan["plan_id"])
            await chat.socket.send(frame)
            name, refused = await chat.next()
            assert (name, refused["status"]) == ("error", 422)
            assert refused["detail"]
            assert len(json.dumps(refused)) < 5_000
            await chat.join(planned.id, 3)
            assert [update["seq"] for update in await chat.updates(1)] == [4]
        assert (await planned.state()).seq == before.seq

    async def test_a_frame_that_is_too_large_ends_the_connection(self, server: Address) -> None:
        async with chatting(server) as chat:
            await chat.socket.send("x" * 1_000_001)
            assert (await chat.to_the_end())[1] == 1009

    async def test_who_sends_too_much_is_told_so_and_stays(self, server: Address) -> None:
        async with chatting(server) as chat:
            for _ in range(300):
                await chat.say("cancel_request", session_id=NOBODY)
            errors = [await chat.until_it("error") for _ in range(300)]
        assert {kind(error) for error in errors} == {"UnknownSession", "RateLimited"}
        assert {error["session_id"] for error in errors} == {NOBODY}

    async def test_what_nobody_foresaw_is_told_without_what_it_was(
        self, server: Address, engine: Engine, planned: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def failing(*_: Any) -> Any:
            raise ZeroDivisionError("a secret")

        async with chatting(server) as chat:
            with monkeypatch.context() as broken:
                broken.setattr(engine, "tell", failing)
                refused = await chat.refused("cancel_request", session_id=planned.id)
            assert (kind(refused), refused["status"]) == ("InternalError", 500)
            assert refused["reference"]
            assert "secret" not in json.dumps(refused)
            await chat.join(planned.id)


async def test_who_does_not_read_is_dropped_and_comes_back_with_its_cursor(
    server: Address, planned: Session
) -> None:
    async with chatting(server) as slow:
        await slow.join(planned.id)
        await slow.updates(4)
        slow.socket.transport.pause_reading()
        for _ in range(1_400):
            await planned.engine.tell(planned.id, Say(text="x" * 9_900))
        slow.socket.transport.resume_reading()
        seen, code = await slow.to_the_end()
        assert code == 4008
        assert [data["seq"] for _, data in seen] == list(range(5, 5 + len(seen)))
    async with chatting(server) as again:
        await again.join(planned.id, 4 + len(seen))
        rest = [update["seq"] for update in await again.updates(1_400 - len(seen))]
    assert rest == list(range(5 + len(seen), 1_405))


async def test_who_goes_leaves_nothing_behind(server: Address, engine: Engine, planned: Session) -> None:
    def followers() -> int:
        return sum(len(channel.followers) for channel in engine._parts.feed._channels.values())

    await until(lambda: followers() == 0)
    other = await engine.start(asking)
    tasks = len(asyncio.all_tasks())
    for leaves in (ClientConnection.close, _cut) * 20:
        async with chatting(server) as chat:
            await chat.join(planned.id)
            await chat.join(other.id)
            await leaves(chat.socket)
    await until(lambda: followers() == 0)
    await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def _cut(socket: ClientConnection) -> None:
    socket.transport.abort()


class TestStopping:
    async def test_who_chats_is_told_once_that_the_server_stops(self) -> None:
        async with memory_engine(planning) as engine, asyncio.timeout(_PATIENCE):
            sessions = [await engine.start(planning) for _ in range(2)]
            async with serving(engine) as server:
                chat = Chat(await server.socket_at("/ws/chat"))
                await chat.next()
                for session in sessions:
                    await chat.join(session.id)
                    await chat.plan()
            seen, code = await chat.to_the_end()
        statuses = [
            (data["status"], data["session_id"]) for name, data in seen if name == "connection_status"
        ]
        assert (statuses, code) == ([("disconnected", None)], 1012)
        assert seen[-1][0] == "connection_status"

    async def test_who_follows_nothing_is_let_go_too(self) -> None:
        async with memory_engine() as engine, asyncio.timeout(_PATIENCE):
            async with serving(engine) as server:
                chat = Chat(await server.socket_at("/ws/chat"))
                await chat.next()
            seen, code = await chat.to_the_end()
            assert ([data["status"] for _, data in seen], code) == (["disconnected"], 1012)


async def test_a_server_without_prepared_frames_does_the_same(engine: Engine, planned: Session) -> None:
    other = await engine.start(asking)
    async with (
        Fanout(engine) as fanout,
        served_plainly(engine, fanout) as server,
        chatting(server) as chat,
    ):
        await chat.join(other.id)
        await chat.join(planned.id)
        await chat.say("approve_plan", **await chat.plan(), approved=True)
        live = await chat.until_it("agent_update", session_id=planned.id, type="user_response")
        assert live["seq"] == 5
        assert await planned.result() is True
        fanout.stop()
        seen, code = await chat.to_the_end()
    statuses = [data["status"] for name, data in seen if name == "connection_status"]
    assert (statuses, code) == (["disconnected"], 1012)


class TestTheDoor:
    async def refused(self, opening: Any) -> tuple[int, str]:
        with pytest.raises(InvalidStatus) as raised:
            await opening
        response = raised.value.response
        assert response.headers["content-type"] == "application/problem+json"
        return response.status_code, kind(json.loads(response.body or b"{}"))

    @pytest.mark.parametrize("path", ["/ws/chat", "/ws/nothing"])
    async def test_without_the_token_nobody_comes_in(self, server: Address, path: str) -> None:
        opening = server.socket_at(f"{path}?token={TOKEN}", additional_headers={})
        assert await self.refused(opening) == (401, "NoToken")

    @pytest.mark.parametrize("origin", ["https://evil.test", "null", "http://127.0.0.1"])
    async def test_a_page_of_another_site_is_refused_even_with_the_cookie(
        self, server: Address, origin: str
    ) -> None:
        opening = server.socket_at("/ws/chat", additional_headers=server.cookie, origin=origin)
        assert await self.refused(opening) == (403, "ForeignOrigin")

    async def test_a_browsers_own_page_comes_in_with_its_cookie(self, server: Address) -> None:
        async with chatting(server, additional_headers=server.cookie, origin=server.url):
            pass

    @pytest.mark.parametrize(
        "path", ["/ws/nothing", "/ws/", "/ws", "/ws/chat/", "/ws/chat/x", "/ws/execution", "/", "/health"]
    )
    async def test_a_socket_that_there_is_none_of_is_a_404_before_the_handshake(
        self, server: Address, path: str
    ) -> None:
        assert await self.refused(server.socket_at(path)) == (404, "NoSuchAddress")

    @pytest.mark.parametrize("path", ["/ws/chat", "/ws/nothing"])
    async def test_a_plain_request_finds_nothing_where_a_socket_is(self, server: Address, path: str) -> None:
        async with server.client() as client:
            response = await client.get(path)
        assert (response.status_code, kind(response.json())) == (404, "NoSuchAddress")
