"""Where the user's repository stands, read from its files. Never runs git, believes only a name and a hash."""

import re
from pathlib import Path

from belayer.vocabulary.errors import BelayerError
from belayer.workspace.root import Root

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = re.compile(r"ref: *(refs/[^\s\x00-\x1f\x7f:?*\[\\^~]{1,1000})")
_MOST_PACKED = 64_000_000
_LONGEST_CHAIN = 5


def head_of(folder: Path) -> str | None:
    """`refs/heads/main@<commit>`, `<commit>` off any branch, `refs/heads/main` before a first commit; or None."""
    try:
        return _head(_repository(folder))
    except (BelayerError, OSError, ValueError):
        return None  # no repository, or none that can be understood


def _repository(folder: Path) -> Path:
    """The folder with the repository's state: `.git`, or where the file `.git` says."""
    state = folder / ".git"
    if state.is_dir():
        return state
    pointer = Root(folder).read(".git", 10_000).decode()
    if not pointer.startswith("gitdir:"):
        raise ValueError(pointer)
    return folder / pointer.removeprefix("gitdir:").strip()


def _head(repository: Path) -> str | None:
    state, shared = Root(repository), Root(_shared(repository))
    text = _line(state, "HEAD")
    branch = _REFERENCE.fullmatch(text)
    if branch is None:
        return _HASH.fullmatch(text) and text
    commit = _commit(state, shared, branch[1])
    return branch[1] if commit is None else f"{branch[1]}@{commit}"


def _shared(repository: Path) -> Path:
    """A worktree has its own HEAD, but shares the branches with the repository that it is of."""
    try:
        return repository / _line(Root(repository), "commondir")
    except BelayerError:
        return repository


def _commit(state: Root, shared: Root, name: str) -> str | None:
    for _ in range(_LONGEST_CHAIN):
        text = _loose(state, name) or _loose(shared, name) or _packed(shared, name)
        another = _REFERENCE.fullmatch(text or "")
        if another is None:
            return text if text and _HASH.fullmatch(text) else None
        name = another[1]
    return None


def _loose(root: Root, name: str) -> str | None:
    try:
        return _line(root, name)
    except BelayerError:
        return None


def _packed(root: Root, name: str) -> str | None:
    try:
        lines = root.read("packed-refs", _MOST_PACKED).splitlines()
    except BelayerError:
        return None
    wanted = b" " + name.encode()
    return next(
        (line[: -len(wanted)].decode("ascii", "replace") for line in lines if line.endswith(wanted)), None
    )


def _line(root: Root, name: str) -> str:
    return root.read(name, 10_000).decode().strip()
