"""Where the user's repository stands, compared with what git says."""

from pathlib import Path

import pytest

from belayer.workspace.head import head_of
from tests.workspace.trees import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_without_a_repository_there_is_no_head(tmp_path: Path) -> None:
    assert head_of(tmp_path) is None


def test_a_branch_has_a_name_and_a_commit(repository: Path) -> None:
    assert head_of(repository) == f"refs/heads/main@{git(repository, 'rev-parse', 'HEAD')}"


def test_a_branch_is_found_among_the_packed(repository: Path) -> None:
    git(repository, "branch", "other/main")
    git(repository, "pack-refs", "--all")
    assert head_of(repository) == f"refs/heads/main@{git(repository, 'rev-parse', 'HEAD')}"


def test_off_any_branch_there_is_only_a_commit(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert head_of(repository) == git(repository, "rev-parse", "HEAD")


def test_before_the_first_commit_there_is_only_a_branch(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert head_of(tmp_path) == "refs/heads/main"


def test_a_worktree_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    git(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "second")
    assert head_of(tmp_path / "side") == f"refs/heads/side@{git(tmp_path / 'side', 'rev-parse', 'HEAD')}"
    git(repository, "pack-refs", "--all")
    assert head_of(tmp_path / "side") == f"refs/heads/side@{git(tmp_path / 'side', 'rev-parse', 'HEAD')}"


def test_a_submodules_pointer_is_followed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: ../repository/.git\n")
    assert head_of(tmp_path / "sub") == head_of(repository)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"ref: ../../etc/passwd",
        b"ref: refs/../../../etc/passwd",
        b"\xff\xfe",
        b"root:x:0:0",
        b"a" * 20_000,
    ],
)
def test_a_hostile_head_tells_nothing(tmp_path: Path, head: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(head)
    said = head_of(tmp_path)
    assert said is None or said.startswith("refs/")


def test_branches_that_name_each_other_in_a_circle_come_to_an_end(repository: Path) -> None:
    (repository / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")
    assert head_of(repository) == "refs/heads/main"


def test_a_pointer_to_a_file_full_of_secrets_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "HEAD").write_text("a secret\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {tmp_path / 'outside'}")
    assert head_of(tmp_path / "w") is None
