"""The attack list on workspace files (A1 to A14): nothing outside is read or written, nothing hangs."""

import ctypes
import errno
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from belayer.vocabulary.errors import (
    BelayerError,
    LogicError,
    NotAFile,
    OutsideWorkspace,
    PathMissing,
    ProtectedPath,
)
from belayer.workspace.kernel import open_beneath, walk_beneath
from belayer.workspace.root import Root
from belayer.workspace.snapshots import Snapshots
from tests.workspace.trees import held, make

SECRET = b"a secret from outside"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    make(tmp_path / "outside", {"file": SECRET, "deep/file": SECRET})
    return tmp_path / "outside"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@pytest.fixture
def root(folder: Path) -> Root:
    return Root(folder)


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "store")


def acts_on(root: Root, path: str) -> list[Callable[[], object]]:
    return [
        lambda: root.read(path),
        lambda: root.digest(path),
        lambda: root.write(path, b"evil"),
        lambda: root.write(path, b"evil", replace=False),
        lambda: root.delete(path),
        lambda: root.delete(path, folder=True),
        lambda: root.move(path, "stolen"),
        lambda: root.move("mine", path, replace=True),
        lambda: root.make_folder(path),
        lambda: root.entries(path),
        lambda: root.look(path),
    ]


@pytest.mark.parametrize(
    "path", ["../outside/file", "/etc/passwd", "d/..//../x", "..", "d/../../outside/file"]
)
def test_a1_no_path_leads_out(root: Root, folder: Path, outside: Path, path: str) -> None:
    make(folder, {"mine": b"", "d/x": b""})
    before = held(folder.parent)
    for act in acts_on(root, path):
        with pytest.raises(OutsideWorkspace):
            act()
    assert held(folder.parent) == before


@pytest.mark.parametrize("path", ["link/file", "link/deep/file", "inner/link/new"])
def test_a2_no_link_is_followed(root: Root, folder: Path, outside: Path, path: str) -> None:
    make(folder, {"mine": b"", "inner/x": b""})
    (folder / "link").symlink_to(outside)
    (folder / "inner" / "link").symlink_to("../../outside")
    before = held(folder.parent)
    for act in acts_on(root, path):
        with pytest.raises(OutsideWorkspace):
            act()
    assert held(folder.parent) == before


def test_a2_a_link_at_the_end_is_neither_read_nor_written_through(
    root: Root, folder: Path, outside: Path
) -> None:
    (folder / "link").symlink_to(outside / "file")
    for act in (lambda: root.read("link"), lambda: root.digest("link"), lambda: root.write("link", b"evil")):
        with pytest.raises(OutsideWorkspace, match="symbolic link"):
            act()
    root.delete("link")
    assert (outside / "file").read_bytes() == SECRET


@contextmanager
def swapping(folder: Path, outside: Path) -> Generator[None, None, None]:
    """All the time, `swapped` is exchanged for a link that leads outside, and back."""
    make(folder, {"swapped/file": b"inside"})
    (folder / "link").symlink_to(outside)
    names = [os.fsencode(folder / name) for name in ("swapped", "link")]
    done = threading.Event()

    def swap() -> None:
        exchange = ctypes.CDLL(None).renameat2
        while not done.is_set():
            exchange(-100, names[0], -100, names[1], 2)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("opens", [open_beneath, walk_beneath])
def test_a3_a_folder_swapped_for_a_link_never_shows_what_is_outside(
    folder: Path, outside: Path, opens: Callable[[int, bytes, int], int]
) -> None:
    seen: Counter[bytes | int | None] = Counter()
    top = os.open(folder, os.O_RDONLY)
    with swapping(folder, outside):
        while seen.total() < 20_000 or len(seen) < 2:  # both the folder and the link were met
            try:
                file = opens(top, b"swapped/file", os.O_RDONLY)
            except OSError as error:
                seen[error.errno] += 1
                continue
            seen[os.read(file, 100)] += 1
            os.close(file)
    os.close(top)
    assert SECRET not in seen
    assert {b"inside", errno.ELOOP} <= set(seen)


def test_a3_nothing_outside_is_changed_while_a_folder_is_swapped(
    root: Root, folder: Path, outside: Path, snapshots: Snapshots
) -> None:
    make(folder, {"swapped/file": b"inside"})
    snapshot = snapshots.take(root)
    before = held(outside)
    acts: list[Callable[[], object]] = [
        lambda: root.write("swapped/file", b"evil"),
        lambda: root.write("swapped/deep/new", b"evil"),
        lambda: root.move("swapped/file", "swapped/other", replace=True),
        lambda: root.delete("swapped/deep", folder=True),
        lambda: snapshots.restore(root, snapshot),
    ]
    outcomes: Counter[str] = Counter()
    with swapping(folder, outside):
        while outcomes.total() < 500 or not {"done", "OutsideWorkspace"} <= set(outcomes):
            for act in acts:
                try:
                    act()
                    outcomes["done"] += 1
                except BelayerError as error:
                    outcomes[type(error).__name__] += 1
    assert held(outside) == before


def test_a4_magic_links_are_not_followed() -> None:
    root = Root(Path("/proc/self"))
    for path in ("root/etc/passwd", "cwd/x", "fd/0", "exe"):
        with pytest.raises(OutsideWorkspace):
            root.read(path)


def test_a5_a_hard_link_to_a_file_outside_is_not_written(root: Root, folder: Path, outside: Path) -> None:
    (folder / "twin").hardlink_to(outside / "file")
    make(folder, {"mine": b"evil"})
    for act in (lambda: root.write("twin", b"evil"), lambda: root.move("mine", "twin", replace=True)):
        with pytest.raises(OutsideWorkspace, match="second name"):
            act()
    assert (outside / "file").read_bytes() == SECRET


def test_a6_what_is_no_plain_file_is_refused_at_once(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        names = ["pipe", "socket"]
        try:
            os.mknod(folder / "zero", 0o020666, os.makedev(1, 5))
            names.append("zero")
        except PermissionError:
            pass  # only root can make a device
        for name in names:
            for act in (root.read, root.digest, partial(root.write, data=b"")):
                with pytest.raises(NotAFile):
                    act(name)


@pytest.mark.parametrize(
    "name", [".git", ".GIT", ".g\u200cit", "\uff0egit", ".claude", ".CODEX", ".hg", ".svn", ".belayer"]
)
def test_a7_the_state_and_rules_of_other_programs_are_not_written(
    root: Root, folder: Path, name: str
) -> None:
    make(folder, {"mine": b"", f"{name}/config": b"theirs", f"deep/{name}/hooks/x": b"theirs"})
    before = held(folder)
    acts: list[Callable[[str], object]] = [
        partial(root.write, data=b"evil"),
        partial(root.delete, folder=True),
        partial(root.move, target="x"),
        partial(root.move, "mine", replace=True),
        root.make_folder,
    ]
    for path in (name, f"{name}/config", f"{name}/new", f"deep/{name}/hooks/x", f"new/{name}"):
        for act in acts:
            with pytest.raises(ProtectedPath):
                act(path)
    assert held(folder) == before
    assert root.read(f"{name}/config") == b"theirs"


def test_a7_a_pointer_to_another_repository_is_not_written(root: Root, folder: Path) -> None:
    with pytest.raises(ProtectedPath):
        root.write(".git", b"gitdir: /tmp/evil")
    assert held(folder) == {}


def test_a8_a_restore_skips_what_has_become_a_link_or_has_a_second_name(
    root: Root, folder: Path, outside: Path, snapshots: Snapshots
) -> None:
    make(folder, {"file": b"1", "twin": b"1", "pipe": b"1", "deep/a": b"1", "deep/b": b"1", "plain": b"1"})
    snapshot = snapshots.take(root)
    for name in ("file", "twin", "pipe", "deep/a", "deep/b"):
        (folder / name).unlink()
    (folder / "deep").rmdir()
    (folder / "file").symlink_to(outside / "file")
    (folder / "twin").hardlink_to(outside / "file")
    os.mkfifo(folder / "pipe")
    (folder / "deep").symlink_to(outside / "deep")
    make(folder, {"plain": b"2"})
    before = held(outside)
    foretold = snapshots.changes(root, snapshot)
    done = snapshots.restore(root, snapshot)
    kinds = {"deep": "skip", "file": "skip", "pipe": "skip", "plain": "write", "twin": "skip"}
    assert {change.path: change.kind for change in done} == kinds
    assert done == foretold
    assert all(change.why for change in done if change.kind == "skip")
    assert held(outside) == before
    assert (folder / "file").is_symlink()


def test_a8_a_new_link_goes_and_what_it_leads_to_stays(
    root: Root, folder: Path, outside: Path, snapshots: Snapshots
) -> None:
    snapshot = snapshots.take(root)
    (folder / "new").symlink_to(outside)
    (folder / "twin").hardlink_to(outside / "file")
    before = held(outside)
    assert [change.kind for change in snapshots.restore(root, snapshot)] == ["delete", "delete"]
    assert (held(folder), held(outside)) == ({}, before)


def test_a8_what_becomes_a_link_after_the_plan_is_skipped(
    root: Root, folder: Path, outside: Path, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(folder, {"deep/file": b"1"})
    snapshot = snapshots.take(root)
    make(folder, {"deep/file": b"2"})
    check = root.check_space

    def swap(size: int) -> None:
        check(size)
        (folder / "deep").rename(folder / "moved")
        (folder / "deep").symlink_to(outside)

    monkeypatch.setattr(root, "check_space", swap)
    before = held(outside)
    (change,) = snapshots.restore(root, snapshot)
    assert (change.path, change.kind) == ("deep/file", "skip")
    assert held(outside) == before


def test_a10_removing_a_folder_removes_links_and_not_what_they_lead_to(
    root: Root, folder: Path, outside: Path
) -> None:
    make(folder, {"a/b/c": b""})
    (folder / "a" / "b" / "link").symlink_to(outside)
    before = held(outside)
    root.delete("a", folder=True)
    assert (held(folder), held(outside)) == ({}, before)


@pytest.mark.parametrize(
    "name", [b"a\nb", b"a\rb", "a\u202eb".encode(), b"m\xe9", b"\x1b]52;c;x\x07", b"\xff\xfe"]
)
def test_a11_odd_names_are_kept_listed_and_brought_back(
    root: Root, folder: Path, snapshots: Snapshots, name: bytes
) -> None:
    path = folder / os.fsdecode(name)
    path.write_bytes(b"1")
    snapshot = snapshots.take(root)
    path.unlink()
    (change,) = snapshots.restore(root, snapshot)
    (entry,) = root.entries().entries
    assert change.path == entry.path
    entry.path.encode()
    assert path.read_bytes() == b"1"


@pytest.mark.parametrize("path", ["a\0b", "x" * 4097, "\ud800"])
def test_a11_what_is_no_path_is_refused(root: Root, path: str) -> None:
    for act in acts_on(root, path):
        with pytest.raises(OutsideWorkspace):
            act()


def test_a11_twins_are_a_conflict_when_written_and_both_come_back_when_they_were_there(
    root: Root, folder: Path, snapshots: Snapshots
) -> None:
    make(folder, {"README": b"1", "readme": b"2", "m\u00e9": b"3", "me\u0301": b"4"})
    before, snapshot = held(folder), snapshots.take(root)
    with pytest.raises(LogicError, match="one name"):
        root.write("Readme", b"")
    for path in folder.iterdir():
        path.unlink()
    snapshots.restore(root, snapshot)
    assert held(folder) == before


def test_a12_a_huge_file_is_neither_read_nor_kept(root: Root, folder: Path, snapshots: Snapshots) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(10 * 1024**3)
    with pytest.raises(BelayerError, match="larger than"):
        root.read("huge")
    assert snapshots.take(root).truncated


def test_a14_a_digest_tells_whether_anything_was_written(root: Root) -> None:
    root.write("a", b"1")
    before = root.digest("a")
    root.write("a", b"1")
    assert root.digest("a") == before
    root.write("a", b"2")
    assert root.digest("a") != before
    root.delete("a")
    assert root.digest("a") is None
    with pytest.raises(PathMissing):
        root.read("a")
