"""When Belayer is killed, its programs die with it; and what it could not remove, the next one does."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from belayer.sandbox.camp import Camp, sweep
from belayer.sandbox.choose import choose
from tests.sandbox.boxes import PYTHON, RUNGS

BELAYER = """
import asyncio, sys
from pathlib import Path
from belayer.sandbox.choose import choose
from belayer.sandbox.sandbox import Program

async def main():
    async with choose({name!r}, Path({home!r}), grouped={grouped}) as sandbox:
        process = await sandbox.start(Program(({python!r}, "-c", {code!r}), Path({folder!r})))
        async for line in process:
            print(line.text, flush=True)

asyncio.run(main())
"""
# A program with a daemon that has got away as far as it can; both hold the pipe in the workspace open.
DAEMON = (
    "import os, signal\nheld = os.open('pipe', os.O_WRONLY)\n"
    "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "    while True: signal.pause()\n  os._exit(0)\n"
    "os.wait(); print('ready', flush=True); signal.pause()"
)


class Dying:
    """A Belayer in a process of its own, running a program that does not end."""

    def __init__(self, which: tuple[str, bool], top: Path) -> None:
        self.home, self.folder = top / "home", top / "work"
        self.folder.mkdir()
        os.mkfifo(self.folder / "pipe")
        self._script = BELAYER.format(
            name=which[0],
            grouped=which[1],
            home=str(self.home),
            folder=str(self.folder),
            python=PYTHON,
            code=DAEMON,
        )

    async def killed(self) -> None:
        self._pipe = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        belayer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", self._script, stdout=asyncio.subprocess.PIPE
        )
        assert belayer.stdout is not None
        assert await belayer.stdout.readline() == b"ready\n"
        belayer.send_signal(signal.SIGKILL)
        await belayer.wait()

    async def all_dead(self) -> None:
        """Return when nobody holds the pipe any more."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._pipe, over.set)
        await over.wait()
        loop.remove_reader(self._pipe)
        assert os.read(self._pipe, 1) == b""
        os.close(self._pipe)

    def camps(self) -> list[Path]:
        return list((self.home / "sandbox").iterdir())

    def groups(self) -> list[Path]:
        lines = [line for camp in self.camps() for line in (camp / "groups").read_text().splitlines()]
        return [Path(line) for line in lines]


@pytest.fixture(params=RUNGS)
async def dying(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Dying]:
    dying = Dying(request.param, tmp_path)
    yield dying
    await sweep(dying.home)


async def test_programs_and_their_daemons_die_with_a_belayer_that_is_killed(dying: Dying) -> None:
    await dying.killed()
    await dying.all_dead()


async def test_the_next_belayer_removes_what_a_killed_one_has_left(dying: Dying) -> None:
    await dying.killed()
    await dying.all_dead()
    groups = dying.groups()
    assert len(dying.camps()) == 1
    assert await sweep(dying.home) == 1
    assert dying.camps() == []
    assert not any(group.exists() for group in groups)


async def test_a_living_belayers_things_are_not_touched(tmp_path: Path) -> None:
    async with choose("auto", tmp_path):
        before = sorted(tmp_path.rglob("*"))
        assert await sweep(tmp_path) == 0
        assert sorted(tmp_path.rglob("*")) == before


async def test_to_sweep_where_nothing_is_does_nothing(tmp_path: Path) -> None:
    assert await sweep(tmp_path / "nowhere") == 0


async def test_what_got_away_is_found_by_the_group_it_is_in(tmp_path: Path) -> None:
    """As if the launcher had been killed too: only the group still knows of it."""
    camp = Camp.pitch(tmp_path)
    if camp.groups is None:
        camp.strike()
        pytest.skip("no cgroup can be made here")
    group = camp.groups.new()
    enter = " && ".join(f"echo 0 >{file}" for file in group.entrances())
    lost = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", f"{enter} && echo in && exec sleep 3600"),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert lost.stdout is not None
    await lost.stdout.readline()
    camp._lock.close()  # as a death does
    assert await sweep(tmp_path) == 1
    assert await lost.wait() == -signal.SIGKILL


async def test_what_got_away_is_found_by_its_session_and_nobody_else_is_harmed(tmp_path: Path) -> None:
    camp = Camp.pitch(tmp_path, grouped=False)
    lost, other = [
        await asyncio.create_subprocess_exec("/bin/sleep", "3600", start_new_session=True) for _ in range(2)
    ]
    camp.note(lost.pid)
    with (camp.folder / "sessions").open("a") as file:
        file.write(f"{other.pid} 1\n")  # the number of a session that is long over, and another's now
    camp._lock.close()
    assert await sweep(tmp_path) == 1
    assert await lost.wait() == -signal.SIGKILL
    assert other.returncode is None
    other.kill()
    await other.wait()


async def test_a_record_that_names_something_else_harms_nothing(tmp_path: Path) -> None:
    camp = Camp.pitch(tmp_path / "home", grouped=False)
    precious = tmp_path / "precious"
    precious.mkdir()
    (camp.folder / "groups").write_text(f"{precious}\n/sys/fs/cgroup\n")
    camp._lock.close()
    assert await sweep(tmp_path / "home") == 1
    assert precious.exists()
