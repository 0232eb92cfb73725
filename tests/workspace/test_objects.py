"""The store of contents and trees, which git can read."""

import threading
import zlib
from pathlib import Path

import pytest

from belayer.vocabulary.errors import CorruptSnapshot, StoreFull
from belayer.workspace.objects import Objects, hash_of
from tests.workspace.trees import git


def place(folder: Path, sha: bytes) -> Path:
    return folder / "objects" / sha.hex()[:2] / sha.hex()[2:]


def test_git_reads_what_was_kept(tmp_path: Path) -> None:
    objects = Objects(tmp_path / "store")
    blob = objects.put("blob", b"content\n")
    tree = objects.put("tree", b"100644 name\0" + blob)
    assert git(tmp_path, f"--git-dir={tmp_path / 'store'}", "cat-file", "-p", blob.hex()) == "content"
    listed = git(tmp_path, f"--git-dir={tmp_path / 'store'}", "ls-tree", tree.hex())
    assert listed == f"100644 blob {blob.hex()}\tname"


def test_what_is_kept_comes_back_in_another_process(tmp_path: Path) -> None:
    sha = Objects(tmp_path).put("blob", b"content")
    assert Objects(tmp_path).get("blob", sha) == b"content"
    assert sha == hash_of("blob", b"content")


@pytest.mark.parametrize(
    "damage", [b"", b"rubbish", zlib.compress(b"blob 7\0kontent"), zlib.compress(b"x" * 100)]
)
def test_a_damaged_object_is_found_and_named(tmp_path: Path, damage: bytes) -> None:
    sha = Objects(tmp_path).put("blob", b"content")
    place(tmp_path, sha).write_bytes(damage)
    with pytest.raises(CorruptSnapshot, match=sha.hex()):
        Objects(tmp_path).get("blob", sha)


def test_an_object_that_was_damaged_is_whole_again_once_it_is_put_again(tmp_path: Path) -> None:
    sha = Objects(tmp_path).put("blob", b"content")
    place(tmp_path, sha).write_bytes(b"")
    Objects(tmp_path).put("blob", b"content")
    assert Objects(tmp_path).get("blob", sha) == b"content"


def test_a_missing_object_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptSnapshot, match="ab" * 20):
        Objects(tmp_path).get("blob", b"\xab" * 20)


def test_a_blob_is_no_tree(tmp_path: Path) -> None:
    objects = Objects(tmp_path)
    sha = objects.put("blob", b"content")
    with pytest.raises(CorruptSnapshot, match="no tree"):
        objects.get("tree", sha)


def test_many_can_write_the_same_at_once(tmp_path: Path) -> None:
    def work() -> None:
        objects = Objects(tmp_path / "store")
        for number in range(50):
            objects.put("blob", str(number).encode())
        objects.sync()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not list((tmp_path / "store").glob("new-*"))
    assert [Objects(tmp_path / "store").get("blob", hash_of("blob", str(n).encode())) for n in range(50)]


def test_nobody_else_may_look_into_the_store(tmp_path: Path) -> None:
    Objects(tmp_path / "store").put("blob", b"secret")
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file is in the way")
    with pytest.raises(StoreFull, match="store"):
        Objects(tmp_path / "store").put("blob", b"content")


def test_the_last_of_the_disk_is_left_for_the_log(small: Path) -> None:
    objects = Objects(small / "store")
    objects.put("blob", b"little")
    with pytest.raises(StoreFull, match="No space left"):
        objects.put("blob", b"x" * 10_000_000)
    assert not list((small / "store").glob("new-*"))
