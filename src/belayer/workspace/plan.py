"""What a restore will do, decided before anything is touched. Pure.

Nothing is deleted that the snapshot did not look at; nothing is written over what is no plain file any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from belayer.workspace.names import folders_above, is_within, split, visible
from belayer.workspace.scan import CUT, LEFT_OUT, LINK, Item, Scan


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a path; for one that is skipped, why."""

    path: str
    kind: Literal["write", "delete", "skip"]
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A change by the path's own bytes."""

    path: bytes
    kind: Literal["write", "delete", "skip"]
    why: str | None = None

    def change(self) -> Change:
        return Change(visible(self.path), self.kind, self.why)


def plan(wanted: Mapping[bytes, Item], now: Scan) -> list[Move]:
    """The moves, by path, that make the workspace what is wanted."""
    folders = {folder for path in wanted for folder in folders_above(path)}
    surplus = [
        _without(path, item, folders, now)
        for path, item in now.items.items()
        if path not in wanted and split(path)[1] != CUT and not _left_out(path, wanted)
    ]
    surplus += [
        Move(path, "skip", "It is no folder any more, nor a file that could make room for one.")
        for path in now.kept & folders
    ]
    staying = now.kept | {move.path for move in surplus if move.kind == "skip"}
    wanting = [
        _with(path, item, now, staying) for path, item in wanted.items() if now.items.get(path) != item
    ]
    return sorted(surplus + [move for move in wanting if move is not None], key=lambda move: move.path)


def _left_out(path: bytes, wanted: Mapping[bytes, Item]) -> bool:
    """Whether the snapshot may have left the path out, so that its absence says nothing."""
    above = folders_above(path)
    if any(folder in wanted and wanted[folder].mode == LEFT_OUT for folder in above):
        return True
    return CUT in wanted or any(folder + b"/" + CUT in wanted for folder in above)


def _without(path: bytes, item: Item, folders: set[bytes], now: Scan) -> Move:
    """What to do about a path that the snapshot does not have."""
    if item.mode == LEFT_OUT:
        return Move(
            path,
            "skip",
            "It is new, and too large, too much or too closed to be kept: once gone, it could not be brought back.",
        )
    if path in folders and item.mode == LINK:
        return Move(
            path, "skip", "It was a folder and is a symbolic link now; what it held is not brought back."
        )
    if path in folders and path in now.hard_linked:
        return Move(path, "skip", "It was a folder and is a file with a second name now.")
    return Move(path, "delete")


def _with(path: bytes, item: Item, now: Scan, staying: set[bytes]) -> Move | None:
    """What to do about a path that the snapshot has otherwise than it is now."""
    here = now.items.get(path)
    if split(path)[1] == CUT or any(folder in staying for folder in folders_above(path)):
        return None
    if item.mode == LEFT_OUT:
        return Move(path, "skip", "It was left out of the snapshot, and is not as it was then.")
    if path in now.kept:
        return Move(path, "skip", "It is no plain file any more.")
    if here is not None and here.mode == LINK and item.mode != LINK:
        return Move(path, "skip", "It has become a symbolic link, which is not written through or over.")
    if path in now.hard_linked:
        return Move(path, "skip", "It has a second name (a hard link), which may lie outside the workspace.")
    if path in now.folders and any(is_within(stays, path) for stays in staying):
        return Move(path, "skip", "It is a folder now, with something in it that has to stay.")
    return Move(path, "write")
