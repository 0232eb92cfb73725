"""A driver is alive for exactly as long as its process."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from belayer.sessions.lease import LockedDrivers, OneDriver
from belayer.vocabulary.errors import StoreReadOnly

ROOT = Path(__file__).parents[2]


@contextmanager
def another_process(folder: Path, name: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds its lock until it is told, or killed."""
    command = [sys.executable, "-m", "tests.sessions.programs", "hold", str(folder), name]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_driver_is_alive_to_itself(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "me") as drivers:
        assert (drivers.me, drivers.alive("me")) == ("me", True)


def test_a_driver_is_alive_to_another(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "one"), LockedDrivers(tmp_path, "two") as two:
        assert two.alive("one")


def test_a_driver_of_another_process_is_alive(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "me") as drivers, another_process(tmp_path, "other"):
        assert drivers.alive("other")


def test_a_killed_driver_is_not_alive(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "me") as drivers, another_process(tmp_path, "other") as process:
        process.kill()
        process.wait()
        assert not drivers.alive("other")


def test_a_driver_that_let_go_is_not_alive(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "me") as drivers:
        with LockedDrivers(tmp_path, "other"):
            pass
        assert not drivers.alive("other")


def test_nobody_is_not_alive(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "me") as drivers:
        assert not drivers.alive("never was")


@pytest.mark.parametrize("name", ["", ".", "..", "../me", "/etc/passwd", "a/b"])
def test_a_name_that_is_a_path_is_nobody(tmp_path: Path, name: str) -> None:
    with LockedDrivers(tmp_path / "drivers", "someone") as drivers:
        assert not drivers.alive(name)


def test_looking_does_not_take_the_lock_away(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "one") as one, LockedDrivers(tmp_path, "two") as two:
        for _ in range(10):
            assert one.alive("two")
            assert two.alive("one")


def test_the_file_of_a_killed_driver_is_swept_away(tmp_path: Path) -> None:
    with another_process(tmp_path, "other") as process:
        process.kill()
        process.wait()
    with LockedDrivers(tmp_path, "me"):
        assert [path.name for path in tmp_path.iterdir()] == ["me"]


def test_the_file_of_a_living_driver_is_not_swept_away(tmp_path: Path) -> None:
    with another_process(tmp_path, "other"), LockedDrivers(tmp_path, "me") as drivers:
        assert drivers.alive("other")


def test_a_driver_that_let_go_leaves_no_file(tmp_path: Path) -> None:
    with LockedDrivers(tmp_path, "me"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("attempt", range(20))
def test_drivers_that_begin_at_once_do_not_sweep_each_other_away(tmp_path: Path, attempt: int) -> None:
    begin, meet = threading.Barrier(8), threading.Barrier(8)
    wrong: list[str] = []

    def drive(name: str) -> None:
        begin.wait(10)
        try:
            with LockedDrivers(tmp_path, name) as drivers:
                meet.wait(10)
                wrong.extend(f"{other} is dead to {name}" for other in "abcdefgh" if not drivers.alive(other))
                meet.wait(10)
        except threading.BrokenBarrierError:
            pass
        except Exception as error:
            wrong.append(f"{name} cannot begin: {error}")
            meet.abort()

    threads = [threading.Thread(target=drive, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreReadOnly, match=str(tmp_path)), LockedDrivers(tmp_path / "file", "me"):
        pass


def test_where_only_one_can_see_the_store_everybody_else_is_gone() -> None:
    driver = OneDriver("me")
    assert (driver.me, driver.alive("me"), driver.alive("other")) == ("me", True, False)
