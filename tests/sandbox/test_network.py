"""The one way out: listed hosts through the proxy, from within the real sandbox to a real server."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from belayer.sandbox.proxy import Proxy, host_and_port
from belayer.sandbox.sandbox import Network
from belayer.vocabulary.addresses import Allowed
from belayer.vocabulary.errors import NoSandbox
from tests.sandbox.boxes import Box, furnished, lasting, needs_bubblewrap

HERE = Allowed.of(["127.0.0.1", "localhost"])
GET = (
    "import sys, urllib.request\n"
    "for url in sys.argv[1:]:\n"
    "  try: print(urllib.request.urlopen(url, timeout=20).read().decode())\n"
    "  except OSError as error: print(type(error).__name__, getattr(error, 'code', ''))\n"
)


@dataclass
class Site:
    port: int = 0
    asked: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving() -> AsyncGenerator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site


@pytest.fixture(scope="module", params=[pytest.param(("bubblewrap", True), marks=needs_bubblewrap)])
def rung(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    yield from lasting(request.param, tmp_path_factory.mktemp("box"))


@pytest.fixture
def wrap(rung: Box, tmp_path: Path) -> Box:
    return furnished(rung.sandbox, rung.home, tmp_path)


async def get(box: Box, network: Network, *urls: str) -> list[str]:
    code = f"import os\nos.environ['no_proxy'] = ''\n{GET}"
    return (await box.python(code, *urls, network=network)).out.split("\n")


async def test_a_listed_host_is_reached_and_no_other(wrap: Box) -> None:
    async with serving() as site, serving() as other:
        network = Network((f"127.0.0.1:{site.port}",), HERE)
        here, there = (f"http://127.0.0.1:{one.port}/path?q=1" for one in (site, other))
        assert await get(wrap, network, here, there) == ["hello", "HTTPError 403"]
        assert other.asked == []
        assert site.asked[0].startswith("GET /path?q=1 HTTP/1.1\r\n")
        assert f"Host: 127.0.0.1:{site.port}\r\n" in site.asked[0]
        assert "roxy" not in site.asked[0]


async def test_a_name_that_leads_into_the_house_is_refused(wrap: Box) -> None:
    async with serving() as site:
        network = Network((f"localhost:{site.port}", f"127.0.0.1:{site.port}", f"[::1]:{site.port}"))
        urls = [f"http://{host}:{site.port}/" for host in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST.")]
        assert await get(wrap, network, *urls) == ["HTTPError 403"] * 4
        assert site.asked == []


async def test_around_the_proxy_there_is_no_way(wrap: Box) -> None:
    async with serving() as site:
        code = f"import os\nos.environ.clear()\n{GET}"
        network = Network((f"127.0.0.1:{site.port}",), HERE)
        ran = await wrap.python(code, f"http://127.0.0.1:{site.port}/", "http://1.1.1.1/", network=network)
        assert ran.out == "URLError \nURLError "
        assert site.asked == []


async def test_a_tunnel_carries_both_ways_and_only_to_the_list(wrap: Box) -> None:
    async with serving() as site:
        code = (
            "import socket, sys\n"
            "for target in sys.argv[1:]:\n"
            "  line = socket.create_connection(('127.0.0.1', 3128))\n"
            "  line.sendall(f'CONNECT {target} HTTP/1.1\\r\\n\\r\\n'.encode())\n"
            "  answer = line.recv(1000).split(b'\\r\\n')[0]\n  print(answer.decode())\n"
            "  if b' 200 ' in answer:\n"
            "    line.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n')\n"
            "    held = b''\n    while piece := line.recv(1000): held += piece\n    print(held[-5:].decode())\n"
        )
        ran = await wrap.python(
            code,
            f"127.0.0.1:{site.port}",
            "127.0.0.1:1",
            "evil.test:443",
            network=Network((f"127.0.0.1:{site.port}",), HERE),
        )
        assert ran.out.split("\n") == [
            "HTTP/1.1 200 Connection established",
            "hello",
            "HTTP/1.1 403 Forbidden",
            "HTTP/1.1 403 Forbidden",
        ]


async def test_the_own_loopback_works_and_is_ones_own(wrap: Box) -> None:
    code = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 8080))\n"
        "line = socket.create_connection(('127.0.0.1', 8080))\nprint('met', server.accept()[1][0])"
    )
    for ran in await asyncio.gather(wrap.python(code), wrap.python(code)):
        assert ran.out == "met 127.0.0.1"


async def test_without_hosts_nothing_listens_inside(wrap: Box) -> None:
    code = "import socket\ntry: socket.create_connection(('127.0.0.1', 3128))\nexcept OSError as e: print(e.errno)"
    assert (await wrap.python(code)).out == "111"


async def test_two_with_hosts_have_lists_of_their_own(wrap: Box) -> None:
    async with serving() as one, serving() as two:
        urls = [f"http://127.0.0.1:{site.port}/" for site in (one, two)]
        lists = [Network((f"127.0.0.1:{site.port}",), HERE) for site in (one, two)]
        first, second = await asyncio.gather(*(get(wrap, network, *urls) for network in lists))
        assert first == ["hello", "HTTPError 403"]
        assert second == ["HTTPError 403", "hello"]


async def test_a_rung_that_cannot_tell_hosts_apart_refuses(tmp_path: Path) -> None:
    for box in lasting_landlock(tmp_path):
        with pytest.raises(NoSandbox, match="cannot let a program reach some hosts"):
            await box.run("/bin/true", folder=tmp_path, network=Network(("pypi.org:443",)))


def lasting_landlock(top: Path) -> Iterator[Box]:
    from belayer.sandbox.camp import Camp
    from belayer.sandbox.landlock import Landlock

    camp = Camp.pitch(top)
    try:
        yield Box(Landlock(camp, top), top, top, top)
    finally:
        camp.strike()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("pypi.org:443", ("pypi.org", 443)),
        ("PyPI.org.", ("pypi.org", 443)),
        ("[::1]:80", ("::1", 80)),
        ("10.0.0.1:1", ("10.0.0.1", 1)),
    ],
)
def test_a_host_is_read_in_one_way(written: str, meant: tuple[str, int]) -> None:
    assert host_and_port(written) == meant


@pytest.mark.parametrize(
    "written", ["", "a:b", "a:0", "a:65536", "http://a", "a/b", "u@a", "a b", "::1", "a:1:2", "[a"]
)
def test_what_is_no_host_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        host_and_port(written)


HOSTILE = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"CONNECT\r\n\r\n",
    b"CONNECT a b c\r\n\r\n",
    b"\x16\x03\x01\r\n\r\n",
    b"GET ftp://a/ HTTP/1.1\r\n\r\n",
    b"GET http://user@allowed.test/ HTTP/1.1\r\n\r\n",
    b"CONNECT allowed.test@evil.test:443 HTTP/1.1\r\n\r\n",
    b"CONNECT evil.test:443#allowed.test:443 HTTP/1.1\r\n\r\n",
    b"GET http://evil.test\\@allowed.test/ HTTP/1.1\r\n\r\n",
    b"CONNECT " + b"a" * 100_000,
]


@pytest.mark.parametrize("request_", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_request_that_is_not_understood_goes_nowhere(request_: bytes) -> None:
    proxy = Proxy(Network(("allowed.test:443", "allowed.test:80")))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(request_)
    assert (await reader.read()).split(b" ")[1][:1] == b"4"
    writer.close()
    server.close()
    await proxy.close()
