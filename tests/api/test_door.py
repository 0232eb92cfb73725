"""Who may come in: the right Host, no foreign Origin, a token. Nothing else opens the door."""

import asyncio
import hmac
import logging
import multiprocessing
import stat
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from belayer.api.door import Door
from belayer.api.token import cookie_for, is_same, token_in
from belayer.vocabulary.errors import ConfigurationError
from tests.api.visiting import AT, BEARER, TOKEN, URL, app_on, problem_of, visitor
from tests.api.work import asking
from tests.support.engines import memory_engine
from tests.support.servers import serving

API_ROUTES = [
    ("GET", AT),
    ("POST", "/api/execution/start"),
    ("PUT", "/api/policy"),
    ("GET", "/api/inbox"),
    ("GET", "/openapi.json"),
    ("GET", "/nothing/here"),
    ("GET", "/"),
    ("DELETE", AT),
    ("OPTIONS", AT),
    ("GET", "/health/"),
    ("GET", "//health"),
    ("GET", "/HEALTH"),
]
COOKIE = {"Cookie": f"belayer={cookie_for(TOKEN)}"}


@pytest.fixture
async def app() -> AsyncGenerator[FastAPI]:
    async with memory_engine(asking) as engine:
        yield app_on(engine)


@pytest.mark.parametrize(("method", "path"), API_ROUTES)
async def test_without_a_token_nothing_is_said_but_how_to_send_one(
    app: FastAPI, method: str, path: str
) -> None:
    async with visitor(app) as stranger:
        response = await stranger.request(method, httpx.URL(f"{URL}{path}"))
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer" in problem_of(response)["hint"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN.upper()}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {cookie_for(TOKEN)}"},
        {"Authorization": "Bearer \xff\xfe"},
        {"X-Token": TOKEN},
        {"Cookie": "belayer=wrong"},
        {"Cookie": "belayer="},
        {"Cookie": f"belayer={TOKEN}"},
        {"Cookie": f"other={cookie_for(TOKEN)}"},
        {"Cookie": f"belayer={cookie_for('another token')}"},
        {"Cookie": "\xff=\xfe; belayer"},
        {"Authorization": "Bearer wrong", **COOKIE},
    ],
)
async def test_the_door_stays_shut_for(app: FastAPI, headers: dict[str, str]) -> None:
    async with visitor(app, {}) as stranger:
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        response = await stranger.get(AT, headers=raw)
    assert response.status_code == 401


@given(given_token=st.text())
def test_no_other_text_than_the_token_is_the_token(given_token: str) -> None:
    assert is_same(given_token.encode(errors="replace").decode(), TOKEN) == (given_token == TOKEN)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_token_opens_the_door(app: FastAPI, scheme: str) -> None:
    async with visitor(app, {"Authorization": f"{scheme} {TOKEN}"}) as friend:
        assert (await friend.get(AT)).status_code == 200


@pytest.mark.parametrize("name", ["token", "access_token", "authorization"])
@pytest.mark.parametrize("path", [AT, "/api/inbox", "/openapi.json"])
async def test_a_token_in_the_address_of_a_route_does_not_open_the_door(
    app: FastAPI, path: str, name: str
) -> None:
    async with visitor(app) as stranger:
        response = await stranger.get(path, params={name: TOKEN})
    assert response.status_code == 401
    assert "set-cookie" not in response.headers


async def test_the_printed_link_gives_a_cookie_and_an_address_without_the_token(app: FastAPI) -> None:
    async with visitor(app) as browser:
        response = await browser.get("/", params={"token": TOKEN})
        assert response.status_code == 303
        assert response.headers["location"] == "/"
        attributes = {part.strip().lower() for part in response.headers["set-cookie"].split(";")}
        assert {"httponly", "samesite=strict", "path=/"} <= attributes
        assert TOKEN not in str(response.headers) + response.text
        assert (await browser.get(AT)).status_code == 200


async def test_the_printed_link_is_taken_out_of_the_address_at_a_second_visit_too(app: FastAPI) -> None:
    async with visitor(app, COOKIE) as browser:
        response = await browser.get("/", params={"token": TOKEN})
    assert (response.status_code, response.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/sessions/1", "/sessions/1"),
        ("//evil.test", "/evil.test"),
        ("///evil.test/x", "/evil.test/x"),
        ("/%5Cevil.test", "/%5Cevil.test"),
        ("/%0d%0aSet-Cookie:x", "/%0D%0ASet-Cookie%3Ax"),
    ],
)
async def test_a_link_to_a_page_leads_to_that_page_and_never_away(
    app: FastAPI, path: str, location: str
) -> None:
    async with visitor(app) as browser:
        response = await browser.get(httpx.URL(f"{URL}{path}?token={TOKEN}"))
    assert (response.status_code, response.headers["location"]) == (303, location)


async def test_a_browser_without_the_cookie_is_told_in_its_own_words_where_to_go(app: FastAPI) -> None:
    async with visitor(app, {"Accept": "text/html,*/*"}) as browser:
        page, route, sent = await browser.get("/"), await browser.get(AT), await browser.post("/")
    assert page.status_code == 401
    assert page.headers["content-type"].startswith("text/html")
    assert "belayer serve" in page.text
    for response in (route, sent):
        assert response.status_code == 401
        problem_of(response)


@pytest.mark.parametrize("query", ["token=wrong", "token=", f"TOKEN={TOKEN}", f"token=x&token={TOKEN}", ""])
async def test_a_wrong_link_gives_no_cookie(app: FastAPI, query: str) -> None:
    async with visitor(app) as browser:
        response = await browser.get(f"/?{query}")
    assert response.status_code == 401
    assert "set-cookie" not in response.headers


async def test_the_link_of_another_host_gives_no_cookie(app: FastAPI) -> None:
    async with visitor(app) as browser:
        response = await browser.get("/", params={"token": TOKEN}, headers={"Host": "evil.test"})
    assert response.status_code == 400
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "others", ['prefs={"a":1}; ', "a b=c; ", "=; ;; ", "x=(1,2); ", 'q="unclosed; ', "naïve=ü; "]
)
async def test_the_cookies_of_a_neighbour_on_this_host_do_not_lock_anybody_out(
    app: FastAPI, others: str
) -> None:
    async with visitor(app) as browser:
        header = (b"Cookie", f"{others}{COOKIE['Cookie']}".encode("latin-1"))
        assert (await browser.get(AT, headers=[header])).status_code == 200


async def test_health_is_told_to_everybody(app: FastAPI) -> None:
    async with visitor(app) as stranger:
        assert (await stranger.get("/health")).status_code == 200


async def test_health_is_not_told_under_a_foreign_name(app: FastAPI) -> None:
    async with visitor(app) as stranger:
        assert (await stranger.get("/health", headers={"Host": "evil.test"})).status_code == 400


OUR_NAMES = [
    "127.0.0.1:8700",
    "localhost:8700",
    "LOCALHOST:8700",
    "[::1]:8700",
    "127.0.0.1",
    "localhost",
    "[::1]",
]
FOREIGN_NAMES = [
    "evil.test",
    "evil.test:8700",
    "127.0.0.1:8701",
    "localhost:80",
    "127.0.0.1.evil.test:8700",
    "evil.test@127.0.0.1:8700",
    "localhost.:8700",
    "127.1:8700",
    "2130706433:8700",
    "0.0.0.0:8700",
    "::1",
    "[::]:8700",
    "[::ffff:127.0.0.1]:8700",
    "127.0.0.1:8700, evil.test",
    "127.0.0.1:8700:8700",
    " ",
    "",
]


@pytest.mark.parametrize("name", OUR_NAMES)
async def test_the_server_answers_to(app: FastAPI, name: str) -> None:
    async with visitor(app, BEARER) as friend:
        assert (await friend.get(AT, headers={"Host": name})).status_code == 200


@pytest.mark.parametrize("name", FOREIGN_NAMES)
async def test_the_server_does_not_answer_to(app: FastAPI, name: str) -> None:
    async with visitor(app, BEARER) as friend:
        response = await friend.get(AT, headers={"Host": name})
    assert response.status_code == 400
    assert "BELAYER_HOSTS" in problem_of(response)["hint"]


@pytest.mark.parametrize(
    ("host", "others", "name"),
    [
        ("::1", (), "[::1]:8700"),
        ("fd00::7", (), "[fd00::7]:8700"),
        ("192.168.1.5", (), "192.168.1.5:8700"),
        ("0.0.0.0", ("Box.local",), "box.local:8700"),
        ("127.0.0.1", ("tunnel.test:443",), "tunnel.test:443"),
    ],
)
def test_a_server_may_have_other_names(host: str, others: tuple[str, ...], name: str) -> None:
    door = Door.of(TOKEN, host, 8700, others)
    assert name in door.hosts
    assert "evil.test" not in door.hosts


def test_a_name_with_a_port_stands_for_that_port_only() -> None:
    hosts = Door.of(TOKEN, "127.0.0.1", 8700, ["tunnel.test:443"]).hosts
    assert not {"tunnel.test", "tunnel.test:8700"} & hosts


FOREIGN_ORIGINS = [
    "null",
    "http://evil.test",
    "http://127.0.0.1",
    "http://127.0.0.1:3000",
    "http://localhost:8700",
    "http://127.0.0.1:8700.evil.test",
    "http://evil.test/127.0.0.1:8700",
    "http://x@127.0.0.1:8700",
    "file://127.0.0.1:8700",
    "chrome-extension://127.0.0.1:8700",
    "http://[",
    "",
]


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_a_page_of_another_site_changes_nothing(app: FastAPI, method: str, origin: str) -> None:
    async with visitor(app, {**COOKIE, "Origin": origin}) as browser:
        response = await browser.request(method, "/api/execution/start", json={"workflow": "asking"})
    assert response.status_code == 403
    assert problem_of(response)["category"] == "permission"


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8700", "HTTP://127.0.0.1:8700"])
async def test_our_own_page_may_start_sessions(app: FastAPI, origin: str) -> None:
    async with visitor(app, {**COOKIE, "Origin": origin}) as browser:
        response = await browser.post("/api/execution/start", json={"workflow": "asking"})
    assert response.status_code == 201


@pytest.mark.parametrize("path", [AT, "/api/execution/start", "/health"])
async def test_a_preflight_from_elsewhere_is_not_granted(app: FastAPI, path: str) -> None:
    asked = {"Origin": "http://evil.test", "Access-Control-Request-Method": "POST"}
    async with visitor(app, {**asked, **COOKIE}) as browser:
        answers = [await browser.options(path), await browser.get(path)]
    for response in answers:
        assert not [name for name in response.headers if name.startswith("access-control-")]
    assert answers[0].status_code == 405


async def raw(port: int, request: bytes) -> bytes:
    """What a server says to these very bytes before it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        await writer.drain()
        return await reader.read()
    finally:
        writer.close()


async def test_an_address_in_absolute_form_opens_nothing() -> None:
    async with memory_engine() as engine, serving(engine) as server:
        host = f"127.0.0.1:{server.port}"
        for target, name in [
            (f"http://{host}{AT}", host),
            (f"http://evil.test{AT}", host),
            (f"http://{host}{AT}", "evil.test"),
            (f"http://{host}/health/..{AT}", host),
            ("*", host),
        ]:
            lines = f"GET {target} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n"
            status = (await raw(server.port, lines.encode())).split()[1]
            assert status in (b"400", b"401")


@pytest.mark.parametrize(
    "hosts",
    [
        "",
        "Host: evil.test\r\n",
        "Host: {host}\r\nHost: evil.test\r\n",
        "Host: evil.test\r\nHost: {host}\r\n",
        "Host: {host}\r\n evil.test\r\n",
        "X-Forwarded-Host: {host}\r\nHost: evil.test\r\n",
    ],
)
async def test_a_request_whose_host_is_in_doubt_is_refused(hosts: str) -> None:
    async with memory_engine() as engine, serving(engine) as server:
        named = hosts.format(host=f"127.0.0.1:{server.port}")
        lines = f"GET /health HTTP/1.1\r\n{named}Connection: close\r\n\r\n"
        assert (await raw(server.port, lines.encode())).startswith(b"HTTP/1.1 400 ")


async def test_the_token_stands_in_no_log(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    async with (
        memory_engine(asking) as engine,
        serving(engine, TOKEN) as server,
        server.client() as friend,
        server.stranger() as stranger,
    ):
        await friend.get(AT)
        await friend.get(AT, params={"token": TOKEN})
        await friend.get("/", params={"token": TOKEN})
        await stranger.get("/", params={"token": TOKEN})
        await stranger.get(AT, params={"token": TOKEN})
        await stranger.get(f"/{TOKEN}")
        await stranger.get(AT, headers={"Host": "evil.test", "Authorization": f"Bearer {TOKEN}"})
    written = capfd.readouterr()
    ours = [
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))
    ]
    assert TOKEN not in "\n".join([*ours, written.out, written.err])


def test_the_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    token = token_in(home)
    assert len(token) >= 40
    assert token_in(home) == token
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["token"]


def test_two_homes_have_two_tokens(tmp_path: Path) -> None:
    assert token_in(tmp_path / "a") != token_in(tmp_path / "b")


def test_twenty_threads_that_start_at_once_have_one_token(tmp_path: Path) -> None:
    barrier = Barrier(20)

    def start(_: int) -> str:
        barrier.wait()
        return token_in(tmp_path)

    with ThreadPoolExecutor(20) as pool:
        for attempt in range(20):
            (tmp_path / "token").unlink(missing_ok=True)
            assert len(set(pool.map(start, range(20)))) == 1, attempt


def test_processes_that_start_at_once_have_one_token(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(6) as pool:
        assert len(set(pool.map(token_in, [tmp_path] * 20, chunksize=1))) == 1


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"short\n", b"\xff" * 40, "é".encode() * 40, b"two\nlines" * 9]
)
def test_a_file_that_holds_no_token_is_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(ConfigurationError, match="does not hold a token") as caught:
        token_in(tmp_path)
    assert "Remove the file" in (caught.value.hint or "")
    assert (tmp_path / "token").read_bytes() == content


def test_a_home_that_is_none_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(ConfigurationError, match="can be neither read nor made"):
        token_in(tmp_path / "home")


def test_texts_are_compared_in_a_time_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    really_compare = hmac.compare_digest

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return really_compare(a, b)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert is_same("a", "a")
    assert compared == [(b"a", b"a")]
