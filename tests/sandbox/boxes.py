"""Every sandbox that works on this machine, and short ways to run something in one."""

import asyncio
import os
import shutil
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from belayer.sandbox.choose import choose
from belayer.sandbox.sandbox import Ended, Limits, Line, Program, Sandbox
from belayer.vocabulary.errors import LimitReached

PYTHON = "/usr/bin/python3"
MEGABYTE = 1024 * 1024
SMALL = Limits(
    memory_bytes=200 * MEGABYTE,
    cpu_seconds=20,
    wall_seconds=60,
    processes=40,
    open_files=100,
    disk_bytes=20 * MEGABYTE,
    output_bytes=MEGABYTE,
)

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed: scripts/sandbox.sh"
)
# Root's processes are counted in cgroups or not at all: without them there is no sandbox for root, and no such test.
not_as_root = pytest.mark.skipif(
    os.geteuid() == 0, reason="there is none for root; test_ordinary_user.py tries it"
)
RUNGS = [
    pytest.param(("bubblewrap", True), id="bubblewrap", marks=needs_bubblewrap),
    pytest.param(("bubblewrap", False), id="bubblewrap-ungrouped", marks=[needs_bubblewrap, not_as_root]),
    pytest.param(("landlock", True), id="landlock"),
    pytest.param(("landlock", False), id="landlock-ungrouped", marks=not_as_root),
]


@dataclass
class Ran:
    """What came of a program."""

    lines: list[Line]
    ended: Ended

    @property
    def out(self) -> str:
        return "\n".join(line.text for line in self.lines if line.stream == "stdout")

    @property
    def err(self) -> str:
        return "\n".join(line.text for line in self.lines if line.stream == "stderr")

    @property
    def code(self) -> int:
        return self.ended.exit_code


@dataclass
class Box:
    """A sandbox at work in a folder, with a secret beside it."""

    sandbox: Sandbox
    folder: Path
    outside: Path
    home: Path
    limits: Limits = field(default=SMALL)

    @property
    def name(self) -> str:
        return self.sandbox.rung.name

    def program(self, *argv: str, **more: Any) -> Program:
        return Program(argv, more.pop("folder", self.folder), limits=more.pop("limits", self.limits), **more)

    async def run(self, *argv: str, **more: Any) -> Ran:
        process = await self.sandbox.start(self.program(*argv, **more))
        lines = [line async for line in process]
        return Ran(lines, await process.wait())

    async def sh(self, command: str, **more: Any) -> Ran:
        return await self.run("/bin/sh", "-c", command, **more)

    async def python(self, code: str, *args: str, **more: Any) -> Ran:
        return await self.run(PYTHON, "-I", "-c", code, *args, **more)

    async def breach(self, *argv: str, **limits: Any) -> str:
        """The limit that the program is stopped at."""
        with pytest.raises(LimitReached) as raised:
            await self.run(*argv, limits=replace(self.limits, **limits))
        return raised.value.limit


def opened(which: tuple[str, bool], home: Path) -> AbstractAsyncContextManager[Sandbox]:
    name, grouped = which
    return choose(name, home, grouped=grouped)  # pyright: ignore[reportArgumentType]


def lasting(which: tuple[str, bool], top: Path) -> Iterator[Box]:
    """A sandbox for many tests, each of which has a loop of its own."""
    with asyncio.Runner() as runner:
        context = opened(which, top / "home")
        sandbox = runner.run(cast("Coroutine[Any, Any, Sandbox]", context.__aenter__()))
        try:
            yield Box(sandbox, top, top, top / "home")
        finally:
            runner.run(cast("Coroutine[Any, Any, None]", context.__aexit__(None, None, None)))


def furnished(sandbox: Sandbox, home: Path, top: Path) -> Box:
    """A folder to work in, and a secret that is none of its business."""
    folder, outside = top / "work", top / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("the secret")
    (outside / "secret").chmod(0o600)
    return Box(sandbox, folder, outside, home)
