"""Which paths and names there may be, which are protected, which are twins, and how to show them. Pure.

Inside this package a path is bytes below the workspace, `/` between its parts; b"" is the workspace itself.
"""

import unicodedata

from belayer.vocabulary.errors import OutsideWorkspace

# Other programs' state and the settings of agents: whoever may write them may run code or change the rules.
_PROTECTED = frozenset({".git", ".hg", ".svn", ".claude", ".codex", ".belayer"})
# Of these, the ones that change under other hands: neither kept in a snapshot nor brought back.
_LIVING = frozenset({".git", ".hg", ".svn", ".belayer"})

_LONGEST_PATH = 4096
_LONGEST_SHOWN = 300


def cleaned(path: str) -> bytes:
    """A path from outside, as the kernel takes it, without its empty and `.` parts."""
    raw = _encoded(path)
    if not raw or b"\0" in raw or len(raw) > _LONGEST_PATH:
        raise OutsideWorkspace(
            f"{shown(path)} is not a path: it is empty, too long, or holds a character no path can hold.",
            "Give a path relative to the workspace, such as src/main.py.",
        )
    parts = [part for part in raw.split(b"/") if part not in (b"", b".")]
    if raw.startswith(b"/") or b".." in parts:
        raise OutsideWorkspace(
            f"{shown(path)} may lead out of the workspace, so it was not opened.",
            "Give a path relative to the workspace, without `..` and without a leading `/`.",
        )
    return b"/".join(parts)


def joined(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name


def split(path: bytes) -> tuple[bytes, bytes]:
    """The folder and the name in it."""
    folder, _, name = path.rpartition(b"/")
    return folder, name


def folders_above(path: bytes) -> list[bytes]:
    """Every folder on the way to the path, the nearest first, without the workspace itself."""
    above: list[bytes] = []
    while path := split(path)[0]:
        above.append(path)
    return above


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether the path is the folder or lies in it."""
    return not folder or path == folder or path.startswith(folder + b"/")


def protected_part(path: bytes) -> bytes | None:
    """The part of the path that nothing may write, if it has one."""
    return next((part for part in path.split(b"/") if _is_one_of(part, _PROTECTED)), None)


def is_living(name: bytes) -> bool:
    """Whether this is the state of another program, such as `.git`, in whatever spelling."""
    return _is_one_of(name, _LIVING)


def twin_key(name: bytes) -> str:
    """Equal for two names that some file systems cannot hold beside each other."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", _decoded(name)).casefold())


def visible(path: bytes) -> str:
    """The path as text; bytes that are not UTF-8 as in `m\\xe9`."""
    return path.decode("utf-8", "backslashreplace")


def shown(path: str | bytes) -> str:
    """The path in quotes for a sentence: whatever would hide, break or turn the line is escaped."""
    text = path if isinstance(path, str) else _decoded(path)
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def _encoded(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b""  # half a character: no file can have such a name


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _is_one_of(name: bytes, names: frozenset[str]) -> bool:
    if name.isascii():
        return name[:1] == b"." and name.lower().decode() in names
    seen = (c for c in unicodedata.normalize("NFKC", _decoded(name)) if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", "".join(seen).casefold()) in names
