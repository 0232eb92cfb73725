"""How often files changed lately, and which changed together, from a repository's history. The repository is hostile:
git runs with a directory of ours and only its objects, so its configuration, hooks, attributes and replacements are
never read."""

import asyncio
import math
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256 = 64
_REFERENCE = re.compile(r"refs/(?!.*\.\.)[A-Za-z0-9._/@+-]{1,400}")
_SMALL = 64 * 1024
_MOST_REFERENCES = 16 * 1024 * 1024
_MOST_OUTPUT = 64 * 1024 * 1024
_SECONDS = 30.0
_YEAR = 365 * 24 * 3600
_MOST_COMMITS = 20_000
# Commits that are looked through for what changed together. One of many files says nothing: a licence, a new formatter.
_REMEMBERED = 3_000
_MOST_FILES = 50
# Each commit counts a little less than the one after it; those that would count for almost nothing are not looked at.
_FADING = 0.98
_LOOKED_AT = 300
_MARK = b"\x01"


@dataclass(frozen=True, slots=True)
class History:
    """Where a repository's commits are: its objects, the commit that is checked out, and where the history was cut."""

    objects: Path
    head: str
    shallow: bytes


def history_of(git: Path) -> History | None:
    """Found in a git directory by reading files only; None where there is none that can be read like this."""
    if git.is_symlink() or not git.is_dir() or (git / "objects").is_symlink():
        return None
    head = _head(git)
    if head is None or not (git / "objects").is_dir():
        return None
    shallow = b"\n".join(
        line for line in _read(git / "shallow", _SMALL).split() if _COMMIT.fullmatch(line.decode("latin-1"))
    )
    return History((git / "objects").absolute(), head, shallow)


class Shared(NamedTuple):
    """How many commits changed a file together with others; `weight` counts a commit for less, the older and larger."""

    commits: int
    weight: float


@dataclass(frozen=True, slots=True)
class Changes:
    """What a history tells: how many commits touched each file in the year before the last one; what changed together.

    `commits` has the files of the newest commits, the newest first.
    """

    touched: Mapping[str, int]
    commits: Sequence[Sequence[str]]
    _of_path: dict[str, list[int]] = field(init=False, repr=False, default_factory=dict[str, list[int]])

    def __post_init__(self) -> None:
        for number, names in enumerate(self.commits):
            for name in names:
                self._of_path.setdefault(name, []).append(number)

    def together(self, paths: Collection[str]) -> Mapping[str, Shared]:
        """The files that changed in the same commits as one of these."""
        numbers = sorted({number for path in paths for number in self._of_path.get(path, ())})[:_LOOKED_AT]
        counts: Counter[str] = Counter()
        weights: dict[str, float] = {}
        for age, number in enumerate(numbers):
            names = self.commits[number]
            weight = _FADING**age / math.log2(1 + len(names))
            counts.update(names)
            for name in names:
                weights[name] = weights.get(name, 0.0) + weight
        return {name: Shared(counts[name], weight) for name, weight in weights.items() if name not in paths}


async def changes(history: History) -> Changes | None:
    """What the history tells; None if git cannot say."""
    git = shutil.which("git", path="/usr/local/bin:/usr/bin:/bin")
    if git is None:
        return None
    with tempfile.TemporaryDirectory(prefix="belayer-git-") as folder:
        environment = _prepared(Path(folder), history)
        log = [git, "log", "--no-renames", "--no-merges", "--no-ext-diff", "--no-textconv"]
        log += ["--name-only", "-z", "--format=%x01%ct"]
        last = [git, "log", "-1", "--format=%ct", "--end-of-options", history.head, "--"]
        now = await _run(last, environment)
        if now is None or not now.strip().isdigit():
            return None
        since = int(now) - _YEAR
        told = await _run(
            [*log, f"--max-count={_REMEMBERED}", "--end-of-options", history.head, "--"], environment
        )
        if told is None:
            return None
        newest = _commits(told)
        year = newest
        if len(newest) >= _REMEMBERED and newest[-1].at >= since:
            limits = [f"--since={since}", f"--max-count={_MOST_COMMITS}"]
            more = await _run([*log, *limits, "--end-of-options", history.head, "--"], environment)
            year = newest if more is None else _commits(more)
    touched = Counter(name for commit in year if commit.at >= since for name in commit.names)
    return Changes(touched, [commit.names for commit in newest if 1 < len(commit.names) <= _MOST_FILES])


class _Commit(NamedTuple):
    at: int
    names: list[str]


def _commits(told: bytes) -> list[_Commit]:
    """The commits that a log tells of: a mark and the time, then the files, all with a zero byte at their end."""
    commits: list[_Commit] = []
    for piece in told.split(b"\0"):
        if piece.startswith(_MARK) and piece[1:].isdigit():
            commits.append(_Commit(int(piece[1:]), []))
        elif commits and (name := piece.strip(b"\n")):
            commits[-1].names.append(sys.intern(os.fsdecode(name)))
    return commits


def _head(git: Path) -> str | None:
    text = _read(git / "HEAD", _SMALL).decode("latin-1").strip()
    for _ in range(5):
        if _COMMIT.fullmatch(text):
            return text
        name = text.removeprefix("ref: ").strip()
        if not text.startswith("ref: ") or not _REFERENCE.fullmatch(name):
            return None
        loose = _read(git / name, _SMALL).decode("latin-1").strip()
        text = loose or _packed(git, name)
    return None


def _packed(git: Path, name: str) -> str:
    for line in _read(git / "packed-refs", _MOST_REFERENCES).decode("latin-1").splitlines():
        commit, _, found = line.partition(" ")
        if found == name:
            return commit
    return ""


def _read(path: Path, most: int) -> bytes:
    """A small regular file's content, no link followed at its end; nothing if it is anything else."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(most)
    return b""


def _prepared(folder: Path, history: History) -> dict[str, str]:
    """A git directory of our own that borrows the repository's objects; the environment that names it."""
    (folder / "objects").mkdir()
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/nothing\n")
    version, extension = (
        (1, "[extensions]\n\tobjectFormat = sha256\n") if len(history.head) == _SHA256 else (0, "")
    )
    core = "\tbare = true\n\tcommitGraph = false\n\tlogAllRefUpdates = false\n"
    (folder / "config").write_text(f"[core]\n\trepositoryFormatVersion = {version}\n{core}{extension}")
    if history.shallow:
        (folder / "shallow").write_bytes(history.shallow + b"\n")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": str(folder),
        "GIT_DIR": str(folder),
        "GIT_OBJECT_DIRECTORY": str(history.objects),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
    }


async def _run(argv: list[str], environment: dict[str, str]) -> bytes | None:
    """What the program wrote; None if it failed, took too long or wrote too much."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        cwd=environment["GIT_DIR"],
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_SECONDS):
            output = await _all_of(process.stdout)
            code = await process.wait()
    except TimeoutError:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(process.wait())
    return output if code == 0 else None


async def _all_of(stream: asyncio.StreamReader) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while size <= _MOST_OUTPUT and (piece := await stream.read(1 << 18)):
        pieces.append(piece)
        size += len(piece)
    if size > _MOST_OUTPUT:
        raise TimeoutError
    return b"".join(pieces)
