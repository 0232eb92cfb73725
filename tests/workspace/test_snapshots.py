"""States of the files to go back to."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.vocabulary.errors import CorruptSnapshot
from belayer.vocabulary.events.event import Snapshot
from belayer.workspace import scan
from belayer.workspace.objects import hash_of
from belayer.workspace.root import Root
from belayer.workspace.snapshots import Snapshots
from tests.workspace.trees import age, dug, git, git_tree, held, make

# Many small trees in a row: a disk that really syncs each of them would take its time.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class Place:
    """A workspace and its snapshots."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder / "w", folder / "store"
        self.folder.mkdir()
        self.root = Root(self.folder)
        self.snapshots = Snapshots(self.store)

    def take(self) -> Snapshot:
        return self.snapshots.take(self.root)

    def restore(self, snapshot: Snapshot) -> dict[str, str]:
        """What was done; and what was foretold is what was done."""
        foretold = self.snapshots.changes(self.root, snapshot)
        done = self.snapshots.restore(self.root, snapshot)
        assert done == foretold
        return {change.path: change.kind for change in done}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_tree_is_the_one_that_git_makes(place: Place, tmp_path: Path) -> None:
    make(
        place.folder,
        {"a": b"1", "a.b/c": b"\r\n", "a0": b"", "ab/c/d": b"\0", ".gitignore": b"*\n", "é": b"x"},
    )
    (place.folder / "run").write_text("#!/bin/sh\n")
    (place.folder / "run").chmod(0o755)
    (place.folder / "link").symlink_to("/etc/passwd")
    (place.folder / "empty").mkdir()
    snapshot = place.take()
    assert snapshot == Snapshot(tree=git_tree(place.folder, tmp_path / "git"))
    git(tmp_path, f"--git-dir={place.store}", "fsck", "--strict")


def test_an_empty_folder_is_gits_empty_tree(place: Place) -> None:
    assert place.take().tree == EMPTY_TREE


def test_ignored_files_are_kept_and_heavy_folders_and_repositories_are_not(place: Place) -> None:
    make(
        place.folder,
        {".gitignore": b"secret", "secret": b"", "target/x": b"", "node_modules/x": b"", "venv": b""},
    )
    make(
        place.folder,
        {".git/HEAD": b"", "lib/.git": b"gitdir: x", ".venv/x": b"", "__pycache__/x": b"", ".claude/x": b""},
    )
    snapshot = place.take()
    kept = git(place.folder, f"--git-dir={place.store}", "ls-tree", "-r", "--name-only", snapshot.tree)
    assert kept.split() == [".claude/x", ".gitignore", "secret", "target/x", "venv"]
    assert not snapshot.truncated


def test_a_restore_brings_back_what_was_changed_deleted_and_made(place: Place) -> None:
    make(place.folder, {"changed": b"1", "gone/deep": b"2", "same": b"3", "run": b"4"})
    (place.folder / "run").chmod(0o755)
    (place.folder / "link").symlink_to("same")
    before, snapshot = held(place.folder), place.take()
    make(place.folder, {"changed": b"one", "new/deep/file": b""})
    shutil.rmtree(place.folder / "gone")
    (place.folder / "run").chmod(0o644)
    (place.folder / "link").unlink()
    assert place.restore(snapshot) == {
        "changed": "write", "gone/deep": "write", "link": "write", "new/deep/file": "delete", "run": "write",
    }  # fmt: skip
    assert held(place.folder) == before
    assert not (place.folder / "new").exists()
    assert place.restore(snapshot) == {}


def test_a_file_and_a_folder_can_change_places(place: Place) -> None:
    make(place.folder, {"a": b"1", "b/c": b"2"})
    before, snapshot = held(place.folder), place.take()
    (place.folder / "a").unlink()
    shutil.rmtree(place.folder / "b")
    make(place.folder, {"a/x/y": b"", "b": b""})
    (place.folder / "a" / "hollow" / "deep").mkdir(parents=True)
    place.restore(snapshot)
    assert held(place.folder) == before


def test_a_file_keeps_its_rights_but_for_running(place: Place) -> None:
    make(place.folder, {"a": b"1"})
    (place.folder / "a").chmod(0o750)
    snapshot = place.take()
    make(place.folder, {"a": b"2"})
    (place.folder / "a").chmod(0o640)
    place.restore(snapshot)
    assert (place.folder / "a").stat().st_mode & 0o777 == 0o750


def test_what_a_snapshot_never_looked_at_stays(place: Place) -> None:
    make(place.folder, {"a": b""})
    snapshot = place.take()
    make(place.folder, {"node_modules/x": b"", ".git/HEAD": b"", "lib/.venv/x": b"", ".belayer/db": b""})
    os.mkfifo(place.folder / "pipe")
    before = held(place.folder)
    assert place.restore(snapshot) == {}
    assert held(place.folder) == before


def test_a_file_too_large_to_be_kept_is_never_touched(place: Place) -> None:
    make(place.folder, {"a": b"1"})
    _make_large(place.folder / "large")
    snapshot = place.take()
    assert snapshot.truncated
    assert place.restore(snapshot) == {}
    make(place.folder, {"large": b"another"})
    assert place.restore(snapshot) == {"large": "skip"}
    assert (place.folder / "large").read_bytes() == b"another"


def test_a_new_file_too_large_to_be_kept_is_not_deleted(place: Place) -> None:
    snapshot = place.take()
    _make_large(place.folder / "large")
    assert place.restore(snapshot) == {"large": "skip"}
    assert (place.folder / "large").exists()


def test_past_the_limit_of_files_nothing_is_kept_and_nothing_deleted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "MOST_ENTRIES", 20)
    make(place.folder, {f"{number:02}": b"1" for number in range(30)} | {"folder/x": b"1"})
    snapshot = place.take()
    assert snapshot.truncated
    make(place.folder, {f"{number:02}": b"2" for number in range(30)})
    done = place.restore(snapshot)
    assert done == {f"{number:02}": "write" for number in range(20)}
    assert (place.folder / "29").read_bytes() == b"2"
    assert (place.folder / "folder" / "x").exists()


def test_a_thousand_levels_down_the_snapshot_ends(place: Place) -> None:
    with dug(place.folder, "d", 1050) as bottom:
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=bottom))
        snapshot = place.take()
        assert snapshot.truncated
        assert place.restore(snapshot) == {}


def test_a_folder_that_may_not_be_read_is_left_out_and_left_alone() -> None:
    program = """
        import os, sys
        from pathlib import Path
        from belayer.workspace.root import Root
        from belayer.workspace.snapshots import Snapshots
        os.setgid(65534)
        os.setuid(65534)
        snapshots, root = Snapshots(Path(sys.argv[1], "store")), Root(Path(sys.argv[1], "w"))
        snapshot = snapshots.take(root)
        print(snapshot.truncated, snapshots.restore(root, snapshot))
    """
    if os.geteuid() != 0:
        pytest.skip("only root can become a user who may not read")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        make(Path(folder), {"w/a": b"1", "w/closed/x": b"2"})
        Path(folder, "w", "closed").chmod(0o700)
        command = [sys.executable, "-c", textwrap.dedent(program), folder]
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.stdout == "True []\n", ended.stderr


def test_the_content_of_a_file_can_be_had_from_a_snapshot(place: Place) -> None:
    make(place.folder, {"a/b": b"1"})
    (place.folder / "link").symlink_to("a/b")
    snapshot = place.take()
    make(place.folder, {"a/b": b"2"})
    wanted = ("a/b", "link", "a", "none", "a/b/c")
    assert [place.snapshots.content(snapshot, path) for path in wanted] == [b"1", b"a/b", None, None, None]


def test_an_unchanged_file_is_not_read_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    make(place.folder, {"a": b"1", "b": b"2"})
    monkeypatch.setattr(scan.time, "time_ns", lambda: 2**62)  # long after the files were made
    first = place.take()
    monkeypatch.setattr(scan, "content_of", lambda *_: pytest.fail("was read again"))
    assert place.take() == first
    assert Snapshots(place.store).take(place.root) == first


def test_a_file_changed_within_the_disks_tick_is_seen(place: Place) -> None:
    (place.folder / "a").write_bytes(b"1")
    first = place.take()
    stamp = (place.folder / "a").stat()
    (place.folder / "a").write_bytes(b"2")
    os.utime(place.folder / "a", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert place.take() != first


def test_a_file_swapped_for_one_of_the_same_size_and_age_is_seen(place: Place) -> None:
    make(place.folder, {"a": b"1", "b": b"2"})
    age(place.folder)
    first = place.take()
    (place.folder / "b").replace(place.folder / "a")
    assert place.restore(first) == {"a": "write", "b": "write"}
    assert (place.folder / "a").read_bytes() == b"1"


@pytest.mark.parametrize("content", [b"", b"rubbish"])
def test_a_lost_index_costs_nothing_but_time(place: Place, content: bytes) -> None:
    make(place.folder, {"a": b"1"})
    first = place.take()
    (place.store / "belayer-index").write_bytes(content)
    assert Snapshots(place.store).take(place.root) == first


def test_a_damaged_content_is_found_before_anything_is_changed(place: Place) -> None:
    make(place.folder, {"a": b"1", "b": b"2"})
    snapshot = place.take()
    make(place.folder, {"a": b"x", "b": b"y", "new": b""})
    before = held(place.folder)
    name = hash_of("blob", b"2").hex()
    lost = place.store / "objects" / name[:2] / name[2:]
    lost.unlink()
    with pytest.raises(CorruptSnapshot, match=name):
        place.snapshots.restore(place.root, snapshot)
    assert held(place.folder) == before


def test_a_lost_tree_is_named(place: Place) -> None:
    with pytest.raises(CorruptSnapshot, match="ab" * 20):
        place.snapshots.changes(place.root, Snapshot(tree="ab" * 20))


@pytest.mark.parametrize("name", [b"..", b".", b".git", b".GIT", b"", b"a/b", b".belayer"])
def test_a_tree_written_by_other_hands_is_refused(place: Place, name: bytes) -> None:
    objects = place.snapshots._objects
    tree = objects.put("tree", b"100644 " + name + b"\0" + objects.put("blob", b"evil"))
    with pytest.raises(CorruptSnapshot, match="no tree of ours"):
        place.snapshots.restore(place.root, Snapshot(tree=tree.hex()))


def test_a_restore_that_was_cut_off_can_be_done_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    make(place.folder, {str(number): b"1" for number in range(9)})
    before, snapshot = held(place.folder), place.take()
    make(place.folder, {str(number): b"2" for number in range(5)} | {"new/x": b""})
    objects, read = place.snapshots._objects, place.snapshots._objects.get
    calls = iter(range(100))

    def stop(kind: str, sha: bytes) -> bytes:
        if next(calls) == 9:
            raise KeyboardInterrupt
        return read("blob" if kind == "blob" else "tree", sha)

    monkeypatch.setattr(objects, "get", stop)
    with pytest.raises(KeyboardInterrupt):
        place.snapshots.restore(place.root, snapshot)
    monkeypatch.undo()
    assert held(place.folder) != before
    place.restore(snapshot)
    assert held(place.folder) == before


def test_two_processes_can_share_a_store(place: Place) -> None:
    make(place.folder, {f"{number % 7}/{number}": str(number).encode() for number in range(200)})
    program = """
        import sys
        from pathlib import Path
        from belayer.workspace.root import Root
        from belayer.workspace.snapshots import Snapshots
        for _ in range(5):
            print(Snapshots(Path(sys.argv[2])).take(Root(Path(sys.argv[1]))).tree)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(place.folder), str(place.store)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {line for process in processes for line in process.communicate()[0].split()}
    assert said == {place.take().tree}
    assert place.restore(Snapshot(tree=said.pop())) == {}


names = st.sampled_from(["a", "b", "c", "é", "x y", "\n"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
contents = st.binary(max_size=4)
kinds = st.sampled_from(["file", "program", "link"])
trees = st.dictionaries(paths, st.tuples(kinds, contents), max_size=8)
edits = st.lists(st.tuples(paths, st.sampled_from(["file", "program", "delete"]), contents), max_size=8)


def _put(folder: Path, path: str, kind: str, content: bytes) -> None:
    target = folder / path
    try:
        if kind == "delete":
            shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink(
                missing_ok=True
            )
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            target.symlink_to(content.hex() or "nowhere")
        elif not target.is_symlink():
            target.write_bytes(content)
            target.chmod(0o755 if kind == "program" else 0o644)
    except OSError:
        pass  # a folder where a file should be, or the other way round


@settings(max_examples=150)
@given(trees, edits)
def test_whatever_happens_to_the_files_a_restore_brings_them_back(
    tree: dict[str, tuple[str, bytes]], edited: list[tuple[str, str, bytes]]
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        place = Place(Path(folder))
        for path, (kind, content) in tree.items():
            _put(place.folder, path, kind, content)
        before, snapshot = held(place.folder), place.take()
        for path, kind, content in edited:
            _put(place.folder, path, kind, content)
        place.restore(snapshot)
        assert held(place.folder) == before
        assert place.take() == snapshot
        assert place.restore(snapshot) == {}


@settings(max_examples=40)
@given(trees)
def test_whatever_the_files_are_git_makes_the_same_tree(tree: dict[str, tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        place = Place(Path(folder))
        for path, (kind, content) in tree.items():
            _put(place.folder, path, kind, content)
        assert place.take().tree == git_tree(place.folder, Path(folder) / "git")


def _make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20_000_001)
