"""Files of the workspace: read, write, edit, list, search, move, delete. Nothing outside it can be reached.

Every change is made whole or not at all, says what was there before, and can be undone.
"""

import asyncio
import hashlib
import posixpath
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.policy import Reach
from belayer.tools.difference import difference
from belayer.tools.searching import EVERY_LEVEL, found_in, matching
from belayer.tools.texts import lines_of, text_of
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.errors import LogicError, TooLarge
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.rules import Risk
from belayer.workspace.names import shown
from belayer.workspace.root import Root
from belayer.workspace.workspace import Workspace

Path = Annotated[str, Field(min_length=1, max_length=4096, description="Relative to the workspace.")]

_MOST_TEXT = 5_000_000
_MOST_EDITED = 10_000_000
_REWIND = "Rewind the session to before the step: the files go back with it."


class Read(Params):
    path: Path
    first_line: Annotated[int, Field(ge=1)] = 1
    most_lines: Annotated[int, Field(ge=1)] | None = None


class Write(Params):
    path: Path
    content: Annotated[str, Field(max_length=_MOST_TEXT)]
    overwrite: bool = True


class Edit(Params):
    path: Path
    old: Annotated[
        str, Field(min_length=1, max_length=_MOST_TEXT, description="Exactly as it stands in the file.")
    ]
    new: Annotated[str, Field(max_length=_MOST_TEXT)]
    all: Annotated[bool, Field(description="Every occurrence; else `old` must occur once.")] = False


class List(Params):
    path: Path = "."
    depth: Annotated[int, Field(ge=1, le=100)] = 1
    most: Annotated[int, Field(ge=1, le=10_000)] = 1_000


class Search(Params):
    text: Annotated[
        str, Field(pattern=r"^[^\r\n]+$", max_length=1_000, description="To be found within one line.")
    ]
    regex: Annotated[bool, Field(description="`text` is a regular expression (RE2).")] = False
    path: Path = "."
    most: Annotated[int, Field(ge=1, le=10_000)] = 200


class Move(Params):
    source: Path
    target: Path
    overwrite: bool = False


class Delete(Params):
    path: Path
    folder: Annotated[bool, Field(description="Delete a folder with all that is in it.")] = False


async def read(params: Read, workspace: Workspace) -> Json:
    content = await asyncio.to_thread(workspace.root.read, params.path)
    lines = lines_of(text_of(content, params.path))
    last = len(lines) if params.most_lines is None else params.first_line - 1 + params.most_lines
    chosen = lines[params.first_line - 1 : last]
    return {
        "path": params.path,
        "text": "".join(chosen),
        "lines": len(lines),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "truncated": len(chosen) < len(lines),
    }


async def write(params: Write, workspace: Workspace) -> Json:
    return await _put(workspace, params.path, params.content, overwrite=params.overwrite)


async def edit(params: Edit, workspace: Workspace) -> Json:
    text = text_of(await asyncio.to_thread(workspace.root.read, params.path), params.path)
    written = await _put(workspace, params.path, _edited(text, params))
    return {**written, "replaced": text.count(params.old)}


async def list_(params: List, workspace: Workspace) -> Json:
    listing = await asyncio.to_thread(workspace.root.entries, params.path, params.depth, params.most)
    entries: list[Json] = [
        {"path": entry.path, "kind": entry.kind, "bytes": entry.size} for entry in listing.entries
    ]
    return {"path": params.path, "entries": entries, "truncated": listing.truncated}


async def search(params: Search, workspace: Workspace) -> Json:
    matches = matching(params.text, regex=params.regex)
    return await asyncio.to_thread(found_in, workspace.root, params.path, matches, params.most)


async def move(params: Move, workspace: Workspace) -> Json:
    replaced = await _kept(workspace, params.target) if params.overwrite else None
    folders = await asyncio.to_thread(_missing_above, workspace.root, params.target)
    await asyncio.to_thread(workspace.root.move, params.source, params.target, replace=params.overwrite)
    return {"source": params.source, "target": params.target, "replaced": replaced, "folders": folders}


async def delete(params: Delete, workspace: Workspace) -> Json:
    kept: dict[str, Json] = {}
    for path in await asyncio.to_thread(_going, workspace.root, params):
        kept[path] = await _kept(workspace, path)
    await asyncio.to_thread(workspace.root.delete, params.path, folder=params.folder)
    return {"path": params.path, "deleted": kept}


async def _put(workspace: Workspace, path: str, text: str, *, overwrite: bool = True) -> dict[str, Json]:
    """Write a file; what is on record says what was there before."""
    content = text.encode()
    previous = await _kept(workspace, path) if overwrite else None
    folders = await asyncio.to_thread(_missing_above, workspace.root, path)
    await asyncio.to_thread(workspace.root.write, path, content, replace=overwrite)
    digest = hashlib.sha256(content).hexdigest()
    return {"path": path, "bytes": len(content), "sha256": digest, "previous": previous, "folders": folders}


async def _kept(workspace: Workspace, path: str) -> str | None:
    """Keep what a file holds, for an undo; None if there is no file."""
    try:
        return await workspace.keep(path)
    except TooLarge as error:
        raise TooLarge(
            f"{shown(path)} is too large to be kept, so it could not be brought back. Nothing was changed.",
            "Change or remove it yourself, outside of Belayer.",
        ) from error


async def _put_back(workspace: Workspace, path: str, previous: Json) -> None:
    if isinstance(previous, str):
        await workspace.put_back(path, previous)
    elif await asyncio.to_thread(workspace.root.look, path) is not None:
        await asyncio.to_thread(workspace.root.delete, path)


async def undo_put(params: Write | Edit, output: Json, workspace: Workspace) -> Json:
    await _put_back(workspace, params.path, _recorded(output, "previous"))
    await asyncio.to_thread(_remove_empty, workspace.root, _recorded(output, "folders"))
    return {"path": params.path}


async def undo_move(params: Move, output: Json, workspace: Workspace) -> Json:
    name = _recorded(output, "replaced")
    replaced = await workspace.kept(name) if isinstance(name, str) else None
    if not await asyncio.to_thread(_is_back, workspace.root, params, replaced):
        await asyncio.to_thread(workspace.root.move, params.target, params.source)
    if isinstance(name, str):
        await workspace.put_back(params.target, name)
    await asyncio.to_thread(_remove_empty, workspace.root, _recorded(output, "folders"))
    return {"path": params.source}


async def undo_delete(params: Delete, output: Json, workspace: Workspace) -> Json:
    deleted = _recorded(output, "deleted")
    kept = deleted if isinstance(deleted, dict) else {}
    for path, previous in kept.items():
        if previous is not None:
            await _put_back(workspace, path, previous)
    if lost := [shown(path) for path, previous in kept.items() if previous is None]:
        raise LogicError(
            f"Only plain files can be brought back by an undo, so these are still missing: {', '.join(lost[:10])}.",
            _REWIND,
        )
    return {"path": params.path}


async def probe_write(params: Write, workspace: Workspace) -> Probed:
    """A write may be done again; one that must find nothing there has happened if its content is there."""
    digest = await asyncio.to_thread(workspace.root.digest, params.path)
    content = params.content.encode()
    if digest == hashlib.sha256(content).hexdigest():
        return Happened({"path": params.path, "bytes": len(content), "sha256": digest})
    return DidNotHappen() if params.overwrite or digest is None else None


async def probe_edit(params: Edit, workspace: Workspace) -> Probed:
    """Whether the new text stands where the old one stood; where both or neither can be seen, nobody knows."""
    content = await asyncio.to_thread(workspace.root.read, params.path)
    text = text_of(content, params.path)
    if params.old in text:
        return DidNotHappen() if params.old not in params.new and params.new not in text else None
    if not params.new or params.new not in text:
        return None
    digest = hashlib.sha256(content).hexdigest()
    return Happened({"path": params.path, "bytes": len(content), "sha256": digest})


async def probe_move(params: Move, workspace: Workspace) -> Probed:
    there = await asyncio.to_thread(workspace.root.look, params.source)
    arrived = await asyncio.to_thread(workspace.root.look, params.target)
    if there is None and arrived is not None:
        return Happened({"source": params.source, "target": params.target})
    return DidNotHappen() if there is not None else None


async def probe_delete(params: Delete, workspace: Workspace) -> Probed:
    """Deleting goes on where it stopped."""
    if await asyncio.to_thread(workspace.root.look, params.path) is None:
        return Happened({"path": params.path})
    return DidNotHappen()


async def preview_write(params: Write, workspace: Workspace) -> Json:
    return await asyncio.to_thread(difference, workspace.root, params.path, params.content)


async def preview_edit(params: Edit, workspace: Workspace) -> Json:
    text = text_of(await asyncio.to_thread(workspace.root.read, params.path), params.path)
    return await asyncio.to_thread(difference, workspace.root, params.path, _edited(text, params))


def _edited(text: str, params: Edit) -> str:
    """The text with the change made; an error unless it is clear what is to be changed."""
    count = text.count(params.old)
    if count == 0:
        raise LogicError(
            f"{shown(params.path)} does not contain the text to be replaced. Nothing was changed.",
            "Read the file, then give `old` exactly as it stands there, with its spaces.",
        )
    if count > 1 and not params.all:
        raise LogicError(
            f"{shown(params.path)} contains the text to be replaced {count} times. Nothing was changed.",
            "Give more of the text around it, or set `all`.",
        )
    if len(text) + count * (len(params.new) - len(params.old)) > _MOST_EDITED:
        raise TooLarge(
            f"{shown(params.path)} would become larger than {_MOST_EDITED:,} characters. Nothing was changed.",
            "Replace less of it, or by less.",
        )
    return text.replace(params.old, params.new)


def _going(root: Root, params: Delete) -> list[str]:
    """What a deletion takes away, folders aside. More than can be told is not deleted."""
    entry = root.look(params.path)
    if entry is None or entry.kind != "folder" or not params.folder:
        return [params.path]
    listing = root.entries(params.path, EVERY_LEVEL)
    if listing.truncated:
        raise TooLarge(
            f"{shown(params.path)} holds more than can be kept for an undo. Nothing was deleted.",
            "Delete the folders in it one by one, or delete it yourself, outside of Belayer.",
        )
    return [entry.path for entry in listing.entries if entry.kind != "folder"]


def _missing_above(root: Root, path: str) -> list[Json]:
    """The folders that will be made on the way to the path, the innermost first."""
    above = [str(folder) for folder in PurePosixPath(_at(path)).parents][:-1]
    return [folder for folder in above if root.look(folder) is None]


def _remove_empty(root: Root, folders: Json) -> None:
    """Remove the folders that a step has made, unless something else is in them now."""
    for folder in folders if isinstance(folders, list) else []:
        entry = root.look(str(folder))
        if entry is not None and entry.kind == "folder" and not root.entries(str(folder), most=1).entries:
            root.delete(str(folder), folder=True)


def _is_back(root: Root, params: Move, replaced: bytes | None) -> bool:
    """Whether an undo that was cut off has moved it back already."""
    if root.look(params.source) is None:
        return False
    target = root.look(params.target)
    return target is None or (target.kind == "file" and root.read(params.target) == replaced)


def _recorded(output: Json, name: str) -> Json:
    """What the step kept for its undo."""
    if not isinstance(output, dict) or name not in output:
        raise LogicError(
            "The step was cut off, so it is not on record what was there before it, and it cannot be undone by itself.",
            _REWIND,
        )
    return output[name]


def _at(path: str) -> str:
    return posixpath.normpath(path)


def _one(params: Read | Write | Edit | List | Search) -> Reach:
    return Reach(paths=(_at(params.path),))


def _both(params: Move) -> Reach:
    return Reach(paths=(_at(params.source), _at(params.target)))


def _gone(params: Delete) -> Reach:
    risk = Risk.HIGH if params.folder else Risk.LOW
    return Reach(paths=(_at(params.path),), risk=risk, below=params.folder)


_READS = Effect.READ
_WRITES = Effect.WRITE

TOOLS: tuple[AnyTool, ...] = (
    Tool("files.read", "Read a text file.", Read, read, effect=_READS, reach=_one),
    Tool("files.list", "List a folder.", List, list_, effect=_READS, reach=_one),
    Tool("files.search", "Find text in files.", Search, search, effect=_READS, reach=_one),
    Tool(
        "files.write", "Write a text file, whole or not at all.", Write, write,
        effect=_WRITES, reach=_one, preview=preview_write, probe=probe_write, undo=undo_put,
    ),
    Tool(
        "files.edit", "Replace a text in a file.", Edit, edit,
        effect=_WRITES, reach=_one, preview=preview_edit, probe=probe_edit, undo=undo_put,
    ),
    Tool(
        "files.move", "Move or rename a file or folder.", Move, move,
        effect=_WRITES, reach=_both, probe=probe_move, undo=undo_move,
    ),
    Tool(
        "files.delete", "Delete a file, or a folder with all that is in it.", Delete, delete,
        effect=_WRITES, reach=_gone, probe=probe_delete, undo=undo_delete,
    ),
)  # fmt: skip
