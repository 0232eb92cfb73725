"""How often files change, read from repositories that want to run programs."""

import os
import subprocess
from pathlib import Path

import pytest

from belayer.codegraph.churn import Changes, changes, history_of


def git(folder: Path, *arguments: str, at: str = "2026-01-01T00:00:00Z") -> str:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_DATE": at,
    }
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True, env=environment
    ).stdout


def commit(folder: Path, path: str, text: str, at: str) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x\n\n\x01 not a file", at=at)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "old.py", "1", "2020-01-01T00:00:00Z")
    commit(folder, "a.py", "1", "2025-06-01T00:00:00Z")
    commit(folder, "a.py", "2", "2025-07-01T00:00:00Z")
    commit(folder, "sub/b b\n\u00e9.py", "1", "2025-08-01T00:00:00Z")
    return folder


async def counted(folder: Path) -> dict[str, int] | None:
    history = history_of(folder / ".git")
    found = await changes(history) if history is not None else None
    return dict(found.touched) if found is not None else None


WANTED = {"a.py": 2, "sub/b b\n\u00e9.py": 1}


async def test_commits_of_the_year_before_the_last_one_are_counted_by_file(folder: Path) -> None:
    assert await counted(folder) == WANTED


async def test_packed_references_and_a_detached_head_are_read_too(folder: Path) -> None:
    git(folder, "pack-refs", "--all")
    git(folder, "gc", "-q")
    assert await counted(folder) == WANTED
    git(folder, "checkout", "-q", "--detach")
    assert await counted(folder) == WANTED


async def test_a_history_that_was_cut_is_counted_as_far_as_it_goes(folder: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{folder}", "shallow")
    assert await counted(tmp_path / "shallow") == {"a.py": 1, "old.py": 1} | WANTED | {"a.py": 1}


async def test_nothing_of_the_repository_is_run(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    (folder / ".gitattributes").write_text("* diff=evil filter=evil\n")
    commit(folder, "a.py", "3", "2025-08-02T00:00:00Z")
    for key in (
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "diff.external",
        "diff.evil.textconv",
        "gpg.program",
        "core.sshCommand",
    ):
        git(folder, "config", key, str(program))
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "alias.log", f"!{program}")
    git(folder, "config", "include.path", str(program))
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (folder / ".git/hooks" / hook).write_text(program.read_text())
        (folder / ".git/hooks" / hook).chmod(0o755)
    assert (await counted(folder) or {})["a.py"] == 3
    assert not ran.exists()


@pytest.mark.parametrize(
    "head",
    [
        "",
        "ref: ../../../etc/passwd",
        "ref: refs/heads/../../config",
        "--output=/tmp/x",
        "ref: refs/heads/none",
        "0" * 40,
        "x" * 9_000,
    ],
)
async def test_a_head_that_leads_nowhere_means_that_nobody_knows(folder: Path, head: str) -> None:
    (folder / ".git/HEAD").write_text(head)
    assert await counted(folder) is None


async def test_links_and_pipes_in_place_of_gits_files_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / ".git/HEAD").unlink()
    os.mkfifo(folder / ".git/HEAD")
    assert await counted(folder) is None
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.git").symlink_to(folder / ".git")
    assert await counted(tmp_path / "other") is None
    assert await counted(tmp_path / "nowhere") is None


async def test_a_history_that_leads_in_a_circle_of_references_ends(folder: Path) -> None:
    (folder / ".git/HEAD").write_text("ref: refs/heads/a")
    (folder / ".git/refs/heads/a").write_text("ref: refs/heads/a")
    assert await counted(folder) is None


async def test_files_that_changed_in_the_same_commits_are_told_with_how_often(folder: Path) -> None:
    for number in range(3):
        (folder / "test_a.py").write_text(str(number))
        commit(folder, "a.py", f"x{number}", "2025-08-03T00:00:00Z")
    history = history_of(folder / ".git")
    assert history is not None
    told = await changes(history)
    assert told is not None
    shared = told.together({"a.py"})
    assert {path: one.commits for path, one in shared.items()} == {"test_a.py": 3}
    assert told.together({"old.py"}) == {}


def test_a_newer_commit_and_a_smaller_one_say_more_of_what_belongs_together() -> None:
    told = Changes({}, [("a", "new"), ("a", "old"), ("a", "x", "y", "z", "large"), ("b", "other")]).together(
        {"a"}
    )
    assert told["new"].weight > told["old"].weight > told["large"].weight > 0
    assert "other" not in told
    assert "a" not in told


async def test_a_commit_of_very_many_files_says_nothing_of_what_belongs_together(folder: Path) -> None:
    for number in range(60):
        (folder / f"f{number}.py").write_text("1")
    commit(folder, "a.py", "all", "2025-08-03T00:00:00Z")
    history = history_of(folder / ".git")
    assert history is not None
    told = await changes(history)
    assert told is not None
    assert told.together({"a.py"}) == {}
    assert told.touched["f7.py"] == 1
