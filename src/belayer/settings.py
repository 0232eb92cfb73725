"""The only reader of the environment: BELAYER_* variables, then belayer.toml, then defaults, all checked at start."""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from belayer.vocabulary.errors import ConfigurationError

_PREFIX = "BELAYER_"
_FILE = Path("belayer.toml")
_ONLY_FROM_ENVIRONMENT = {
    "private_hosts",
    "host",
    "hosts",
    "token",
    "webhook_url",
    "webhook_secret",
    "otlp_endpoint",
    "github_token",
    "gitlab_token",
    "git_tokens",
    "ssh_folder",
    "searxng_url",
    "brave_api_key",
    "brave_url",
    "tavily_api_key",
    "tavily_url",
    "smtp_url",
    "mail_from",
    "notify_targets",
    "mcp_servers",
    "sandbox",
}
_SECRET_NAMES = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY")


class Settings(BaseSettings):
    """What a user may want to change."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, toml_file=_FILE, extra="forbid", frozen=True)

    home: Path = Path(".belayer")
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 16
    session_timeout: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1800.0
    max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    grace: Annotated[float, Field(ge=0, le=3600)] = 5.0
    private_hosts: str = ""
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8700
    hosts: str = ""
    token: SecretStr | None = None
    max_sessions: Annotated[int, Field(ge=0, le=100_000)] = 5
    webhook_url: str | None = None
    webhook_secret: SecretStr | None = None
    otlp_endpoint: str | None = None
    github_token: Annotated[
        SecretStr | None, Field(validation_alias=AliasChoices("BELAYER_GITHUB_TOKEN", "GITHUB_TOKEN"))
    ] = None
    gitlab_token: Annotated[
        SecretStr | None, Field(validation_alias=AliasChoices("BELAYER_GITLAB_TOKEN", "GITLAB_TOKEN"))
    ] = None
    git_tokens: SecretStr | None = None
    ssh_folder: Path | None = None

    searxng_url: str | None = None
    brave_api_key: SecretStr | None = None
    brave_url: str = "https://api.search.brave.com"
    tavily_api_key: SecretStr | None = None
    tavily_url: str = "https://api.tavily.com"
    smtp_url: SecretStr | None = None
    mail_from: str | None = None
    notify_targets: SecretStr | None = None
    mcp_servers: Path | None = None
    sandbox: Literal["auto", "bubblewrap", "landlock", "none", "off"] = "auto"

    def tokens(self) -> dict[str, str]:
        """The tokens for repositories, by host, or by host and port."""
        known = {"github.com": self.github_token, "gitlab.com": self.gitlab_token}
        named = dict(map(_host_and_token, filter(None, _secret(self.git_tokens).split(","))))
        return {host: _secret(token) for host, token in known.items() if token} | named

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _TomlFile(settings_cls)


class _TomlFile(TomlConfigSettingsSource):
    """belayer.toml. It may have come with a repository, so it cannot open what is closed."""

    def __call__(self) -> dict[str, Any]:
        given = super().__call__()
        for name in _ONLY_FROM_ENVIRONMENT & given.keys():
            raise ConfigurationError(
                f"{name} cannot be set in {_FILE}: a file that came with a repository must not open doors.",
                f"Set {_PREFIX}{name.upper()} in the environment.",
            )
        return given


def read_settings(**overrides: Any) -> Settings:
    """The settings in force, or one message that names everything that is wrong with them."""
    unknown = [name for name in os.environ if name.startswith(_PREFIX) and not _known(name)]
    problems = [f"{name} is not a setting{_did_you_mean(name)}" for name in sorted(unknown)]
    settings = None
    try:
        settings = Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        problems += [_problem(item) for item in error.errors(include_url=False)]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        problems.append(f"{_FILE} cannot be read: {error}")
    if problems or settings is None:
        raise ConfigurationError(
            "The settings are not right: " + "; ".join(problems) + ".",
            f"Correct them in the environment or in {_FILE}.",
        )
    return settings


def secrets_in(environment: Mapping[str, str] | None = None) -> list[str]:
    """Values of the environment that must never be recorded or shown."""
    environment = os.environ if environment is None else environment
    return [
        value for name, value in environment.items() if any(part in name.upper() for part in _SECRET_NAMES)
    ]


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""


def _host_and_token(written: str) -> tuple[str, str]:
    host, _, token = (part.strip() for part in written.partition("="))
    if not host or not token or "/" in host:
        raise ConfigurationError(
            "BELAYER_GIT_TOKENS cannot be read: it has an entry that is not HOST=TOKEN.",
            "Write git.corp=TOKEN, or git.corp:8443=TOKEN; several with commas between them.",
        )
    return host.lower(), token


def _known(name: str) -> bool:
    return name.removeprefix(_PREFIX).lower() in Settings.model_fields


def _did_you_mean(name: str) -> str:
    known = [field.upper() for field in Settings.model_fields]
    close = difflib.get_close_matches(name.removeprefix(_PREFIX), known, 1)
    return f" (did you mean {_PREFIX}{close[0]}?)" if close else ""


def _problem(item: Mapping[str, Any]) -> str:
    name = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{name} in {_FILE} is not a setting{_did_you_mean(_PREFIX + name.upper())}"
    return f"{_PREFIX}{name.upper()} ({item['input']!r}): {item['msg']}"
