"""Where a repository may be fetched from, read from what a person or a program wrote. Pure: nothing is opened.

Only https, ssh and folders of this machine. A helper that git would run (`ext::`), an option in disguise, and an
address with a password in it are refused before git is started.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from belayer.vocabulary.addresses import is_name, plain_host
from belayer.vocabulary.errors import UnfitRepository

_LONGEST = 2_000
_PORTS = {"https": 443, "http": 80, "ssh": 22}
_SCP = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?(?P<host>[A-Za-z0-9\[][A-Za-z0-9.:\]-]*):(?P<path>[^:].*)"
)
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_HINT = (
    "Write https://host/path, ssh://git@host/path, git@host:path, or the path of a folder on this machine."
)


@dataclass(frozen=True, slots=True)
class RepoUrl:
    """An address to fetch from. `text` is what git is given; it holds no secret."""

    kind: Literal["https", "http", "ssh", "local"]
    text: str
    host: str = ""
    port: int = 0

    @property
    def name(self) -> str:
        """What people call the repository."""
        path = self.text.rstrip("/").removesuffix("/.git").rpartition("/")[2].rpartition(":")[2]
        return unquote(path).removesuffix(".git") or self.host or "repository"

    @property
    def reaches(self) -> str | None:
        """The host as rules see it; none for a folder."""
        return None if self.kind == "local" else self.place

    @property
    def spellings(self) -> tuple[str, ...]:
        """Some hosts know a repository by its name with `.git` alone, and send on whoever leaves it out."""
        bare = self.text.rstrip("/")
        if self.kind not in ("https", "http") or bare.endswith(".git"):
            return (self.text,)
        return self.text, f"{bare}.git"

    @property
    def place(self) -> str:
        """The host, and the port unless it is the usual one, as a URL has them."""
        return (
            self.address.removesuffix(f":{self.port}") if self.port == _PORTS.get(self.kind) else self.address
        )

    @property
    def address(self) -> str:
        """The host and its port, as the setting of private hosts has them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def known_as(self) -> str:
        """The host as ssh's list of known hosts has it."""
        return self.host if self.port == _PORTS["ssh"] else f"[{self.host}]:{self.port}"


def read_repo_url(written: str) -> RepoUrl:
    """The address, or UnfitRepository with what is wrong with it."""
    text = written.strip()
    if not text or len(text) > _LONGEST:
        raise _unfit("an address has between 1 and 2,000 characters")
    if any(not letter.isprintable() or (letter.isspace() and letter != " ") for letter in text):
        raise _unfit("it holds characters that cannot be seen")
    if text.startswith("-"):
        raise _unfit("it begins with a dash, so git would take it for an option")
    if _HELPER.match(text):
        raise _unfit("`::` names a program that git would run")
    if "://" in text:
        return _with_scheme(text)
    if text.startswith(("/", "~", ".")):
        return _local(text)
    found = _SCP.fullmatch(text)
    if found is None:
        raise _unfit("it is neither a URL nor an absolute path")
    return _ssh(found["user"] or "", found["host"].strip("[]"), None, found["path"], text)


def _with_scheme(text: str) -> RepoUrl:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _unfit("it is no URL that can be read") from error
    if parts.scheme not in _PORTS:
        raise _unfit(f"{parts.scheme or 'an address without a scheme'} is not among https and ssh")
    if parts.query or parts.fragment:
        raise _unfit("a repository's address has no `?` and no `#`")
    if parts.scheme == "ssh":
        return _ssh(parts.username or "", parts.hostname or "", port, parts.path, text, parts)
    if parts.username or parts.password:
        raise UnfitRepository(
            "The address has a name or password in it, which would end up in the log. Nothing was fetched.",
            "Leave it out, and set GITHUB_TOKEN, GITLAB_TOKEN or BELAYER_GIT_TOKENS=HOST=TOKEN where Belayer runs.",
        )
    host = _checked_host(parts.hostname or "")
    kind = "https" if parts.scheme == "https" else "http"
    place = RepoUrl(kind, "", host, port or _PORTS[kind]).place
    return RepoUrl(kind, f"{kind}://{place}{_checked_path(parts.path)}", host, port or _PORTS[kind])


def _ssh(
    user: str, host: str, port: int | None, path: str, text: str, parts: SplitResult | None = None
) -> RepoUrl:
    if parts is not None and parts.password:
        raise UnfitRepository(
            "The address has a password in it, which would end up in the log. Nothing was fetched.",
            "Leave it out, and use a key.",
        )
    if user and not _USER.fullmatch(user):
        raise _unfit("the name before the @ cannot be a user's")
    if path.startswith(("-", "/-")):
        raise _unfit("its path begins with a dash, so git would take it for an option")
    _checked_path(path if path.startswith("/") else f"/{path}")
    return RepoUrl("ssh", text, _checked_host(host), port or _PORTS["ssh"])


def _local(text: str) -> RepoUrl:
    if not text.startswith("/"):
        raise _unfit("a folder is named by its absolute path")
    if ".." in PurePosixPath(text).parts:
        raise _unfit("a folder's path has no `..`")
    return RepoUrl("local", str(PurePosixPath(text)))


def _checked_host(host: str) -> str:
    plain = plain_host(host)
    if is_name(plain) or _is_address(plain):
        return plain
    raise _unfit("it names no host")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _checked_path(path: str) -> str:
    parts = [unquote(part) for part in path.split("/")]
    if not path.strip("/"):
        raise _unfit("it names a host but no repository")
    if ".." in parts or any(part.startswith("-") for part in parts[1:2]):
        raise _unfit("its path leads upwards, or begins with a dash")
    return path


def _unfit(why: str) -> UnfitRepository:
    return UnfitRepository(
        f"A repository cannot be fetched from this address: {why}. Nothing was fetched.", _HINT
    )
