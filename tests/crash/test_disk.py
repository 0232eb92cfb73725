"""A disk that is really full, or really read-only, under a session at work."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import structlog

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import StoreError, StoreFull, StoreReadOnly
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.steps import DoubtRaised
from belayer.wiring import kept_in
from tests.support.engines import damage_of, engine_on, events_of, home_engine, until, while_time_flies

_SIZE = "2m"
_SPARE = 100_000
"""Bytes kept free where small records should fit and a large payload should not."""


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """A file system of its own, with room for little."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def fill(self, spare: int = 0) -> None:
        """Leave no more than the spare bytes."""
        with (self.folder / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass
            if spare:
                os.truncate(ballast.fileno(), max(ballast.tell() - spare, 0))

    def empty(self) -> None:
        (self.folder / "ballast").unlink()

    def remount(self, how: str) -> None:
        _mount("-o", f"remount,{how}", str(self.folder))


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if not _mount("-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)):
        pytest.skip("a small disk of its own can only be mounted by root")
    yield SmallDisk(folder)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass(slots=True)
class Sending:
    """A workflow with one effect that waits until it is let go, and what was sent."""

    size: int = 10
    sent: list[str] = field(default_factory=list[str])
    under_way: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def sending(self, run: Run) -> int:
        first = await run.step("first", self.send_slowly, "first")
        return len(first) + len(await run.step("second", act(self.send), "second"))

    async def send_slowly(self, what: str) -> str:
        self.under_way.set()
        await self.let_go.wait()
        return self.send(what)

    def send(self, what: str) -> str:
        self.sent.append(what)
        return "x" * self.size


async def test_an_effect_done_on_a_full_disk_is_recorded_once_there_is_space(disk: SmallDisk) -> None:
    clock, sending = ManualClock(), Sending()
    async with kept_in(disk.home, clock) as keeping, engine_on(keeping, clock, [sending.sending]) as engine:
        session = await engine.start(sending.sending)
        await sending.under_way.wait()
        disk.fill()
        with structlog.testing.capture_logs() as told:
            sending.let_go.set()
            await until(lambda: any(line["log_level"] == "error" for line in told))
        disk.empty()
        assert await while_time_flies(clock, session.result(), real=0.001) == 20
        assert sending.sent == ["first", "second"]
        assert await events_of(keeping, session.id, DoubtRaised) == []
        assert await damage_of(engine) == []


async def test_the_operator_is_told_what_to_do_about_a_full_disk(disk: SmallDisk) -> None:
    clock, sending = ManualClock(), Sending()
    async with kept_in(disk.home, clock) as keeping, engine_on(keeping, clock, [sending.sending]) as engine:
        await engine.start(sending.sending)
        await sending.under_way.wait()
        disk.fill()
        with structlog.testing.capture_logs() as told:
            sending.let_go.set()
            await until(lambda: any(line["log_level"] == "error" for line in told))
        disk.empty()
    error = next(line for line in told if line["log_level"] == "error")
    assert "full" in error["problem"]
    assert "Make space" in error["hint"]


async def test_a_large_output_on_a_full_disk_is_recorded_once_there_is_space(disk: SmallDisk) -> None:
    clock, sending = ManualClock(), Sending(size=4 * _SPARE)
    async with kept_in(disk.home, clock) as keeping, engine_on(keeping, clock, [sending.sending]) as engine:
        session = await engine.start(sending.sending)
        await sending.under_way.wait()
        disk.fill(_SPARE)
        with structlog.testing.capture_logs() as told:
            sending.let_go.set()
            await until(lambda: len(told) > 0)
        disk.empty()
        ended = await while_time_flies(clock, session.settled(), real=0.001)
        assert ended.status is Status.COMPLETED
        assert sending.sent == ["first", "second"]


async def test_an_engine_that_opens_on_a_full_disk_says_that_it_is_full(disk: SmallDisk) -> None:
    async with home_engine(disk.home, drives="none"):
        pass
    disk.fill()
    with pytest.raises(StoreFull, match="full"):
        async with home_engine(disk.home):
            pass


async def test_a_session_goes_on_after_an_engine_could_not_open_on_a_full_disk(disk: SmallDisk) -> None:
    sending = Sending()
    sending.let_go.set()
    async with home_engine(disk.home, drives="none") as engine:
        queued = (await engine.start(sending.sending)).id
    disk.fill()
    with pytest.raises(StoreError):
        async with home_engine(disk.home, sending.sending):
            pass
    disk.empty()
    async with home_engine(disk.home, sending.sending) as engine:
        assert await engine.session(queued).result() == 20
        assert await damage_of(engine) == []


async def test_a_start_on_a_full_disk_is_refused_and_leaves_nothing(disk: SmallDisk) -> None:
    sending = Sending()
    async with home_engine(disk.home, drives="none") as engine:
        disk.fill()
        with pytest.raises(StoreFull, match="full") as refused:
            await engine.start(sending.sending)
        assert refused.value.hint is not None
        disk.empty()
        assert await engine.sessions() == []
        assert await damage_of(engine) == []


async def test_a_start_works_again_once_there_is_space(disk: SmallDisk) -> None:
    sending = Sending()
    async with home_engine(disk.home, drives="none") as engine:
        disk.fill()
        with pytest.raises(StoreFull):
            await engine.start(sending.sending)
        disk.empty()
        session = await engine.start(sending.sending)
        assert (await session.state()).status is Status.QUEUED


async def test_an_answer_on_a_full_disk_is_refused_and_the_question_stays_open(disk: SmallDisk) -> None:
    async def asking(run: Run) -> str:
        return await run.ask("name", "Your name?")

    async with home_engine(disk.home, asking) as engine:
        session = await engine.start(asking)
        await session.settled()
        disk.fill()
        with pytest.raises(StoreFull):
            await session.answer("Ada" * 5000)
        disk.empty()
        assert len((await session.state()).pending) == 1
        await session.answer("Ada")
        assert await session.result() == "Ada"


async def test_a_read_only_disk_is_a_clear_error(disk: SmallDisk) -> None:
    async with home_engine(disk.home, drives="none"):
        pass
    disk.remount("ro")
    with pytest.raises(StoreReadOnly) as refused:
        async with home_engine(disk.home):
            pass
    assert refused.value.hint is not None
    assert str(disk.home) in refused.value.detail


async def test_a_session_goes_on_after_its_disk_was_read_only(disk: SmallDisk) -> None:
    sending = Sending()
    sending.let_go.set()
    async with home_engine(disk.home, drives="none") as engine:
        queued = (await engine.start(sending.sending)).id
    disk.remount("ro")
    with pytest.raises(StoreReadOnly):
        async with home_engine(disk.home, sending.sending):
            pass
    disk.remount("rw")
    async with home_engine(disk.home, sending.sending) as engine:
        assert await engine.session(queued).result() == 20
        assert await damage_of(engine) == []
