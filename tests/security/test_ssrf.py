"""Attack 58: every way we know to make a fetch reach into the house. The canary listens there and must hear nothing."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from ipaddress import ip_address
from typing import cast

import pytest

from belayer.tools.dialling import Dialler
from belayer.tools.http_fetch import http_fetch
from belayer.tools.tool import Given
from belayer.vocabulary.addresses import Address, Allowed
from belayer.vocabulary.errors import AddressBlocked, Category, ConfigurationError
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.resolving import resolved
from belayer.workspace.workspace import Workspace
from tests.support.site import Site, answer, serving

NOBODY = Allowed()


class Names:
    """A name server that can change its mind: each name has its answers, one after the other, the last for ever."""

    def __init__(self, **answers: Sequence[str | Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(said) for name, said in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        self.asked.append(host)
        known = self._answers.get(host.removesuffix("."))
        if known is None:
            return await resolved(host, port) if host[0].isdigit() or ":" in host else self._unknown()
        said = known.pop(0) if len(known) > 1 else known[0]
        return [ip_address(text) for text in ([said] if isinstance(said, str) else said)]

    def _unknown(self) -> Sequence[Address]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")


async def fetch(url: str, allowed: Allowed = NOBODY, names: Names | None = None) -> dict[str, Json]:
    tool = http_fetch(allowed, resolve=names or Names())
    given: Given = {"url": url}
    assert tool.execute is not None
    return cast("dict[str, Json]", await tool.execute(tool.read(given), cast("Workspace", None)))


@pytest.fixture
async def canary() -> AsyncGenerator[Site]:
    """Listens on every address of the machine."""
    async with serving({"/": answer("the crown jewels", content_type="text/plain")}, host="::") as site:
        yield site


SPELLINGS = [
    "http://127.0.0.1:{port}/",
    "http://127.0.0.2:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0x7f.1:{port}/",
    "http://017700000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0177.0.0.01:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://0:{port}/",
    "http://0.0.0.0:{port}/",
    "http://[::]:{port}/",
    "http://[::1]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[::1%25lo]:{port}/",
    "http://[::1%lo]:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/",
    "http://localhost.localdomain:{port}/",
    "http://ip6-localhost:{port}/",
    "http://loopback.example.org:{port}/",
    "http://good.example.org@127.0.0.1:{port}/",
    "http://good.example.org:80@127.0.0.1:{port}/",
    "http://good.example.org%40127.0.0.1:{port}/",
    "http://good.example.org\\@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}\\@good.example.org/",
    "http://127.0.0.1:{port}#@good.example.org/",
    "http://127.0.0.1:{port}?@good.example.org/",
    "http://127。0。0。1:{port}/",
    "http://127.0.0.1:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/",
    "http://%31%32%37.0.0.1:{port}/",
    "http://%6c%6f%63alhost:{port}/",
    "http:127.0.0.1:{port}/",
    "http:/127.0.0.1:{port}/",
    "http:///127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    " http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/\r\nHost: good.example.org",
    "http://127.0.0.1\t:{port}/",
    "http://127.0.0.1 :{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://[::ffff:a9fe:a9fe]/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://255.255.255.255/",
    "http://224.0.0.1/",
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "gopher://127.0.0.1:{port}/_x",
    "ftp://127.0.0.1:{port}/",
    "dict://127.0.0.1:{port}/",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "jar:http://127.0.0.1:{port}/!/",
    "",
]
INSIDE_NAMES = {
    "localhost": ["127.0.0.1"],
    "localhost_localdomain": ["127.0.0.1"],
    "ip6-localhost": ["::1"],
    "loopback_example_org": ["127.0.0.1"],
    "metadata_google_internal": ["169.254.169.254"],
}


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "localhost."])
async def test_the_canary_hears_those_who_are_allowed(host: str, canary: Site) -> None:
    page = await fetch(canary.url(host=host), Allowed.of(["127.0.0.1", "::1"]), Names(**INSIDE_NAMES))
    assert page["text"] == "the crown jewels"
    assert canary.connections == 1


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_of_a_place_inside_gets_there(spelling: str, canary: Site) -> None:
    with pytest.raises(ConfigurationError) as raised:
        await fetch(spelling.format(port=canary.port), names=Names(**INSIDE_NAMES))
    assert raised.value.category is Category.CONFIGURATION
    assert canary.connections == 0


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "017700000001",
            "0177.0.0.1",
            "0",
            "::1",
            "::",
        ),
        *("::ffff:127.0.0.1", "::ffff:7f00:1", "169.254.169.254", "0xa9fea9fe", "localhost"),
    ],
)
async def test_the_connector_by_itself_dials_no_place_inside(host: str, canary: Site) -> None:
    with pytest.raises(AddressBlocked):
        await Dialler(NOBODY, resolved).connect_tcp(host, canary.port)
    assert canary.connections == 0


async def test_the_connector_dials_no_socket_of_the_machine() -> None:
    with pytest.raises(AddressBlocked, match=r"/var/run/docker\.sock"):
        await Dialler(Allowed.of(["localhost"]), resolved).connect_unix_socket("/var/run/docker.sock")


async def test_a_blocked_fetch_names_the_host_the_address_and_the_setting() -> None:
    with pytest.raises(AddressBlocked) as raised:
        await fetch("https://wiki.corp/page", names=Names(wiki_corp=["10.1.2.3"]))
    assert "wiki.corp leads to 10.1.2.3" in raised.value.detail
    assert "wiki.corp:443" in (raised.value.hint or "")
    assert "BELAYER_PRIVATE_HOSTS" in (raised.value.hint or "")


# In these the second address of the loopback network stands for the world outside.
OUTSIDE = "127.0.0.2"
WORLD = Allowed.of([f"{OUTSIDE}/32"])


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "//127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://localhost:{port}/",
        "http://loopback.example.org:{port}/",
        "http://user@127.0.0.1:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433:{port}/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/_x",
        "http://[::1",
        "http://127.0.0.1:{port}/\u0001",
    ],
)
async def test_no_redirect_leads_inside(location: str, canary: Site) -> None:
    aim = location.format(port=canary.port)
    async with serving({"/": answer(status=302, location=aim)}, host=OUTSIDE) as outside:
        with pytest.raises(ConfigurationError):
            await fetch(outside.url(host=OUTSIDE), WORLD, Names(**INSIDE_NAMES))
    assert outside.paths() == ["/"]
    assert canary.connections == 0


async def test_a_name_that_moves_inside_between_two_requests_is_blocked() -> None:
    names = Names(moving_example_org=[OUTSIDE, "127.0.0.1"])
    pages = {"/": answer(status=302, location="/again"), "/again": answer("the crown jewels")}
    async with serving(pages, host=OUTSIDE) as outside:
        with pytest.raises(AddressBlocked, match=r"moving\.example\.org leads to 127\.0\.0\.1"):
            await fetch(outside.url(host="moving.example.org"), WORLD, names)
    assert outside.paths() == ["/"]


async def test_a_name_is_looked_up_once_so_that_there_is_nothing_to_change_after_the_check() -> None:
    names = Names(moving_example_org=[OUTSIDE, "127.0.0.1"])
    async with serving({"/": answer("hello", content_type="text/plain")}, host=OUTSIDE) as outside:
        page = await fetch(outside.url(host="moving.example.org"), WORLD, names)
    assert page["text"] == "hello"
    assert names.asked == ["moving.example.org"]


@pytest.mark.parametrize("answers", [[OUTSIDE, "127.0.0.1"], ["127.0.0.1", OUTSIDE], [OUTSIDE, "::1"]])
async def test_a_name_that_is_both_outside_and_inside_is_not_dialled_at_all(answers: list[str]) -> None:
    async with serving(host=OUTSIDE) as outside:
        with pytest.raises(AddressBlocked):
            await fetch(outside.url(host="both.example.org"), WORLD, Names(both_example_org=[answers]))
    assert outside.connections == 0


async def test_a_proxy_in_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch, canary: Site) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    async with serving({"/": answer("hello", content_type="text/plain")}, host=OUTSIDE) as outside:
        assert (await fetch(outside.url(host=OUTSIDE), WORLD))["text"] == "hello"
    assert canary.connections == 0


async def test_what_is_allowed_on_one_port_is_not_allowed_on_another(canary: Site) -> None:
    async with serving({"/": answer("hello", content_type="text/plain")}) as open_one:
        allowed = Allowed.of([f"127.0.0.1:{open_one.port}"])
        assert (await fetch(open_one.url(), allowed))["text"] == "hello"
        with pytest.raises(AddressBlocked):
            await fetch(f"http://127.0.0.1:{canary.port}/", allowed)
    assert canary.connections == 0


async def test_many_attacks_at_once_do_not_confuse_the_check(canary: Site) -> None:
    urls = [spelling.format(port=canary.port) for spelling in SPELLINGS]
    names = Names(**INSIDE_NAMES)
    results = await asyncio.gather(*(fetch(url, names=names) for url in urls), return_exceptions=True)
    assert all(isinstance(result, ConfigurationError) for result in results)
    assert canary.connections == 0
