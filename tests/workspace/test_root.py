"""Files below one folder: reading, writing, moving, listing."""

import hashlib
import os
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    DiskShort,
    LogicError,
    NotAFile,
    PathExists,
    PathMissing,
    ProtectedPath,
    TooLarge,
    WorkspaceMissing,
)
from belayer.workspace.root import Root
from tests.workspace.trees import dug, held, make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@pytest.fixture
def root(folder: Path) -> Root:
    return Root(folder)


def test_what_is_written_is_read(root: Root) -> None:
    root.write("a/b/c.bin", b"\0\xff")
    assert root.read("a/b/c.bin") == b"\0\xff"


def test_a_new_file_can_be_read_by_all_and_an_old_one_keeps_its_rights(root: Root, folder: Path) -> None:
    root.write("new", b"")
    root.write("old", b"")
    (folder / "old").chmod(0o750)
    root.write("old", b"more")
    modes = [stat.S_IMODE((folder / name).stat().st_mode) for name in ("new", "old")]
    assert modes == [0o644, 0o750]


def test_writing_leaves_nothing_beside_the_file(root: Root, folder: Path) -> None:
    root.write("a", b"1")
    root.write("a", b"2")
    assert held(folder) == {"a": ("file", False, b"2")}


def test_a_file_that_may_not_be_replaced_stays(root: Root) -> None:
    root.write("a", b"1", replace=False)
    with pytest.raises(PathExists):
        root.write("a", b"2", replace=False)
    assert root.read("a") == b"1"


def test_of_many_who_write_a_new_file_at_once_one_wins(root: Root, folder: Path) -> None:
    def attempt(number: int) -> bool:
        try:
            root.write("a", str(number).encode(), replace=False)
        except PathExists:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, range(40)))
    assert won.count(True) == 1
    assert root.read("a") == str(won.index(True)).encode()
    assert len(held(folder)) == 1


def test_a_file_that_is_too_large_is_not_read(root: Root) -> None:
    root.write("a", b"12345")
    assert root.read("a", 5) == b"12345"
    with pytest.raises(TooLarge, match="4 bytes"):
        root.read("a", 4)


@pytest.mark.parametrize("path", ["none", "none/deeper", "file/deeper"])
def test_what_is_missing_is_said_to_be(root: Root, path: str) -> None:
    root.write("file", b"")
    with pytest.raises(PathMissing):
        root.read(path)
    assert root.look(path) is None
    assert root.digest(path) is None


def test_a_folder_is_not_read_or_overwritten(root: Root) -> None:
    root.make_folder("a/b")
    root.make_folder("a/b")
    for act in (
        lambda: root.read("a"),
        lambda: root.read("."),
        lambda: root.write("a", b""),
        lambda: root.delete("a"),
    ):
        with pytest.raises(NotAFile):
            act()


def test_a_folder_cannot_be_made_where_a_file_is(root: Root) -> None:
    root.write("a", b"")
    for path in ("a", "a/b"):
        with pytest.raises(PathMissing, match="leads through a file"):
            root.make_folder(path)


def test_a_digest_is_of_the_content(root: Root) -> None:
    root.write("a", b"x" * 3_000_000)
    assert root.digest("a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_a_look_says_what_is_there(root: Root, folder: Path) -> None:
    root.write("file", b"123")
    (folder / "link").symlink_to("file")
    os.mkfifo(folder / "pipe")
    looks = [root.look(path) for path in ("file", ".", "link", "pipe")]
    assert [(look.path, look.kind, look.size) for look in looks if look] == [
        ("file", "file", 3), (".", "folder", 0), ("link", "link", 0), ("pipe", "other", 0),
    ]  # fmt: skip


def test_a_deleted_file_is_gone(root: Root) -> None:
    root.write("a", b"")
    root.delete("a")
    with pytest.raises(PathMissing):
        root.delete("a")


def test_a_folder_is_deleted_with_all_it_holds_but_not_where_its_links_lead(root: Root, folder: Path) -> None:
    make(folder, {"a/b/c": b"", "a/d": b"", "stays": b"1"})
    (folder / "a" / "b" / "link").symlink_to(folder)
    root.delete("a", folder=True)
    assert held(folder) == {"stays": ("file", False, b"1")}


def test_a_folder_with_a_repository_in_it_is_not_deleted(root: Root, folder: Path) -> None:
    make(folder, {"a/first": b"", "a/lib/.git/HEAD": b""})
    with pytest.raises(ProtectedPath, match=r"a/lib/\.git"):
        root.delete("a", folder=True)
    assert set(held(folder)) == {"a/first", "a/lib/.git/HEAD"}


def test_a_file_and_a_folder_can_be_moved(root: Root, folder: Path) -> None:
    make(folder, {"a/b": b"1", "c": b"2"})
    root.move("a", "new/place")
    root.move("c", "new/place/c")
    assert set(held(folder)) == {"new/place/b", "new/place/c"}


def test_a_move_replaces_only_when_asked(root: Root) -> None:
    root.write("a", b"1")
    root.write("b", b"2")
    with pytest.raises(PathExists):
        root.move("a", "b")
    root.move("a", "b", replace=True)
    assert (root.read("b"), root.look("a")) == (b"1", None)


def test_a_move_of_nothing_makes_no_folder(root: Root) -> None:
    with pytest.raises(PathMissing):
        root.move("none", "new/place")
    assert root.look("new") is None


def test_nothing_is_moved_into_itself(root: Root) -> None:
    root.make_folder("a")
    for target in ("a", "a/b"):
        with pytest.raises(LogicError, match="into itself"):
            root.move("a", target)


def test_a_name_can_change_its_case(root: Root, folder: Path) -> None:
    root.write("readme", b"1")
    root.move("readme", "README")
    assert set(held(folder)) == {"README"}


@pytest.mark.parametrize(
    ("there", "new"), [("README", "readme"), ("m\u00e9", "me\u0301"), ("Src/a", "src/b")]
)
def test_a_twin_is_refused_with_both_names_spelled_out(
    root: Root, folder: Path, there: str, new: str
) -> None:
    make(folder, {there: b""})
    with pytest.raises(LogicError, match="one name") as refusal:
        root.write(new, b"")
    assert refusal.value.detail.isascii()
    assert set(held(folder)) == {there}


def test_a_file_beside_its_twin_can_still_be_written(root: Root, folder: Path) -> None:
    make(folder, {"README": b"", "readme": b""})
    root.write("readme", b"new")
    assert root.read("readme") == b"new"


def test_a_listing_goes_as_deep_as_asked_and_is_sorted(root: Root, folder: Path) -> None:
    make(folder, {"b/c/d": b"12", "a": b"1", "b/a": b""})
    assert [entry.path for entry in root.entries().entries] == ["a", "b"]
    assert [entry.path for entry in root.entries("b", 5).entries] == ["b/a", "b/c", "b/c/d"]


def test_a_listing_that_stops_early_says_so_and_is_the_same_each_time(root: Root, folder: Path) -> None:
    make(folder, {f"{number:03}/x": b"" for number in range(30)})
    listings = [root.entries(depth=2, most=10) for _ in range(3)]
    assert all(listing == listings[0] for listing in listings)
    assert listings[0].truncated
    assert [entry.path for entry in listings[0].entries] == [f"{number:03}" for number in range(10)]
    assert not root.entries(depth=2, most=60).truncated


def test_a_listing_survives_files_that_come_and_go(root: Root, folder: Path) -> None:
    def churn() -> None:
        for _ in range(150):
            make(folder, {"come/and/go": b"", "x": b""})
            (folder / "x").unlink()
            (folder / "come" / "and" / "go").unlink()
            (folder / "come" / "and").rmdir()

    with ThreadPoolExecutor(1) as pool:
        churning = pool.submit(churn)
        while not churning.done():
            root.entries(depth=9)
        churning.result()


def test_names_that_are_not_utf_8_are_listed_visibly(root: Root, folder: Path) -> None:
    (folder / os.fsdecode(b"m\xe9")).write_bytes(b"1")
    assert [entry.path for entry in root.entries().entries] == ["m\\xe9"]
    assert root.read("m\udce9") == b"1"


def test_belayers_own_folder_is_not_there_for_anybody(folder: Path) -> None:
    make(folder, {"state/belayer.db": b"secret", "mine": b""})
    root = Root(folder, [folder / "state"])
    assert [entry.path for entry in root.entries(depth=9).entries] == ["mine"]
    for act in (
        lambda: root.read("state/belayer.db"), lambda: root.look("state"), lambda: root.digest("state/x"),
        lambda: root.entries("state"), lambda: root.write("state/new", b""), lambda: root.delete("state", folder=True),
        lambda: root.move("state", "other"), lambda: root.move("mine", "state/mine"),
    ):  # fmt: skip
        with pytest.raises(ProtectedPath):
            act()


def test_a_folder_that_holds_belayers_own_is_neither_moved_nor_deleted(folder: Path) -> None:
    make(folder, {"up/state/belayer.db": b""})
    root = Root(folder, [folder / "up" / "state"])
    for act in (lambda: root.move("up", "down"), lambda: root.delete("up", folder=True)):
        with pytest.raises(ProtectedPath):
            act()


def test_a_workspace_that_is_gone_is_said_to_be(root: Root, folder: Path) -> None:
    folder.rmdir()
    with pytest.raises(WorkspaceMissing):
        root.read("a")


def test_a_workspace_that_became_a_link_is_not_entered(root: Root, folder: Path, tmp_path: Path) -> None:
    make(tmp_path / "elsewhere", {"a": b"secret"})
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceMissing):
        root.read("a")


def test_the_workspace_itself_is_not_deleted(root: Root) -> None:
    with pytest.raises(LogicError):
        root.delete(".", folder=True)


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\u202eb", "\x1b[2J", "m\udce9", " "])
def test_odd_names_are_kept_on_disk_and_escaped_in_sentences(root: Root, name: str) -> None:
    root.write(name, b"1")
    assert root.read(name) == b"1"
    with pytest.raises(PathExists) as refusal:
        root.write(name, b"", replace=False)
    assert refusal.value.detail.isprintable()


def test_a_name_too_long_for_the_disk_is_said_to_be(root: Root) -> None:
    with pytest.raises(LogicError, match="too long"):
        root.write("x" * 300, b"")


def test_a_deep_tree_is_listed_and_deleted_with_few_descriptors(root: Root, folder: Path) -> None:
    with dug(folder, "d" * 200, 60):  # 12,000 bytes of path, more than the kernel takes at once
        assert len(root.entries(depth=100).entries) == 60
        root.delete("d" * 200, folder=True)
        assert root.entries().entries == []


def test_a_listing_ends_at_a_hundred_levels_and_says_so(root: Root, folder: Path) -> None:
    with dug(folder, "d", 120):
        listing = root.entries(depth=1000)
    assert (len(listing.entries), listing.truncated) == (100, True)


def test_a_folder_too_deep_to_look_through_is_not_deleted(root: Root, folder: Path) -> None:
    with dug(folder, "d", 1100), pytest.raises(TooLarge, match="1000 folders deep"):
        root.delete("d", folder=True)


def test_nothing_is_written_that_would_use_up_the_reserve(small: Path) -> None:
    root = Root(small)
    root.write("a", b"x" * 1_000_000)
    with pytest.raises(DiskShort, match="64 MB"):
        root.write("a", b"y" * 20_000_000)
    assert root.read("a") == b"x" * 1_000_000
    assert set(held(small)) == {"a"}


def test_a_disk_that_cannot_be_written_is_said_to_be(small: Path) -> None:
    root = Root(small)
    root.write("a", b"1")
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    with pytest.raises(AccessDenied, match="cannot be written"):
        root.write("a", b"2")
    assert root.read("a") == b"1"


def test_a_write_that_is_cut_off_by_a_limit_leaves_the_old_file(root: Root, folder: Path) -> None:
    root.write("a", b"old")
    program = """
        import resource, sys
        from belayer.vocabulary.errors import TooLarge
        from belayer.workspace.root import Root
        from pathlib import Path
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
        try:
            Root(Path(sys.argv[1])).write("a", b"x" * 5_000_000)
        except TooLarge:
            print("refused")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(folder)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "refused\n"
    assert held(folder) == {"a": ("file", False, b"old")}


@pytest.mark.parametrize(
    "call", ["write:error=ENOSPC:when=1", "fsync:error=EIO:when=1", "fchmod:error=EIO:when=1"]
)
@pytest.mark.parametrize("replace", [True, False])
def test_a_disk_that_fails_in_mid_write_leaves_the_old_file(
    root: Root, folder: Path, call: str, replace: bool
) -> None:
    root.write("a", b"old")
    program = """
        import sys
        from belayer.vocabulary.errors import ResourceShort
        from belayer.workspace.root import Root
        from pathlib import Path
        try:
            Root(Path(sys.argv[1])).write(sys.argv[2], b"new", replace=sys.argv[2] == "a")
        except ResourceShort as error:
            sys.exit(7)
    """
    strace = ["strace", "-f", "-o", "/dev/null", "-e", f"inject={call}"]
    command = [*strace, sys.executable, "-c", textwrap.dedent(program), str(folder), "a" if replace else "b"]
    try:
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("strace is not installed")
    if "ptrace" in ended.stderr:
        pytest.skip("this machine lets nobody trace")
    assert ended.returncode == 7, ended.stderr
    assert held(folder) == {"a": ("file", False, b"old")}


def test_every_refusal_says_what_to_do(root: Root) -> None:
    for path in ("../x", ".git/x", "none", "a\0"):
        with pytest.raises(BelayerError) as refusal:
            root.delete(path)
        assert refusal.value.hint
