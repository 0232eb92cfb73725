"""Keep secrets out of the log and off the stream: known values first, then shapes that nothing else has."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast
from urllib.parse import quote, quote_plus

from ahocorasick_rs import BytesAhoCorasick
from pydantic_core import from_json, to_json

MARK = "[redacted]"
_SHORTEST_SECRET = 8

# Only shapes that are secrets wherever they stand, each with a sign it cannot be without: looking for the signs
# first is far quicker than the pattern, and a false find would change what a session recorded.
_SHAPES = {
    r"gh[pousr]_[A-Za-z0-9]{36,255}": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    r"github_pat_[A-Za-z0-9_]{60,255}": ("github_pat_",),
    r"glpat-[A-Za-z0-9_-]{20,}": ("glpat-",),
    r"(?:AKIA|ASIA)[A-Z0-9]{16}": ("AKIA", "ASIA"),
    r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}": ("sk-",),
    r"xox[abposr]-[A-Za-z0-9-]{20,}": ("xoxa-", "xoxb-", "xoxp-", "xoxo-", "xoxs-", "xoxr-"),
    r"AIza[A-Za-z0-9_-]{35}": ("AIza",),
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----.*?-----END (?:[A-Z]+ )?PRIVATE KEY-----": ("PRIVATE KEY-----",),
}


class Redactor:
    """Replaces secrets in text, and in the texts of JSON."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _forms(secret)}
        known = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
        shapes = [rf"(?<![A-Za-z0-9_]){shape}" for shape in _SHAPES]
        self._pattern = re.compile("|".join([*known, *shapes]), re.DOTALL)
        signs = {sign for signs in _SHAPES.values() for sign in signs}
        escaped = {json.dumps(form, ensure_ascii=ascii_)[1:-1] for form in forms for ascii_ in (True, False)}
        self._signs = BytesAhoCorasick([sign.encode() for sign in sorted(signs | forms | escaped)])

    def text(self, text: str) -> str:
        return self._pattern.sub(MARK, text)

    def data(self, data: bytes) -> bytes:
        """JSON without secrets in its texts; the very same object when there are none. Keys and numbers stay."""
        if not self._signs.find_matches_as_indexes(data):
            return data
        value = from_json(data)
        clean = self._cleaned(value)
        return data if clean == value else to_json(clean)

    def places(self, value: Any, at: str = "") -> Iterator[str]:
        """Where in a JSON value there is a secret."""
        match value:
            case str() if self.text(value) != value:
                yield at
            case list():
                for place, item in enumerate(cast("list[Any]", value)):
                    yield from self.places(item, f"{at}[{place}]")
            case dict():
                for key, item in cast("dict[str, Any]", value).items():
                    yield from self.places(item, f"{at}.{key}" if at else key)
            case _:
                return

    def _cleaned(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._cleaned(item) for item in cast("list[Any]", value)]
            case dict():
                return {key: self._cleaned(item) for key, item in cast("dict[str, Any]", value).items()}
            case _:
                return value


def _forms(secret: str) -> set[str]:
    """How a value looks when it was encoded on its way."""
    raw = secret.encode()
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
        quote_plus(secret),
        raw.hex(),
        raw.hex().upper(),
        *_inside_base64(raw),
    }


def _inside_base64(raw: bytes) -> set[str]:
    """What base64 makes of a value, whatever stands before it: three ways, less what the neighbours change."""
    found: set[str] = set()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        first = -(-before * 8 // 6)
        last = (before + len(raw)) * 8 // 6
        inner = encoded[first:last]
        found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return found
