"""Work shared out over processes: a death costs one task, never the rest."""

import os
import signal
import time
from pathlib import Path

from belayer.codegraph.crew import share_out


def shared(
    tasks: list[str], work, *, batch: int = 4, patience: float = 30.0, workers: int = 2
) -> dict[str, bytes | None]:
    return dict(share_out(tasks, work, batch=batch, patience=patience, workers=workers))


def test_every_task_is_done_once() -> None:
    tasks = [f"task {number}" for number in range(200)]
    found = list(share_out(tasks, lambda task: task.encode() * 3_000, batch=7, patience=30.0, workers=3))
    assert sorted(task for task, _ in found) == sorted(tasks)
    assert all(result == task.encode() * 3_000 for task, result in found)


def test_a_task_that_kills_its_process_is_reported_and_the_rest_is_done() -> None:
    def work(task: str) -> bytes:
        if task in ("3", "4", "17"):
            os.kill(os.getpid(), signal.SIGKILL)
        return task.encode()

    found = shared([str(number) for number in range(20)], work)
    assert {task for task, result in found.items() if result is None} == {"3", "4", "17"}
    assert len(found) == 20


def test_a_task_that_raises_is_reported_like_one_that_crashes() -> None:
    def work(task: str) -> bytes:
        if task == "bad":
            raise ValueError(task)
        return b"done"

    assert shared(["good", "bad", "fine"], work) == {"good": b"done", "bad": None, "fine": b"done"}


def test_a_task_on_which_a_process_died_is_tried_once_more(tmp_path: Path) -> None:
    def work(task: str) -> bytes:
        if task == "unlucky" and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return b"done"

    assert shared(["a", "unlucky", "b"], work) == {"a": b"done", "unlucky": b"done", "b": b"done"}


def test_a_task_that_never_ends_is_given_up() -> None:
    def work(task: str) -> bytes:
        while task == "endless":
            time.sleep(1)
        return b"done"

    assert shared(["a", "endless", "b"], work, patience=0.1) == {"a": b"done", "endless": None, "b": b"done"}


def test_nobody_is_left_when_the_results_are_not_wanted_any_more() -> None:
    def work(_task: str) -> bytes:
        return str(os.getpid()).encode()

    results = share_out([str(number) for number in range(1_000)], work, batch=1, patience=30.0, workers=2)
    _, told = next(iter(results))
    results.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert told is not None
    try:
        os.kill(int(told), 0)
        is_there = True
    except ProcessLookupError:
        is_there = False
    assert not is_there
