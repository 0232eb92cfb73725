"""What a search provider is: it turns what is wanted into a request, and an answer into what was found. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import httpx

from belayer.tools.exchange import Answer, Request
from belayer.tools.http_fetch import web_address
from belayer.vocabulary.errors import BelayerError, ConfigurationError

Freshness = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for. `site` is a host; what is on its subdomains counts too."""

    query: str
    count: int
    site: str | None = None
    freshness: Freshness | None = None

    def with_operator(self) -> str:
        """The query for those who take the site within it."""
        return self.query if self.site is None else f"{self.query} site:{self.site}"


@dataclass(frozen=True, slots=True)
class Found:
    """One result as the provider gave it: nothing in it is checked yet."""

    title: str
    url: str
    text: str
    published: str = ""


class Provider(Protocol):
    """Somebody who searches."""

    @property
    def name(self) -> str: ...

    @property
    def base(self) -> httpx.URL: ...

    @property
    def is_elsewhere(self) -> bool:
        """Whether a person has said where it is, instead of it being where it always is."""
        ...

    def request(self, wanted: Wanted) -> Request: ...

    def found(self, answer: dict[str, Any]) -> Iterator[Found]: ...

    def trouble(self, answer: Answer) -> BelayerError | None:
        """What an answer that is no success means; None if it is one."""
        ...

    def wait(self, answer: Answer) -> float | None:
        """The seconds to wait, where the provider says so in a way of its own."""
        ...


def base_url(text: str, setting: str) -> httpx.URL:
    """Where a provider is, from a setting."""
    try:
        url = web_address(text)
    except ValueError as error:
        raise ConfigurationError(
            f"{setting} is not the address of a search service: {error}.", "Write https://search.example.org."
        ) from error
    return url.copy_with(path=url.path.rstrip("/") or "/", query=None)


def endpoint(base: httpx.URL, path: str, query: dict[str, str] | None = None) -> httpx.URL:
    """A path of the service, wherever that is."""
    url = base.copy_with(path=base.path.rstrip("/") + path)
    return url.copy_merge_params(query) if query else url


def items(value: object) -> Iterator[dict[str, Any]]:
    """The objects in what should be a list of them; whatever else is there is passed over."""
    if isinstance(value, list):
        for item in cast("list[object]", value):
            if isinstance(item, dict):
                yield cast("dict[str, Any]", item)


def text_in(item: dict[str, Any], *names: str) -> str:
    """The first of the fields that holds a text."""
    return next((value for name in names if isinstance(value := item.get(name), str) and value), "")
