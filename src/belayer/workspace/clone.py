"""Fetch a repository that nobody vouches for: into a repository of ours, its files beside it, and nothing of it runs.

A size and a time end what has no end; what was fetched in part goes again.
"""

import asyncio
import base64
import re
import shlex
import shutil
import ssl
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from belayer.vocabulary.addresses import Address, Allowed, is_public
from belayer.vocabulary.errors import (
    AddressBlocked,
    FetchFailed,
    LimitReached,
    RepositoryMoved,
    TooLarge,
    TransientError,
    UnfitRepository,
)
from belayer.vocabulary.resolving import Resolver, resolved
from belayer.workspace.git import Git
from belayer.workspace.repo_url import RepoUrl

_HEAD = "refs/belayer/head"
_AT, _NEW, _OLD = "commit", "tree.new", "tree.old"
_DEPTH = 1_000
_LOOK_EVERY = 0.3
_COMMIT = re.compile(rb"^([0-9a-f]{40,64})\t?")
_SHARE = re.compile(r"^(?:remote: )?(?P<what>[A-Z][a-z]+(?: [a-z]+)*): +(?P<percent>\d{1,3})%")
_SSH = (
    "ssh -F /dev/null -o BatchMode=yes -o ForwardAgent=no -o ForwardX11=no -o ClearAllForwardings=yes"
    " -o ConnectTimeout=20 -o StrictHostKeyChecking=yes -o UpdateHostKeys=no"
)
_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")

Hear = Callable[[float, str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CloneLimits:
    """The most that a repository may take."""

    fetched_bytes: int = 2_000_000_000
    tree_bytes: int = 4_000_000_000
    files: int = 300_000
    seconds: float = 900.0


@dataclass(frozen=True, slots=True)
class Cloner:
    """Fetches repositories. `tokens` are by host or host:port; they go to git through its environment only.

    `ssh_folder` has keys and known hosts, if those of the user are not meant.
    """

    allowed: Allowed = field(default_factory=Allowed)
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    ssh_folder: Path | None = None
    limits: CloneLimits = field(default_factory=CloneLimits)
    resolve: Resolver = resolved

    async def newest(self, url: RepoUrl, folder: Path) -> str:
        """The commit that the other side's HEAD is at."""
        git = await self._git(url, folder)
        async with self._in_time():
            listed = await _spelled(url, lambda text: git.out("ls-remote", "--quiet", "--", text, "HEAD"))
        found = _COMMIT.match(listed)
        if found is None:
            raise FetchFailed(
                "The repository has no commit yet, so there is nothing to look at.", "Push something first."
            )
        return found[1].decode()

    def here(self, folder: Path) -> str | None:
        """The commit whose files are in `folder/tree`; None if they are not all there."""
        try:
            at = (folder / _AT).read_text(encoding="utf-8").strip()
        except OSError:
            return None
        return at if (folder / "tree").is_dir() else None

    async def fetch(self, url: RepoUrl, folder: Path, hear: Hear) -> str:
        """Bring HEAD into `folder/git` and its files into `folder/tree`; the commit that they are at.

        What was here before stays until all of the new is here.
        """
        git = await self._git(url, folder)
        try:
            async with self._in_time():
                await _spelled(url, lambda text: self._fetch(git, text, hear))
                commit = (await git.out("rev-parse", "--verify", f"{_HEAD}^{{commit}}")).decode().strip()
                await self._refuse_too_many(git, commit)
                await _check_out(git, commit, hear)
        except BaseException as error:
            _remove_part(folder, all_of_it=isinstance(error, TooLarge) or self.here(folder) is None)
            raise
        await asyncio.to_thread(_put_in_place, folder, commit)
        return commit

    @asynccontextmanager
    async def _in_time(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(self.limits.seconds):
                yield
        except TimeoutError as error:
            raise LimitReached(
                "wall",
                f"Fetching the repository took longer than {self.limits.seconds:g} s and was stopped.",
                "Try again when the network is faster, or clone it by hand and name the folder.",
            ) from error

    async def _git(self, url: RepoUrl, folder: Path) -> Git:
        """Git as this address needs it: one protocol, and only the host that was checked."""
        if url.kind == "local":
            if not await asyncio.to_thread(Path(url.text).is_dir):
                raise FetchFailed(
                    "There is no folder at this path.", "Give the path of a repository's folder."
                )
            git = Git(folder, "file")
        else:
            addresses = await self._checked(url)
            git = Git(folder, url.kind, self._settings(url, addresses), self._ssh(url, addresses[0]))
        await git.begin()
        return git

    async def _checked(self, url: RepoUrl) -> Sequence[Address]:
        """The addresses of the host, if it may be reached. Git is told to go to these and no other."""
        try:
            addresses = await self.resolve(url.host, url.port)
        except (OSError, UnicodeError) as error:
            raise TransientError(
                f"No address was found for {url.host}: it does not exist, or names cannot be looked up now.",
                "Check how the host is spelled, and whether this machine is online.",
            ) from error
        for address in addresses:
            if not self.allowed.permits(url.host, address, url.port):
                raise AddressBlocked(
                    f"{url.host} is inside the house, not on the internet. Nothing was sent to it.",
                    f"If it may be reached, add {url.address} to the setting BELAYER_PRIVATE_HOSTS.",
                )
            if url.kind == "http" and is_public(address):
                raise UnfitRepository(
                    "http:// would fetch the repository unprotected. Nothing was fetched.", "Use https://."
                )
        return addresses

    def _settings(self, url: RepoUrl, addresses: Sequence[Address]) -> dict[str, str]:
        at = ",".join(f"[{one}]" if one.version == 6 else str(one) for one in addresses)
        settings = {"http.curloptResolve": f"{url.host}:{url.port}:{at}"}
        authorities = (
            ssl.get_default_verify_paths().cafile or ""
        )  # SSL_CERT_FILE or the usual, as for all others
        if authorities:
            settings["http.sslCAInfo"] = authorities
        token = self.tokens.get(url.place)
        if token is not None and url.kind == "https":
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            settings[f"http.https://{url.place}/.extraHeader"] = f"Authorization: Basic {basic}"
        return settings

    def _ssh(self, url: RepoUrl, address: Address) -> str:
        """The host is known by its name, and by its port unless that is the usual one, wherever it is dialled."""
        words = [_SSH, f"-o HostName={address}", f"-o HostKeyAlias={shlex.quote(url.known_as)}"]
        if self.ssh_folder is not None:
            keys = [self.ssh_folder / name for name in _KEYS]
            words += [_file("UserKnownHostsFile", self.ssh_folder / "known_hosts"), "-o IdentitiesOnly=yes"]
            words += [_file("IdentityFile", key) for key in keys if key.exists()]
        return " ".join(words)

    async def _fetch(self, git: Git, address: str, hear: Hear) -> None:
        fetching = asyncio.create_task(
            git.out(
                "fetch",
                "--progress",
                "--force",
                "--no-tags",
                "--no-recurse-submodules",
                "--no-write-fetch-head",
                "--no-auto-maintenance",
                f"--depth={_DEPTH}",
                "--",
                address,
                f"+HEAD:{_HEAD}",
                hear=lambda line: _tell(line, hear),
            )
        )
        try:
            while not fetching.done():
                await asyncio.wait({fetching}, timeout=_LOOK_EVERY)
                size = await asyncio.to_thread(_size, git.folder / "git", self.limits.fetched_bytes)
                if size > self.limits.fetched_bytes:
                    raise _too_large(f"{self.limits.fetched_bytes:,} bytes to fetch")
        finally:
            fetching.cancel()
            await asyncio.wait({fetching})
        await fetching

    async def _refuse_too_many(self, git: Git, commit: str) -> None:
        """A tree can name one file a million times: count before anything is written."""
        async with git.running("ls-tree", "-r", "-l", "-z", "--full-tree", commit) as listing:
            files = size = 0
            async for entry in _entries(listing):
                length = entry.partition(b"\t")[0].rpartition(b" ")[2]
                files, size = files + 1, size + (int(length) if length.isdigit() else 0)
                if files > self.limits.files:
                    raise _too_large(f"{self.limits.files:,} files")
                if size > self.limits.tree_bytes:
                    raise _too_large(f"{self.limits.tree_bytes:,} bytes of files")


def _file(option: str, path: Path) -> str:
    """A file for ssh, which reads a value with quotes and signs of its own, after the shell has read it with its."""
    written = str(path.absolute()).replace("%", "%%")
    return "-o " + shlex.quote(f'{option}="{written}"')


async def _spelled(url: RepoUrl, ask: Callable[[str], Awaitable[T]]) -> T:
    """Ask at the address as it was written, then as its host may know it; the host stays the same."""
    *others, last = url.spellings
    for text in others:
        with suppress(RepositoryMoved):
            return await ask(text)
    return await ask(last)


async def _check_out(git: Git, commit: str, hear: Hear) -> None:
    tree = git.folder / _NEW
    await asyncio.to_thread(shutil.rmtree, tree, ignore_errors=True)
    tree.mkdir(mode=0o700)
    await git.out(
        f"--work-tree={tree}", "checkout", "--force", "--progress", "--detach", commit, "--",
        hear=lambda line: _tell(line, hear),
    )  # fmt: skip


async def _entries(listing: Process) -> AsyncIterator[bytes]:
    assert listing.stdout is not None
    rest = b""
    while piece := await listing.stdout.read(65_536):
        *whole, rest = (rest + piece).split(b"\0")
        for entry in whole:
            yield entry


def _tell(line: str, hear: Hear) -> None:
    found = _SHARE.match(line)
    if found is not None:
        hear(float(found["percent"]), found["what"].lower())


def _size(folder: Path, most: int) -> int:
    """How much the files of a folder take, counted until it is too much."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:
            continue
        if total > most:
            break
    return total


def _put_in_place(folder: Path, commit: str) -> None:
    """Whoever looks in between finds that nothing is here, and fetches again."""
    (folder / _AT).unlink(missing_ok=True)
    shutil.rmtree(folder / _OLD, ignore_errors=True)
    if (folder / "tree").exists():
        (folder / "tree").rename(folder / _OLD)
    (folder / _NEW).rename(folder / "tree")
    (folder / _AT).write_text(commit, encoding="utf-8")
    shutil.rmtree(folder / _OLD, ignore_errors=True)


def _remove_part(folder: Path, *, all_of_it: bool) -> None:
    """What has only come in part; or all, where there was nothing before or there is too much."""
    shutil.rmtree(folder / _NEW, ignore_errors=True)
    for left in (folder / "git" / "objects").rglob("tmp_*"):
        left.unlink(missing_ok=True)
    for lock in (folder / "git").glob("*.lock"):
        lock.unlink(missing_ok=True)
    if all_of_it:
        (folder / _AT).unlink(missing_ok=True)
        for part in ("git", "tree", _OLD):
            shutil.rmtree(folder / part, ignore_errors=True)


def _too_large(most: str) -> TooLarge:
    return TooLarge(
        f"The repository has more than {most}. What was fetched of it has been removed.",
        "Clone it by hand and name the folder, or choose a smaller repository.",
    )
