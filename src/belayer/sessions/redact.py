"""Keep secrets out of the log and off the stream: known values first, then shapes that nothing else has."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

MARK = "[redacted]"
_SHORTEST_SECRET = 8

# Only shapes that are secrets wherever they stand: a false find would change what a session recorded.
_SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{36,255}",
    r"github_pat_[A-Za-z0-9_]{60,255}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}",
    r"xox[abposr]-[A-Za-z0-9-]{20,}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----.*?-----END (?:[A-Z]+ )?PRIVATE KEY-----",
)

# What each shape has in it: looking for these first is far quicker than the pattern.
_SIGNS = ("gh", "glpat-", "AKIA", "ASIA", "sk-", "xox", "AIza", "PRIVATE KEY-----")


class Redactor:
    """Replaces secrets in text and in JSON text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _forms(secret)}
        parts = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
        pattern = "|".join([*parts, *(rf"(?<![A-Za-z0-9_]){shape}" for shape in _SHAPES)])
        self._pattern = re.compile(pattern, re.DOTALL)
        self._bytes = re.compile(pattern.encode(), re.DOTALL)
        self._signs = tuple(sign.encode() for sign in (*forms, *_SIGNS))

    def text(self, text: str) -> str:
        return self._pattern.sub(MARK, text)

    def data(self, data: bytes) -> bytes:
        """The data without secrets; the very same object when there are none."""
        for sign in self._signs:
            if sign in data:
                return self._bytes.sub(MARK.encode(), data)
        return data


def _forms(secret: str) -> set[str]:
    """How a value looks when it was encoded on its way."""
    raw = secret.encode()
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
        raw.hex(),
        base64.b64encode(raw).decode().rstrip("="),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
    }
