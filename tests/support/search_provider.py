"""A search provider on loopback that speaks the documented APIs of Brave, Tavily and SearXNG, to the letter."""

import json
import socket
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from tests.support.receiver import Asked, Receiver, receiving
from tests.support.site import Answer, answer

KEY = "key-that-only-tests-know"
JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Page:
    """Something that can be found."""

    title: str
    url: str
    text: str = ""
    published: str | None = None


@dataclass(frozen=True)
class SearchProvider:
    """Whatever is asked, `pages` are found."""

    pages: Sequence[Page]

    def answer(self, asked: Asked) -> bytes:
        """What the provider says that is asked so."""
        match asked.method, asked.path:
            case "GET", "/res/v1/web/search":
                return self._brave(asked)
            case "POST", "/search":
                return self._tavily(asked)
            case "GET", "/search":
                return self._searxng(asked)
            case _:
                return answer("not here", 404)

    def _brave(self, asked: Asked) -> bytes:
        if asked.headers.get("x-subscription-token") != KEY:
            return brave_error(422, "SUBSCRIPTION_TOKEN_INVALID")
        query = asked.query
        count = int(query.get("count", "20"))
        known = {"q", "count", "result_filter", "text_decorations", "freshness"}
        if not 0 < len(query["q"]) <= 400 or not 1 <= count <= 20 or not query.keys() <= known:
            return brave_error(422, "VALIDATION")
        if query.get("freshness", "pd") not in ("pd", "pw", "pm", "py"):
            return brave_error(422, "VALIDATION")
        results = [
            {
                "type": "search_result",
                "title": page.title,
                "url": page.url,
                "description": page.text,
                "is_source_local": False,
                "is_source_both": False,
                "family_friendly": True,
                "language": "en",
                "profile": {"name": "x", "url": page.url, "long_name": "x", "img": "https://x.test/i.png"},
                **({"page_age": page.published, "age": "3 days ago"} if page.published else {}),
            }
            for page in self.pages[:count]
        ]
        found = {"web": {"type": "search", "results": results, "family_friendly": True}} if results else {}
        return _json(
            {"type": "search", "query": {"original": query["q"]}, "mixed": {"type": "mixed"}, **found}
        )

    def _tavily(self, asked: Asked) -> bytes:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return _json({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
        body = asked.json
        if asked.headers.get("content-type") != "application/json" or not isinstance(body.get("query"), str):
            return _json({"detail": {"error": "Invalid request."}}, 400)
        if not 0 <= body["max_results"] <= 20 or body.get("time_range", "day") not in (
            "day",
            "week",
            "month",
            "year",
        ):
            return _json({"detail": {"error": "Invalid request."}}, 400)
        results = [
            {
                "title": page.title,
                "url": page.url,
                "content": page.text,
                "score": 0.9,
                "raw_content": None,
                **({"published_date": page.published} if page.published else {}),
            }
            for page in self.pages[: body["max_results"]]
        ]
        return _json(
            {
                "query": body["query"],
                "answer": None,
                "images": [],
                "follow_up_questions": None,
                "results": results,
                "response_time": 0.5,
                "request_id": "r-1",
            }
        )

    def _searxng(self, asked: Asked) -> bytes:
        if asked.query.get("format") != "json" or not asked.query.get("q"):
            return answer("<h1>Bad Request</h1>", 400)
        if asked.query.get("time_range", "day") not in ("day", "week", "month", "year"):
            return answer("<h1>Bad Request</h1>", 400)
        results = [
            {
                "url": page.url,
                "title": page.title,
                "content": page.text,
                "publishedDate": page.published,
                "thumbnail": "",
                "engine": "duckduckgo",
                "template": "default.html",
                "parsed_url": ["https", "x.test", "/", "", "", ""],
                "engines": ["duckduckgo"],
                "positions": [1],
                "score": 1.0,
                "category": "general",
            }
            for page in self.pages
        ]
        return _json(
            {
                "query": asked.query["q"],
                "number_of_results": len(results),
                "results": results,
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [],
            }
        )


def brave_error(status: int, code: str, **headers: str) -> bytes:
    """An error as Brave writes it."""
    body = {
        "type": "ErrorResponse",
        "error": {"id": "e-1", "status": status, "code": code, "detail": "No.", "meta": {}},
    }
    return _json(body, status, **headers)


def searching(
    pages: Iterable[Page] = (), answers: Iterable[Answer] = (), listening: socket.socket | None = None
) -> AbstractAsyncContextManager[Receiver]:
    """A provider for as long as the block lasts; `answers` are given first, instead of what it would say."""
    return receiving(*answers, otherwise=SearchProvider(list(pages)).answer, listening=listening)


def _json(value: object, status: int = 200, **headers: str) -> bytes:
    return answer(json.dumps(value), status, content_type=JSON, **headers)
