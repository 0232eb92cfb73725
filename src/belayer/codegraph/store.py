"""The graph on disk: one SQLite file per repository, a few blobs per source file. The only file here that knows SQL.

A full build writes another file and then takes the old one's name; an update is one transaction. So whoever reads sees
the old graph or the new one, and a build that is killed leaves the old one. SQLite's rollback journal and not its WAL:
one that stays behind would be played into the file that takes the name. It is a cache of what the sources say, so a
power cut may cost it, but never makes an answer wrong: every blob has its checksum.
"""

import fcntl
import os
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from belayer.codegraph.discover import Stamp
from belayer.codegraph.packing import Damaged, sealed, unsealed

FORMAT = 1
_PATIENCE_MS = 60_000
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, is_manifest INTEGER NOT NULL,
    size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL,
    read_at INTEGER NOT NULL, digest BLOB NOT NULL, state TEXT NOT NULL, language TEXT NOT NULL,
    linked INTEGER NOT NULL, nodes INTEGER NOT NULL, edges INTEGER NOT NULL
);
CREATE TABLE contents (file INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE words (file INTEGER PRIMARY KEY, words BLOB NOT NULL);
CREATE TABLE links (file INTEGER PRIMARY KEY, nodes BLOB NOT NULL, edges BLOB NOT NULL);
CREATE TABLE memories (file INTEGER PRIMARY KEY, memory BLOB NOT NULL);
"""
_TABLES = ("contents", "words", "links", "memories")


class FileRow(NamedTuple):
    """A file as the store knows it. `linked` is the generation in which its links were written, 0 for none; `nodes` and
    `edges` count what came of it."""

    number: int
    path: str
    is_manifest: bool
    stamp: Stamp
    read_at: int
    digest: bytes
    state: str
    language: str
    linked: int = 0
    nodes: int = 0
    edges: int = 0


class StoredPart(NamedTuple):
    """What came of a file."""

    number: int
    path: str
    language: str
    state: str
    nodes: bytes
    edges: bytes


class OtherFormat(Exception):
    """The store was made by another version."""


class GraphStore:
    """An open store. Not shared between threads at once, nor over a fork."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> "GraphStore":
        """An existing store; FileNotFoundError, OtherFormat or Damaged if there is none that can be used."""
        if not path.is_file():
            raise FileNotFoundError(path)
        with noticing_damage():
            store = cls(_connected(path))
            try:
                if store.meta("format") != FORMAT:
                    raise OtherFormat
            except BaseException:
                store.close()
                raise
            return store

    def meta(self, key: str) -> Any:
        found = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return found[0][0] if found else None

    def set_meta(self, values: Mapping[str, object]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def version(self) -> tuple[int, int]:
        """Changes with every commit of anybody."""
        return self.changes_by_others(), self.meta("generation") or 0

    def changes_by_others(self) -> int:
        """Another number after a commit through another connection."""
        return self._rows("PRAGMA data_version")[0][0]

    def files(self) -> dict[str, FileRow]:
        rows = self._rows(
            "SELECT number, path, is_manifest, size, mtime, ctime, inode, read_at, digest, state, language, linked,"
            " nodes, edges FROM files"
        )
        return {row[1]: FileRow(row[0], row[1], bool(row[2]), Stamp(*row[3:7]), *row[7:]) for row in rows}

    def content(self, number: int) -> bytes:
        """A source's packed facts, or a manifest's text."""
        return unsealed(self._one("SELECT content FROM contents WHERE file = ?", number))

    def words(self) -> dict[int, bytes]:
        return {number: unsealed(blob) for number, blob in self._rows("SELECT file, words FROM words")}

    def memories(self) -> dict[int, bytes]:
        return {number: unsealed(blob) for number, blob in self._rows("SELECT file, memory FROM memories")}

    def nodes(self, number: int) -> bytes:
        return self._one("SELECT nodes FROM links WHERE file = ?", number)

    def linked(self) -> dict[int, int]:
        """When each file was linked, of those that were."""
        return dict(self._rows("SELECT number, linked FROM files WHERE linked"))

    def parts(self, numbers: Iterable[int] | None = None) -> Iterator[StoredPart]:
        """What linking these files gave, as it was packed; all that were linked if none are named."""
        wanted = "SELECT number, path, language, state, links.nodes, links.edges FROM files JOIN links ON file = number"
        if numbers is None:
            yield from map(StoredPart._make, self._connection.execute(f"{wanted} WHERE linked"))
            return
        for number in numbers:
            yield from map(
                StoredPart._make, self._connection.execute(f"{wanted} WHERE number = ?", (number,))
            )

    def put_file(self, row: FileRow) -> None:
        values = (*row[:3], *row.stamp, *row[4:])
        self._connection.execute(
            f"INSERT OR REPLACE INTO files VALUES ({', '.join('?' * len(values))})", values
        )

    def put_content(self, number: int, content: bytes, words: bytes) -> None:
        self._connection.execute("INSERT OR REPLACE INTO contents VALUES (?, ?)", (number, sealed(content)))
        self._connection.execute("INSERT OR REPLACE INTO words VALUES (?, ?)", (number, sealed(words)))

    def put_links(self, number: int, nodes: bytes, edges: bytes, memory: bytes) -> None:
        self._connection.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?)", (number, nodes, edges))
        self._connection.execute("INSERT OR REPLACE INTO memories VALUES (?, ?)", (number, sealed(memory)))

    def remove(self, number: int) -> None:
        """Forget a file and all that came of it."""
        self.remove_contents(number)
        self._connection.execute("DELETE FROM files WHERE number = ?", (number,))

    def remove_contents(self, number: int) -> None:
        """Forget what came of a file: it is there, but there is nothing to say of it."""
        for table in _TABLES:
            self._connection.execute(f"DELETE FROM {table} WHERE file = ?", (number,))

    @contextmanager
    def change(self) -> Generator[None]:
        """All that is written inside, or nothing. Waits for whoever else is changing it."""
        with noticing_damage():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def steady(self) -> Generator[None]:
        """All that is read inside is of one state."""
        with noticing_damage():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with noticing_damage():
            return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, number: int) -> Any:
        found = self._rows(sql, number)
        if not found:
            raise Damaged("a row is missing")
        return found[0][0]


@contextmanager
def fresh_store(path: Path) -> Generator[GraphStore]:
    """A new store that takes the place of what is there once all is written; until then nothing changes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{path.name}.new-"
    _remove_abandoned(path.parent, prefix)
    descriptor, name = tempfile.mkstemp(prefix=prefix, dir=path.parent)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    new = Path(name)
    try:
        connection = sqlite3.connect(new, isolation_level=None, check_same_thread=False)
        connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192;"
        )
        connection.executescript(_SCHEMA)
        store = GraphStore(connection)
        connection.execute("BEGIN")
        try:
            store.set_meta({"format": FORMAT})
            yield store
            connection.execute("COMMIT")
        finally:
            connection.close()
        os.fsync(descriptor)
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def noticing_damage() -> Generator[None]:
    """Damaged, where SQLite says that the file is not what it wrote."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise Damaged(str(error)) from error  # a table that is not there is damage too
        raise
    except sqlite3.DatabaseError as error:
        raise Damaged(str(error)) from error


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
    connection.execute("PRAGMA journal_mode = PERSIST")
    connection.execute("PRAGMA synchronous = NORMAL")
    # Nothing is written before all of a change is there: a forked process that reads meanwhile sees the old state.
    connection.execute("PRAGMA cache_spill = OFF")
    return connection


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """What killed builds left behind; a build that lives holds a lock on its file."""
    for left in folder.glob(f"{_literally(prefix)}*"):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _literally(text: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
