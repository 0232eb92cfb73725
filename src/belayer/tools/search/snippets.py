"""What strangers say about their pages, as plain text and web addresses. Pure."""

import html
import re
from collections.abc import Iterable
from datetime import date

import httpx

from belayer.tools.exchange import host_of
from belayer.tools.http_fetch import web_address
from belayer.tools.search.provider import Found
from belayer.tools.visible import without_unseen

_LONGEST_TITLE = 300
_LONGEST_TEXT = 1_500
_LONGEST_URL = 2_000
# No more of a field than this is looked at; a tag or an entity is longer than what it leaves.
_LOOKED_AT = 20_000
# Text that was escaped more often than this is shown escaped.
_UNESCAPED = 3
# Possessive: no text, however malformed, is looked at twice.
_BREAK = re.compile(r"</?+(?:br|dd|div|dt|h[1-6]|hr|li|p|td|tr)\b[^<>]*+>", re.IGNORECASE)
_TAG = re.compile(r"</?+[a-zA-Z!?][^<>]*+>")
_BEGINS_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def plain_text(text: str, longest: int) -> str:
    """The text on one line, without markup and without what nobody sees."""
    text = text[:_LOOKED_AT]
    for _ in range(_UNESCAPED):
        text = html.unescape(_without_tags(text))
    seen = " ".join(_BEGINS_TAG.sub("\u2039", _without_tags(text)).split())
    return seen if len(seen) <= longest else f"{seen[: longest - 1]}…"


def readable_results(found: Iterable[Found], site: str | None, most: int) -> list[Found]:
    """The results that can be shown: web addresses only, each once, on the site if one was named."""
    kept: dict[str, Found] = {}
    for item in found:
        url = _address(item.url)
        if url is None or not _is_on(host_of(url), site):
            continue
        key = str(url).partition("://")[2].rstrip("/")
        kept.setdefault(key, _readable(item, str(url)))
        if len(kept) == most:
            break
    return list(kept.values())


def _without_tags(text: str) -> str:
    return _TAG.sub("", _BREAK.sub(" ", without_unseen(text)))


def _address(text: str) -> httpx.URL | None:
    try:
        url = web_address(text.strip()) if len(text) <= _LONGEST_URL else None
    except ValueError:
        return None
    return url if url is not None and len(str(url)) <= _LONGEST_URL else None


def _is_on(host: str, site: str | None) -> bool:
    return site is None or host == site or host.endswith(f".{site}")


def _readable(item: Found, url: str) -> Found:
    return Found(
        plain_text(item.title, _LONGEST_TITLE) or url,
        url,
        plain_text(item.text, _LONGEST_TEXT),
        _day(item.published),
    )


def _day(text: str) -> str:
    """The day, if that is what the text begins with; providers also say `3 days ago`, which is soon wrong."""
    found = _DAY.match(text)
    try:
        return date.fromisoformat(found[0]).isoformat() if found else ""
    except ValueError:
        return ""
