"""The repositories that there are graphs of: where each lies, what it was built from, and its graph to ask."""

import asyncio
import fcntl
import hashlib
import os
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, ValidationError

from belayer.codegraph.build import Built, OnProgress, build
from belayer.vocabulary.clock import Clock, rfc3339
from belayer.vocabulary.errors import AmbiguousPrefix, UnknownRepository
from belayer.vocabulary.events.event import Shape
from belayer.workspace.repo_url import RepoUrl

if TYPE_CHECKING:
    from belayer.codegraph.codegraph import CodeGraph

_ID_LENGTH = 16
_SHORTEST = 4
_MOST_OPEN = 8
_LOOK_AGAIN = 0.1


class Repository(Shape):
    """A repository and what its graph was built from. `commit` is None for a folder that is read as it is."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    name: str
    source: str
    folder: Path
    commit: str | None = None
    built: Built | None = None
    built_at: str | None = None


class Repositories:
    """Kept in the home, one folder each; without a home, they go with the process."""

    def __init__(self, home: Path | None, clock: Clock) -> None:
        if home is None:
            home = Path(tempfile.mkdtemp(prefix="belayer-"))
            weakref.finalize(self, shutil.rmtree, home, ignore_errors=True)
        self._place = home.resolve() / "repos"
        self._clock = clock
        self._open: OrderedDict[str, CodeGraph] = OrderedDict()

    def at_url(self, url: RepoUrl) -> Repository:
        """The repository that is fetched from an address; its files lie with us."""
        repo_id = _id(f"{url.kind} {url.text}")
        known = self._read(repo_id)
        return known or Repository(
            id=repo_id, name=url.name, source=url.text, folder=self.place(repo_id) / "tree"
        )

    def in_folder(self, folder: Path) -> Repository:
        """The repository in a folder of the user's, read where it is, changes that are not committed included."""
        folder = folder.resolve()
        repo_id = _id(f"folder {folder}")
        known = self._read(repo_id)
        return known or Repository(id=repo_id, name=folder.name or "/", source=str(folder), folder=folder)

    def known(self) -> list[Repository]:
        """Every repository that was built, by name."""
        names = [path.name for path in self._place.iterdir()] if self._place.is_dir() else []
        return sorted((one for one in map(self._read, names) if one), key=lambda one: (one.name, one.id))

    def find(self, prefix: str) -> Repository:
        """The repository whose id this is, or begins like this."""
        wanted = prefix.strip().lower()
        found = [one for one in self.known() if len(wanted) >= _SHORTEST and one.id.startswith(wanted)]
        if not found:
            raise UnknownRepository(
                f"There is no graph of a repository {prefix!r}.",
                "Make one with `belayer graph REPO build` or POST /clone-and-generate; GET /api/repos lists them.",
            )
        if len(found) > 1:
            raise AmbiguousPrefix(
                f"Several repositories begin with {prefix!r}: {', '.join(one.id for one in found)}.",
                "Give more of the id.",
            )
        return found[0]

    def place(self, repo_id: str) -> Path:
        """The folder of what is kept of a repository."""
        return self._place / repo_id

    async def build(self, repository: Repository, commit: str | None, on_progress: OnProgress) -> Repository:
        """Read what has changed since the last time, and remember what the graph is of."""
        place = self.place(repository.id)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        built = await build(
            repository.folder, place / "graph.db", on_progress=on_progress, is_commit=commit is not None
        )
        done = repository.model_copy(
            update={"commit": commit, "built": built, "built_at": rfc3339(self._clock.now())}
        )
        _write(place / "repository.json", done.model_dump_json(indent=1))
        return done

    async def graph(self, repository: Repository) -> "CodeGraph":
        """The repository's graph, open; GraphMissing if there is none."""
        if repository.id not in self._open:
            self._open[repository.id] = await self._opened(repository)
        self._open.move_to_end(repository.id)
        while len(self._open) > _MOST_OPEN:
            _, oldest = self._open.popitem(last=False)
            await oldest.close()
        return self._open[repository.id]

    async def _opened(self, repository: Repository) -> "CodeGraph":
        from belayer.codegraph.codegraph import CodeGraph  # noqa: PLC0415 - brings numpy, which few commands need

        place, ours = self.place(repository.id), repository.commit is not None
        git_dir = place / "git" if ours else None
        return await CodeGraph.open(repository.folder, place / "graph.db", git_dir, is_commit=ours)

    async def aclose(self) -> None:
        """Let go of every graph."""
        while self._open:
            _, graph = self._open.popitem()
            await graph.close()

    @asynccontextmanager
    async def alone(self, repo_id: str) -> AsyncGenerator[None]:
        """While this lasts, no other process and no other session fetches or builds this repository."""
        place = self.place(repo_id)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(place / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _taken(lock):  # noqa: ASYNC110 - another process may have it, and nobody tells when it lets go
                await asyncio.sleep(_LOOK_AGAIN)
            yield
        finally:
            os.close(lock)

    def _read(self, repo_id: str) -> Repository | None:
        try:
            return Repository.model_validate_json((self.place(repo_id) / "repository.json").read_bytes())
        except (OSError, ValidationError):
            return None


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _id(what: str) -> str:
    return hashlib.sha256(what.encode(errors="surrogatepass")).hexdigest()[:_ID_LENGTH]


def _write(path: Path, text: str) -> None:
    aside = path.with_suffix(".new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)
