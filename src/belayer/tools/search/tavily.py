"""Tavily: POST /search with a bearer token (docs.tavily.com/api-reference)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic_core import to_json

from belayer.tools.exchange import Answer, Request, host_of, trouble
from belayer.tools.search.provider import Found, Wanted, endpoint, items, text_in
from belayer.vocabulary.errors import BelayerError, ResourceShort

URL = "https://api.tavily.com"
_USED_UP = (432, 433)  # the plan's limit; the limit of paying as one goes


@dataclass(frozen=True, slots=True)
class Tavily:
    """An account with Tavily."""

    key: str = field(repr=False)
    base: httpx.URL
    name: str = "tavily"

    @property
    def is_elsewhere(self) -> bool:
        return host_of(self.base) != host_of(httpx.URL(URL))

    def request(self, wanted: Wanted) -> Request:
        body: dict[str, Any] = {
            "query": wanted.query,
            "max_results": wanted.count,
            "search_depth": "basic",
            "include_answer": False,
            "include_raw_content": False,
            "include_images": False,
        }
        body |= {"include_domains": [wanted.site]} if wanted.site else {}
        body |= {"time_range": wanted.freshness} if wanted.freshness else {}
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self.key}",
        }
        return Request("POST", endpoint(self.base, "/search"), headers, to_json(body))

    def found(self, answer: dict[str, Any]) -> Iterator[Found]:
        for item in items(answer.get("results")):
            yield Found(
                text_in(item, "title"),
                text_in(item, "url"),
                text_in(item, "content"),
                text_in(item, "published_date"),
            )

    def trouble(self, answer: Answer) -> BelayerError | None:
        if answer.status in _USED_UP:
            return ResourceShort(
                f"The searches of this Tavily account are used up ({answer.status}).",
                "Wait for the next month, or change the plan.",
            )
        return trouble("Tavily", answer, "Check BELAYER_TAVILY_API_KEY.")

    def wait(self, answer: Answer) -> float | None:  # noqa: ARG002 - it says so in the usual way
        return None
