"""Files of the workspace: read, write, edit, list, search, move, delete. Nothing outside it can be reached.

Every change is made whole or not at all, says what was there before, and can be undone.
"""

import asyncio
import hashlib
import posixpath
from collections.abc import Callable
from difflib import unified_diff
from typing import Annotated

import re2
from pydantic import Field

from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.policy import Reach
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.errors import ConfigurationError, LogicError, NotAFile
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.rules import Risk
from belayer.workspace.workspace import Workspace

Path = Annotated[str, Field(min_length=1, max_length=4096, description="Relative to the workspace.")]

_MOST_TEXT = 5_000_000
_MOST_SEARCHED = 2_000_000
_LONGEST_LINE = 500
_PREVIEW_LINES = 400


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
    text: Annotated[str, Field(min_length=1, max_length=1_000)]
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
    text = _text(content, params.path)
    lines = text.splitlines(keepends=True)
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
    text = _text(await asyncio.to_thread(workspace.root.read, params.path), params.path)
    count = text.count(params.old)
    if count == 0:
        raise LogicError(
            f"{params.path} does not contain the text to be replaced. Nothing was changed.",
            "Read the file, then give `old` exactly as it stands there, with its spaces.",
        )
    if count > 1 and not params.all:
        raise LogicError(
            f"{params.path} contains the text to be replaced {count} times. Nothing was changed.",
            "Give more of the text around it, or set `all`.",
        )
    written = await _put(workspace, params.path, text.replace(params.old, params.new))
    return {**written, "replaced": count}


async def list_(params: List, workspace: Workspace) -> Json:
    listing = await asyncio.to_thread(workspace.root.entries, params.path, params.depth, params.most)
    entries: list[Json] = [
        {"path": entry.path, "kind": entry.kind, "bytes": entry.size} for entry in listing.entries
    ]
    return {"path": params.path, "entries": entries, "truncated": listing.truncated}


async def search(params: Search, workspace: Workspace) -> Json:
    try:
        pattern = re2.compile(params.text if params.regex else re2.escape(params.text))
    except re2.error as error:
        raise ConfigurationError(
            f"{params.text!r} is no regular expression that can be searched for: {error}.",
            "Use RE2 syntax (no look-around or back-references), or leave `regex` out.",
        ) from error
    return await asyncio.to_thread(_search, params, pattern.search, workspace)


async def move(params: Move, workspace: Workspace) -> Json:
    replaced = await workspace.keep(params.target) if params.overwrite else None
    await asyncio.to_thread(workspace.root.move, params.source, params.target, replace=params.overwrite)
    return {"source": params.source, "target": params.target, "replaced": replaced}


async def delete(params: Delete, workspace: Workspace) -> Json:
    kept: dict[str, Json] = {}
    for path in await asyncio.to_thread(_files_under, workspace, params):
        kept[path] = await workspace.keep(path)
    await asyncio.to_thread(workspace.root.delete, params.path, folder=params.folder)
    return {"path": params.path, "deleted": kept}


async def _put(workspace: Workspace, path: str, text: str, *, overwrite: bool = True) -> dict[str, Json]:
    """Write a file; what is on record says what was there before."""
    content = text.encode()
    previous = await workspace.keep(path) if overwrite else None
    await asyncio.to_thread(workspace.root.write, path, content, replace=overwrite)
    digest = hashlib.sha256(content).hexdigest()
    return {"path": path, "bytes": len(content), "sha256": digest, "previous": previous}


async def _put_back(workspace: Workspace, path: str, previous: Json) -> None:
    if isinstance(previous, str):
        content = await workspace.kept(previous)
        await asyncio.to_thread(workspace.root.write, path, content)
    elif await asyncio.to_thread(workspace.root.look, path) is not None:
        await asyncio.to_thread(workspace.root.delete, path)


async def undo_put(params: Write | Edit, output: Json, workspace: Workspace) -> Json:
    await _put_back(workspace, params.path, _of(output, "previous"))
    return {"path": params.path}


async def undo_move(params: Move, output: Json, workspace: Workspace) -> Json:
    if await asyncio.to_thread(workspace.root.look, params.target) is not None:
        await asyncio.to_thread(workspace.root.move, params.target, params.source)
    if _of(output, "replaced") is not None:
        await _put_back(workspace, params.target, _of(output, "replaced"))
    return {"path": params.source}


async def undo_delete(params: Delete, output: Json, workspace: Workspace) -> Json:
    deleted = _of(output, "deleted")
    for path, kept in (deleted if isinstance(deleted, dict) else {}).items():
        await _put_back(workspace, path, kept)
    return {"path": params.path}


async def probe_write(params: Write, workspace: Workspace) -> Probed:
    """A write may be done again; one that must find nothing there has happened if its content is there."""
    digest = await asyncio.to_thread(workspace.root.digest, params.path)
    content = params.content.encode()
    if digest == hashlib.sha256(content).hexdigest():
        return Happened({"path": params.path, "bytes": len(content), "sha256": digest, "previous": None})
    return DidNotHappen() if params.overwrite or digest is None else None


async def probe_edit(params: Edit, workspace: Workspace) -> Probed:
    """Whether the new text stands where the old one stood; where both or neither can be seen, nobody knows."""
    content = await asyncio.to_thread(workspace.root.read, params.path)
    text = _text(content, params.path)
    if params.old in text:
        return DidNotHappen() if params.old not in params.new and params.new not in text else None
    if not params.new or params.new not in text:
        return None
    digest = hashlib.sha256(content).hexdigest()
    return Happened({"path": params.path, "bytes": len(content), "sha256": digest, "previous": None})


async def probe_move(params: Move, workspace: Workspace) -> Probed:
    there = await asyncio.to_thread(workspace.root.look, params.source)
    arrived = await asyncio.to_thread(workspace.root.look, params.target)
    if there is None and arrived is not None:
        return Happened({"source": params.source, "target": params.target, "replaced": None})
    return DidNotHappen() if there is not None else None


async def probe_delete(params: Delete, workspace: Workspace) -> Probed:
    """Deleting goes on where it stopped."""
    if await asyncio.to_thread(workspace.root.look, params.path) is None:
        return Happened({"path": params.path, "deleted": {}})
    return DidNotHappen()


async def preview_write(params: Write, workspace: Workspace) -> Json:
    return await _difference(workspace, params.path, params.content)


async def preview_edit(params: Edit, workspace: Workspace) -> Json:
    text = _text(await asyncio.to_thread(workspace.root.read, params.path), params.path)
    return await _difference(workspace, params.path, text.replace(params.old, params.new))


async def _difference(workspace: Workspace, path: str, after: str) -> Json:
    """What a change would do to a file, as a diff."""
    is_there = await asyncio.to_thread(workspace.root.look, path) is not None
    before = _text(await asyncio.to_thread(workspace.root.read, path), path) if is_there else ""
    lines = [
        line.rstrip("\n")
        for line in unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            path if is_there else "/dev/null",
            path,
        )
    ]
    more = [f"… {len(lines) - _PREVIEW_LINES} more lines"] if len(lines) > _PREVIEW_LINES else []
    return "\n".join([*lines[:_PREVIEW_LINES], *more])


def _search(params: Search, matches: Callable[[str], object], workspace: Workspace) -> Json:
    listing = workspace.root.entries(params.path, 100)
    found: list[Json] = []
    skipped = 0
    for entry in listing.entries:
        if entry.kind != "file":
            continue
        try:
            if entry.size > _MOST_SEARCHED:
                raise NotAFile(f"{entry.path} is too large to search.")
            text = _text(workspace.root.read(entry.path), entry.path)
        except (LogicError, ConfigurationError):
            skipped += 1
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if matches(line):
                found.append({"path": entry.path, "line": number, "text": line[:_LONGEST_LINE]})
            if len(found) >= params.most:
                return {"matches": found, "truncated": True, "skipped": skipped}
    return {"matches": found, "truncated": listing.truncated, "skipped": skipped}


def _files_under(workspace: Workspace, params: Delete) -> list[str]:
    if not params.folder:
        return [params.path]
    return [entry.path for entry in workspace.root.entries(params.path, 100).entries if entry.kind == "file"]


def _text(content: bytes, path: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise NotAFile(f"{path} is not a text file (UTF-8).", "Only text can be read or edited.") from error


def _of(output: Json, name: str) -> Json:
    return output.get(name) if isinstance(output, dict) else None


def _at(path: str) -> str:
    return posixpath.normpath(path)


def _one(params: Read | Write | Edit | List | Search) -> Reach:
    return Reach(paths=(_at(params.path),))


def _both(params: Move) -> Reach:
    return Reach(paths=(_at(params.source), _at(params.target)))


def _gone(params: Delete) -> Reach:
    return Reach(paths=(_at(params.path),), risk=Risk.HIGH if params.folder else Risk.LOW)


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
