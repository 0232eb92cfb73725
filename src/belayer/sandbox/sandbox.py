"""What it is to run a program that may be hostile: what it is given, what it may use, and what one learns of it.

The rungs (bubblewrap, landlock, unconfined) differ in what they protect, never in how they are used.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from belayer.vocabulary.addresses import Allowed
from belayer.vocabulary.errors import ConfigurationError, NoSandbox, PathMissing

Stream = Literal["stdout", "stderr"]

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a program and all that it starts may use together. `open_files` holds for each process."""

    memory_bytes: int = 2048 * _MEGABYTE
    cpu_seconds: int = 600
    wall_seconds: float = 600.0
    processes: int = 256
    open_files: int = 1024
    disk_bytes: int = 2048 * _MEGABYTE
    output_bytes: int = 64 * _MEGABYTE


NOT_AT_HOME = Allowed()


@dataclass(frozen=True, slots=True)
class Network:
    """The hosts that may be reached, as `name:port`; none is no network at all.

    A name that turns out to be inside the house is refused, unless it is among the `private` ones.
    """

    hosts: tuple[str, ...] = ()
    private: Allowed = NOT_AT_HOME


OFFLINE = Network()


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run. It sees its folder and the `writable` and `readable` ones at their own paths, and the system.

    `argv[0]` is looked for inside the sandbox; `cwd` is relative to the folder.
    """

    argv: tuple[str, ...]
    folder: Path
    cwd: str = "."
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: bytes = b""
    network: Network = OFFLINE
    limits: Limits = Limits()


class Line(NamedTuple):
    """A line as it came, without its end. `ends` is false for a piece of an overlong line, and for a rest.

    After very many lines, several that came together may be one, with their ends between them.
    """

    stream: Stream
    text: str
    ends: bool = True


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that came to its end by itself. An end by a signal is 128 and its number."""

    exit_code: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output_bytes: int


class Process(Protocol):
    """A program that runs, or has run."""

    def __aiter__(self) -> AsyncIterator[Line]:
        """Its output as it comes. Who reads slowly makes it wait."""
        ...

    async def wait(self) -> Ended:
        """Its end; LimitReached if it wanted too much. Output that nobody has read by then is dropped."""
        ...

    async def stop(self, grace: float = 5.0) -> None:
        """Ask it to end, and end it and all it has started after `grace` seconds; nothing is left on return."""
        ...


@dataclass(frozen=True, slots=True)
class Rung:
    """What a sandbox is, in words for a person."""

    name: str
    protects: tuple[str, ...]
    does_not: tuple[str, ...]


class Sandbox(Protocol):
    """A way to run programs, with what it protects."""

    @property
    def rung(self) -> Rung: ...

    async def start(self, program: Program) -> Process: ...


class Missing:
    """Where no sandbox is to be had: it runs nothing, and says why."""

    rung = Rung("missing", ("nothing runs",), ())

    def __init__(self, why: NoSandbox) -> None:
        self.why = why

    async def start(self, program: Program) -> Process:  # noqa: ARG002 - as all sandboxes are asked
        raise self.why


def check(program: Program) -> None:
    """Raise ConfigurationError for what no program can be given, PathMissing for a folder that is not there."""
    words = (*program.argv, program.cwd, *program.env, *program.env.values(), *program.network.hosts)
    if not program.argv or not program.argv[0] or any("\0" in word for word in words):
        raise ConfigurationError(
            "A program needs a name, and no word of its command can hold a NUL character. Nothing was run.",
            "Correct the command.",
        )
    if bad := [name for name in program.env if not name or "=" in name]:
        raise ConfigurationError(
            f"{bad[0]!r} cannot be the name of a variable. Nothing was run.", "Rename it."
        )
    for path in (program.folder, program.folder / program.cwd, *program.writable, *program.readable):
        if not path.is_absolute() or not path.exists():
            raise PathMissing(
                f"There is no {path}, so the program was not run.", "Give the path of what is there."
            )
