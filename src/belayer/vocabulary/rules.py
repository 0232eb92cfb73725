"""Rules about what a call may do: what a person writes down, and what a session is told to remember."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

Pattern = Annotated[str, Field(min_length=1, max_length=500)]


class Verdict(StrEnum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Risk(StrEnum):
    """How bad it could get."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Rule(BaseModel):
    """A verdict on every call that fits all that is said here. Patterns are globs: `files.*`, `docs/**`, `*.test.org`.

    `risk` means this or higher; `usd` means estimated to cost more than this. An `allow` covers high risk only if it
    says so with `risk`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Verdict
    tool: Pattern | None = None
    effect: Annotated[str, Field(pattern="^(read|write|external)$")] | None = None
    path: Pattern | None = None
    host: Pattern | None = None
    risk: Risk | None = None
    usd: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] | None = None
    note: Annotated[str, Field(max_length=500)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Rule":
        if all(part is None for part in (self.tool, self.effect, self.path, self.host, self.risk, self.usd)):
            raise ValueError("a rule must say which calls it is about: tool, effect, path, host, risk or usd")
        if self.path is not None and (self.path.startswith("/") or ".." in self.path.split("/")):
            raise ValueError("a path is relative to the workspace and leads nowhere else: docs/**")
        if self.host is not None and not self.host.isascii():
            raise ValueError("a host is written as it goes over the wire: xn--… for other alphabets")
        return self

    def in_words(self) -> str:
        """The rule on one line."""
        parts = [
            f"{name} {value}"
            for name in ("tool", "effect", "path", "host")
            if (value := getattr(self, name)) is not None
        ]
        parts += [f"risk {self.risk} or higher"] if self.risk is not None else []
        parts += [f"cost above {self.usd:g} USD"] if self.usd is not None else []
        return f"{self.verdict} {', '.join(parts)}"
