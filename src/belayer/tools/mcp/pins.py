"""The tools of each server as they were when a person first had them: what changes has to be accepted anew.

One small file in the home. What is pinned is the whole definition, so that tools are known before their server runs.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from belayer.vocabulary.errors import ConfigurationError

_NAME = "mcp-pins.json"


class Definition(BaseModel):
    """What a server says of one tool: everything that a person or a model decides by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str | None = None
    description: str | None = None
    takes: dict[str, Any]
    gives: dict[str, Any] | None = None
    hints: dict[str, Any] | None = None

    def digest(self) -> str:
        """The same for the same definition, however it was written."""
        return hashlib.sha256(json.dumps(self.model_dump(), sort_keys=True).encode()).hexdigest()


class _Pinned(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    servers: dict[str, tuple[Definition, ...]] = {}


@dataclass(slots=True)
class Pins:
    """The pinned tools of one home; without a home, they are forgotten with the process."""

    home: Path | None
    _known: dict[str, tuple[Definition, ...]]

    @classmethod
    def of(cls, home: Path | None) -> "Pins":
        """What the home has; ConfigurationError if it cannot be read, for then nothing is known to be as it was."""
        return cls(home, _read(home / _NAME) if home is not None else {})

    def tools(self, server: str) -> Mapping[str, Definition] | None:
        """The tools of a server by their own names; None if it was never seen."""
        pinned = self._known.get(server)
        return {one.name: one for one in pinned} if pinned is not None else None

    def pin(self, server: str, tools: Iterable[Definition]) -> None:
        """From now on these are the server's tools."""
        if self.home is not None:
            self._known |= _read(self.home / _NAME)  # others may have pinned theirs meanwhile
        self._known[server] = tuple(tools)
        if self.home is not None:
            _write(self.home / _NAME, _Pinned(servers=self._known).model_dump_json(indent=1).encode())


def _read(path: Path) -> dict[str, tuple[Definition, ...]]:
    try:
        return dict(_Pinned.model_validate_json(path.read_bytes()).servers)
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        raise ConfigurationError(
            f"The file {path} cannot be read, so nobody knows which tools of MCP servers were accepted.",
            "Mend it, or remove it and look at the servers' tools anew: belayer tools",
        ) from error


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing, whatever happens meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
