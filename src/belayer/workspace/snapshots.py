"""States of a workspace's files to go back to: git trees in a store of our own, beside nothing of the user's."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from belayer.vocabulary.errors import CorruptSnapshot
from belayer.vocabulary.events.event import Snapshot
from belayer.workspace.head import head_of
from belayer.workspace.index import Note, packed, unpacked
from belayer.workspace.names import cleaned
from belayer.workspace.objects import Objects, hash_of
from belayer.workspace.plan import Change, plan
from belayer.workspace.restore import carry_out
from belayer.workspace.root import Root
from belayer.workspace.scan import Item, Scan, scan
from belayer.workspace.trees import item_at, items_of, tree_of


class Snapshots:
    """The states kept in one folder. Threads take turns; processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        self._objects = Objects(folder)
        self._place = folder / "belayer-index"
        self._index: Mapping[bytes, Note] | None = None
        self._turn = threading.Lock()

    def take(self, root: Root) -> Snapshot:
        """Keep the files as they are now."""
        with self._turn:
            head = head_of(root.folder)
            found = scan(root, self._known(), lambda content: self._objects.put("blob", content))
            tree = tree_of(found.items, lambda content: self._objects.put("tree", content))
            self._objects.sync()
            self._note(found)
        return Snapshot(tree=tree.hex(), head=head, truncated=found.truncated)

    def changes(self, root: Root, snapshot: Snapshot) -> list[Change]:
        """What a restore would do to the files as they are now."""
        with self._turn:
            wanted = items_of(self._objects, bytes.fromhex(snapshot.tree))
            return [move.change() for move in plan(wanted, self._look(root))]

    def restore(self, root: Root, snapshot: Snapshot) -> list[Change]:
        """Make the files what they were; what was done. May be repeated after it was cut off."""
        with self._turn:
            wanted = items_of(self._objects, bytes.fromhex(snapshot.tree))
            moves = plan(wanted, self._look(root))
            self._check([wanted[move.path] for move in moves if move.kind == "write"], root)
            return [move.change() for move in carry_out(root, moves, wanted, self._content)]

    def content(self, snapshot: Snapshot, path: str) -> bytes | None:
        """What a file held, or where a link led; None if the snapshot has neither there."""
        item = item_at(self._objects, bytes.fromhex(snapshot.tree), cleaned(path))
        return None if item is None else self._content(item)

    def share(self, folder: Path) -> None:
        """Let another store have everything that this one has; it takes no room twice."""
        with self._turn:
            self._objects.share(folder)

    def keep(self, content: bytes) -> str:
        """Keep one content by itself; the name under which `kept` has it."""
        with self._turn:
            sha = self._objects.put("blob", content)
            self._objects.sync()
        return sha.hex()

    def kept(self, name: str) -> bytes:
        """What was kept under this name."""
        try:
            sha = bytes.fromhex(name)
        except ValueError as error:
            raise CorruptSnapshot(
                f"Nothing was kept under {name!r}.", "Go on from the files as they are."
            ) from error
        return self._objects.get("blob", sha)

    def _content(self, item: Item) -> bytes:
        return self._objects.get("blob", item.sha)

    def _look(self, root: Root) -> Scan:
        return scan(root, self._known(), lambda content: hash_of("blob", content))

    def _check(self, items: list[Item], root: Root) -> None:
        """Nothing is touched unless all that will be written is at hand and has room."""
        size = sum(len(self._content(item)) for item in items)
        root.check_space(size)

    def _known(self) -> Mapping[bytes, Note]:
        if self._index is None:
            self._index = {}
            with suppress(OSError):
                self._index = unpacked(self._place.read_bytes())
        return self._index

    def _note(self, found: Scan) -> None:
        """Only after the contents are on the disk: what is noted is not written again."""
        if found.notes != self._index:
            self._objects.write_aside(self._place, packed(found.notes))
            self._index = found.notes
