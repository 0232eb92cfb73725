"""Brave Search: GET /res/v1/web/search with a subscription token (api-dashboard.search.brave.com/documentation)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic_core import from_json

from belayer.tools.exchange import Answer, Request, host_of, trouble
from belayer.tools.search.provider import Found, Freshness, Wanted, endpoint, items, text_in
from belayer.vocabulary.errors import AccessDenied, BelayerError

URL = "https://api.search.brave.com"
_MEND = "Check BELAYER_BRAVE_API_KEY, and that its plan includes web search."
_FRESHNESS: dict[Freshness, str] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


@dataclass(frozen=True, slots=True)
class Brave:
    """An account with Brave."""

    key: str = field(repr=False)
    base: httpx.URL
    name: str = "brave"

    @property
    def is_elsewhere(self) -> bool:
        return host_of(self.base) != host_of(httpx.URL(URL))

    def request(self, wanted: Wanted) -> Request:
        query = {
            "q": wanted.with_operator(),
            "count": str(wanted.count),
            "result_filter": "web",
            "text_decorations": "false",
        }
        if wanted.freshness:
            query["freshness"] = _FRESHNESS[wanted.freshness]
        headers = {"Accept": "application/json", "X-Subscription-Token": self.key}
        return Request("GET", endpoint(self.base, "/res/v1/web/search", query), headers)

    def found(self, answer: dict[str, Any]) -> Iterator[Found]:
        for web in items([answer.get("web")]):
            for item in items(web.get("results")):
                yield Found(
                    text_in(item, "title"),
                    text_in(item, "url"),
                    text_in(item, "description"),
                    text_in(item, "page_age", "age"),
                )

    def trouble(self, answer: Answer) -> BelayerError | None:
        if answer.status == 422 and _is_about_the_key(answer.body):
            return AccessDenied("Brave does not know this key (422).", _MEND)
        return trouble("Brave", answer, _MEND)

    def wait(self, answer: Answer) -> float | None:
        """Brave counts in several windows at once, and says of each what is left and when it begins anew."""
        left, reset = (answer.headers.get(f"x-ratelimit-{name}", "") for name in ("remaining", "reset"))
        windows = zip(left.split(","), reset.split(","), strict=False)
        waits = [float(seconds) for rest, seconds in windows if rest.strip() == "0" and _is_number(seconds)]
        return max(waits, default=None)


def _is_about_the_key(body: bytes) -> bool:
    """Brave answers 422 for a wrong key as well as for a wrong query; its code tells them apart."""
    try:
        error: Any = from_json(body)["error"]
        if error["code"] == "SUBSCRIPTION_TOKEN_INVALID":
            return True
        return any(
            problem["loc"] == ["header", "x-subscription-token"] for problem in error["meta"]["errors"]
        )
    except (ValueError, LookupError, TypeError):
        return False


def _is_number(text: str) -> bool:
    return text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 10
