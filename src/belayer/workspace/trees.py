"""Folders as git writes them: from paths to trees, and from a tree back to paths."""

from collections.abc import Callable, Mapping

from belayer.workspace.names import folders_above, is_living, joined, split
from belayer.workspace.objects import Objects
from belayer.workspace.scan import CUT, FILE, LEFT_OUT, LINK, MOST_LEVELS, PROGRAM, Item

_FOLDER = 0o040000
_MODES = {b"%o" % mode: mode for mode in (FILE, PROGRAM, LINK, LEFT_OUT, _FOLDER)}
_SHA_BYTES = 20


def tree_of(items: Mapping[bytes, Item], keep: Callable[[bytes], bytes]) -> bytes:
    """The hash of the tree that holds the items; every tree on the way is given to `keep`."""
    folders: dict[bytes, dict[bytes, Item]] = {b"": {}}
    for path, item in items.items():
        above, name = split(path)
        if above not in folders:
            folders |= {folder: {} for folder in (above, *folders_above(above)) if folder not in folders}
        folders[above][name] = item
    for folder in sorted(folders, key=_depth, reverse=True)[:-1]:
        above, name = split(folder)
        folders[above][name] = Item(_FOLDER, keep(_written(folders.pop(folder))))
    return keep(_written(folders[b""]))


def items_of(objects: Objects, tree: bytes) -> dict[bytes, Item]:
    """All that a tree holds, by path."""
    items: dict[bytes, Item] = {}
    waiting = [(b"", tree)]
    while waiting:
        folder, sha = waiting.pop()
        for name, item in entries_in(objects, sha).items():
            path = joined(folder, name)
            if item.mode != _FOLDER:
                items[path] = item
            elif path.count(b"/") <= MOST_LEVELS:
                waiting.append((path, item.sha))
            else:
                raise objects.corrupt(sha, "is too deep")
    return items


def item_at(objects: Objects, tree: bytes, path: bytes) -> Item | None:
    """What the tree holds at the path, unless that is a folder or nothing."""
    item = Item(_FOLDER, tree)
    for part in path.split(b"/"):
        if item.mode != _FOLDER:
            return None
        found = entries_in(objects, item.sha).get(part)
        if found is None:
            return None
        item = found
    return None if item.mode in (_FOLDER, LEFT_OUT) else item


def entries_in(objects: Objects, tree: bytes) -> dict[bytes, Item]:
    """The entries of one tree. A name that no scan would have put there means that other hands wrote the tree."""
    content = objects.get("tree", tree)
    entries: dict[bytes, Item] = {}
    at = 0
    while at < len(content):
        end = content.find(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + _SHA_BYTES
        if end < 0 or at > len(content) or not _fits(mode, name):
            raise objects.corrupt(tree, "is no tree of ours")
        entries[name] = Item(_MODES[mode], content[at - _SHA_BYTES : at])
    return entries


def _fits(mode: bytes, name: bytes) -> bool:
    if mode not in _MODES:
        return False
    if name == CUT:
        return _MODES[mode] == LEFT_OUT
    return name not in (b"", b".", b"..") and b"/" not in name and not is_living(name)


def _depth(folder: bytes) -> tuple[bool, int]:
    return bool(folder), folder.count(b"/")


def _written(entries: Mapping[bytes, Item]) -> bytes:
    # Git sorts a folder as if its name ended with a slash.
    ordered = sorted(entries.items(), key=lambda entry: entry[0] + b"/" * (entry[1].mode == _FOLDER))
    return b"".join(b"%o %s\0%s" % (item.mode, name, item.sha) for name, item in ordered)
