"""Fetch a repository that nobody vouches for: into a repository of ours, its files beside it, and nothing of it runs.

A size and a time end what has no end; what was fetched in part goes again.
"""

import asyncio
import base64
import re
import shutil
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from belayer.vocabulary.addresses import Address, Allowed, is_public
from belayer.vocabulary.errors import (
    AddressBlocked,
    FetchFailed,
    LimitReached,
    TooLarge,
    TransientError,
    UnfitRepository,
)
from belayer.vocabulary.resolving import Resolver, resolved
from belayer.workspace.git import Git
from belayer.workspace.repo_url import RepoUrl

_HEAD = "refs/belayer/head"
_DEPTH = 1_000
_LOOK_EVERY = 0.3
_COMMIT = re.compile(rb"^([0-9a-f]{40,64})\t?")
_SHARE = re.compile(r"^(?:remote: )?(?P<what>[A-Z][a-z]+(?: [a-z]+)*): +(?P<percent>\d{1,3})%")
_SSH = (
    "ssh -F /dev/null -o BatchMode=yes -o ForwardAgent=no -o ForwardX11=no -o ClearAllForwardings=yes"
    " -o ConnectTimeout=20 -o HostName={address} -o HostKeyAlias={host}"
)

Hear = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class CloneLimits:
    """The most that a repository may take."""

    fetched_bytes: int = 2_000_000_000
    tree_bytes: int = 4_000_000_000
    files: int = 300_000
    seconds: float = 900.0


@dataclass(frozen=True, slots=True)
class Cloner:
    """Fetches repositories. `tokens` are by host; they go to git through its environment only."""

    allowed: Allowed = field(default_factory=Allowed)
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: CloneLimits = field(default_factory=CloneLimits)
    resolve: Resolver = resolved

    async def newest(self, url: RepoUrl, folder: Path) -> str:
        """The commit that the other side's HEAD is at."""
        git = await self._git(url, folder)
        async with asyncio.timeout(self.limits.seconds):
            listed = await git.out("ls-remote", "--quiet", "--", url.text, "HEAD")
        found = _COMMIT.match(listed)
        if found is None:
            raise FetchFailed(
                "The repository has no commit yet, so there is nothing to look at.", "Push something first."
            )
        return found[1].decode()

    def here(self, folder: Path) -> str | None:
        """The commit whose files are in `folder/tree`; None if they are not all there."""
        try:
            at = (folder / "git" / "HEAD").read_text(encoding="utf-8").strip()
        except OSError:
            return None
        return at if (folder / "tree").is_dir() and not at.startswith("ref:") else None

    async def fetch(self, url: RepoUrl, folder: Path, hear: Hear) -> str:
        """Bring HEAD into `folder/git` and its files into `folder/tree`; the commit that they are at."""
        git = await self._git(url, folder)
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._fetch(git, url, hear)
                commit = (await git.out("rev-parse", "--verify", f"{_HEAD}^{{commit}}")).decode().strip()
                await self._refuse_too_many(git, commit)
                await _check_out(git, commit, hear)
        except TimeoutError as error:
            _remove(folder)
            raise LimitReached(
                "wall",
                f"Fetching the repository took longer than {self.limits.seconds:g} s and was stopped.",
                "Try again when the network is faster, or clone it by hand and name the folder.",
            ) from error
        except BaseException:
            _remove(folder)
            raise
        return commit

    async def _git(self, url: RepoUrl, folder: Path) -> Git:
        """Git as this address needs it: one protocol, and only the host that was checked."""
        if url.kind == "local":
            if not await asyncio.to_thread(Path(url.text).is_dir):
                raise FetchFailed(
                    "There is no folder at this path.", "Give the path of a repository's folder."
                )
            git = Git(folder, "file")
        else:
            address = await self._checked(url)
            git = Git(
                folder, url.kind, self._settings(url, address), _SSH.format(address=address, host=url.host)
            )
        await git.begin()
        return git

    async def _checked(self, url: RepoUrl) -> Address:
        """The address of the host, if it may be reached. Git is told to go to this one and no other."""
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
                    f"If it may be reached, add {url.host}:{url.port} to the setting BELAYER_PRIVATE_HOSTS.",
                )
            if url.kind == "http" and is_public(address):
                raise UnfitRepository(
                    "http:// would fetch the repository unprotected. Nothing was fetched.", "Use https://."
                )
        return addresses[0]

    def _settings(self, url: RepoUrl, address: Address) -> dict[str, str]:
        at = f"[{address}]" if address.version == 6 else str(address)
        settings = {"http.curloptResolve": f"{url.host}:{url.port}:{at}"}
        token = self.tokens.get(url.host)
        if token is not None and url.kind == "https":
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            settings[f"http.https://{url.host}/.extraHeader"] = f"Authorization: Basic {basic}"
        return settings

    async def _fetch(self, git: Git, url: RepoUrl, hear: Hear) -> None:
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
                url.text,
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


async def _check_out(git: Git, commit: str, hear: Hear) -> None:
    tree = git.folder / "tree"
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


def _remove(folder: Path) -> None:
    for part in ("git", "tree"):
        shutil.rmtree(folder / part, ignore_errors=True)


def _too_large(most: str) -> TooLarge:
    return TooLarge(
        f"The repository has more than {most}. What was fetched of it has been removed.",
        "Clone it by hand and name the folder, or choose a smaller repository.",
    )
