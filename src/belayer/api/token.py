"""The token that guards the API: made at the first start, kept in the home where only its owner can read it."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from belayer.vocabulary.errors import ConfigurationError

_SHORTEST = 16


def token_in(home: Path) -> str:
    """The home's token; a new one if there is none."""
    path = home / "token"
    home.mkdir(parents=True, exist_ok=True)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(secrets.token_urlsafe(32) + "\n")
    except FileExistsError:
        pass
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < _SHORTEST or not token.isascii():
        raise ConfigurationError(
            f"{path} does not hold a token.", "Remove the file; a new token is made at the next start."
        )
    return token


def cookie_for(token: str) -> str:
    """What a browser keeps after its first visit: proves the token, without being it."""
    return hmac.new(token.encode(), b"belayer cookie", hashlib.sha256).hexdigest()


def is_same(given: str, wanted: str) -> bool:
    """Compared in a time that does not tell how much of it was right."""
    return hmac.compare_digest(given.encode(), wanted.encode())
