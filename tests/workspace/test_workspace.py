"""The folder a session works in."""

import asyncio
import gc
import os
import shutil
from pathlib import Path

import pytest

from belayer.vocabulary.errors import (
    CorruptSnapshot,
    OutsideWorkspace,
    ProtectedPath,
    WorkspaceMissing,
    WorkspaceMoved,
)
from belayer.workspace.plan import Change
from belayer.workspace.workspace import Workspace, Workspaces
from tests.workspace.trees import git, held, make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return Workspaces(tmp_path / "home")


@pytest.fixture
def workspace(workspaces: Workspaces, folder: Path) -> Workspace:
    return workspaces.of(folder)


async def test_files_come_back(workspace: Workspace, folder: Path) -> None:
    make(folder, {"a": b"1"})
    snapshot = await workspace.snapshot()
    make(folder, {"a": b"2"})
    assert await workspace.changes(snapshot) == [Change("a", "write")]
    done = await workspace.restore(snapshot)
    assert (done.tree, done.written, done.deleted) == (snapshot.tree, 1, 0)
    assert held(folder) == {"a": ("file", False, b"1")}


async def test_what_a_restore_takes_away_was_kept(workspace: Workspace, folder: Path) -> None:
    make(folder, {"a": b"1"})
    snapshot = await workspace.snapshot()
    make(folder, {"a": b"2", "never kept before": b"3"})
    before = (await workspace.restore(snapshot)).before
    assert before is not None
    assert [workspace.snapshots.content(before, path) for path in ("a", "never kept before")] == [b"2", b"3"]


async def test_files_of_another_commit_are_not_brought_back(workspace: Workspace, folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    snapshot = await workspace.snapshot()
    git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    make(folder, {"new": b""})
    for act in (workspace.changes, workspace.restore):
        with pytest.raises(WorkspaceMoved, match=f"{git(folder, 'rev-parse', 'HEAD')}.*{snapshot.head}"):
            await act(snapshot)
    assert (folder / "new").exists()


async def test_a_folder_that_is_gone_is_said_to_be(workspace: Workspace, folder: Path) -> None:
    snapshot = await workspace.snapshot()
    await workspace.check()
    folder.rmdir()
    for act in (
        workspace.check(),
        workspace.snapshot(),
        workspace.changes(snapshot),
        workspace.restore(snapshot),
    ):
        with pytest.raises(WorkspaceMissing):
            await act
    assert not folder.exists()


async def test_snapshots_and_restores_at_once_take_turns(workspace: Workspace, folder: Path) -> None:
    make(folder, {str(number): b"1" for number in range(50)})
    before, snapshot = held(folder), await workspace.snapshot()
    make(folder, {str(number): b"2" for number in range(50)})
    await asyncio.gather(
        *(act(snapshot) for act in [workspace.restore, workspace.changes] * 4), workspace.snapshot()
    )
    assert held(folder) == before


def test_a_folder_has_one_workspace_however_it_is_named(
    workspaces: Workspaces, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(folder)
    assert workspaces.of(folder) is workspaces.of(tmp_path / "alias" / ".." / "alias")


async def test_the_home_inside_a_workspace_is_neither_shown_nor_kept_nor_touched(folder: Path) -> None:
    workspace = Workspaces(folder / "state").of(folder)
    make(folder, {"a": b"", "state/belayer.db": b"1"})
    snapshot = await workspace.snapshot()
    make(folder, {"state/belayer.db": b"2", "state/more": b""})
    done = await workspace.restore(snapshot)
    assert (done.written, done.deleted, done.skipped) == (0, 0, ())
    assert [entry.path for entry in workspace.root.entries().entries] == ["a"]
    assert workspace.snapshots.content(snapshot, "state/belayer.db") is None


async def test_a_session_can_have_a_folder_of_its_own(workspaces: Workspaces) -> None:
    folder = workspaces.private("0198-ab")
    assert folder == workspaces.private("0198-ab")
    workspace = workspaces.of(folder)
    workspace.root.write("a", b"1")
    snapshot = await workspace.snapshot()
    assert workspace.snapshots.content(snapshot, "a") == b"1"


async def test_a_folder_of_its_own_goes_with_its_snapshots_and_nothing_else(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    folder = workspaces.private("one")
    make(folder, {".git/HEAD": b"", "a/b": b""})
    make(tmp_path / "precious", {"a": b"1"})
    (folder / "link").symlink_to(tmp_path / "precious")
    await workspaces.of(folder).snapshot()
    workspaces.forget(folder)
    workspaces.forget(folder)
    assert not folder.exists()
    assert list((tmp_path / "home" / "snapshots").iterdir()) == []
    assert (tmp_path / "precious" / "a").exists()


@pytest.mark.parametrize("name", ["..", "../x", "a/b", ".", "", "a\0", "/etc"])
def test_a_name_that_is_no_sessions_id_has_no_folder(workspaces: Workspaces, name: str) -> None:
    with pytest.raises(OutsideWorkspace):
        workspaces.private(name)


async def test_a_folder_that_is_not_ours_stays_when_what_was_kept_of_it_goes(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    make(tmp_path / "theirs", {"a": b"1"})
    await workspaces.of(tmp_path / "theirs").snapshot()
    workspaces.forget(tmp_path / "theirs")
    assert (tmp_path / "theirs" / "a").exists()
    assert list((tmp_path / "home" / "snapshots").iterdir()) == []


@pytest.mark.parametrize(
    "inside", ["home", "home/snapshots", "home/workspaces", "home/workspaces/one/deeper"]
)
def test_belayers_own_folders_are_no_workspaces(workspaces: Workspaces, tmp_path: Path, inside: str) -> None:
    (tmp_path / inside).mkdir(parents=True)
    with pytest.raises(ProtectedPath):
        workspaces.of(tmp_path / inside)


def test_the_whole_machine_is_no_workspace(workspaces: Workspaces) -> None:
    with pytest.raises(ProtectedPath):
        workspaces.given("/")


def test_a_folder_that_a_person_named_is_made_absolute(
    workspaces: Workspaces, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert workspaces.given("w") == folder


@pytest.mark.parametrize("name", ["none", "w/file", "a\0b"])
def test_a_folder_that_is_none_is_said_to_be(
    workspaces: Workspaces, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make(folder, {"file": b""})
    monkeypatch.chdir(folder.parent)
    with pytest.raises(WorkspaceMissing):
        workspaces.given(name)


async def test_a_digest_changes_with_what_is_at_the_path(workspace: Workspace, folder: Path) -> None:
    make(folder, {"file": b"1", "folder/x": b"1"})
    (folder / "link").symlink_to("file")
    paths = ["file", "folder", "link", "none"]
    before = await workspace.digests(paths)
    assert before == await workspace.digests(paths)
    make(folder, {"file": b"2", "folder/y": b"", "none": b""})
    after = await workspace.digests(paths)
    assert {path for path in paths if before[path] != after[path]} == {"file", "folder", "none"}


async def test_what_will_be_overwritten_can_be_kept(workspace: Workspace, folder: Path) -> None:
    make(folder, {"a": b"1"})
    (folder / "link").symlink_to("a")
    name = await workspace.keep("a")
    assert name is not None
    assert await workspace.kept(name) == b"1"
    assert [await workspace.keep(path) for path in ("none", "link", ".")] == [None, None, None]


@pytest.mark.parametrize("name", ["ab" * 20, "../../etc/passwd", "", "zz" * 20])
async def test_what_was_never_kept_is_said_to_be_missing(workspace: Workspace, name: str) -> None:
    with pytest.raises(CorruptSnapshot):
        await workspace.kept(name)


async def test_a_restore_is_told_in_numbers_and_by_what_was_skipped(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    make(folder, {f"{number:03}": b"x" for number in range(300)} | {"a": b"1"})
    snapshot = await workspace.snapshot()
    make(folder, {"a": b"2", "b": b"3"})
    for number in range(300):
        (folder / f"{number:03}").unlink()
        (folder / f"{number:03}").symlink_to(tmp_path)
    event = await workspace.restore(snapshot)
    assert (event.tree, event.written, event.deleted, len(event.skipped)) == (snapshot.tree, 1, 1, 201)
    assert (event.skipped[0][:5], event.skipped[-1]) == ("000: ", "… and 100 more")


def test_without_a_home_workspaces_go_with_the_process() -> None:
    workspaces = Workspaces(None)
    folder = workspaces.private("one")
    assert os.access(folder, os.W_OK)
    del workspaces
    gc.collect()
    assert not folder.exists()


def test_a_workspace_is_forgotten_when_nobody_holds_it(workspaces: Workspaces, folder: Path) -> None:
    workspaces.of(folder)
    gc.collect()
    assert len(workspaces._known) == 0
    shutil.rmtree(folder)
