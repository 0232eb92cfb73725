"""Build a repository's graph, or bring it up to date, in a process of its own."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from belayer.codegraph.answers import Answer
from belayer.vocabulary.errors import ChildFailed, LimitReached, PathMissing, Problem, StoreError, StoreFull

_BUILDER = Path(__file__).with_name("builder.py")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_WALL_SECONDS = 1_800.0
# A warm process keeps what it read in memory; after so long without work it goes.
_IDLE_SECONDS = 120.0
_LONGEST_LINE = 64 * 1024 * 1024
_SHOWN = 2_000


class Progress(Answer):
    """How far a build is. The stages are discover, read, link and store."""

    stage: str
    done: int
    total: int


class Built(Answer):
    """What a build came to. `rebuilt` says why a store that was there was not used."""

    files: int
    nodes: int
    edges: int
    parsed: int
    relinked: int
    seconds: float
    broken: tuple[str, ...]
    skipped: Mapping[str, int]
    truncated: bool
    languages: Mapping[str, int]
    rebuilt: str | None


OnProgress = Callable[[Progress], None]


async def build(
    folder: Path, store: Path, *, on_progress: OnProgress | None = None, is_commit: bool = False
) -> Built:
    """The graph of the folder, at `store`: from nothing, or by reading what changed since it was built.

    `is_commit` says that the folder holds a commit's files and nothing else: no .gitignore speaks of these.
    """
    builder = Builder(folder, store, is_commit=is_commit)
    try:
        return await builder.build(on_progress)
    finally:
        await builder.close()


class Builder:
    """Builds the same graph again and again; its process stays warm in between."""

    def __init__(self, folder: Path, store: Path, *, is_commit: bool = False) -> None:
        self._wanted = {
            "folder": str(folder.absolute()),
            "store": str(store.absolute()),
            "is_commit": is_commit,
        }
        self._folder, self._store = folder, store
        self._process: asyncio.subprocess.Process | None = None
        self._leaving: asyncio.subprocess.Process | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()

    async def build(self, on_progress: OnProgress | None = None) -> Built:
        """Bring the store up to date. Builds of one builder go one after the other."""
        async with self._turn:
            if not self._folder.is_dir():
                raise PathMissing(
                    f"There is no folder {self._folder}, so no graph of it can be built.", "Check the path."
                )
            try:
                async with asyncio.timeout(_WALL_SECONDS):
                    return await self._built(on_progress or _nobody)
            except TimeoutError:
                raise LimitReached(
                    "wall",
                    f"Building the graph was stopped after {_WALL_SECONDS:g} s; the graph is as it was before.",
                    "Build the graph of a part of the repository, or ignore what is not source in a .gitignore.",
                ) from None

    async def close(self) -> None:
        """End the process."""
        if self._idle is not None:
            self._idle.cancel()
        for process in (self._process, self._leaving):
            if process is not None:
                await _ended(process)
        self._process, self._leaving = None, None

    def rest(self) -> None:
        """Let the process go; the next build starts another one."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()  # it ends with its input
            self._process, self._leaving = None, self._process

    async def _built(self, on_progress: OnProgress) -> Built:
        """Try it the quick way; if a file was the death of the process, once more with each file in one of its own."""
        try:
            return await self._ask(on_progress, is_careful=False)
        except _Died:
            return await self._ask(on_progress, is_careful=True)

    async def _ask(self, on_progress: OnProgress, *, is_careful: bool) -> Built:
        if self._idle is not None:
            self._idle.cancel()
        process = self._process = self._process or await _started()
        assert process.stdin is not None
        try:
            with suppress(ConnectionError):
                process.stdin.write(json.dumps({**self._wanted, "is_careful": is_careful}).encode() + b"\n")
            built = await self._listen(process, on_progress)
        except BaseException:
            await asyncio.shield(self.close())
            raise
        self._idle = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self.rest)
        return built

    async def _listen(self, process: asyncio.subprocess.Process, on_progress: OnProgress) -> Built:
        assert process.stdout is not None
        async for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if "built" in message:
                return Built.model_validate(message["built"], strict=False)
            if "failed" in message:
                raise self._failure(message)
            on_progress(Progress(**message))
        raise await self._died(process)

    def _failure(self, message: dict[str, Any]) -> ChildFailed | StoreError:
        if message["failed"] == "os":
            return StoreFull(
                f"The graph cannot be built: {message['what']}. It is as it was before.",
                f"Make sure that {self._folder} can be read and {self._store.parent} can be written and has room.",
            )
        return ChildFailed(
            f"Building the graph of {self._folder} failed; the graph is as it was before.\n{message['what'][-_SHOWN:]}",
            "This is a defect of Belayer's: report it with the lines above.",
        )

    async def _died(self, process: asyncio.subprocess.Process) -> ChildFailed:
        assert process.stderr is not None
        last_words = (await process.stderr.read()).decode(errors="replace").strip()[-_SHOWN:]
        code = await process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return _Died(
            f"The process that builds the graph of {self._folder} {how}; the graph is as it was before."
            + (f"\n{last_words}" if last_words else ""),
            "Try again; if it happens again, the repository is probably too large for the memory that a build may use.",
        )


class _Died(ChildFailed):
    """It ended without a word."""

    def problem(self) -> Problem:
        return Problem(kind="ChildFailed", category=self.category, detail=self.detail, hint=self.hint)


async def _started() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_BUILDER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
        limit=_LONGEST_LINE,
    )


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Kill the process and all that it started, and close what is ours of it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _nobody(_progress: Progress) -> None:
    """Nobody wants to know."""
