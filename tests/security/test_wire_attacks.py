"""What is sent to the server to break it, mislead it or wear it out (attacks 65-69, E1-E8). It says no and goes on."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.api.strict import UnfitJson, strict_json
from belayer.engine import Engine
from belayer.vocabulary.events.event import Json
from tests.api.visiting import AT, problem_of, visiting
from tests.api.work import asking, echoing, start_asking
from tests.support.engines import home_engine, memory_engine
from tests.support.servers import Address, serving

START = "/api/execution/start"
AS_JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def engine() -> AsyncGenerator[Engine]:
    async with memory_engine(asking, echoing) as engine:
        yield engine


@pytest.fixture
async def client(engine: Engine) -> AsyncGenerator[httpx.AsyncClient]:
    async with visiting(engine) as client:
        yield client


@pytest.fixture
async def server(engine: Engine) -> AsyncGenerator[Address]:
    async with serving(engine) as server:
        yield server


BODIES = {
    "nothing": b"",
    "half": b'{"workflow": "asking"',
    "a rest": b'{"workflow": "asking"} {}',
    "a comment": b'{"workflow": "asking"} // yes',
    "a trailing comma": b'{"workflow": "asking",}',
    "single quotes": b"{'workflow': 'asking'}",
    "the same name twice": b'{"workflow": "echoing", "workflow": "asking"}',
    "the same name twice, spelt in two ways": b'{"workflow": "echoing", "work\\u0066low": "asking"}',
    "the same name twice, far in": b'{"workflow": "echoing", "input": {"text": [{"a": 1, "a": 1}]}}',
    "NaN": b'{"workflow": "echoing", "input": {"text": NaN}}',
    "infinity": b'{"workflow": "echoing", "input": {"text": -Infinity}}',
    "1e400": b'{"workflow": "echoing", "input": {"text": 1e400}}',
    "2^63": b'{"workflow": "echoing", "input": {"text": 9223372036854775808}}',
    "a number of a million digits": b'{"workflow": "echoing", "input": {"text": ' + b"9" * 1_000_000 + b"}}",
    "half a character": b'{"workflow": "echoing", "input": {"text": "\\ud800"}}',
    "half a character in a name": b'{"workflow": "echoing", "input": {"\\udfff": 1}}',
    "invalid UTF-8": b'{"workflow": "\xff\xfe"}',
    "overlong UTF-8": b'{"workflow": "asking\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"workflow": "asking\xed\xa0\x80"}',
    "UTF-16": '{"workflow": "asking"}'.encode("utf-16"),
    "UTF-16 without a mark": '{"workflow": "asking"}'.encode("utf-16-le"),
    "UTF-32": '{"workflow": "asking"}'.encode("utf-32"),
    "a byte order mark": b'\xef\xbb\xbf{"workflow": "asking"}',
    "a raw line break in a text": b'{"workflow": "ask\ning"}',
    "NUL": b"\x00",
    "101 lists": b'{"workflow": "echoing", "input": {"text": ' + b"[" * 101 + b"]" * 101 + b"}}",
    "100,000 lists": b"[" * 100_000,
    "100,000 lists, closed": b"[" * 100_000 + b"]" * 100_000,
    "100,000 objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a list": b'["workflow", "asking"]',
    "a text": b'"workflow"',
    "null": b"null",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_a_body_is_refused_that_is(client: httpx.AsyncClient, body: bytes) -> None:
    response = await client.post(START, content=body, headers=AS_JSON)
    assert response.status_code == 422
    problem_of(response)
    assert len(response.content) < 2_000
    assert (await client.get(AT)).json()["sessions"] == []


@pytest.mark.parametrize(
    "text", ["[" * 5000, '"[' * 300, "\\[{" * 300, "\x1b[31mred\x1b[0m" * 200, "\U0001f9d7"]
)
async def test_what_only_looks_deep_or_odd_is_taken(
    engine: Engine, client: httpx.AsyncClient, text: str
) -> None:
    response = await client.post(START, json={"workflow": "echoing", "input": {"text": text}})
    assert response.status_code == 201
    assert await engine.result(response.json()["session_id"]) == text


json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@given(json_values, st.booleans())
def test_every_json_value_is_read_as_it_was_meant(value: Json, ascii_only: bool) -> None:
    assert strict_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary())
def test_any_bytes_are_read_or_refused_and_nothing_else(content: bytes) -> None:
    with suppress(UnfitJson):
        strict_json(content)


@given(st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b'"', b"\\", b":", b",", b"1", b"a"]), max_size=400))
def test_any_heap_of_brackets_is_read_or_refused(parts: list[bytes]) -> None:
    with suppress(UnfitJson):
        strict_json(b"".join(parts))


async def test_two_million_bytes_are_taken_and_not_one_more(client: httpx.AsyncClient) -> None:
    frame = len(b'{"workflow":"echoing","input":{"text":""}}')
    for size, status in ((2_000_000, 201), (2_000_001, 413)):
        body = b'{"workflow":"echoing","input":{"text":"%s"}}' % (b"x" * (size - frame))
        response = await client.post(START, content=body, headers=AS_JSON)
        assert response.status_code == status


@pytest.mark.parametrize("path", [START, f"{AT}/x/pause", f"{AT}/x/respond", "/api/policy/try"])
async def test_three_million_bytes_are_refused_by_every_route(client: httpx.AsyncClient, path: str) -> None:
    response = await client.post(path, content=b'"%s"' % (b"x" * 3_000_000), headers=AS_JSON)
    assert response.status_code == 413
    told = problem_of(response)
    assert told["category"] == "resource"
    assert "2,000,000" in told["detail"]


async def test_the_names_of_a_very_wide_object_are_looked_through_once(client: httpx.AsyncClient) -> None:
    names = b",".join(b'"k%d":1' % number for number in range(150_000))
    response = await client.post(START, content=b'{%s,"k149999":2}' % names, headers=AS_JSON)
    assert response.status_code == 422
    assert "k149999" in problem_of(response)["detail"]


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/octet-stream",
        "application/jsonp",
        "text/plain; application/json",
        "json",
        "*/*",
    ],
)
async def test_a_body_that_does_not_say_that_it_is_json_is_refused(
    client: httpx.AsyncClient, content_type: str | None
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = await client.post(START, content=b'{"workflow": "asking"}', headers=headers)
    assert response.status_code == 415
    assert "application/json" in problem_of(response)["hint"]


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
async def test_a_body_that_says_that_it_is_json_is_taken(
    client: httpx.AsyncClient, content_type: str
) -> None:
    headers = {"Content-Type": content_type}
    response = await client.post(START, content=b'{"workflow": "asking"}', headers=headers)
    assert response.status_code == 201


async def test_a_compressed_body_is_not_unpacked(client: httpx.AsyncClient) -> None:
    headers = {**AS_JSON, "Content-Encoding": "gzip"}
    response = await client.post(START, content=b"\x1f\x8b\x08\x00" + b"\x00" * 100, headers=headers)
    assert response.status_code == 422


IDS = [
    "../../etc/passwd",
    "..",
    "%2e",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%2f..%2fhome",
    "..\\..\\home",
    "%00",
    "a%00b",
    "%0d%0aSet-Cookie:%20x=y",
    "%ff%fe",
    "%ed%a0%80",
    "' OR 1=1 --",
    "%25",
    "%",
    "_",
    "*",
    "~",
    "\U0001f9d7",
    "%20",
    "x" * 101,
    "x" * 60_000,
]


@pytest.mark.parametrize("name", IDS, ids=lambda name: name[:30])
@pytest.mark.parametrize("rest", ["", "/events", "/export"])
async def test_an_id_that_is_a_trick_names_nothing(
    engine: Engine, client: httpx.AsyncClient, name: str, rest: str
) -> None:
    await start_asking(engine, client)
    response = await client.get(f"{AT}/{quote(name, safe='%')}{rest}")
    assert response.status_code in (404, 422)
    problem_of(response)
    assert "set-cookie" not in response.headers
    assert len(response.content) < 2_000


@pytest.mark.parametrize(
    "text", ["%", "_", "'", '"', "\\", "%' OR '1'='1", "\x00", "*", "\U0001f9d7", "A" * 200]
)
async def test_what_is_searched_for_is_a_text_and_nothing_more(tmp_path: Path, text: str) -> None:
    async with home_engine(tmp_path, asking) as engine, visiting(engine) as client:
        await engine.start(asking, title="plain")
        response = await client.get(AT, params={"q": text, "workflow": text})
        assert response.status_code == 200
        assert response.json()["sessions"] == []


async def test_ten_thousand_parameters_are_no_more_than_one(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"{AT}?{'&'.join(['x=1'] * 10_000)}")).status_code == 200
    assert (await client.get(f"{AT}?{'&'.join(['limit=7'] * 8_000)}")).status_code == 200
    wrong = await client.get(f"{AT}?{'&'.join(['status=x'] * 7_000)}")
    assert wrong.status_code == 422
    assert len(wrong.content) < 20_000


async def test_a_line_break_in_what_is_sent_reaches_no_header(
    engine: Engine, client: httpx.AsyncClient
) -> None:
    title = 'x"\r\nSet-Cookie: a=b\r\n\r\n<script>'
    response = await client.post(START, json={"workflow": "asking", "title": title})
    session_id = response.json()["session_id"]
    exported = await client.get(f"{AT}/{session_id}/export")
    assert exported.headers["content-disposition"] == f'attachment; filename="{session_id}.json"'
    for answer in (response, exported, await client.get(f"{AT}/{session_id}")):
        assert "set-cookie" not in answer.headers
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 500])
async def test_a_method_that_nobody_takes_does_nothing(client: httpx.AsyncClient, method: str) -> None:
    response = await client.request(method, START)
    assert response.status_code == 405
    assert (await client.get(AT)).json()["sessions"] == []


# Over a real socket


async def still_well(server: Address) -> bool:
    async with server.stranger() as stranger:
        return (await stranger.get("/health")).json()["status"] == "ok"


@pytest.mark.parametrize("token", [True, False])
async def test_a_body_without_an_end_is_cut_off(server: Address, token: bool) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"workflow": "'
        while True:
            sent += 65_536
            yield b"x" * 65_536

    async with server.client() if token else server.stranger() as client:
        with suppress(httpx.ReadError, httpx.WriteError):  # it may hang up before its answer could be read
            response = await client.post(START, content=endless(), headers=AS_JSON)
            assert response.status_code == (413 if token else 401)
    assert sent < 50_000_000
    assert await still_well(server)


async def connected(server: Address, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which the head of a request was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    token = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    writer.write((head + token + "\r\n").encode("latin-1"))
    await writer.drain()
    return reader, writer


async def test_slow_bodies_keep_nobody_else_waiting(server: Address) -> None:
    head = f"POST {START} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
    slow = [await connected(server, head) for _ in range(50)]
    for _, writer in slow:
        writer.write(b"{")
    assert await still_well(server)
    for _, writer in slow:
        writer.close()
    assert await still_well(server)


async def test_a_body_that_breaks_off_starts_nothing(server: Address) -> None:
    body = '{"workflow": "asking"}'
    head = f"POST {START} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {len(body) + 1}\r\n"
    _, writer = await connected(server, head)
    writer.write(body.encode())
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    async with server.client() as client:
        assert (await client.get(AT)).json()["sessions"] == []


@pytest.mark.parametrize(
    "head",
    [
        "GET /health HTTP/1.1\r\nX: a\r\n b\x00\r\n",
        "GET /health\r\nX HTTP/1.1\r\n",
        "POST /health HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
        "POST /health HTTP/1.1\r\nContent-Length: -1\r\n",
        "POST /health HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked, chunked\r\n",
        "GET /health HTTP/1.1\r\nX: " + "x" * 200_000 + "\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n",
    ],
    ids=lambda head: repr(head[:40]),
)
async def test_what_is_no_http_is_refused_and_the_server_goes_on(server: Address, head: str) -> None:
    try:
        reader, writer = await connected(server, head)
        answer = await reader.read()
        writer.close()
        assert answer.split(b" ")[1] in (b"400", b"431", b"501")
    except ConnectionError:
        pass  # it hung up without a word
    assert await still_well(server)


async def test_a_second_request_hidden_in_the_body_of_the_first_is_no_request(server: Address) -> None:
    hidden = f"POST {START} HTTP/1.1\r\nHost: x\r\n\r\n"
    head = f"POST {AT} HTTP/1.1\r\nConnection: close\r\nContent-Length: {len(hidden)}\r\n"
    reader, writer = await connected(server, head)
    writer.write(hidden.encode())
    answer = await reader.read()
    writer.close()
    assert answer.count(b"HTTP/1.1 ") == 1
    assert await still_well(server)


async def test_a_hundred_connections_that_say_nothing_keep_nobody_else_waiting(server: Address) -> None:
    silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(100)]
    assert await still_well(server)
    for _, writer in silent:
        writer.close()
