"""A session as Server-Sent Events, and the same history by every road."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest
import pytest_asyncio

from belayer.engine import Engine, Session
from belayer.execution.run import Run
from belayer.vocabulary.commands import Say
from tests.support.engines import memory_engine, until
from tests.support.servers import Address, counting, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

_PATIENCE = 30.0


async def asking(run: Run) -> Any:
    return await run.ask("go", "Go on, ünïcode\r\n and \u2028?", kind="confirm")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncGenerator[Engine]:
    async with memory_engine(asking, counting) as engine:
        yield engine


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(engine: Engine) -> AsyncGenerator[Address]:
    async with serving(engine) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def client(server: Address) -> AsyncGenerator[httpx.AsyncClient]:
    async with server.client() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def waiting(engine: Engine) -> Session:
    """A session that asks something; it has four events."""
    session = await engine.start(asking)
    await session.settled()
    return session


class Events:
    """What an EventSource makes of a stream: (id, data) pairs, and comments."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = _lines(response)
        self.comments: list[str] = []

    async def next(self, count: int = 1) -> list[tuple[str | None, str]]:
        async with asyncio.timeout(_PATIENCE):
            return [await self._event() for _ in range(count)]

    async def _event(self) -> tuple[str | None, str]:
        fields: dict[str, str] = {}
        async for line in self._lines:
            if line.startswith(":"):
                self.comments.append(line)
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields:
                return fields.get("id"), fields["data"]
        raise EOFError


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """The lines as the standard has them; other ends of line are part of the text."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode()


@asynccontextmanager
async def streaming(
    client: httpx.AsyncClient, session: Session, query: str = "", **headers: str
) -> AsyncIterator[Events]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    address = f"/api/execution/sessions/{session.id}/events{query}"
    async with client.stream("GET", address, headers={"Accept": "text/event-stream", **named}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Events(response)


def followers(engine: Engine) -> int:
    return sum(len(channel.followers) for channel in engine._parts.feed._channels.values())


async def test_a_client_gets_what_it_missed_then_what_comes(
    client: httpx.AsyncClient, waiting: Session
) -> None:
    async with streaming(client, waiting) as events:
        assert [id_ for id_, _ in await events.next(4)] == ["1", "2", "3", "4"]
        await waiting.answer(True)
        assert [id_ for id_, _ in await events.next(4)] == ["5", "6", "7", "8"]


async def test_it_begins_after_the_cursor(client: httpx.AsyncClient, waiting: Session) -> None:
    async with streaming(client, waiting, "?after=3") as events:
        assert [id_ for id_, _ in await events.next()] == ["4"]


async def test_the_last_event_id_of_who_comes_back_counts_more_than_the_address(
    client: httpx.AsyncClient, waiting: Session
) -> None:
    async with streaming(client, waiting, "?after=1", Last_Event_ID="3") as events:
        assert [id_ for id_, _ in await events.next()] == ["4"]


@pytest.mark.parametrize("cursor", ["-1", "x", "99", "1.0", "9" * 30])
async def test_a_last_event_id_that_the_session_never_gave_is_refused(
    client: httpx.AsyncClient, waiting: Session, cursor: str
) -> None:
    response = await client.get(
        f"/api/execution/sessions/{waiting.id}/events",
        headers={"Accept": "text/event-stream", "Last-Event-ID": cursor},
    )
    assert response.status_code == 422
    assert response.json()["type"] == "urn:belayer:problem:BadCursor"


async def test_a_session_that_is_unknown_is_a_404(client: httpx.AsyncClient) -> None:
    response = await client.get(
        "/api/execution/sessions/nope/events", headers={"Accept": "text/event-stream"}
    )
    assert response.status_code == 404


async def test_what_is_not_kept_has_no_id(
    client: httpx.AsyncClient, engine: Engine, waiting: Session
) -> None:
    async with streaming(client, waiting, "?after=4") as events:
        await until(lambda: followers(engine) == 1)
        engine._parts.feed.show(waiting.id, "token", {"message": "m", "text": "Good"})
        ((id_, data),) = await events.next()
        assert id_ is None
        assert json.loads(data)["data"]["text"] == "Good"
        async with streaming(client, waiting, "?after=4") as late:
            ((id_, data),) = await late.next()
        assert id_ is None
        assert json.loads(data)["data"] == {"messages": {"m": "Good"}}


async def test_it_stays_open_after_the_session_has_ended(client: httpx.AsyncClient, waiting: Session) -> None:
    await waiting.answer(True)
    await waiting.result()
    async with streaming(client, waiting) as events:
        await events.next(8)
        await waiting.checkpoint("the end")
        assert [id_ for id_, _ in await events.next()] == ["9"]


async def test_who_hears_nothing_for_long_is_told_that_somebody_is_there(
    client: httpx.AsyncClient, waiting: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belayer.api.stream._HEARTBEAT", 0.001)
    async with streaming(client, waiting, "?after=4") as events:
        coming = asyncio.create_task(events.next())
        await until(lambda: len(events.comments) > 1)
        await waiting.answer(True)
        assert [id_ for id_, _ in await coming] == ["5"]


async def test_nothing_is_left_of_a_client_that_went_away(
    client: httpx.AsyncClient, engine: Engine, waiting: Session
) -> None:
    async with streaming(client, waiting) as events:
        await events.next(4)
        await until(lambda: followers(engine) == 1)
    await until(lambda: followers(engine) == 0)


async def test_who_does_not_read_is_cut_off_while_others_go_on_and_comes_back(
    client: httpx.AsyncClient, engine: Engine, waiting: Session
) -> None:
    async with (
        streaming(client, waiting, "?after=4") as slow,
        streaming(client, waiting, "?after=4") as quick,
    ):
        seen = 0
        for _ in range(30):
            for _ in range(100):
                await engine.tell(waiting.id, Say(text="x" * 9_900))
            seen += 100
            assert (await quick.next(100))[-1][0] == str(4 + seen)
        got: list[int] = []
        with suppress(EOFError):
            while len(got) < seen:
                got.append(int((await slow.next())[0][0] or 0))
    assert 0 < len(got) < seen
    assert got == list(range(5, 5 + len(got)))
    async with streaming(client, waiting, Last_Event_ID=str(got[-1])) as again:
        rest = [int(id_ or 0) for id_, _ in await again.next(seen - len(got))]
    assert rest == list(range(got[-1] + 1, 5 + seen))


@pytest.mark.parametrize("steps", [3, 700])
async def test_the_history_is_the_same_by_every_road(
    client: httpx.AsyncClient, server: Address, engine: Engine, steps: int
) -> None:
    session = await engine.start(counting, steps)
    await session.result()
    recorded = await engine.events(session.id)
    async with streaming(client, session) as events:
        streamed = [data.encode() for _, data in await events.next(len(recorded))]
    async with server.socket(session.id) as socket:
        sent = [await socket.recv(decode=False) for _ in recorded]
    assert streamed == sent == recorded
    assert await _paged(client, session.id) == b",".join(recorded)
    exported = (await client.get(f"/api/execution/sessions/{session.id}/export")).content
    for wire in recorded:
        assert wire[:-1] in exported


async def test_the_history_of_hostile_texts_is_the_same_by_every_road(
    client: httpx.AsyncClient, server: Address, engine: Engine, waiting: Session
) -> None:
    for text in (
        "a\nid: 99\ndata: {}\n\n",
        "\r\n\r\n: x",
        "\u2028\u2029\x85",
        "\0\x1b]0;x\x07",
        "\U0001f9d7" * 500,
    ):
        await engine.tell(waiting.id, Say(text=text))
    recorded = await engine.events(waiting.id)
    async with streaming(client, waiting) as events, server.socket(waiting.id) as socket:
        streamed = [data.encode() for _, data in await events.next(len(recorded))]
        sent = [await socket.recv(decode=False) for _ in recorded]
    assert streamed == sent == recorded
    assert await _paged(client, waiting.id) == b",".join(recorded)


async def _paged(client: httpx.AsyncClient, session_id: str) -> bytes:
    """The bytes of the events from REST, page by page, without what is around them."""
    pages: list[bytes] = []
    after: int | None = 0
    while after is not None:
        response = await client.get(
            f"/api/execution/sessions/{session_id}/events", params={"after": after, "limit": 250}
        )
        after = response.json()["next"]
        pages.append(response.content.removeprefix(b'{"events":[').rpartition(b'],"next":')[0])
    return b",".join(pages)
