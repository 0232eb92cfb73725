"""Run git so that it runs nothing else: no hooks, no helpers, no prompts, nobody's configuration but ours."""

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from belayer.vocabulary.errors import ConfigurationError
from belayer.workspace.last_words import meaning

_PATH = "/usr/local/bin:/usr/bin:/bin"
# Where git looks before a repository's own settings, which we never use: they would be ours, in our own GIT_DIR.
_OURS = """\
[core]
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tfsmonitor = false
\tsymlinks = false
\tprotectHFS = true
\tprotectNTFS = true
\tpager = cat
[safe]
\tdirectory = *
\tbareRepository = explicit
[protocol]
\tversion = 2
[transfer]
\tcredentialsInUrl = die
[http]
\tfollowRedirects = false
\tproxy =
[gc]
\tauto = 0
[maintenance]
\tauto = false
[credential]
\thelper =
[submodule]
\trecurse = false
[advice]
\tdetachedHead = false
"""
_LAST_WORDS = 2_000
_KEPT_BYTES = 64_000
_LINE_ENDS = b"\r\n"

Hear = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Git:
    """Git on one repository of ours: `folder/git` has its objects, `folder/settings` its configuration."""

    folder: Path
    protocols: str = "none"
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    ssh: str = "false"

    async def out(self, *args: str, hear: Hear | None = None) -> bytes:
        """What git wrote; an error with the meaning of its last words if it failed."""
        async with self.running(*args) as process:
            assert process.stdout is not None
            heard = asyncio.create_task(_listen(process, hear))
            output = await _first(process.stdout, _KEPT_BYTES)
            last_words = await heard
            if await process.wait() != 0:
                raise meaning(args[0], last_words)
            return output

    @asynccontextmanager
    async def running(self, *args: str) -> AsyncGenerator[Process]:
        """Git at work; nothing of it is left afterwards."""
        process = await asyncio.create_subprocess_exec(
            _git(),
            f"--git-dir={self.folder / 'git'}",
            *args,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=self._environment(),
            cwd=self.folder,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())

    async def begin(self) -> None:
        """Make the repository, unless it is there."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "settings").write_text(_OURS, encoding="utf-8")
        if not (self.folder / "git" / "HEAD").exists():
            await self.out("init", "--quiet", "--bare", "--template=", "--initial-branch=belayer")

    def _environment(self) -> dict[str, str]:
        given = {
            "PATH": _PATH,
            "LANG": "C.UTF-8",
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.folder / "settings"),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": self.protocols,
            "GIT_SSH_COMMAND": self.ssh,
            "GIT_SSH_VARIANT": "ssh",
            "GIT_CONFIG_COUNT": str(len(self.settings)),
        }
        for number, (key, value) in enumerate(self.settings.items()):
            given[f"GIT_CONFIG_KEY_{number}"], given[f"GIT_CONFIG_VALUE_{number}"] = key, value
        return given


def _git() -> str:
    found = shutil.which("git", path=_PATH)
    if found is None:
        raise ConfigurationError("git is not installed here.", "Install it (Debian: apt-get install git).")
    return found


async def _first(stream: asyncio.StreamReader, most: int) -> bytes:
    """The beginning of what comes; the rest is read and forgotten, so that nobody waits for us."""
    kept = bytearray()
    while piece := await stream.read(65_536):
        kept += piece[: most - len(kept)]
    return bytes(kept)


async def _listen(process: Process, hear: Hear | None) -> str:
    """Pass on what git says line by line; its last words."""
    assert process.stderr is not None
    said, line = bytearray(), bytearray()
    while piece := await process.stderr.read(4096):
        said = (said + piece)[-_LAST_WORDS:]
        for byte in piece:
            if byte not in _LINE_ENDS:
                line.append(byte)
                continue
            if hear is not None and line:
                hear(_readable(line))
            line.clear()
    return _readable(said)


def _readable(said: bytes | bytearray) -> str:
    text = said.decode(errors="replace")
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()
