"""Which MCP servers a person has set up, in the customary form; everything that is wrong with it at once."""

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from belayer.tools.http_fetch import web_address
from belayer.vocabulary.errors import ConfigurationError

_FILE_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_FORM = (
    'Write {"mcpServers": {"name": {"command": "…", "args": ["…"], "env": {"…": "…"}}}} or'
    ' {"mcpServers": {"name": {"url": "https://…", "headers": {"…": "…"}}}}.'
)
# A secret shorter than this would blot out half of every text.
_SHORTEST_SECRET = 8


class _Server(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 60.0
    reads: Annotated[
        tuple[str, ...], Field(description="the tools that only look: names, `*` for any part")
    ] = ()
    disabled: bool = False

    def only_looks(self, tool: str) -> bool:
        """Whether a person says that the tool changes nothing. What the server says of it does not count."""
        return any(fnmatchcase(tool, pattern) for pattern in self.reads)


class LocalServer(_Server):
    """A program that is started here and spoken to by its standard input and output."""

    type: Literal["stdio"] = "stdio"
    command: Annotated[str, Field(min_length=1, max_length=4096)]
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}
    cwd: str | None = None

    @field_validator("command", "args", "cwd")
    @classmethod
    def _is_literal(cls, given: Any) -> Any:
        for text in [given] if isinstance(given, str) else given or ():
            _refuse_unfit(text)
        return given

    @field_validator("env")
    @classmethod
    def _are_literal(cls, given: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in given.items():
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"{name!r} cannot be the name of a variable")
            _refuse_unfit(value.get_secret_value())
        return given


class WebServer(_Server):
    """A server that is reached by HTTP."""

    type: Literal["http", "streamable-http"] = "http"
    url: Annotated[str, Field(max_length=4096)]
    headers: dict[str, SecretStr] = {}

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, url: str) -> str:
        web_address(url)
        return url

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, given: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in given.items():
            text = value.get_secret_value()
            if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not re.fullmatch(r"[\t -~]*", text):
                raise ValueError(f"{name!r} and its value cannot be a header")
            _refuse_unfit(text)
        return given


Configured = LocalServer | WebServer


def read_servers_file(path: Path) -> dict[str, Configured]:
    """The servers of a JSON file."""
    try:
        content = path.read_bytes()[: _FILE_BYTES + 1]
        if len(content) > _FILE_BYTES:
            raise ValueError("it is larger than any list of servers")
        given = json.loads(content, object_pairs_hook=_without_doubles)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"The MCP servers cannot be read from {path}: {error}.", _FORM) from error
    return read_servers(given)


def read_servers(given: object) -> dict[str, Configured]:
    """The servers by their names; ConfigurationError names every problem."""
    servers = _members(_members(given).get("mcpServers", given))
    if not isinstance(given, Mapping) or not all(isinstance(one, Mapping) for one in servers.values()):
        raise ConfigurationError("These are no MCP servers: an object with a server under each name.", _FORM)
    problems: list[str] = []
    read: dict[str, Configured] = {}
    for name, one in servers.items():
        if not _NAME.fullmatch(name):
            problems.append(
                f"{name[:60]!r} cannot be a server's name: a letter, then letters, digits, _ and -"
            )
            continue
        try:
            read[name] = _read(_members(one))
        except ValidationError as error:
            problems += [
                f"{name}.{_problem(item)}" for item in error.errors(include_url=False, include_input=False)
            ]
    problems += _twins(list(read))
    if problems:
        raise ConfigurationError(f"The MCP servers are not right: {'; '.join(problems)}.", _FORM)
    return {name: one for name, one in read.items() if not one.disabled}


def secrets_of(servers: Mapping[str, Configured]) -> list[str]:
    """Values that must never be recorded or shown."""
    kept = [
        value
        for one in servers.values()
        for value in (one.env if isinstance(one, LocalServer) else one.headers).values()
    ]
    return [text for value in kept if len(text := value.get_secret_value()) >= _SHORTEST_SECRET]


def plain_name(name: str) -> str:
    """A server's or a tool's name as it is written here."""
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")[:64]


def _read(given: Mapping[str, object]) -> Configured:
    return WebServer.model_validate(given) if "url" in given else LocalServer.model_validate(given)


def _members(given: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", given) if isinstance(given, Mapping) else {}


def _twins(names: Sequence[str]) -> list[str]:
    """Names that would be the same in a tool's name."""
    first: dict[str, str] = {}
    found: list[str] = []
    for name in names:
        other = first.setdefault(plain_name(name), name)
        if other != name:
            found.append(f"{other} and {name} would both be called {plain_name(name)}")
    return found


def _refuse_unfit(text: str) -> None:
    if "\0" in text:
        raise ValueError("it holds a character that cannot be passed on")
    if "${" in text:
        raise ValueError(
            "values are taken as they stand, so ${…} would not be filled in: write the value itself"
        )


def _problem(item: Any) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{place}: there is no such member"
    return f"{place}: {item['msg']}" if place else str(item["msg"])


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name stands in it twice")
    return made
