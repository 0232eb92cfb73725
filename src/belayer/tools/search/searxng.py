"""SearXNG, a search engine of one's own: GET /search?format=json (docs.searxng.org/dev/search_api)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from belayer.tools.exchange import Answer, Request, trouble
from belayer.tools.search.provider import Found, Wanted, endpoint, items, text_in
from belayer.vocabulary.errors import BelayerError, TransientError

_MEND = (
    "Let it answer in JSON: `formats: [html, json]` under `search` in its settings.yml, and its limiter off."
)


@dataclass(frozen=True, slots=True)
class Searxng:
    """An instance that a person runs or trusts. It has no key."""

    base: httpx.URL
    name: str = "searxng"
    is_elsewhere: bool = True

    def request(self, wanted: Wanted) -> Request:
        query = {"q": wanted.with_operator(), "format": "json"}
        if wanted.freshness:
            query["time_range"] = wanted.freshness
        return Request("GET", endpoint(self.base, "/search", query), {"Accept": "application/json"})

    def found(self, answer: dict[str, Any]) -> Iterator[Found]:
        results = list(items(answer.get("results")))
        if not results and answer.get("unresponsive_engines"):
            raise TransientError(
                "SearXNG found nothing, because the engines that it asks did not answer.", "Try again later."
            )
        for item in results:
            yield Found(
                text_in(item, "title"),
                text_in(item, "url"),
                text_in(item, "content"),
                text_in(item, "publishedDate"),
            )

    def trouble(self, answer: Answer) -> BelayerError | None:
        return trouble("SearXNG", answer, _MEND)

    def wait(self, answer: Answer) -> float | None:  # noqa: ARG002 - it says so in the usual way
        return None
