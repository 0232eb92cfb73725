"""A real process is killed with `kill -9` at random instants, again and again, until its sessions have ended."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from belayer.sessions.store import Wanted
from belayer.vocabulary.clock import SystemClock
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import kept_in
from tests.support.engines import damage_of, home_engine
from tests.support.reference import EXPECTED, ONCE, ONCE_BY_KEY, FileWorld

_SEEDS = 6
_KILLS = 20
"""Kills per seed: more than 100 in all."""
_SESSIONS = 4
_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Nursery:
    """Makes one driver after another in one folder."""

    orders: IO[str]
    answers: IO[str]

    def driver(self, sessions: int) -> int:
        """The process id of a new driver."""
        self._order(str(sessions))
        return int(self.answers.readline())

    def wait_for_its_end(self) -> int:
        """How the driver ended."""
        self._order("bury it")
        return int(self.answers.readline())

    def _order(self, line: str) -> None:
        self.orders.write(line + "\n")
        self.orders.flush()


@contextmanager
def nursery(home: Path) -> Iterator[Nursery]:
    command = [sys.executable, "-m", "tests.crash.driver", str(home)]
    with (
        (home.parent / "stderr").open("w") as errors,
        subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        yield Nursery(process.stdin, process.stdout)
        process.stdin.close()


async def kill_again_and_again(home: Path, seed: int) -> int:
    """Kill drivers, each after a while; when its sessions have ended there are more. How many sessions there were."""
    luck = random.Random(seed)
    killed, sessions = 0, _SESSIONS
    home.mkdir()
    done = home / "done"
    with nursery(home) as drivers:
        while killed < _KILLS:
            pid = drivers.driver(sessions)
            # How long a driver lives is what this test is about.
            time.sleep(luck.uniform(0.0, 0.1))
            os.kill(pid, signal.SIGKILL)
            ended = drivers.wait_for_its_end()
            assert ended in (0, -signal.SIGKILL)
            killed += ended != 0
            if done.exists():
                sessions += _SESSIONS
                done.unlink()
            async with home_engine(home, drives="none") as engine:
                assert await damage_of(engine) == []
        drivers.driver(sessions)
        assert drivers.wait_for_its_end() == 0
    return sessions


async def check(home: Path, sessions: int) -> None:
    """The promises."""
    world = FileWorld(home / "world")
    acknowledged: Counter[str] = Counter()
    for line in (home / "acknowledged").read_text().splitlines():
        session_id, seq = line.split()
        acknowledged[session_id] = max(acknowledged[session_id], int(seq))
    async with kept_in(home, SystemClock()) as keeping:
        rows = await keeping.store.rows(Wanted())
        assert [row.status for row in rows] == [Status.COMPLETED] * sessions
        for row in rows:
            assert row.last_seq >= acknowledged[row.id]
            deeds = [deed for deed in world.deeds() if deed.session_id == row.id]
            done = Counter(deed.what for deed in deeds if deed.kind == "done")
            assert {what: done[what] for what in ONCE} == dict.fromkeys(ONCE, 1)
            for what in ONCE_BY_KEY:
                assert len({deed.idempotency_key for deed in deeds if deed.what == what}) == 1
            for record in await keeping.store.read(row.id):
                event = record.event()
                if isinstance(event, StepChanged) and event.status is StepStatus.COMPLETED:
                    late = [deed for deed in deeds if deed.key == event.key and deed.at > record.at]
                    assert late == [], "a completed step ran again"
    async with home_engine(home, drives="none") as engine:
        assert await damage_of(engine) == []
        for row in rows:
            result = (await engine.state(row.id)).result
            assert isinstance(result, dict)
            assert {name: result[name] for name in EXPECTED} == EXPECTED


@pytest.mark.parametrize("seed", range(_SEEDS))
async def test_sessions_survive_kill_9_at_any_instant(seed: int, tmp_path: Path) -> None:
    home = tmp_path / "home"
    sessions = await kill_again_and_again(home, seed)
    await check(home, sessions)
