"""Under strain, sessions queue instead of failing; the work never stops altogether."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from belayer.engine import Engine
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.runner import runner
from belayer.runner.strain import strain
from belayer.vocabulary.clock import ManualClock
from tests.support.engines import Gate, memory_engine, turns, while_time_flies

PLENTY = "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n"
SHORT = "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:     160000 kB\nHugePages_Total:       0\n"
UNKNOWN = [
    "",
    "nonsense",
    "MemTotal: many kB\n",
    "MemTotal:\n",
    "MemTotal: 16 kB\n",
    "MemAvailable: 1 kB\n",
    "ä",
]


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs the tests may itself be under load."""
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))


def accounts(folder: Path, text: str) -> Path:
    (folder / "meminfo").write_text(text)
    return folder / "meminfo"


def test_a_machine_with_memory_left_is_not_strained(tmp_path: Path) -> None:
    assert strain(accounts(tmp_path, PLENTY)) is None


def test_a_machine_short_of_memory_says_how_little_there_is(tmp_path: Path) -> None:
    assert strain(accounts(tmp_path, SHORT)) == "only 1.0% of the machine's memory is free"


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_machine_that_does_not_say_is_not_strained(tmp_path: Path, text: str) -> None:
    assert strain(accounts(tmp_path, text)) is None
    assert strain(tmp_path / "missing") is None


def test_a_machine_under_load_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (1e6, 0.0, 0.0))
    assert "overloaded" in (strain(accounts(tmp_path, PLENTY)) or "")


@asynccontextmanager
async def strained_engine(
    monkeypatch: pytest.MonkeyPatch, clock: ManualClock, why: Callable[[], str | None], *workflows: object
) -> AsyncGenerator[Engine]:
    habits = runner.Habits
    monkeypatch.setattr("belayer.wiring.Habits", lambda *given: habits(*given, strain=why))
    async with memory_engine(*workflows, clock=clock) as engine:  # pyright: ignore[reportArgumentType]
        yield engine


async def test_under_strain_sessions_queue_are_told_why_and_all_end(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, clock = Gate(), ManualClock()

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with strained_engine(monkeypatch, clock, lambda: "it is late", workflow) as engine:
        first = await engine.start(workflow)
        await gate.reached()
        others = [await engine.start(workflow) for _ in range(5)]
        told = asyncio.create_task(first_shown(engine, others[0].id))
        await turns()
        assert len(gate.begun) == 1
        clock.advance(5.0)
        assert "it is late" in await told
        gate.open()
        for session in (first, *others):
            assert await while_time_flies(clock, session.result()) == "it"


async def test_when_the_strain_is_over_sessions_run_side_by_side_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, clock = Gate(), ManualClock()
    reasons = ["it is late"]

    async def workflow(run: Run) -> str:
        return await run.step("it", act(gate.pass_), "it")

    async with strained_engine(monkeypatch, clock, lambda: (reasons or [None])[0], workflow) as engine:
        sessions = [await engine.start(workflow) for _ in range(3)]
        await gate.reached()
        reasons.clear()
        clock.advance(5.0)
        await gate.reached(3)
        gate.open()
        for session in sessions:
            assert await session.result() == "it"


async def first_shown(engine: Engine, session_id: object) -> str:
    """What is shown to whoever follows the session, and not kept."""
    async for frame in engine.follow(session_id):  # pyright: ignore[reportArgumentType]
        if frame.record is None:
            return str(frame)
    raise AssertionError("a session is followed without end")
