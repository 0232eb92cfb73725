"""A session over a real WebSocket: everything that may be sent either way, and everything that may not."""

import asyncio
import json
import socket as sockets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from belayer.api.app import make_app
from belayer.api.door import Door
from belayer.api.fanout import Fanout
from belayer.api.socket import stream_live
from belayer.engine import Engine, Session
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.commands import Say
from tests.support.engines import Gate, memory_engine, reached, settings, until
from tests.support.servers import TOKEN, Address, counting, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

_PATIENCE = 30.0


async def asking(run: Run) -> Any:
    return await run.ask("go", "Go on?", kind="confirm")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncGenerator[Engine]:
    async with memory_engine(asking, counting) as engine:
        yield engine


@asynccontextmanager
async def served_plainly(engine: Engine) -> AsyncGenerator[Address]:
    """The same app behind a server that knows nothing of prepared frames."""
    listening = sockets.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    async with Fanout(engine) as fanout:
        app = make_app(engine, settings(), Door.of(TOKEN, "127.0.0.1", port))
        stream_live(app, fanout)
        server = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", log_config=None))
        serving = asyncio.create_task(server._serve([listening]))
        await until(lambda: server.started or serving.done())
        try:
            yield Address(f"http://127.0.0.1:{port}", TOKEN)
        finally:
            fanout.stop()
            server.should_exit = True
            await serving


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(engine: Engine) -> AsyncGenerator[Address]:
    async with serving(engine) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def waiting(engine: Engine) -> Session:
    """A session that asks something; it has four events."""
    session = await engine.start(asking)
    await session.settled()
    return session


async def frames(socket: ClientConnection, count: int) -> list[dict[str, Any]]:
    return [json.loads(await socket.recv()) for _ in range(count)]


async def told(socket: ClientConnection, type_: str, data: Any = None, **more: Any) -> dict[str, Any]:
    """The answer to a frame; events that come in between are passed over."""
    await socket.send(json.dumps({"type": type_, **({} if data is None else {"data": data}), **more}))
    return await answer(socket)


async def answer(socket: ClientConnection) -> dict[str, Any]:
    while True:
        (frame,) = await frames(socket, 1)
        if frame["type"] in ("ack", "error") and "seq" not in frame:
            return frame


async def closed(socket: ClientConnection, seen: list[int] | None = None) -> tuple[int | None, str | None]:
    """How the server closed the connection, once everything was read. `seen` gets the seqs that came before."""
    with suppress(ConnectionClosed):
        while True:
            (frame,) = await frames(socket, 1)
            if seen is not None:
                seen.append(frame["seq"])
    return socket.close_code, socket.close_reason


async def refused(opening: Any) -> tuple[int, dict[str, Any]]:
    """How the server refused the handshake."""
    with pytest.raises(InvalidStatus) as raised:
        await opening
    response = raised.value.response
    return response.status_code, json.loads(response.body or b"{}")


class TestFollowing:
    async def test_a_client_gets_what_it_missed_then_what_comes(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id, 2) as socket:
            assert [frame["seq"] for frame in await frames(socket, 2)] == [3, 4]
            await waiting.answer(True)
            assert [frame["seq"] for frame in await frames(socket, 4)] == [5, 6, 7, 8]

    async def test_without_a_cursor_it_begins_with_the_first_event(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id) as socket:
            assert [frame["seq"] for frame in await frames(socket, 4)] == [1, 2, 3, 4]

    async def test_a_message_is_the_envelope_as_it_is_everywhere(
        self, server: Address, engine: Engine, waiting: Session
    ) -> None:
        async with server.socket(waiting.id) as socket:
            got = [await socket.recv(decode=False) for _ in range(4)]
        assert got == await engine.events(waiting.id)

    async def test_a_session_may_be_named_by_how_its_id_begins(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id[:30], 3) as socket:
            assert (await frames(socket, 1))[0]["session_id"] == waiting.id

    async def test_a_server_without_prepared_frames_sends_the_same(
        self, engine: Engine, waiting: Session
    ) -> None:
        async with served_plainly(engine) as server, server.socket(waiting.id) as socket:
            got = [await socket.recv(decode=False) for _ in range(4)]
            assert got == await engine.events(waiting.id)
            await waiting.answer(True)
            assert [frame["seq"] for frame in await frames(socket, 4)] == [5, 6, 7, 8]
            assert (await told(socket, "ping", id=1)) == {"type": "ack", "id": 1}

    async def test_a_long_history_comes_in_order_and_once(self, server: Address, engine: Engine) -> None:
        session = await engine.start(counting, 400)
        await session.result()
        last = (await session.state()).seq
        async with server.socket(session.id) as socket:
            got = await frames(socket, last)
        assert [frame["seq"] for frame in got] == list(range(1, last + 1))
        assert last > 400

    async def test_text_that_is_being_written_comes_as_a_snapshot_then_token_by_token(self) -> None:
        gate = Gate()

        async def write() -> str:
            this_step().show("token", message="say", text="Good")
            await gate.pass_("said")
            this_step().show("token", message="say", text=" day")
            return "Good day"

        async def writing(run: Run) -> None:
            await run.step("say", write)

        async with memory_engine(writing) as engine, serving(engine) as server, asyncio.timeout(_PATIENCE):
            session = await engine.start(writing)
            await gate.reached()
            seq = (await session.state()).seq
            async with server.socket(session.id) as socket:
                replayed = await frames(socket, seq)
                (snapshot,) = await frames(socket, 1)
                gate.open()
                live = await frames(socket, 3)
        assert [frame["seq"] for frame in replayed] == list(range(1, seq + 1))
        assert (snapshot["type"], snapshot["seq"], snapshot["after"]) == ("snapshot", None, seq)
        assert snapshot["data"] == {"messages": {"say": "Good"}}
        assert (live[0]["type"], live[0]["data"]["text"]) == ("token", " day")
        assert [frame["seq"] for frame in live[1:]] == [seq + 1, seq + 2]

    @pytest.mark.parametrize("cursor", ["-1", "x", "1.5", "1e3", "99", "9" * 16, "9" * 40, "%00", "½", "٣"])
    async def test_a_cursor_that_the_session_never_gave_is_refused_with_a_reason(
        self, server: Address, waiting: Session, cursor: str
    ) -> None:
        async with server.socket(waiting.id, cursor) as socket:
            (frame,) = await frames(socket, 1)
            assert await closed(socket) == (4400, "bad cursor")
        assert frame["type"] == "error"
        assert frame["data"]["type"] == "urn:belayer:problem:BadCursor"
        assert frame["data"]["hint"]

    async def test_the_last_seq_is_a_cursor(self, server: Address, waiting: Session) -> None:
        async with server.socket(waiting.id, 4) as socket:
            assert await told(socket, "ping", id="only answer") == {"type": "ack", "id": "only answer"}

    @pytest.mark.parametrize(
        "name", ["nope", "019b76da-a800-7000-8000-000000000000", "é", "x" * 5_000, "%20"]
    )
    async def test_an_unknown_session_is_a_404_before_the_handshake(self, server: Address, name: str) -> None:
        status, problem = await refused(server.socket(name))
        assert (status, problem["type"]) == (404, "urn:belayer:problem:UnknownSession")


class TestTelling:
    async def test_a_whole_conversation(self) -> None:
        """Every frame that PROTOCOL.md lets a client send, in one connection, each carried out and answered."""

        async def talk(run: Run) -> list[Any]:
            name = await run.ask("name", "Your name?")
            plan = await run.approve("plan", {"do": "this"})
            other = await run.approve("other", {"do": "that"})
            said = await run.messages()
            last = await run.ask("last", "More?")
            return [name, bool(plan), bool(other), said, last]

        async with (
            memory_engine(talk) as engine,
            serving(engine) as server,
            asyncio.timeout(_PATIENCE),
        ):
            session = await engine.start(talk)
            async with server.socket(session.id) as socket:

                async def until_it(asks: str) -> dict[str, Any]:
                    while True:
                        (frame,) = await frames(socket, 1)
                        if frame["type"] == asks:
                            return frame["data"]

                async def agreed(type_: str, data: Any = None) -> None:
                    assert await told(socket, type_, data, id=type_) == {"type": "ack", "id": type_}

                asked = await until_it("request_input")
                await agreed("ping")
                await agreed("user_response", {"request_id": asked["request_id"], "value": "Ada"})
                shown = await until_it("approval_request")
                key = {"request_id": shown["request_id"], "digest": shown["digest"]}
                await agreed("approve", {**key, "notes": "fine"})
                shown = await until_it("approval_request")
                key = {"request_id": shown["request_id"], "digest": shown["digest"]}
                await agreed("message", {"text": "mind the gap"})
                await agreed("reject", {**key, "reason": "too much"})
                await until_it("request_input")
                await reached(session, *[(await session.settled()).status])
                await agreed("pause", {"reason": "lunch"})
                await agreed("resume")
                await session.settled()
                await agreed("interrupt", {"reason": "stop"})
                await agreed("resume", {"reason": "go"})
                refused = await told(socket, "summarize", id="s")
                assert refused["data"]["type"] == "urn:belayer:problem:NotAvailable"
                await agreed("cancel", {"reason": "enough"})
            state = await session.state()
        assert state.status == "cancelled"
        assert [said.notes for said in state.answered.values()] == [None, "fine", "too much"]

    async def test_an_answer_carries_the_id_of_its_frame(self, server: Address, waiting: Session) -> None:
        async with server.socket(waiting.id, 4) as socket:
            assert await told(socket, "ping", id=7) == {"type": "ack", "id": 7}
            assert await told(socket, "ping", id="seven") == {"type": "ack", "id": "seven"}
            assert await told(socket, "ping") == {"type": "ack", "id": None}
            assert (await told(socket, "resume", id=8))["id"] == 8
            assert (await told(socket, "nonsense", id=9))["id"] == 9

    async def test_what_the_state_does_not_allow_is_refused_with_the_way_out(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id, 4) as socket:
            problem = (await told(socket, "resume"))["data"]
        assert (problem["type"], problem["status"]) == ("urn:belayer:problem:IllegalTransition", 409)
        assert "waits for an answer" in problem["hint"]

    async def test_a_request_of_another_session_is_unknown_here(
        self, server: Address, engine: Engine, waiting: Session
    ) -> None:
        other = await engine.start(asking)
        theirs = next(iter((await other.settled()).pending))
        async with server.socket(waiting.id, 4) as socket:
            refused = await told(socket, "user_response", {"request_id": theirs, "value": True})
        assert refused["data"]["type"] == "urn:belayer:problem:UnknownRequest"
        assert theirs in (await other.state()).pending

    async def test_two_people_at_once_the_first_counts(self, server: Address, waiting: Session) -> None:
        request = next(iter((await waiting.state()).pending))
        async with server.socket(waiting.id, 4) as one, server.socket(waiting.id, 4) as two:
            answers = await asyncio.gather(
                told(one, "user_response", {"request_id": request, "value": True}),
                told(two, "user_response", {"request_id": request, "value": False}),
            )
        assert sorted(answer["type"] for answer in answers) == ["ack", "error"]

    @pytest.mark.parametrize(
        "frame",
        [
            "",
            "x",
            "null",
            "5",
            "[]",
            '"ping"',
            "{}",
            '{"type":"ping"',
            '{"type":"nope"}',
            '{"type":5}',
            '{"type":"ping","type":"ping"}',
            '{"type":"ping","more":1}',
            '{"type":"ping","id":{}}',
            '{"type":"ping","id":1e400}',
            '{"type":"ping","id":99999999999999999999999999}',
            '{"type":"ping","id":NaN}',
            '{"type":"ping","data":{"a":1}}',
            '{"type":"approve"}',
            '{"type":"approve","data":{}}',
            '{"type":"approve","data":{"request_id":1,"digest":2}}',
            '{"type":"user_response","data":{"value":1}}',
            '{"type":"user_response","data":[]}',
            '{"type":"message","data":{"text":""}}',
            '{"type":"message","data":{"text":"%s"}}' % ("x" * 10_001),
            '{"type":"message","data":{"text":"\\ud800"}}',
            '{"type":"pause","data":{"timeout":-1}}',
            '{"type":"pause","data":{"timeout":1e300}}',
            '{"type":"expire"}',
            '{"type":"wake"}',
            '{"type":"rewind","data":{"seq":1}}',
            '{"type":"%s"}' % ("x" * 100_000),
            "[" * 10_000,
            '{"a":' * 10_000 + "1" + "}" * 10_000,
            b"",
            b'{"type":"ping"}',
            b"\xff\xfe",
            "\x1b]52;c;eA==\x07\r\nfake log line",
        ],
        ids=lambda frame: repr(frame[:40]),
    )
    async def test_a_frame_that_is_none_is_answered_with_an_error_and_the_connection_stays(
        self, server: Address, waiting: Session, frame: str | bytes
    ) -> None:
        before = await waiting.state()
        async with server.socket(waiting.id, 4) as socket:
            await socket.send(frame)
            refused = await answer(socket)
            assert refused["type"] == "error"
            assert refused["data"]["status"] in (422, 409)
            assert refused["data"]["detail"]
            assert len(json.dumps(refused)) < 5_000
            assert await told(socket, "ping", id=1) == {"type": "ack", "id": 1}
        assert (await waiting.state()).seq == before.seq

    async def test_text_that_is_no_utf_8_ends_the_connection(self, server: Address, waiting: Session) -> None:
        async with server.socket(waiting.id, 4) as socket:
            await socket.send(b'{"type":"\xff"}', text=True)
            assert (await closed(socket))[0] == 1007

    async def test_a_frame_that_is_too_large_ends_the_connection(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id, 4) as socket:
            await socket.send("x" * 999_999)
            assert (await answer(socket))["type"] == "error"
            await socket.send("x" * 1_000_001)
            assert (await closed(socket))[0] == 1009

    async def test_a_large_frame_in_many_pieces_ends_the_connection_too(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id, 4) as socket:
            with suppress(ConnectionClosed):
                await socket.send(["x" * 100_000] * 20)
            assert (await closed(socket))[0] == 1009

    async def test_who_sends_too_much_is_told_so_and_stays(self, server: Address, waiting: Session) -> None:
        async with server.socket(waiting.id, 4) as socket:
            for number in range(300):
                await socket.send(json.dumps({"type": "ping", "id": number}))
            answers = [await answer(socket) for _ in range(300)]
            assert [answer["id"] for answer in answers] == list(range(300))
            errors = [answer["data"] for answer in answers if answer["type"] == "error"]
            assert errors
            assert {error["type"] for error in errors} == {"urn:belayer:problem:RateLimited"}
            assert answers[0]["type"] == "ack"


class TestSlowness:
    async def test_who_does_not_read_is_dropped_while_others_go_on_and_comes_back_with_its_cursor(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.socket(waiting.id, 4) as quick, server.socket(waiting.id, 4) as slow:
            await told(slow, "ping")
            slow.transport.pause_reading()
            await flood(waiting, quick, 1_400)
            slow.transport.resume_reading()
            seen: list[int] = []
            assert (await closed(slow, seen))[0] == 4008
            assert seen == list(range(5, 5 + len(seen)))
        async with server.socket(waiting.id, 4 + len(seen)) as again:
            rest = [frame["seq"] for frame in await frames(again, 1_400 - len(seen))]
        assert rest == list(range(5 + len(seen), 1_405))

    async def test_who_is_slow_to_read_a_long_history_is_waited_for(
        self, server: Address, waiting: Session
    ) -> None:
        await flood(waiting, None, 900)
        async with server.socket(waiting.id, 4) as slow:
            slow.transport.pause_reading()
            async with server.socket(waiting.id, 904) as quick:
                await flood(waiting, quick, 100, after=904)
            slow.transport.resume_reading()
            assert [frame["seq"] for frame in await frames(slow, 1_000)] == list(range(5, 1_005))


async def test_who_answers_no_ping_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("belayer.api.serve._SECONDS_BETWEEN_PINGS", 0.05)
    async with memory_engine(asking) as engine, serving(engine) as server, asyncio.timeout(_PATIENCE):
        session = await engine.start(asking)
        await session.settled()
        async with server.socket(session.id, 4) as half_open:
            await told(half_open, "ping")
            await until(lambda: followers(engine) == 1)
            half_open.transport.pause_reading()
            await until(lambda: followers(engine) == 0)
            half_open.transport.abort()


def followers(engine: Engine) -> int:
    """How many follow the feed itself: one per session that somebody watches."""
    return sum(len(channel.followers) for channel in engine._parts.feed._channels.values())


async def flood(session: Session, quick: ClientConnection | None, count: int, after: int = 4) -> None:
    """Have the session say more than any buffer holds; who is quick reads it all."""
    for number in range(1, count + 1):
        await session.engine.tell(session.id, Say(text="x" * 9_900))
        if quick is not None and number % 100 == 0:
            assert (await frames(quick, 100))[-1]["seq"] == after + number


class TestTheDoor:
    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": "Bearer"},
            {"Cookie": "belayer=wrong"},
            {"Cookie": f"belayer={TOKEN}"},
        ],
    )
    async def test_without_the_token_nobody_comes_in(
        self, server: Address, waiting: Session, headers: dict[str, str]
    ) -> None:
        status, problem = await refused(server.socket(waiting.id, additional_headers=headers))
        assert (status, problem["type"]) == (401, "urn:belayer:problem:NoToken")

    async def test_a_token_in_the_address_opens_nothing(self, server: Address, waiting: Session) -> None:
        opening = server.socket_at(f"/ws/execution/{waiting.id}?token={TOKEN}", additional_headers={})
        assert (await refused(opening))[0] == 401

    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.test",
            "null",
            "http://127.0.0.1",
            "http://127.0.0.1.evil.test:{port}",
            "file://",
            "x",
        ],
    )
    async def test_a_page_of_another_site_is_refused_even_with_the_cookie(
        self, server: Address, waiting: Session, origin: str
    ) -> None:
        opening = server.socket(
            waiting.id, additional_headers=server.cookie, origin=origin.format(port=server.port)
        )
        status, problem = await refused(opening)
        assert (status, problem["type"]) == (403, "urn:belayer:problem:ForeignOrigin")

    async def test_another_host_name_is_refused(self, server: Address, waiting: Session) -> None:
        url = f"ws://evil.test:{server.port}/ws/execution/{waiting.id}"
        opening = connect(
            url, host="127.0.0.1", port=server.port, additional_headers=server.authorization, proxy=None
        )
        status, problem = await refused(opening)
        assert (status, problem["type"]) == (400, "urn:belayer:problem:ForeignHost")

    async def test_the_cookie_of_a_browsers_first_visit_opens_the_socket(
        self, server: Address, waiting: Session
    ) -> None:
        async with server.stranger() as browser:
            visit = await browser.get("/", params={"token": TOKEN})
            assert visit.status_code == 303
            cookie = {"Cookie": f"belayer={browser.cookies['belayer']}"}
        async with server.socket(waiting.id, 3, additional_headers=cookie, origin=server.url) as socket:
            assert (await frames(socket, 1))[0]["seq"] == 4
