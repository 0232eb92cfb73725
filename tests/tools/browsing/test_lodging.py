"""The browser's home: private, gone with its Belayer, and gone with the next one if that was killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from belayer.tools.browsing.lodging import lodging

LODGES = """
from belayer.tools.browsing.lodging import lodging
with lodging() as folder:
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def lodger(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", LODGES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"TMPDIR": str(temporary)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_it_is_empty_private_and_gone_afterwards() -> None:
    with lodging() as folder:
        assert list(folder.iterdir()) == []
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "cookies").write_text("x")
    assert not folder.exists()


def test_what_a_killed_belayer_left_is_removed_by_the_next(temporary: Path) -> None:
    process, left = lodger(temporary)
    (left / "profile").mkdir()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert left.is_dir()
    with lodging():
        assert not left.exists()


def test_that_of_a_belayer_that_lives_is_left_alone(temporary: Path) -> None:
    process, other = lodger(temporary)
    with lodging():
        assert other.is_dir()
    process.communicate("\n")
    assert not other.exists()


def test_what_only_has_such_a_name_is_left_alone(temporary: Path) -> None:
    (temporary / "kept").mkdir()
    (temporary / "belayer-browser-link").symlink_to(temporary / "kept")
    (temporary / "belayer-browser-file").write_text("x")
    os.mkfifo(temporary / "belayer-browser-pipe")
    with lodging():
        pass
    assert len(list(temporary.iterdir())) == 4
