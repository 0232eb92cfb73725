"""Which provider searches: the one that the settings have a key or an address for."""

from pydantic import SecretStr

from belayer.tools.search import brave, tavily
from belayer.tools.search.brave import Brave
from belayer.tools.search.provider import Provider, base_url
from belayer.tools.search.searxng import Searxng
from belayer.tools.search.tavily import Tavily


def chosen_provider(
    *,
    searxng_url: str | None = None,
    brave_api_key: SecretStr | None = None,
    tavily_api_key: SecretStr | None = None,
    brave_url: str = brave.URL,
    tavily_url: str = tavily.URL,
) -> Provider | None:
    """One's own instance before the services of others, and of these the first with a key; None if there is none."""
    if searxng_url:
        return Searxng(base_url(searxng_url, "BELAYER_SEARXNG_URL"))
    if brave_api_key and (key := brave_api_key.get_secret_value().strip()):
        return Brave(key, base_url(brave_url, "BELAYER_BRAVE_URL"))
    if tavily_api_key and (key := tavily_api_key.get_secret_value().strip()):
        return Tavily(key, base_url(tavily_url, "BELAYER_TAVILY_URL"))
    return None
