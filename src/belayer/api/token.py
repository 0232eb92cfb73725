"""The token that guards the API: made at the first start, kept in the home where only its owner can read it."""

import hashlib
import hmac
import secrets
import tempfile
from pathlib import Path

from belayer.vocabulary.errors import ConfigurationError

_SHORTEST = 16


def token_in(home: Path) -> str:
    """The home's token; a new one if there is none."""
    path = home / "token"
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
        token = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        raise ConfigurationError(
            f"The token in {path} can be neither read nor made ({error.strerror}).",
            "Give this user the right to read and write there, or set BELAYER_HOME to another folder.",
        ) from error
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable():
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


def _make(path: Path) -> None:
    """Whole or not at all: of several who make one at once, the first to link it wins, and nobody reads half of it."""
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=".token-")  # only its owner can read it
    try:
        with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123 - it is open already
            file.write(secrets.token_urlsafe(32) + "\n")
        path.hardlink_to(aside)
    except FileExistsError:
        pass
    finally:
        Path(aside).unlink()
