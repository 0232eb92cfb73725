"""Which sandbox one gets: the best that keeps a secret, the one asked for, or an error. Never less, in silence."""

import stat
from pathlib import Path

import pytest

from belayer.sandbox import bubblewrap, landlock
from belayer.sandbox.choose import choose
from belayer.sandbox.sandbox import Missing, Program
from belayer.vocabulary.errors import Category, NoSandbox
from tests.sandbox.boxes import needs_bubblewrap


def no_bubblewrap(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(bubblewrap, "_FOLDERS", (str(folder),))


def old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "_NEEDED_VERSION", 10_000)


def pretender(folder: Path, script: str) -> None:
    """Something else under bubblewrap's name."""
    folder.mkdir(mode=0o755)
    (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bwrap").chmod(0o755)


@needs_bubblewrap
async def test_the_best_one_that_works_is_taken(tmp_path: Path) -> None:
    async with choose("auto", tmp_path) as sandbox:
        assert sandbox.rung.name == "bubblewrap"


async def test_without_the_best_one_the_next_is_taken_and_says_what_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_bubblewrap(monkeypatch, tmp_path)
    async with choose("auto", tmp_path) as sandbox:
        assert sandbox.rung.name == "landlock"
        assert len(sandbox.rung.does_not) > 2


async def test_where_nothing_works_there_is_an_error_that_names_all_that_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_bubblewrap(monkeypatch, tmp_path)
    old_kernel(monkeypatch)
    with pytest.raises(NoSandbox) as raised:
        async with choose("auto", tmp_path):
            raise AssertionError("there is a sandbox")
    error = raised.value
    assert error.category is Category.CONFIGURATION
    assert "bubblewrap: bubblewrap is not installed" in error.detail
    assert "landlock: This kernel's Landlock" in error.detail
    assert "apt-get install bubblewrap" in (error.hint or "")
    assert "BELAYER_SANDBOX=none" in (error.hint or "")
    assert list((tmp_path / "sandbox").iterdir()) == []


async def test_one_that_is_asked_for_is_never_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_bubblewrap(monkeypatch, tmp_path)
    with pytest.raises(NoSandbox):
        async with choose("bubblewrap", tmp_path):
            raise AssertionError("there is a sandbox")


@pytest.mark.parametrize(
    "script",
    [
        'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
        "exit 0",
        "exit 1",
        "echo confined",
    ],
    ids=["confines nothing", "does nothing", "fails", "only says so"],
)
async def test_a_bubblewrap_that_does_not_confine_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    pretender(tmp_path / "bin", script)
    no_bubblewrap(monkeypatch, tmp_path / "bin")
    with pytest.raises(NoSandbox):
        async with choose("bubblewrap", tmp_path / "home"):
            raise AssertionError("there is a sandbox")


@pytest.mark.parametrize("part", ["bin", "bin/bwrap"])
async def test_a_bubblewrap_that_others_could_replace_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    pretender(tmp_path / "bin", f"touch {tmp_path}/ran")
    (tmp_path / part).chmod((tmp_path / part).stat().st_mode | stat.S_IWOTH)
    no_bubblewrap(monkeypatch, tmp_path / "bin")
    with pytest.raises(NoSandbox, match="only its owner can write"):
        async with choose("bubblewrap", tmp_path / "home"):
            raise AssertionError("there is a sandbox")
    assert not (tmp_path / "ran").exists()


@needs_bubblewrap
async def test_a_folder_that_holds_bubblewrap_is_no_folder_to_work_in(tmp_path: Path) -> None:
    async with choose("bubblewrap", tmp_path) as sandbox:
        with pytest.raises(NoSandbox, match="holds bubblewrap itself"):
            await sandbox.start(Program(("/bin/true",), Path("/usr")))


async def test_to_run_unconfined_one_has_to_say_so_and_is_told_what_it_means(tmp_path: Path) -> None:
    async with choose("none", tmp_path / "home") as sandbox:
        assert sandbox.rung.name == "none"
        assert any("confine anything" in line for line in sandbox.rung.does_not)
        process = await sandbox.start(Program(("/bin/sh", "-c", "echo $HOME; exit 4"), tmp_path))
        lines = [line.text async for line in process]
        assert (await process.wait()).exit_code == 4
        assert lines[0].startswith(str(tmp_path / "home"))


async def test_a_sandbox_without_a_home_leaves_nothing(tmp_path: Path) -> None:
    async with choose("auto", None) as sandbox:
        process = await sandbox.start(Program(("/bin/echo", "hello"), tmp_path))
        assert [line.text async for line in process] == ["hello"]
        await process.wait()


async def test_what_is_missing_runs_nothing_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(NoSandbox, match="because"):
        await Missing(NoSandbox("because")).start(Program(("/bin/true",), tmp_path))
