"""Repositories are fetched whole or not at all, and nothing of them runs."""

import base64
import contextlib
import os
import stat
import threading
from collections.abc import Generator
from ipaddress import ip_address
from pathlib import Path

import pytest

from belayer.vocabulary.addresses import Address, Allowed
from belayer.vocabulary.errors import (
    AccessDenied,
    AddressBlocked,
    FetchFailed,
    LimitReached,
    RepositoryMoved,
    TooLarge,
    TransientError,
    UnfitRepository,
)
from belayer.workspace.clone import CloneLimits, Cloner
from belayer.workspace.repo_url import read_repo_url
from tests.support.git_server import commit, git, git_server, repository
from tests.support.mail_server import certificate_for
from tests.support.ssh_server import SSHD, SshServer, ssh_server

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
        with pytest.raises(RepositoryMoved):
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


async def test_a_name_that_its_host_knows_only_with_git_at_its_end_is_found(tmp_path: Path) -> None:
    made = repository(tmp_path / "origin.git", {"a.py": ""})
    with git_server(tmp_path) as server:
        server.moved["/origin/"] = server.url("origin.git/info/refs?service=git-upload-pack")
        url = read_repo_url(server.url("origin"))
        assert await HERE.newest(url, tmp_path / "ours") == made
        assert await HERE.fetch(url, tmp_path / "ours", _quiet) == made


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of a company's own authority, for `localhost`."""
    return certificate_for(tmp_path, "localhost")


async def test_an_authority_that_this_machine_does_not_know_is_not_trusted(
    tmp_path: Path, certificate: Path
) -> None:
    repository(tmp_path / "origin", {"a.py": ""})
    with git_server(tmp_path, certificate) as server:
        with pytest.raises(FetchFailed, match="cannot be trusted"):
            await _fetched(HERE, server.url("origin/.git"), tmp_path / "ours")
        assert server.paths == []


async def test_a_company_s_own_authority_can_be_trusted(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = repository(tmp_path / "origin", {"a.py": ""})
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with git_server(tmp_path, certificate) as server:
        assert await _fetched(HERE, server.url("origin/.git"), tmp_path / "ours") == made


async def test_a_token_opens_its_host_and_port_over_https_and_no_other(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = repository(tmp_path / "origin", {"a.py": ""})
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with git_server(tmp_path, certificate) as server:
        server.wants = "Basic " + base64.b64encode(b"x-access-token:s3cret").decode()
        url = server.url("origin/.git")
        ours = Cloner(HERE.allowed, tokens={f"localhost:{server.port}": "s3cret"})
        assert await _fetched(ours, url, tmp_path / "ours") == made
        for tokens in ({}, {"localhost": "s3cret"}, {f"localhost:{server.port}": "wrong"}):
            with pytest.raises(AccessDenied) as caught:
                await _fetched(Cloner(HERE.allowed, tokens), url, tmp_path / "others")
            assert "s3cret" not in str(caught.value)


async def test_a_server_that_never_answers_is_left_after_the_time_limit(tmp_path: Path) -> None:
    repository(tmp_path / "origin", {"a.py": ""})
    hasty = Cloner(HERE.allowed, limits=CloneLimits(seconds=0.5))
    with git_server(tmp_path) as server:
        server.silent = threading.Event()
        url = read_repo_url(server.url("origin/.git"))
        try:
            with pytest.raises(LimitReached) as caught:
                await hasty.newest(url, tmp_path / "ours")
            assert caught.value.limit == "wall"
            with pytest.raises(LimitReached):
                await hasty.fetch(url, tmp_path / "ours", _quiet)
        finally:
            server.silent.set()


async def test_an_update_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    made = repository(tmp_path / "origin", {"a.py": "x = 1\n"})
    with git_server(tmp_path) as server:
        url = server.url("origin/.git")
        await _fetched(HERE, url, tmp_path / "ours")
        commit(tmp_path / "origin", {"a.py": "x = 2\n"})
        server.status = 503
        with pytest.raises(TransientError):
            await _fetched(HERE, url, tmp_path / "ours")
        assert HERE.here(tmp_path / "ours") == made
        assert (tmp_path / "ours/tree/a.py").read_text() == "x = 1\n"
        server.status = None
        assert HERE.here(tmp_path / "ours") != await _fetched(HERE, url, tmp_path / "again")


async def test_files_that_are_not_all_there_are_not_taken_for_a_commit(tmp_path: Path) -> None:
    made = repository(tmp_path / "origin", {"a.py": ""})
    ours = tmp_path / "ours"
    assert await _fetched(HERE, str(tmp_path / "origin"), ours) == HERE.here(ours) == made
    (ours / "commit").unlink()  # as while the files are exchanged
    assert HERE.here(ours) is None
    (ours / "tree.new").mkdir()
    (ours / "tree.new/left.py").write_text("")
    assert await _fetched(HERE, str(tmp_path / "origin"), ours) == HERE.here(ours)
    assert sorted(path.name for path in (ours / "tree").iterdir()) == ["a.py"]


async def test_a_partial_clone_does_not_make_us_fetch_for_it(tmp_path: Path) -> None:
    repository(tmp_path / "source", {"a.py": ""})
    git(tmp_path / "source", "config", "uploadpack.allowFilter", "true")
    clone = ("clone", "--quiet", "--no-local", "--filter=blob:none", "--no-checkout")
    git(tmp_path, *clone, str(tmp_path / "source"), str(tmp_path / "evil"))
    proof = tmp_path / "proof"
    git(tmp_path / "evil", "config", "remote.origin.uploadpack", f"touch {proof}; git-upload-pack")
    with pytest.raises(FetchFailed):
        await _fetched(HERE, str(tmp_path / "evil"), tmp_path / "ours")
    assert not proof.exists()


def _tree(origin: Path, *entries: tuple[str, str, str]) -> None:
    """A commit whose tree has names that git itself would not write."""
    lines = b""
    for mode, name, kind in entries:
        blob = git(origin, "rev-parse", kind)
        lines += mode.encode() + b" " + name.encode() + b"\0" + bytes.fromhex(blob)
    (origin / "raw").write_bytes(lines)
    tree = git(origin, "hash-object", "-w", "--literally", "-t", "tree", "raw")
    git(origin, "update-ref", "HEAD", git(origin, "commit-tree", "-m", "evil", tree))


@pytest.mark.parametrize(
    "entries",
    [
        [("100644", "../up.py", "HEAD:a.py")],
        [("40000", "..", "HEAD^{tree}")],
        [("40000", ".git", "HEAD^{tree}")],
        [("40000", ".GIT", "HEAD^{tree}")],
        [("40000", "git~1", "HEAD^{tree}")],
        [("120000", "d", "HEAD:a.py"), ("40000", "d", "HEAD^{tree}")],
    ],
)
async def test_a_tree_that_leads_out_of_its_folder_is_not_written(
    tmp_path: Path, entries: list[tuple[str, str, str]]
) -> None:
    origin, ours = tmp_path / "origin", tmp_path / "ours"
    repository(origin, {"a.py": "x = 1\n"})
    _tree(origin, *entries)
    with contextlib.suppress(FetchFailed):
        await _fetched(HERE, str(origin), ours)
    assert not (tmp_path / "up.py").exists()
    assert not (ours / "up.py").exists()
    assert not (ours / "a.py").exists()
    written = list((ours / "tree").rglob("*")) if (ours / "tree").exists() else []
    assert not [path for path in written if path.is_symlink() or path.name.lower() in (".git", "git~1")]


@pytest.fixture
def sshd(tmp_path: Path) -> Generator[SshServer]:
    if SSHD is None:
        pytest.skip("There is no sshd here (Debian: apt-get install openssh-server).")
    with ssh_server(tmp_path / "sshd") as server:
        yield server


def _ssh_folder(place: Path, known: str, key: Path | None) -> Path:
    place.mkdir(mode=0o700)
    (place / "known_hosts").write_text(known)
    if key is not None:
        (place / "id_ed25519").write_text(key.read_text())
        (place / "id_ed25519").chmod(0o600)
    return place


async def test_a_repository_is_fetched_over_ssh_from_a_host_that_is_known(
    tmp_path: Path, sshd: SshServer
) -> None:
    made = repository(tmp_path / "origin", {"a.py": ""})
    cloner = Cloner(HERE.allowed, ssh_folder=_ssh_folder(tmp_path / "a b", sshd.known(), sshd.user_key))
    url = read_repo_url(sshd.url(tmp_path / "origin"))
    assert await cloner.newest(url, tmp_path / "ours") == made
    assert await cloner.fetch(url, tmp_path / "ours", _quiet) == made


async def test_a_host_whose_key_nobody_knows_or_that_has_changed_is_not_trusted(
    tmp_path: Path, sshd: SshServer
) -> None:
    repository(tmp_path / "origin", {"a.py": ""})
    url = sshd.url(tmp_path / "origin")
    unknown = Cloner(HERE.allowed, ssh_folder=_ssh_folder(tmp_path / "none", "", sshd.user_key))
    with pytest.raises(FetchFailed, match="not known"):
        await _fetched(unknown, url, tmp_path / "ours")
    assert (tmp_path / "none/known_hosts").read_text() == ""
    other = sshd.known().rsplit(" ", 1)[0] + " " + sshd.user_key.with_suffix(".pub").read_text().split()[1]
    changed = Cloner(HERE.allowed, ssh_folder=_ssh_folder(tmp_path / "other", f"{other}\n", sshd.user_key))
    with pytest.raises(FetchFailed, match="another key"):
        await _fetched(changed, url, tmp_path / "ours")


async def test_a_host_that_takes_none_of_our_keys_says_so(tmp_path: Path, sshd: SshServer) -> None:
    repository(tmp_path / "origin", {"a.py": ""})
    cloner = Cloner(HERE.allowed, ssh_folder=_ssh_folder(tmp_path / "keys", sshd.known(), None))
    with pytest.raises(AccessDenied, match="none of our keys"):
        await _fetched(cloner, sshd.url(tmp_path / "origin"), tmp_path / "ours")
