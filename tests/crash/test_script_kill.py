"""A real process is killed with `kill -9` while a script of its waits or works; the next goes on where it was."""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from belayer.sessions.store import Wanted
from belayer.vocabulary.events.event import Status
from tests.codemode.scripts import LANGUAGES
from tests.crash.script_driver import MARKS, World
from tests.support.engines import damage_of, home_engine

_ROOT = Path(__file__).parents[2]
_SEEDS = 2
_KILLS = 8


async def life(home: Path, language: str, answers: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.crash.script_driver", str(home), language, answers),
        cwd=_ROOT,
        stdout=asyncio.subprocess.PIPE,
    )


async def until_ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        assert await process.stdout.readline() == b"ready\n"


async def kill(process: asyncio.subprocess.Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() == -signal.SIGKILL


async def found_in(home: Path) -> tuple[Status, Any]:
    """How the one session stands, and what its script gave."""
    async with home_engine(home, drives="none") as engine:
        assert await damage_of(engine) == []
        (row,) = await engine.sessions(Wanted())
        result: Any = (await engine.state(row.id)).result
        return row.status, result and result["outputs"]["it"]["value"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_script_killed_inside_of_many_with_one_answered_goes_on_and_does_nothing_twice(
    language: str, tmp_path: Path
) -> None:
    world = World(tmp_path / "world")
    for answers, status, marks in (
        ("", Status.WAITING, ["aside", "before"]),
        ("A?", Status.WAITING, ["A?", "aside", "before"]),
        ("B?", Status.COMPLETED, sorted(MARKS)),
    ):
        process = await life(tmp_path, language, answers)
        await until_ready(process)
        await kill(process)
        assert (await found_in(tmp_path))[0] is status
        assert sorted(world.names()) == marks
    value = (await found_in(tmp_path))[1]
    assert value[0] == "before"
    assert value[1] == [["to A?", "A?"], "aside", ["to B?", "B?"]]
    assert value[2] in ("x", "y", "z")
    assert value[3] == "after"


@pytest.mark.parametrize("seed", range(_SEEDS))
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_script_survives_kill_9_at_any_instant(language: str, seed: int, tmp_path: Path) -> None:
    luck = random.Random(seed)
    for _ in range(_KILLS):
        process = await life(tmp_path, language, luck.choice(["", "A?", "B?", "A?,B?"]))
        # How long a driver lives is what this test is about.
        time.sleep(luck.uniform(0.6, 2.0))
        await kill(process)
    process = await life(tmp_path, language, "A?,B?")
    await until_ready(process)
    await kill(process)
    status, value = await found_in(tmp_path)
    assert status is Status.COMPLETED
    assert value[1] == [["to A?", "A?"], "aside", ["to B?", "B?"]]
    assert Counter(World(tmp_path / "world").names()) == Counter(MARKS)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_no_worker_outlives_the_process_that_started_it(language: str, tmp_path: Path) -> None:
    process = await life(tmp_path, language, "A?,B?")
    await until_ready(process)
    workers = children_of(process.pid)
    assert workers, "one is kept warm"
    workers += [pid for worker in workers for pid in children_of(worker)]
    await kill(process)
    async with asyncio.timeout(10):
        while any(is_alive(pid) for pid in workers):
            await asyncio.sleep(0)


def children_of(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
