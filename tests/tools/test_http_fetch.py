"""Fetching pages from real servers on loopback: good ones, broken ones, and those that mean harm."""

import asyncio
import gzip
import socket
import ssl
import subprocess
import zlib
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

import pytest

from belayer.execution.policy import Reach
from belayer.tools import http_fetch as module
from belayer.tools.http_fetch import http_fetch
from belayer.vocabulary.addresses import Address, Allowed
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    ConfigurationError,
    RateLimited,
    TransientError,
)
from belayer.vocabulary.events.event import Effect, Json
from belayer.workspace.workspace import Workspace
from tests.support.site import Answer, answer, beginning, serving

HERE = Allowed.of(["127.0.0.1"])
PLAIN = "text/plain; charset=utf-8"
ARTICLE = """<!doctype html><html><head><title>The &amp; Rope</title><style>p {color: red}</style></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li></ul></nav>
<article><h1>How to hold a rope</h1>
<p>A belayer holds the rope for the climber. The rope runs through a device that brakes it when the climber falls.</p>
<p>It takes attention: whoever holds the rope watches the climber all the time, gives slack and takes it in again.</p>
<script>document.write("stolen cookies")</script></article>
<footer>Imprint, privacy, cookies</footer></body></html>"""


async def at_loopback(_host: str, _port: int) -> list[Address]:
    """Every name is this machine."""
    return [ip_address("127.0.0.1")]


async def fetch(
    url: str, *, allowed: Allowed = HERE, tls: ssl.SSLContext | None = None, **params: Json
) -> dict[str, Any]:
    tool = http_fetch(allowed, resolve=at_loopback, tls=tls)
    assert tool.execute is not None
    return cast(
        "dict[str, Any]", await tool.execute(tool.read({"url": url, **params}), cast("Workspace", None))
    )


async def fetched(page: Answer, **params: Any) -> dict[str, Any]:
    async with serving({"/": page}) as site:
        return await fetch(site.url(), **params)


async def failure(page: Answer, kind: type[BelayerError]) -> BelayerError:
    with pytest.raises(kind) as raised:
        await fetched(page)
    assert type(raised.value) is kind
    assert raised.value.hint
    return raised.value


class TestPages:
    async def test_html_becomes_the_text_that_a_reader_sees(self) -> None:
        async with serving({"/": answer(ARTICLE, content_type="text/html; charset=utf-8")}) as site:
            page = await fetch(site.url())
        text = page.pop("text")
        assert page == {
            "url": site.url(),
            "status": 200,
            "content_type": "text/html",
            "title": "The & Rope",
            "bytes": len(ARTICLE),
            "truncated": False,
            "redirects": [],
        }
        assert "A belayer holds the rope for the climber." in text
        assert "How to hold a rope" in text
        assert not any(word in text for word in ("<p>", "Imprint", "stolen cookies", "color: red"))

    async def test_html_can_be_had_as_it_was_sent(self) -> None:
        page = await fetched(answer(ARTICLE, content_type="text/html"), raw=True)
        assert page["text"] == ARTICLE
        assert page["title"] is None

    async def test_a_page_without_an_article_still_gives_its_text(self) -> None:
        page = await fetched(answer("<ul><li>one<li>two</ul><!-- three --><b>four", content_type="text/html"))
        assert page["text"].split() == ["one", "two", "four"]

    async def test_an_empty_page_is_an_empty_text(self) -> None:
        page = await fetched(answer("", content_type="text/html"))
        assert (page["text"], page["title"], page["bytes"]) == ("", None, 0)

    async def test_a_page_that_is_too_much_for_careful_reading_is_read_crudely(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_READING", replace(module._READING, cpu_seconds=1))
        slow_to_parse = "<p " + " ".join(f"a{number}=1" for number in range(60_000)) + ">the point</p>"
        assert (await fetched(answer(slow_to_parse, content_type="text/html")))["text"] == "the point"

    @pytest.mark.parametrize(
        "kind",
        [
            *(
                "application/json",
                "application/ld+json",
                "application/xml",
                "image/svg+xml",
                "text/csv",
                "text/x-z",
            ),
            *("application/yaml", "application/javascript", "TEXT/Plain"),
        ],
    )
    async def test_text_of_other_kinds_comes_as_it_is(self, kind: str) -> None:
        page = await fetched(answer('{"a": "<b>ü</b>"}', content_type=kind))
        assert (page["text"], page["content_type"]) == ('{"a": "<b>ü</b>"}', kind.lower())

    @pytest.mark.parametrize(
        "kind",
        ["application/pdf", "image/png", "application/octet-stream", "video/mp4", "nonsense", "x" * 300],
    )
    async def test_what_is_not_text_is_refused_unread(self, kind: str) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            await flood(writer, beginning(kind), b"\0" * 65536)

        error = await failure(endless, ConfigurationError)
        assert "not text" in error.detail
        assert len(error.detail) < 300

    @pytest.mark.parametrize(
        ("body", "kind"), [(b"hello", "text/plain"), (b" <p>hello</p>", "text/html"), (b"", "text/plain")]
    )
    async def test_a_page_without_a_type_is_looked_at(self, body: bytes, kind: str) -> None:
        page = await fetched(answer(body))
        assert (page["content_type"], page["text"]) == (kind, "hello" if body else "")

    async def test_a_page_without_a_type_that_is_no_text_is_refused(self) -> None:
        await failure(answer(b"\x7fELF\0\0\0"), ConfigurationError)


class TestCharacters:
    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            ("grün".encode(), "text/plain"),
            ("grün".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
            ("grün".encode("latin-1"), 'text/plain; charset="windows-1252"'),
            ("grün".encode("utf-8-sig"), "text/plain; charset=latin-1"),
            ("grün".encode("utf-16"), "text/plain"),
            ("grün".encode("utf-16-be"), "text/plain; charset=utf-16be"),
            ("<meta charset=latin-1><p>grün".encode("latin-1"), "text/html"),
            (
                b'<meta http-equiv="content-type" content="text/html; charset=windows-1252"><p>gr\xfcn',
                "text/html",
            ),
        ],
    )
    async def test_a_page_is_read_in_its_own_charset(self, body: bytes, kind: str) -> None:
        assert (await fetched(answer(body, content_type=kind)))["text"] == "grün"

    @pytest.mark.parametrize(
        "charset",
        ["punycode", "idna", "zlib_codec", "rot13", "unicode_escape", "iso-8859-99", "../../x", "", "\x01"],
    )
    async def test_an_odd_charset_is_read_as_utf_8(self, charset: str) -> None:
        page = await fetched(answer("gr\\u00fcn ü", content_type=f"text/plain; charset={charset}"))
        assert page["text"] == "gr\\u00fcn ü"

    async def test_bytes_that_are_no_text_are_replaced(self) -> None:
        assert (await fetched(answer(b"a\xffb", content_type=PLAIN)))["text"] == "a\ufffdb"

    async def test_control_characters_and_hidden_text_are_removed(self) -> None:
        hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
        body = f"a\0b\x1b[31mc\x07\td\r\ne\x9bf\x7f\u202eg{hidden}"
        assert (await fetched(answer(body, content_type=PLAIN)))["text"] == "ab[31mc\td\nefg"

    @pytest.mark.parametrize("entity", ["&#xD800;", "&#0;", "&#27;", "&#x202E;", "&#1114112;"])
    async def test_entities_smuggle_nothing_in(self, entity: str) -> None:
        page = await fetched(answer(f"<title>a{entity}b</title><p>c{entity}d", content_type="text/html"))
        for text in (page["title"], page["text"]):
            text.encode()
            assert not set(text) & {"\0", "\x1b", "\u202e"}


async def flood(writer: asyncio.StreamWriter, head: bytes, piece: bytes) -> None:
    """Send until the other side has had enough."""
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()


class TestBounds:
    async def test_a_body_without_an_end_is_cut_at_its_limit(self) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            await flood(writer, beginning(PLAIN), b"x" * 65536)

        async with serving({"/": endless}) as site:
            page = await fetch(site.url(), max_bytes=100_000)
            await site.left.wait()
        assert (page["text"], page["bytes"], page["truncated"]) == ("x" * 100_000, 100_000, True)

    async def test_a_body_that_just_fits_is_whole(self) -> None:
        page = await fetched(answer("x" * 1000, content_type=PLAIN), max_bytes=1000)
        assert (page["bytes"], page["truncated"]) == (1000, False)

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-gzip"])
    async def test_a_packed_page_is_unpacked(self, encoding: str) -> None:
        packed = zlib.compress(b"hello") if encoding == "deflate" else gzip.compress(b"hello")
        page = await fetched(answer(packed, content_type=PLAIN, content_encoding=encoding))
        assert (page["text"], page["bytes"], page["truncated"]) == ("hello", 5, False)

    @pytest.mark.parametrize("encoding", ["gzip", "deflate"])
    async def test_a_bomb_is_unpacked_only_to_its_limit(self, encoding: str) -> None:
        pack = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
        bomb = b"".join([*(pack.compress(b"x" * 1_000_000) for _ in range(200)), pack.flush()])
        page = await fetched(answer(bomb, content_type=PLAIN, content_encoding=encoding))
        assert (page["bytes"], page["truncated"], len(page["text"])) == (2_000_000, True, 500_000)

    async def test_packing_that_holds_nothing_and_has_no_end_is_left(self) -> None:
        pack = zlib.compressobj(wbits=31)
        start = pack.flush(zlib.Z_SYNC_FLUSH)
        nothing = b"\0\0\0\xff\xff" * 10_000

        async def endless(writer: asyncio.StreamWriter) -> None:
            await flood(writer, beginning(PLAIN, content_encoding="gzip") + start, nothing)

        page = await fetched(endless)
        assert (page["bytes"], page["truncated"]) == (0, True)

    async def test_packed_text_that_breaks_off_is_marked(self) -> None:
        page = await fetched(
            answer(gzip.compress(b"hello " * 1000)[:-12], content_type=PLAIN, content_encoding="gzip")
        )
        assert page["truncated"]

    @pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "\x01"])
    async def test_packing_that_was_not_asked_for_is_refused(self, encoding: str) -> None:
        with pytest.raises((ConfigurationError, TransientError)):
            await fetched(answer(b"\x1f\x8b", content_type=PLAIN, content_encoding=encoding))

    async def test_text_has_a_limit_of_its_own(self) -> None:
        page = await fetched(answer("x" * 600_000, content_type=PLAIN))
        assert (len(page["text"]), page["bytes"], page["truncated"]) == (500_000, 600_000, True)
        page = await fetched(answer("<p>" + "word " * 120_000, content_type="text/html"))
        assert (len(page["text"]), page["truncated"]) == (500_000, True)

    async def test_a_drip_is_let_go_of_when_the_time_is_up(self) -> None:
        dripping = asyncio.Event()

        async def drip(writer: asyncio.StreamWriter) -> None:
            writer.write(beginning(PLAIN))
            while True:
                writer.write(b"x")
                await writer.drain()
                dripping.set()
                await asyncio.sleep(0)

        async with serving({"/": drip}) as site:
            task = asyncio.create_task(fetch(site.url(), max_bytes=10_000_000))
            await dripping.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await site.left.wait()

    async def test_headers_without_an_end_are_given_up(self) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            await flood(writer, b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 1000)

        await failure(endless, TransientError)


class TestRedirects:
    async def test_a_redirect_is_followed_and_told(self) -> None:
        pages = {
            "/": answer(status=301, location="/a?b=c#d"),
            "/a?b=c": answer(status=307, location="end"),
            "/end": answer("here", content_type=PLAIN),
        }
        async with serving(pages) as site:
            page = await fetch(site.url())
        assert page["text"] == "here"
        assert page["url"] == site.url("/end")
        assert page["redirects"] == [site.url("/"), site.url("/a?b=c")]

    async def test_five_redirects_are_followed_and_six_are_not(self) -> None:
        pages = {f"/{number}": answer(status=302, location=f"/{number - 1}") for number in range(1, 7)}
        async with serving({**pages, "/0": answer("here", content_type=PLAIN)}) as site:
            assert len((await fetch(site.url("/5")))["redirects"]) == 5
            with pytest.raises(ConfigurationError, match="after 5"):
                await fetch(site.url("/6"))

    async def test_a_loop_of_redirects_ends(self) -> None:
        async with serving({"/": answer(status=302, location="/")}) as site:
            with pytest.raises(ConfigurationError, match="one redirect to the next"):
                await fetch(site.url())
        assert len(site.requests) == 6

    async def test_a_redirect_to_nowhere_is_a_page_like_any_other(self) -> None:
        assert (await fetched(answer("choose", 300, content_type=PLAIN)))["status"] == 300

    async def test_a_redirects_own_body_is_not_read(self) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            await flood(writer, b"HTTP/1.1 302 Found\r\nLocation: /end\r\n\r\n", b"x" * 65536)

        async with serving({"/": endless, "/end": answer("here", content_type=PLAIN)}) as site:
            assert (await fetch(site.url()))["text"] == "here"


class TestRequests:
    async def test_a_request_says_who_asks_and_carries_nothing_else(self) -> None:
        pages = {
            "/": answer(status=302, location="/end", set_cookie="id=1; Path=/"),
            "/end": answer("here", content_type=PLAIN),
        }
        async with serving(pages) as site:
            await fetch(site.url())
        for request in site.requests:
            first, *headers = request.rstrip().split("\r\n")
            assert first.startswith("GET /")
            assert {header.split(":")[0].lower() for header in headers} == {
                *("host", "user-agent", "accept", "accept-encoding")
            }
            assert f"Host: 127.0.0.1:{site.port}" in headers
            assert any(header.startswith("User-Agent: belayer/") for header in headers)

    @pytest.mark.parametrize(
        ("url", "hosts"),
        [
            ("http://example.org/page", ("example.org",)),
            ("https://Example.ORG.:443/", ("example.org",)),
            ("http://example.org:8080/", ("example.org:8080",)),
            ("https://bücher.example/", ("xn--bcher-kva.example",)),
            ("http://[2606:4700::1111]/", ("2606:4700::1111",)),
        ],
    )
    def test_a_call_says_which_host_it_would_reach(self, url: str, hosts: tuple[str, ...]) -> None:
        tool = http_fetch(HERE)
        assert tool.reach(tool.read({"url": url})) == Reach(hosts=hosts)
        assert tool.effect is Effect.READ

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("ftp://example.org/", "http:// or https://"),
            ("example.org", "http:// or https://"),
            ("http://", "not a host"),
            ("http://user:secret@example.org/", "password"),
            ("http://example.org:99999/", "port"),
            ("http://example.org:x/", "not a URL"),
            ("http://exa mple.org/", "not a host"),
            ("http://example.org/\n", "not a URL"),
            (f"http://example.org/{'x' * 5000}", "4096"),
            (f"http://{'x' * 64}.org/", "not a host"),
        ],
    )
    def test_a_url_that_cannot_be_fetched_is_refused_with_its_reason(self, url: str, said: str) -> None:
        with pytest.raises(ConfigurationError, match=said) as raised:
            http_fetch(HERE).read({"url": url})
        assert "secret" not in raised.value.detail

    @pytest.mark.parametrize("params", [{"max_bytes": 0}, {"max_bytes": 10_000_001}, {"method": "POST"}])
    def test_parameters_out_of_bounds_are_refused(self, params: dict[str, Json]) -> None:
        with pytest.raises(ConfigurationError):
            http_fetch(HERE).read({"url": "http://example.org/", **params})


class TestTrouble:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            *((status, TransientError) for status in (408, 425, 500, 502, 503, 504, 599)),
            *((status, AccessDenied) for status in (401, 403, 407)),
            *((status, ConfigurationError) for status in (400, 404, 405, 410, 418, 451)),
            (429, RateLimited),
        ],
    )
    async def test_a_status_has_its_meaning(self, status: int, kind: type[BelayerError]) -> None:
        assert str(status) in (await failure(answer("sorry", status, content_type=PLAIN), kind)).detail

    async def test_a_server_that_asks_to_wait_is_quoted(self) -> None:
        error = await failure(answer(status=429, retry_after="120"), RateLimited)
        assert "(120)" in error.detail

    async def test_a_page_that_is_not_there_is_told_by_its_url(self) -> None:
        async with serving() as site:
            with pytest.raises(ConfigurationError, match=f"no page at {site.url('/gone')}"):
                await fetch(site.url("/gone"))

    async def test_a_closed_port_is_worth_another_try(self) -> None:
        async with serving() as site:
            pass
        with pytest.raises(TransientError, match="cannot be reached"):
            await fetch(site.url())

    @pytest.mark.parametrize(
        "page",
        [
            b"",
            b"SSH-2.0-OpenSSH_9.6\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: text/plain\r\n\r\nhalf",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
            answer(b"\x1f\x8b\x08broken", content_type=PLAIN, content_encoding="gzip"),
        ],
        ids=["says nothing", "speaks SSH", "breaks off", "bad chunks", "two lengths", "broken packing"],
    )
    async def test_a_broken_answer_is_worth_another_try(self, page: bytes) -> None:
        await failure(page, TransientError)

    async def test_a_connection_that_is_reset_is_worth_another_try(self) -> None:
        async def reset(writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            writer.transport.abort()

        await failure(reset, TransientError)

    @pytest.mark.parametrize(
        "error", [socket.gaierror(socket.EAI_NONAME, "x"), socket.gaierror(socket.EAI_AGAIN, "x"), None]
    )
    async def test_a_name_that_is_not_found_is_worth_another_try(self, error: Exception | None) -> None:
        async def lost(_host: str, _port: int) -> list[Address]:
            if error:
                raise error
            return []

        tool = http_fetch(HERE, resolve=lost)
        assert tool.execute is not None
        with pytest.raises(TransientError, match=r"No address was found for nowhere\.example"):
            await tool.execute(tool.read({"url": "http://nowhere.example/"}), cast("Workspace", None))

    async def test_the_next_address_is_tried_when_one_does_not_answer(self) -> None:
        async def two(_host: str, _port: int) -> list[Address]:
            return [ip_address("127.0.0.3"), ip_address("127.0.0.1")]

        async with serving({"/": answer("here", content_type=PLAIN)}) as site:
            tool = http_fetch(Allowed.of(["127.0.0.0/8"]), resolve=two)
            assert tool.execute is not None
            url = site.url(host="two.example")
            page = cast(
                "dict[str, Any]", await tool.execute(tool.read({"url": url}), cast("Workspace", None))
            )
        assert page["text"] == "here"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for page.test that nobody has signed."""
    file = tmp_path_factory.mktemp("tls") / "page.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-subj", "/CN=page.test", "-addext", "subjectAltName=DNS:page.test", "-days", "2"]
    subprocess.run([*command, "-keyout", file, "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


def served_with(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


class TestTls:
    async def test_a_page_comes_over_tls_for_the_name_that_was_asked(self, certificate: Path) -> None:
        context = served_with(certificate)
        names: list[str | None] = []
        context.sni_callback = lambda _socket, name, _context: names.append(name)
        trusting = ssl.create_default_context(cafile=str(certificate))
        async with serving({"/": answer("here", content_type=PLAIN)}, tls=context) as site:
            assert (await fetch(site.url(host="page.test"), tls=trusting))["text"] == "here"
            assert (await fetch(site.url(host="page.test."), tls=trusting))["text"] == "here"
        assert names == ["page.test", "page.test"]

    async def test_a_certificate_for_another_name_is_refused(self, certificate: Path) -> None:
        trusting = ssl.create_default_context(cafile=str(certificate))
        async with serving(tls=served_with(certificate)) as site:
            for host in ("other.test", "127.0.0.1"):
                with pytest.raises(ConfigurationError, match="cannot be trusted"):
                    await fetch(site.url(host=host), tls=trusting)
        assert site.requests == []

    async def test_a_certificate_that_nobody_signed_is_refused(self, certificate: Path) -> None:
        async with serving(tls=served_with(certificate)) as site:
            with pytest.raises(ConfigurationError, match="self-signed"):
                await fetch(site.url(host="page.test"))
        assert site.requests == []

    async def test_a_server_without_tls_is_told(self) -> None:
        async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(ConfigurationError, match="secure connection failed"):
                await fetch(f"https://127.0.0.1:{port}/")

    async def test_a_redirect_from_https_to_http_is_refused(self, certificate: Path) -> None:
        trusting = ssl.create_default_context(cafile=str(certificate))
        async with serving({"/": answer("open", content_type=PLAIN)}) as plain:
            pages = {"/": answer(status=302, location=plain.url())}
            async with serving(pages, tls=served_with(certificate)) as site:
                with pytest.raises(ConfigurationError, match="from https to http"):
                    await fetch(site.url(host="page.test"), tls=trusting)
        assert plain.requests == []
