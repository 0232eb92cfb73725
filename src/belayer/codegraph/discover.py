"""Which files of a folder are source, which are left out and why. Follows no link, stops at limits, reads no source.

The order is always the same, so that what a limit cuts off is always the same too.
"""

import os
import stat
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from belayer.codegraph.ignore import Ignore, ignore_of, is_ignored
from belayer.codegraph.tracked import Tracked

LARGEST = 1_500_000
MOST_FILES = 100_000
MOST_BYTES = 2_000_000_000
MOST_ENTRIES = 2_000_000
MOST_LEVELS = 100

_STATE = frozenset({".git", ".hg", ".svn", ".jj", ".belayer"})
_VENDORED = frozenset(
    {
        "node_modules", "bower_components", "jspm_packages", "site-packages", "vendor", "vendors", "_vendor",
        "third_party", "third-party", ".venv", "venv", ".tox", ".nox", ".yarn", "Pods", "Carthage",
        "thirdparty",  # codespell:ignore thirdparty
    }
)  # fmt: skip
_GENERATED = frozenset(
    {
        "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".next", ".nuxt", ".svelte-kit",
        ".parcel-cache", ".turbo", ".angular", "htmlcov", ".eggs",
    }
)  # fmt: skip
# A folder of this name is a program's output if one of these stands beside it.
_OUTPUT_BESIDE = {
    "target": ("pom.xml", "build.sbt", "Cargo.toml"),
    "build": ("build.gradle", "build.gradle.kts"),
    "dist": ("package.json",),
    "bin": (".csproj",),
    "obj": (".csproj",),
}
_MINIFIED_NAMES = (".min.js", ".min.mjs", ".min.cjs", "-min.js", ".bundle.js", ".pack.js")
_GENERATED_NAMES = (
    "_pb2.py", "_pb2_grpc.py", ".pb.go", ".pb.gw.go", "_generated.go", ".g.cs", ".g.i.cs", ".designer.cs",
    ".generated.cs", ".generated.ts", "_pb.js", "_pb.d.ts",
)  # fmt: skip
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Stamp(NamedTuple):
    """How a file's entry looks without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, state: os.stat_result) -> "Stamp":
        return cls(state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


class Tree(NamedTuple):
    """What a folder holds: sources and manifests with their stamps by path, and what was left out, by reason."""

    sources: dict[str, Stamp]
    manifests: dict[str, Stamp]
    skipped: Counter[str]
    truncated: bool


def discover(
    folder: Path,
    is_source: Callable[[str], bool],
    is_manifest: Callable[[str], bool],
    *,
    is_commit: bool = False,
) -> Tree:
    """The folder's source files and manifests, by their names.

    `is_commit` says that the folder holds a commit's files and nothing else, so that no .gitignore speaks of them.
    """
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walk = _Walk(is_source, is_manifest, None if is_commit else top)
    try:
        walk.visit(top, "", [], 0)
    finally:
        os.close(top)
    sources, manifests = ({path: found[path] for path in sorted(found)} for found in walk.found)
    return Tree(sources, manifests, walk.skipped, walk.truncated)


class Files:
    """Reads files below a folder without ever following a link on the way; keeps the last folder at hand."""

    def __init__(self, folder: Path) -> None:
        self._top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._above, self._last = "", self._top

    def read(self, path: str, most: int = LARGEST) -> tuple[bytes, Stamp]:
        """The content, of which one byte too many tells that there is more, and the stamp from before it was read."""
        above, _, name = path.rpartition("/")
        descriptor = os.open(name, _FILE, dir_fd=self._folder(above))
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise OSError(0, "not a file", path)
            return _all_of(descriptor, most + 1), Stamp.of(state)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        self._leave()
        os.close(self._top)

    def _folder(self, above: str) -> int:
        if above != self._above:
            self._leave()
            with _opened(self._top, above) as found:
                self._above, self._last = above, os.dup(found)
        return self._last

    def _leave(self) -> None:
        if self._last != self._top:
            os.close(self._last)
        self._above, self._last = "", self._top


@contextmanager
def _opened(top: int, path: str) -> Generator[int]:
    """The folder, gone to step by step: a link anywhere on the way is an error."""
    current = os.dup(top)
    try:
        for part in path.split("/") if path else ():
            step = os.open(part, _DIRECTORY, dir_fd=current)
            os.close(current)
            current = step
        yield current
    finally:
        os.close(current)


def _all_of(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(descriptor, most)):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


class _Walk:
    """One walk over a tree."""

    def __init__(
        self, is_source: Callable[[str], bool], is_manifest: Callable[[str], bool], top: int | None
    ) -> None:
        self._sources: dict[str, Stamp] = {}
        self._manifests: dict[str, Stamp] = {}
        self.skipped: Counter[str] = Counter()
        self.truncated = False
        self._is_source, self._is_manifest = is_source, is_manifest
        self._top = top
        self._tracked: Tracked | None = None
        self._half: list[str] = []  # ignored folders in which git keeps something
        self._seen = self._bytes = 0

    @property
    def found(self) -> tuple[dict[str, Stamp], dict[str, Stamp]]:
        """The sources and the manifests."""
        return self._sources, self._manifests

    def visit(self, folder: int, above: str, ignores: list[tuple[str, Ignore]], level: int) -> None:
        """Take what the folder holds, and the folders in it; `above` is its path with a slash, or nothing."""
        entries = self._entries(folder)
        names = {entry.name for entry in entries}
        if above and "pyvenv.cfg" in names:
            self.skipped["vendored"] += 1
            return
        if self._top is not None and ".gitignore" in names and (ignore := _ignore_of(folder)) is not None:
            ignores = [(above, ignore), *ignores]
        for entry in entries:
            sort = _sort_of(entry.name, self._is_source, self._is_manifest)
            if sort is _Sort.ODD:
                self.skipped["odd name"] += 1
            elif entry.is_symlink():
                self.skipped["symlink"] += 1
            elif entry.is_dir(follow_symlinks=False):
                self._enter(folder, entry.name, above, names, ignores, level)
            elif sort is not _Sort.OTHER:
                self._take(entry, above + entry.name, ignores, sort)

    def _entries(self, folder: int) -> list[os.DirEntry[str]]:
        entries: list[os.DirEntry[str]] = []
        with os.scandir(folder) as found:
            for entry in found:
                if self._seen >= MOST_ENTRIES:
                    self.truncated = True
                    break
                self._seen += 1
                entries.append(entry)
        entries.sort(key=attrgetter("name"))
        return entries

    def _enter(
        self,
        folder: int,
        name: str,
        above: str,
        beside: set[str],
        ignores: list[tuple[str, Ignore]],
        level: int,
    ) -> None:
        if name in _STATE:
            return
        reason = _left_out(name, beside)
        if reason is None and self._is_ignored(above + name, ignores, folder=True):
            reason = "ignored"
        if reason is not None:
            self.skipped[reason] += 1
        elif level + 1 >= MOST_LEVELS or len(self._sources) >= MOST_FILES:
            self.truncated = True
        else:
            self._go_down(folder, name, f"{above}{name}/", ignores, level + 1)

    def _is_ignored(self, path: str, ignores: list[tuple[str, Ignore]], *, folder: bool) -> bool:
        """Whether a .gitignore leaves it out; what git keeps all the same is not ignored."""
        if self._top is None:
            return False
        if not path.startswith(tuple(self._half)) and not is_ignored(path, ignores, folder=folder):
            return False
        if self._tracked is None:
            self._tracked = Tracked.of(self._top)
        is_tracked = self._tracked.has(path, folder=folder)
        if folder and is_tracked:
            self._half.append(path + "/")
        return not is_tracked

    def _go_down(
        self, folder: int, name: str, path: str, ignores: list[tuple[str, Ignore]], level: int
    ) -> None:
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=folder)
        except OSError:
            self.skipped["unreadable"] += 1
            return
        try:
            self.visit(inner, path, ignores, level)
        except OSError:
            self.skipped["unreadable"] += 1
        finally:
            os.close(inner)

    def _take(
        self, entry: os.DirEntry[str], path: str, ignores: list[tuple[str, Ignore]], sort: "_Sort"
    ) -> None:
        reason = _REASONS.get(sort)
        if reason is None and ignores and self._is_ignored(path, ignores, folder=False):
            reason = "ignored"
        try:
            state = entry.stat(follow_symlinks=False)
        except OSError:
            return  # gone since it was listed
        if reason is None and not stat.S_ISREG(state.st_mode):
            reason = "special"
        if reason is None and state.st_size > LARGEST:
            reason = "huge"
        if reason is not None:
            self.skipped[reason] += 1
        elif len(self._sources) >= MOST_FILES or self._bytes + state.st_size > MOST_BYTES:
            self.truncated = True
        else:
            self._bytes += state.st_size
            (self._manifests if sort is _Sort.MANIFEST else self._sources)[path] = Stamp.of(state)


class _Sort(Enum):
    """What a name says of a file."""

    SOURCE = auto()
    MANIFEST = auto()
    MINIFIED = auto()
    GENERATED = auto()
    ODD = auto()
    OTHER = auto()


_REASONS = {_Sort.MINIFIED: "minified", _Sort.GENERATED: "generated"}


@lru_cache(1 << 16)
def _sort_of(name: str, is_source: Callable[[str], bool], is_manifest: Callable[[str], bool]) -> _Sort:
    if _is_odd(name):
        return _Sort.ODD
    if is_source(name):
        return _named_like(name)
    return _Sort.MANIFEST if is_manifest(name) else _Sort.OTHER


def _ignore_of(folder: int) -> Ignore | None:
    with suppress(OSError):
        descriptor = os.open(".gitignore", _FILE, dir_fd=folder)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ignore_of(_all_of(descriptor, LARGEST))
        finally:
            os.close(descriptor)
    return None


def _is_odd(name: str) -> bool:
    """A name that is no UTF-8 can neither be stored nor shown."""
    return not name.isascii() and any("\udc80" <= letter <= "\udcff" for letter in name)


def _left_out(name: str, beside: set[str]) -> str | None:
    if name in _VENDORED:
        return "vendored"
    if name in _GENERATED or name.endswith(".egg-info"):
        return "generated"
    signs = _OUTPUT_BESIDE.get(name, ())
    if any(sign in beside or (sign[0] == "." and any(b.endswith(sign) for b in beside)) for sign in signs):
        return "generated"
    return None


def _named_like(name: str) -> _Sort:
    lowered = name.lower()
    if lowered.endswith(_MINIFIED_NAMES):
        return _Sort.MINIFIED
    return _Sort.GENERATED if lowered.endswith(_GENERATED_NAMES) else _Sort.SOURCE
