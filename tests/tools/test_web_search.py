"""Searching at a real server on loopback that speaks the providers' documented APIs, well and badly."""

import asyncio
import gzip
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from belayer.execution.policy import Call, Reach, rule_on
from belayer.sessions.redact import Redactor
from belayer.tools import web_search as module
from belayer.tools.search.choice import chosen_provider
from belayer.tools.search.provider import Found, Provider, Wanted
from belayer.tools.search.snippets import plain_text, readable_results
from belayer.tools.tool import Tool
from belayer.tools.web_search import WebSearchParams, web_search
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import (
    AccessDenied,
    AddressBlocked,
    BelayerError,
    ConfigurationError,
    HoldsSecret,
    RateLimited,
    ResourceShort,
    TooLarge,
    TransientError,
)
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.rules import Verdict
from belayer.workspace.workspace import Workspace
from tests.support.engines import while_time_flies
from tests.support.mail_server import certificate_for, served_with, trusting
from tests.support.receiver import Receiver
from tests.support.search_provider import KEY, Page, brave_error, searching
from tests.support.site import Answer, answer, beginning, serving

KINDS = ("brave", "tavily", "searxng")
each_provider = pytest.mark.parametrize("kind", KINDS)
PAGE = Page("The rope", "https://climb.test/rope", "How to hold it.", "2026-01-02T03:04:05")
SHOWN = {
    "title": "The rope",
    "url": "https://climb.test/rope",
    "text": "How to hold it.",
    "published": "2026-01-02",
}


def provider_at(url: str, kind: str, key: str = KEY) -> Provider:
    match kind:
        case "brave":
            found = chosen_provider(brave_api_key=SecretStr(key), brave_url=url)
        case "tavily":
            found = chosen_provider(tavily_api_key=SecretStr(key), tavily_url=url)
        case _:
            found = chosen_provider(searxng_url=url)
    assert found is not None
    return found


def tool_at(url: str, kind: str, key: str = KEY, **parts: Any) -> Tool[WebSearchParams]:
    return web_search(provider_at(url, kind, key), parts.pop("redactor", Redactor()), **parts)


async def call(tool: Tool[WebSearchParams], **params: Json) -> dict[str, Any]:
    assert tool.execute is not None
    given_params = tool.read({"query": "rope", **params})
    return cast("dict[str, Any]", await tool.execute(given_params, cast("Workspace", None)))


async def results(pages: Iterable[Page], kind: str = "brave", **params: Json) -> list[dict[str, Any]]:
    async with searching(pages) as provider:
        return (await call(tool_at(provider.url, kind), **params))["results"]


async def failure(given_answer: Answer, expected: type[BelayerError], kind: str = "brave") -> BelayerError:
    async with searching(answers=[given_answer]) as provider:
        with pytest.raises(expected) as raised:
            await call(tool_at(provider.url, kind))
    assert type(raised.value) is expected
    assert raised.value.hint
    assert KEY not in str(raised.value.problem())
    return raised.value


class TestProviders:
    @each_provider
    async def test_what_is_found_is_shown_with_its_source_and_as_strangers_words(self, kind: str) -> None:
        async with searching([PAGE]) as provider:
            found = await call(tool_at(provider.url, kind))
        assert "strangers" in found.pop("note")
        assert found == {
            "query": "rope",
            "provider": kind,
            "host": f"127.0.0.1:{provider.port}",
            "cached": False,
            "results": [SHOWN],
        }

    async def test_brave_is_asked_as_it_documents(self) -> None:
        async with searching([PAGE]) as provider:
            await call(tool_at(provider.url, "brave"), count=3, site="Climb.test.", freshness="week")
        (asked,) = provider.asked
        assert (asked.method, asked.path) == ("GET", "/res/v1/web/search")
        assert asked.query == {
            "q": "rope site:climb.test",
            "count": "3",
            "result_filter": "web",
            "text_decorations": "false",
            "freshness": "pw",
        }
        assert asked.headers["x-subscription-token"] == KEY
        assert asked.headers["accept"] == "application/json"
        assert "gzip" in asked.headers["accept-encoding"]

    async def test_tavily_is_asked_as_it_documents(self) -> None:
        async with searching([PAGE]) as provider:
            await call(tool_at(provider.url, "tavily"), count=3, site="climb.test", freshness="month")
        (asked,) = provider.asked
        assert (asked.method, asked.path, asked.query) == ("POST", "/search", {})
        assert asked.json == {
            "query": "rope",
            "max_results": 3,
            "search_depth": "basic",
            "include_answer": False,
            "include_raw_content": False,
            "include_images": False,
            "include_domains": ["climb.test"],
            "time_range": "month",
        }
        assert asked.headers["authorization"] == f"Bearer {KEY}"

    async def test_searxng_is_asked_as_it_documents(self) -> None:
        async with searching([PAGE]) as provider:
            await call(tool_at(provider.url, "searxng"), site="climb.test", freshness="year")
        (asked,) = provider.asked
        assert (asked.method, asked.path) == ("GET", "/search")
        assert asked.query == {"q": "rope site:climb.test", "format": "json", "time_range": "year"}

    @each_provider
    async def test_a_provider_behind_a_path_of_a_proxy_is_asked_there(self, kind: str) -> None:
        async with searching(answers=[answer("{}", content_type="application/json")]) as provider:
            await call(tool_at(f"{provider.url}/proxy/", kind))
        assert provider.asked[0].path.startswith("/proxy/")

    @each_provider
    async def test_any_query_arrives_as_it_was_written(self, kind: str) -> None:
        query = 'a&b=c #d %20 +e "f" grün 日本 \\n ?'
        async with searching() as provider:
            await call(tool_at(provider.url, kind), query=query)
        asked = provider.asked[0]
        assert (asked.json["query"] if asked.body else asked.query["q"]) == query

    @each_provider
    async def test_nothing_found_is_an_empty_list(self, kind: str) -> None:
        assert await results([], kind) == []

    async def test_a_packed_answer_is_unpacked(self) -> None:
        body = gzip.compress(b'{"web": {"results": [{"title": "T", "url": "https://a.test/"}]}}')
        async with searching(answers=[answer(body, content_encoding="gzip")]) as provider:
            found = await call(tool_at(provider.url, "brave"))
        assert [item["url"] for item in found["results"]] == ["https://a.test/"]

    @pytest.mark.parametrize(
        "body",
        [
            *("{}", '{"web": null}', '{"web": []}', '{"web": {"results": {}}}', '{"results": 7}'),
            '{"web": {"results": [null, 1, "x", [], {}, {"url": 1}, {"url": "ftp://a.test"}]}}',
        ],
    )
    @each_provider
    async def test_what_an_answer_lacks_is_passed_over(self, kind: str, body: str) -> None:
        async with searching(answers=[answer(body)]) as provider:
            assert (await call(tool_at(provider.url, kind)))["results"] == []

    async def test_searxng_whose_engines_are_silent_has_not_found_nothing(self) -> None:
        silent = '{"results": [], "unresponsive_engines": [["google", "timeout"]]}'
        await failure(answer(silent), TransientError, "searxng")


class TestSettings:
    def test_ones_own_instance_comes_first_then_brave_then_tavily(self) -> None:
        brave, tavily = SecretStr("b"), SecretStr("t")
        both = chosen_provider(brave_api_key=brave, tavily_api_key=tavily)
        own = chosen_provider(searxng_url="http://s.test", brave_api_key=brave, tavily_api_key=tavily)
        assert both is not None
        assert own is not None
        assert (own.name, both.name) == ("searxng", "brave")
        assert chosen_provider(brave_api_key=SecretStr(" "), searxng_url="") is None

    async def test_without_a_key_it_says_which_settings_it_misses(self) -> None:
        tool = web_search(chosen_provider(), Redactor())
        with pytest.raises(ConfigurationError) as raised:
            await call(tool)
        assert tool.health is not None
        unwell = await tool.health()
        for name in ("BELAYER_BRAVE_API_KEY", "BELAYER_TAVILY_API_KEY", "BELAYER_SEARXNG_URL"):
            assert name in (raised.value.hint or "")
            assert name in (unwell or "")
        assert tool.reach(tool.read({"query": "x"})) == Reach()

    @pytest.mark.parametrize(
        "url", ["", "search", "ftp://s.test", "http://u:p@s.test", "http://", "http://1.2"]
    )
    def test_an_address_that_is_none_is_told_at_once(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="BELAYER_SEARXNG_URL"):
            chosen_provider(searxng_url=url or "nonsense")

    @each_provider
    def test_a_key_is_not_in_what_is_shown_of_a_provider(self, kind: str) -> None:
        provider = provider_at("http://s.test", kind)
        assert KEY not in repr(provider)
        assert KEY not in repr(provider.request(Wanted("x", 1)))

    @pytest.mark.parametrize("key", ["a\r\nX: y", "ключ", "a\0b"])
    async def test_a_key_that_no_header_can_hold_is_told_without_it(self, key: str) -> None:
        async with searching() as provider:
            with pytest.raises(ConfigurationError) as raised:
                await call(tool_at(provider.url, "brave", key))
        assert key not in str(raised.value.problem())
        assert provider.asked == []

    async def test_a_search_is_a_look_at_one_host_which_the_rules_can_forbid(self) -> None:
        tool = tool_at("https://search.test:8443/x", "searxng")
        reach = tool.reach(tool.read({"query": "x"}))
        assert (tool.effect, reach) == (Effect.READ, Reach(hosts=("search.test:8443",)))
        assert rule_on(Call(tool.name, tool.effect, reach), ()).verdict is Verdict.ALLOW
        assert tool.health is not None
        assert await tool.health() is None


class TestParameters:
    @pytest.mark.parametrize(
        "wrong",
        [
            *({"query": ""}, {"query": "x" * 401}, {"query": "a " * 50 + "b"}, {"query": "a\nb"}),
            *({"query": "a\u202eb"}, {"query": "a\0"}, {"query": "x" * 395, "site": "a.test"}),
            *({"count": 0}, {"count": 21}, {"freshness": "hour"}, {"site": "a b"}, {"site": "http://a.test"}),
            *({"site": "a.test/x"}, {"site": "127.0.0.1"}, {"site": ""}, {"url": "http://evil.test"}),
        ],
    )
    def test_what_no_provider_takes_is_refused_before_it_leaves(self, wrong: dict[str, Json]) -> None:
        with pytest.raises(ConfigurationError):
            tool_at("http://s.test", "brave").read({"query": "rope", **wrong})

    async def test_a_secret_does_not_leave_in_a_query(self) -> None:
        async with searching() as provider:
            tool = tool_at(provider.url, "brave", redactor=Redactor(["hunter2-hunter2"]))
            with pytest.raises(HoldsSecret, match="query"):
                await call(tool, query="who uses hunter2-hunter2 as password")
        assert provider.asked == []


class TestTrouble:
    @each_provider
    @pytest.mark.parametrize(
        ("status", "expected"),
        [
            *((401, AccessDenied), (403, AccessDenied), (429, RateLimited), (500, TransientError)),
            *(
                (503, TransientError),
                (408, TransientError),
                (400, ConfigurationError),
                (404, ConfigurationError),
            ),
            (302, ConfigurationError),
        ],
    )
    async def test_a_status_becomes_what_it_means(
        self, kind: str, status: int, expected: type[BelayerError]
    ) -> None:
        await failure(answer("no", status, location="http://127.0.0.1:1/"), expected, kind)

    @pytest.mark.parametrize("kind", ["brave", "tavily"])
    async def test_a_wrong_key_is_a_matter_of_access(self, kind: str) -> None:
        async with searching() as provider:
            with pytest.raises(AccessDenied, match=r"422|401") as raised:
                await call(tool_at(provider.url, kind, "another-key"))
        assert "BELAYER_" in (raised.value.hint or "")

    async def test_brave_tells_a_wrong_query_from_a_wrong_key(self) -> None:
        await failure(brave_error(422, "VALIDATION"), ConfigurationError)

    @pytest.mark.parametrize("status", [432, 433])
    async def test_an_account_that_is_used_up_is_short_of_something(self, status: int) -> None:
        await failure(answer("{}", status), ResourceShort, "tavily")

    @pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"7", b"\xff\xfe", b'{"a":', b"[" * 10_000])
    @each_provider
    async def test_garbage_is_not_taken_for_an_answer(self, kind: str, body: bytes) -> None:
        await failure(answer(body), TransientError, kind)

    async def test_a_server_that_does_not_speak_http_or_hangs_up_is_told(self) -> None:
        async def hang_up(writer: asyncio.StreamWriter) -> None:
            writer.close()

        await failure(b"SSH-2.0-x\r\n\r\n", TransientError)
        await failure(hang_up, TransientError)
        await failure(answer(b"\x1f\x8b\x08 nonsense", content_encoding="gzip"), TransientError)
        await failure(answer(gzip.compress(b"{}" * 100)[:-9], content_encoding="gzip"), TransientError)
        await failure(answer(b"{}", content_encoding="br"), TransientError)

    async def test_an_answer_without_an_end_is_left(self) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            writer.write(beginning("application/json"))
            while True:
                writer.write(b" " * 65536)
                await writer.drain()

        await failure(endless, TooLarge)
        bomb = gzip.compress(b" " * 50_000_000)
        await failure(answer(bomb, content_encoding="gzip"), TooLarge)

    async def test_a_slow_answer_can_be_given_up(self) -> None:
        waiting, over = asyncio.Event(), asyncio.Event()

        async def silent(writer: asyncio.StreamWriter) -> None:
            waiting.set()
            await over.wait()

        async with searching(answers=[silent]) as provider:
            task = asyncio.create_task(call(tool_at(provider.url, "brave")))
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    async def test_nobody_at_the_address_is_told(self) -> None:
        async with searching() as provider:
            url = provider.url
        with pytest.raises(TransientError, match="cannot be reached"):
            await call(tool_at(url, "searxng"))

    async def test_a_provider_whose_name_leads_into_the_house_is_not_asked(self) -> None:
        async def inside(_host: str, _port: int) -> list[Any]:
            return [ip_address("192.0.2.1")]

        tool = web_search(chosen_provider(brave_api_key=SecretStr(KEY)), Redactor(), resolve=inside)
        with pytest.raises(AddressBlocked):
            await call(tool)


class TestTls:
    async def test_a_provider_is_asked_over_tls_only_if_somebody_vouches_for_it(self, tmp_path: Path) -> None:
        certificate = certificate_for(tmp_path, "search.test")

        async def here(_host: str, _port: int) -> list[Any]:
            return [ip_address("127.0.0.1")]

        pages = {"/search?q=rope&format=json": answer('{"results": []}')}
        async with serving(pages, tls=served_with(certificate)) as site:
            url = site.url("/", "search.test")
            found = await call(tool_at(url, "searxng", resolve=here, tls=trusting(certificate)))
            assert found["results"] == []
            with pytest.raises(ConfigurationError, match="cannot be trusted"):
                await call(tool_at(url, "searxng", resolve=here))
        assert len(site.requests) == 1


class TestPatience:
    async def asked_again(self, provider: Receiver, clock: ManualClock, tool: Tool[WebSearchParams]) -> float:
        """Seconds that passed before the provider was asked a second time."""
        with pytest.raises(RateLimited):
            await call(tool)
        began = clock.monotonic()
        await while_time_flies(clock, call(tool), real=0.01)
        assert len(provider.asked) == 2
        return clock.monotonic() - began

    @pytest.mark.parametrize(
        "headers",
        [
            {"retry_after": "7"},
            {"retry_after": "Thu, 01 Jan 2026 00:00:07 GMT"},
            {"x_ratelimit_remaining": "0, 14000", "x_ratelimit_reset": "7, 1419704"},
        ],
    )
    async def test_a_provider_is_left_alone_for_as_long_as_it_asks(self, headers: dict[str, str]) -> None:
        clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
        async with searching([PAGE], [brave_error(429, "RATE_LIMITED", **headers)]) as provider:
            tool = tool_at(provider.url, "brave", clock=clock)
            assert await self.asked_again(provider, clock, tool) == 7.0

    @pytest.mark.parametrize("wait", ["", "soon", "-1", "1e9", "٣", "9" * 30, "Thu, 99 Foo 2026"])
    async def test_a_wait_that_makes_no_sense_is_none(self, wait: str) -> None:
        clock = ManualClock()
        async with searching(
            [PAGE], [answer("", 429, retry_after=wait.encode().decode("latin-1"))]
        ) as provider:
            tool = tool_at(provider.url, "tavily", clock=clock)
            assert await self.asked_again(provider, clock, tool) == 0.0

    async def test_a_long_wait_fails_without_asking_until_it_is_over(self) -> None:
        clock = ManualClock()
        async with searching([PAGE], [answer("", 429, retry_after="3600")]) as provider:
            tool = tool_at(provider.url, "brave", clock=clock)
            for _ in range(3):
                with pytest.raises(RateLimited):
                    await call(tool)
            assert len(provider.asked) == 1
            clock.advance(3601)
            assert (await call(tool))["results"] == [SHOWN]


class TestMemory:
    async def test_the_same_search_is_answered_from_memory_and_says_so(self) -> None:
        async with searching([PAGE]) as provider:
            tool = tool_at(provider.url, "brave")
            first, second = await call(tool), await call(tool)
            await call(tool, count=2)
            await call(tool, freshness="day")
        assert (first["cached"], second["cached"]) == (False, True)
        assert second["results"] == first["results"]
        assert len(provider.asked) == 3

    async def test_what_is_old_is_searched_anew(self) -> None:
        clock = ManualClock()
        async with searching([PAGE]) as provider:
            tool = tool_at(provider.url, "brave", clock=clock)
            await call(tool)
            clock.advance(module._KEPT_FOR + 1)
            assert not (await call(tool))["cached"]

    async def test_memory_is_bounded_and_failures_are_not_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_MOST_KEPT", 2)
        async with searching([PAGE], [answer("", 500)]) as provider:
            tool = tool_at(provider.url, "brave")
            with pytest.raises(TransientError):
                await call(tool, query="a")
            cached = [(await call(tool, query=query))["cached"] for query in ("a", "b", "c", "c", "b", "a")]
        assert cached == [False, False, False, True, True, False]


class TestSanitising:
    async def test_only_web_addresses_come_back_and_each_once(self) -> None:
        urls = [
            *("https://a.test/x", "http://a.test/x/", "https://a.test/x#part", "HTTPS://A.test/x"),
            *("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.test", "", "a.test"),
            *(
                "https://user:pass@a.test/",
                "https://a.test/" + "y" * 3000,
                "http://0x7f000001/",
                " https://b.test ",
            ),
        ]
        found = await results([Page("T", url) for url in urls], "searxng", count=20)
        assert [item["url"] for item in found] == ["https://a.test/x", "https://b.test"]

    async def test_letters_that_look_alike_show_in_an_address(self) -> None:
        (found,) = await results([Page("T", "https://\u0430pple.test/\u202eexe.pdf")])
        assert found["url"].isascii()
        assert found["url"].startswith("https://xn--")

    async def test_a_site_holds_also_where_the_provider_ignores_it(self) -> None:
        urls = [
            "https://a.test/1",
            "https://docs.a.test/2",
            "https://nota.test/3",
            "https://a.test.evil.test/4",
        ]
        found = await results([Page("T", url) for url in urls], "searxng", site="a.test")
        assert [item["url"] for item in found] == urls[:2]

    async def test_no_more_come_back_than_were_wanted(self) -> None:
        pages = [Page("T", f"https://a.test/{number}") for number in range(50)]
        assert len(await results(pages, "searxng", count=5)) == 5

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("<strong>Py</strong>thon &amp; C&#x27;s", "Python & C's"),
            ("a<br>b<p>c</p>", "a b c"),
            ("&lt;script&gt;alert(1)&lt;/script&gt;", "alert(1)"),
            ("&amp;lt;img src=x onerror=y&amp;gt;", ""),
            ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("<<b>script>x", "x"),
            ("<\u200bscript>x", "x"),
            ("broken <img src=x", "broken \u2039img src=x"),
            ("a\x1b]52;c;Zm9v\x07b\r\nc\u2028d\0", "a]52;c;Zm9vb c d"),
            ("a\u202eb\u2066c\u200ed\ufeffe\U000e0041f&#x202e;&#27;", "abcdef"),
            ("क्\u200dष 👩\u200d🚒", "क्\u200dष 👩\u200d🚒"),
        ],
    )
    def test_a_text_becomes_plain(self, text: str, shown: str) -> None:
        assert plain_text(text, 1000) == shown

    @pytest.mark.parametrize("text", ["<!--" * 100_000, "<" * 500_000, "&amp;" * 100_000, "<a " * 200_000])
    def test_a_long_or_malformed_text_is_cut(self, text: str) -> None:
        assert len(plain_text(text, 300)) <= 300

    @given(
        st.lists(
            st.one_of(
                st.text(max_size=8),
                st.sampled_from(
                    ["<", ">", "</", "<!--", "&lt;", "&amp;", "&#60;", "&#x202e;", "script", "\x1b", "\u202e"]
                ),
            )
        )
    )
    def test_no_text_yields_markup_or_what_nobody_sees(self, pieces: list[str]) -> None:
        shown = plain_text("".join(pieces), 100)
        assert not re.search(r"<[a-zA-Z/!?]", shown)
        assert len(shown) <= 100
        unseen = [letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co")]
        assert set(unseen) <= {"\u200c", "\u200d"}
        shown.encode()

    @given(
        st.lists(
            st.one_of(st.text(), st.text().map("https://a.test/".__add__), st.text().map("http://".__add__))
        )
    )
    def test_no_list_of_addresses_yields_another_scheme_or_a_host_that_is_none(self, urls: list[str]) -> None:
        for item in readable_results([Found("", url, "") for url in urls], None, 20):
            assert re.match(r"https?://[^/?#@]+", item.url)
            assert item.url.isascii()
            assert item.url.isprintable()
            assert item.title
