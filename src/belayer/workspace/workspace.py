"""The folder that a session works in, and the states of its files to go back to."""

import asyncio
import hashlib
import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from belayer.vocabulary.errors import OutsideWorkspace, ProtectedPath, WorkspaceMissing, WorkspaceMoved
from belayer.vocabulary.events.event import Snapshot
from belayer.vocabulary.events.lifecycle import WorkspaceRestored
from belayer.workspace.confined import remove_tree
from belayer.workspace.head import head_of
from belayer.workspace.names import cleaned, shown
from belayer.workspace.plan import Change
from belayer.workspace.root import Root
from belayer.workspace.scan import MOST_BYTES
from belayer.workspace.snapshots import Snapshots

_DEEPEST = 100
_MOST_NAMED = 200
_EXECUTABLE = "+x"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Workspace:
    """One folder, whoever works in it."""

    folder: Path
    root: Root
    snapshots: Snapshots

    async def check(self) -> None:
        """Raise WorkspaceMissing unless the folder is there."""
        await asyncio.to_thread(self._open)

    async def snapshot(self) -> Snapshot:
        """Keep the files as they are now."""
        return await asyncio.to_thread(self.snapshots.take, self.root)

    async def changes(self, snapshot: Snapshot) -> list[Change]:
        """What a restore would do."""
        await asyncio.to_thread(self._refuse_if_moved, snapshot)
        return await asyncio.to_thread(self.snapshots.changes, self.root, snapshot)

    async def restore(self, snapshot: Snapshot) -> WorkspaceRestored:
        """Make the files what they were, having kept what they are; what was done, for the log."""
        await asyncio.to_thread(self._refuse_if_moved, snapshot)
        before = await self.snapshot()
        return _restored(
            snapshot, before, await asyncio.to_thread(self.snapshots.restore, self.root, snapshot)
        )

    async def digests(self, paths: Iterable[str]) -> dict[str, str | None]:
        """By what it shows that something at one of the paths has changed; None for nothing."""
        return await asyncio.to_thread(lambda: {path: self._digest(path) for path in paths})

    async def keep(self, path: str) -> str | None:
        """Keep what a file holds, before it goes; the name under which `kept` has it. None if there is no file."""
        return await asyncio.to_thread(self._keep, path)

    async def put_back(self, path: str, name: str) -> None:
        """Make a file what it was when it was kept."""
        content = await self.kept(name)
        await asyncio.to_thread(self.root.write, path, content, executable=name.endswith(_EXECUTABLE))

    async def kept(self, name: str) -> bytes:
        """A content that was kept."""
        return await asyncio.to_thread(self.snapshots.kept, name.removesuffix(_EXECUTABLE))

    def _open(self) -> None:
        with self.root.open():
            pass

    def _digest(self, path: str) -> str | None:
        entry = self.root.look(path)
        if entry is None or entry.kind == "file":
            return self.root.digest(path)
        held = self.root.entries(path, _DEEPEST).entries if entry.kind == "folder" else []
        return hashlib.sha256(repr([entry, *held]).encode()).hexdigest()

    def _keep(self, path: str) -> str | None:
        entry = self.root.look(path)
        if entry is None or entry.kind != "file":
            return None
        name = self.snapshots.keep(self.root.read(path, MOST_BYTES))
        return f"{name}{_EXECUTABLE}" if entry.executable else name

    def _refuse_if_moved(self, snapshot: Snapshot) -> None:
        self._open()
        head = head_of(self.folder)
        if head is not None and head != snapshot.head:
            raise WorkspaceMoved(
                f"The repository in {shown(os.fsencode(self.folder))} is at {head or 'no commit'} now and was at"
                f" {snapshot.head or 'no commit'} when the files were kept, so they were left as they are.",
                f"Check out {snapshot.head or 'the state before the repository was made'} first, then try again.",
            )


def _restored(snapshot: Snapshot, before: Snapshot, changes: Sequence[Change]) -> WorkspaceRestored:
    kinds = Counter(change.kind for change in changes)
    skipped = [f"{change.path}: {change.why}" for change in changes if change.kind == "skip"]
    if len(skipped) > _MOST_NAMED:
        skipped[_MOST_NAMED:] = [f"… and {len(skipped) - _MOST_NAMED} more"]
    return WorkspaceRestored(
        tree=snapshot.tree,
        before=before,
        written=kinds["write"],
        deleted=kinds["delete"],
        skipped=tuple(skipped),
    )


class Workspaces:
    """The workspaces of one Belayer home, which stays out of all of them; without a home, they go with the process."""

    def __init__(self, home: Path | None) -> None:
        if home is None:
            home = Path(tempfile.mkdtemp(prefix="belayer-"))
            weakref.finalize(self, shutil.rmtree, home, ignore_errors=True)
        self._home = home.resolve()
        self._known: weakref.WeakValueDictionary[Path, Workspace] = weakref.WeakValueDictionary()

    def of(self, folder: Path) -> Workspace:
        """The folder's workspace: the same one for as long as anybody holds it."""
        folder = folder.resolve()
        workspace = self._known.get(folder)
        if workspace is None:
            workspace = Workspace(folder, self._root(folder), Snapshots(self._store(folder)))
            self._known[folder] = workspace
        return workspace

    def given(self, folder: str) -> Path:
        """The folder that a person named, if a session can work in it."""
        try:
            path = Path(folder).resolve(strict=True)
            self.of(path).root.entries(most=0)
        except (OSError, ValueError, RuntimeError) as error:
            raise WorkspaceMissing(
                f"{shown(folder)} cannot be a workspace: it does not exist, or may not be read.",
                "Give the path of a folder that is there.",
            ) from error
        return path

    def private(self, session_id: str) -> Path:
        """A folder of the session's own, made if it is missing."""
        folder = self._private(session_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def own(self, session_id: str) -> Path:
        """Where the session's own folder is, or would be."""
        return self._private(session_id)

    async def branched(self, origin: Path, session_id: str, snapshot: Snapshot | None) -> Path:
        """A folder of the session's own with the origin's files: as they were then, or as they are now."""
        source, folder = self.of(origin), self.private(session_id)
        snapshot = snapshot or await source.snapshot()
        await asyncio.to_thread(source.snapshots.share, self._store(folder))
        await asyncio.to_thread(self.of(folder).snapshots.restore, self.of(folder).root, snapshot)
        return folder

    def forget(self, folder: Path) -> None:
        """Remove the states kept of a folder that no session works in any more, and the folder itself if we made it."""
        shutil.rmtree(self._store(folder), ignore_errors=True)
        if folder.parent == self._home / "workspaces" and folder.exists():
            with Root(folder.parent).open() as top:
                remove_tree(top, os.fsencode(folder.name))

    def _root(self, folder: Path) -> Root:
        if not folder.is_relative_to(self._home) and folder != Path("/"):
            return Root(folder, [self._home])
        if folder.parent != self._home / "workspaces":
            raise ProtectedPath(
                f"{shown(os.fsencode(folder))} belongs to Belayer or to the machine and cannot be a workspace.",
                "Choose a folder of your own.",
            )
        return Root(folder)

    def _store(self, folder: Path) -> Path:
        return self._home / "snapshots" / hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]

    def _private(self, session_id: str) -> Path:
        name = cleaned(session_id)
        if not name or b"/" in name:
            raise OutsideWorkspace(
                f"{shown(session_id)} is no session's id.", "Give the id that `belayer ls` shows."
            )
        return self._home / "workspaces" / os.fsdecode(name)
