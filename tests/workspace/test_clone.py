"""Repositories are fetched whole or not at all, and nothing of them runs."""

import os
import stat
from ipaddress import ip_address
from pathlib import Path

import pytest

from belayer.vocabulary.addresses import Address, Allowed
from belayer.vocabulary.errors import AddressBlocked, FetchFailed, TooLarge, TransientError, UnfitRepository
from belayer.workspace.clone import CloneLimits, Cloner
from belayer.workspace.repo_url import read_repo_url
from tests.support.git_server import commit, git, git_server, repository

HERE = Cloner(Allowed.of(["127.0.0.0/8"]))


def _quiet(_percent: float, _what: str) -> None:
    pass


async def _fetched(cloner: Cloner, written: str, folder: Path) -> str:
    return await cloner.fetch(read_repo_url(written), folder, _quiet)


async def test_a_folder_of_this_machine_is_fetched_with_its_files(tmp_path: Path) -> None:
    made = repository(tmp_path / "origin", {"a.py": "x = 1\n", "deep/b.py": "y = 2\n"})
    assert await _fetched(HERE, str(tmp_path / "origin"), tmp_path / "ours") == made
    assert (tmp_path / "ours/tree/deep/b.py").read_text() == "y = 2\n"


async def test_a_repository_is_fetched_over_http_and_followed_when_it_moves_on(tmp_path: Path) -> None:
    repository(tmp_path / "origin", {"a.py": "x = 1\n", "gone.py": ""})
    with git_server(tmp_path) as server:
        first = await _fetched(HERE, server.url("origin/.git"), tmp_path / "ours")
        (tmp_path / "origin/gone.py").unlink()
        second = commit(tmp_path / "origin", {"a.py": "x = 2\n"})
        assert await HERE.newest(read_repo_url(server.url("origin/.git")), tmp_path / "ours") == second
        assert await _fetched(HERE, server.url("origin/.git"), tmp_path / "ours") == second != first
    assert (tmp_path / "ours/tree/a.py").read_text() == "x = 2\n"
    assert not (tmp_path / "ours/tree/gone.py").exists()


async def test_progress_is_told(tmp_path: Path) -> None:
    repository(tmp_path / "origin", {f"f{n}.py": str(n) for n in range(50)})
    told: list[tuple[float, str]] = []
    await HERE.fetch(
        read_repo_url(str(tmp_path / "origin")), tmp_path / "ours", lambda *one: told.append(one)
    )
    assert any(percent == 100 for percent, _ in told)


async def test_an_address_inside_the_house_is_not_dialled_unless_it_is_allowed(tmp_path: Path) -> None:
    repository(tmp_path / "origin", {"a.py": ""})
    with git_server(tmp_path) as server:
        with pytest.raises(AddressBlocked):
            await _fetched(Cloner(), server.url("origin/.git"), tmp_path / "ours")
        assert server.paths == []


async def test_a_name_that_leads_inside_the_house_is_not_dialled(tmp_path: Path) -> None:
    async def inside(_host: str, _port: int) -> list[Address]:
        return [ip_address("169.254.169.254")]

    with pytest.raises(AddressBlocked):
        await _fetched(Cloner(resolve=inside), "https://innocent.example/x", tmp_path / "ours")


async def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    repository(tmp_path / "origin", {"a.py": ""})
    with git_server(tmp_path) as inner, git_server(tmp_path) as outer:
        outer.redirect_to = inner.url("origin/.git/info/refs?service=git-upload-pack")
        with pytest.raises(FetchFailed):
            await _fetched(HERE, outer.url("origin/.git"), tmp_path / "ours")
        assert inner.paths == []


async def test_http_is_refused_for_a_host_of_the_internet(tmp_path: Path) -> None:
    async def outside(_host: str, _port: int) -> list[Address]:
        return [ip_address("93.184.215.14")]

    with pytest.raises(UnfitRepository, match="unprotected"):
        await _fetched(Cloner(resolve=outside), "http://example.org/x", tmp_path / "ours")


async def test_a_host_that_nobody_knows_is_worth_another_try(tmp_path: Path) -> None:
    async def nowhere(_host: str, _port: int) -> list[Address]:
        raise OSError("unknown")

    with pytest.raises(TransientError):
        await _fetched(Cloner(resolve=nowhere), "https://nowhere.example/x", tmp_path / "ours")


async def test_what_is_no_repository_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(FetchFailed):
        await _fetched(HERE, str(tmp_path / "plain"), tmp_path / "ours")
    assert not (tmp_path / "ours/tree").exists()
    with pytest.raises(FetchFailed, match="no folder"):
        await _fetched(HERE, str(tmp_path / "missing"), tmp_path / "ours")


async def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    (tmp_path / "origin").mkdir()
    git(tmp_path / "origin", "init", "--quiet")
    with pytest.raises(FetchFailed, match="no commit"):
        await HERE.newest(read_repo_url(str(tmp_path / "origin")), tmp_path / "ours")


@pytest.mark.parametrize(
    "limits",
    [
        CloneLimits(fetched_bytes=10_000),
        CloneLimits(tree_bytes=10_000),
        CloneLimits(files=2),
    ],
)
async def test_a_repository_beyond_a_limit_is_refused_and_removed(
    tmp_path: Path, limits: CloneLimits
) -> None:
    repository(tmp_path / "origin", {"a.bin": os.urandom(50_000).hex(), "b": "", "c": ""})
    cloner = Cloner(HERE.allowed, limits=limits)
    with pytest.raises(TooLarge):
        await _fetched(cloner, str(tmp_path / "origin"), tmp_path / "ours")
    assert not (tmp_path / "ours/git").exists()
    assert not (tmp_path / "ours/tree").exists()


async def test_a_token_goes_to_its_host_only_and_never_into_the_arguments(tmp_path: Path) -> None:
    cloner = Cloner(HERE.allowed, tokens={"github.com": "s3cret-token", "127.0.0.1": "other-token"})
    repository(tmp_path / "origin", {"a.py": ""})
    with git_server(tmp_path) as server:
        await _fetched(cloner, server.url("origin/.git"), tmp_path / "ours")
        assert set(server.authorizations) == {""}  # not over http
    assert "s3cret-token" not in (tmp_path / "ours/settings").read_text()


async def test_nothing_that_a_hostile_repository_names_is_run(tmp_path: Path) -> None:
    origin, proof = tmp_path / "origin", tmp_path / "proof"
    run = f"touch {proof}"
    repository(
        origin,
        {
            "a.txt": "text\n",
            ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::{run}\n\tupdate = !{run}\n',
            ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:1/\n",
        },
    )
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-update", "pre-receive"):
        place = origin / ".git/hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{run}\n")
        place.chmod(place.stat().st_mode | stat.S_IXUSR)
    with (origin / ".git/config").open("a") as config:
        config.write(
            f'[filter "evil"]\n\tsmudge = {run}\n\tclean = {run}\n\tprocess = {run}\n[core]\n\tfsmonitor = {run}\n'
            f"\tsshCommand = {run}\n\tpager = {run}\n\talternateRefsCommand = {run}\n[uploadpack]\n"
            f"\tpackObjectsHook = {run}\n[diff]\n\texternal = {run}\n[gpg]\n\tprogram = {run}\n"
        )
    await _fetched(HERE, str(origin), tmp_path / "ours")
    assert not proof.exists()
    assert (tmp_path / "ours/tree/a.txt").read_text() == "text\n"


async def test_a_link_in_the_repository_becomes_a_plain_file(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    repository(origin, {"a.py": ""})
    (origin / "link").symlink_to("/etc/passwd")
    commit(origin, {})
    await _fetched(HERE, str(origin), tmp_path / "ours")
    assert not (tmp_path / "ours/tree/link").is_symlink()
    assert (tmp_path / "ours/tree/link").read_text() == "/etc/passwd"
