"""Opening without leaving, on kernels with openat2 and without."""

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from belayer.workspace import kernel
from belayer.workspace.kernel import open_beneath, rename_new, walk_beneath

Open = Callable[[int, bytes, int], int]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "in" / "deep" / "file").write_text("inside")
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    (tmp_path / "in" / "here").symlink_to("deep")
    descriptor = os.open(tmp_path / "in", os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


both = pytest.mark.parametrize("opens", [open_beneath, walk_beneath])


def refused(opens: Open, folder: int, path: bytes) -> int | None:
    try:
        os.close(opens(folder, path, os.O_RDONLY))
    except OSError as error:
        return error.errno
    return None


@both
def test_a_file_below_is_opened(opens: Open, folder: int) -> None:
    file = opens(folder, b"deep/./file", os.O_RDONLY)
    assert os.read(file, 100) == b"inside"
    assert not os.get_inheritable(file)
    os.close(file)


@both
@pytest.mark.parametrize(
    ("path", "number"),
    [
        (b"out/secret", errno.ELOOP), (b"out", errno.ELOOP), (b"here/file", errno.ELOOP),
        (b"../secret", errno.EXDEV), (b"/etc/passwd", errno.EXDEV),
        (b"deep/none", errno.ENOENT), (b"deep/file/x", errno.ENOTDIR),
    ],
)  # fmt: skip
def test_what_leads_out_is_refused(opens: Open, folder: int, path: bytes, number: int) -> None:
    assert refused(opens, folder, path) == number


@both
def test_a_refusal_leaves_no_descriptor_behind(opens: Open, folder: int) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (b"out/secret", b"deep/none", b"../x", b"deep/file/x"):
        refused(opens, folder, path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_renaming_never_replaces(folder: int, tmp_path: Path) -> None:
    (tmp_path / "in" / "new").write_text("new")
    with pytest.raises(FileExistsError):
        rename_new(folder, b"new", folder, b"deep")
    rename_new(folder, b"new", folder, b"newer")
    assert (tmp_path / "in" / "newer").read_text() == "new"


def test_renaming_never_replaces_on_a_disk_that_does_not_know_how(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Old:
        """A C library on such a disk."""

        def renameat2(self, *_: object) -> int:
            ctypes.set_errno(errno.EINVAL)
            return -1

    monkeypatch.setattr(kernel, "_c", Old)
    test_renaming_never_replaces(folder, tmp_path)
    assert not (tmp_path / "in" / "new").exists()
