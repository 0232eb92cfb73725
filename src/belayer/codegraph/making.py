"""Bring a store up to date with a folder: read what changed, link what that concerns, write it at once.

Runs in the build's own process. An update ends with the same graph as a build from nothing.
"""

import gc
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import tree_sitter

from belayer.codegraph.crew import cores, do_here, share_out
from belayer.codegraph.discover import Files, Stamp, Tree, discover
from belayer.codegraph.facts import Facts, unpack
from belayer.codegraph.languages.catalog import LANGUAGES, language_of
from belayer.codegraph.link.linker import Linker
from belayer.codegraph.numbering import Numbering, put_links
from belayer.codegraph.packing import Damaged, loose, loosen
from belayer.codegraph.reading import Reading, is_settled, read, read_manifest
from belayer.codegraph.shelf import HAS_FACTS, Kept, Shelf
from belayer.codegraph.store import FileRow, GraphStore, OtherFormat, fresh_store

Tell = Callable[[str, int, int], None]
"""Told how far things are: the stage, how much of it is done, and how much there is."""

_BROKEN = frozenset({"broken", "crashed", "unlinked"})
_READ_AT_ONCE = 16
_LINK_AT_ONCE = 24
_PATIENCE = 30.0
_DAMAGED = b"damaged"  # a worker's word for it
# With so many files it pays for the linker to have numpy at hand, although that takes a while to load.
_MANY = 400
# So few files are linked, and so many bytes read, without starting processes for it.
_FEW = 12
_LITTLE = 300_000


class Job(NamedTuple):
    """What is to be made: the graph of a folder, at a place. `kept` is for whoever makes it again and again.

    `is_commit` is as in `discover`. Unless it is careful, a few files are read in this process: one may end it.
    """

    folder: Path
    place: Path
    tell: Tell
    kept: Kept | None = None
    is_commit: bool = False
    is_careful: bool = True

    def look(self) -> Tree:
        tree = discover(self.folder, is_source, is_manifest, is_commit=self.is_commit)
        self.tell("discover", len(tree.sources), len(tree.sources))
        return tree


def make(job: Job) -> dict[str, Any]:
    """Build or update the graph; what came of it (see build.Built)."""
    began = time.monotonic()
    kept = job.kept or Kept()
    try:
        report = _made(job, kept)
    finally:
        if job.kept is None:
            kept.forget()
    report["seconds"] = time.monotonic() - began
    return report


def look_ahead(kept: Kept) -> None:
    """For a process that stays: get ready for the next update, now that nobody waits for this one."""
    if len(kept.files) > _MANY:
        import_module("numpy")
    with suppress(Exception):  # whatever it is, the next update meets it and says so
        kept.look_ahead()


def is_source(name: str) -> bool:
    return language_of(name) is not None


@lru_cache(4096)
def is_manifest(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for language in LANGUAGES for pattern in language.manifests)


@lru_cache(1)
def maker() -> str:
    """What a store depends on besides the sources: our code and the parsers. Another maker's store is built anew."""
    digest = hashlib.blake2b(digest_size=16)
    here = Path(__file__).parent
    for file in sorted(here.rglob("*.py")):
        digest.update(file.read_bytes())
    packages = Path(tree_sitter.__file__).parent.parent
    for name in sorted(found.name for found in packages.glob("tree_sitter*.dist-info")):
        digest.update(name.encode())
    return digest.hexdigest()


def _made(job: Job, kept: Kept) -> dict[str, Any]:
    try:
        store = kept.opened(job.place)
        if store.meta("maker") != maker():
            raise OtherFormat
    except FileNotFoundError:
        return _afresh(job, kept, None)
    except OtherFormat:
        return _afresh(job, kept, "the store was made by another version")
    except Damaged:
        return _afresh(job, kept, "the store was damaged")
    try:
        return _updated(job, kept, store)
    except Damaged:
        return _afresh(job, kept, "the store was damaged")


def _updated(job: Job, kept: Kept, store: GraphStore) -> dict[str, Any]:
    with store.change():
        changes = kept.refresh(store)
        report = _Making(job, store, kept, is_new=False).run()
    kept.trust(changes)
    return report


def _afresh(job: Job, kept: Kept, why: str | None) -> dict[str, Any]:
    kept.forget()
    try:
        with fresh_store(job.place) as store:
            store.set_meta({"maker": maker(), "generation": time.time_ns()})
            report = _Making(job, store, kept, is_new=True).run()
            job.tell("store", 0, 1)
    finally:
        kept.forget()
    report["rebuilt"] = why
    return report


class _Making:
    """One build or update, inside the store's transaction."""

    def __init__(self, job: Job, store: GraphStore, kept: Kept, *, is_new: bool) -> None:
        self._job, self._store, self._is_new = job, store, is_new
        # Whoever looks has the store to itself, so an older look never undoes a newer one.
        self._tree = job.look()
        self._files = kept.files
        self._next_file = 1 + max((row.number for row in self._files.values()), default=0)
        self._kept = kept
        self._shelf = Shelf(store, None if is_new else job.place, kept)
        self._parsed = 0

    def run(self) -> dict[str, Any]:
        old_manifests = dict(self._shelf.manifests())
        before = self._read_changes()
        manifests_changed = self._read_manifests()
        relinked: set[str] = set()
        if before or manifests_changed:
            relinked = self._link(before, old_manifests)
            self._store.set_meta({"generation": (self._store.meta("generation") or 0) + 1})
        return self._report(len(relinked))

    def _read_changes(self) -> dict[str, Facts | None]:
        """Read every file that may have changed; the old facts of those whose facts did, None for new ones."""
        before: dict[str, Facts | None] = {}
        for path in [
            path
            for path, row in self._files.items()
            if not row.is_manifest and path not in self._tree.sources
        ]:
            self._forget(path, before)
        wanted = [path for path, stamp in self._tree.sources.items() if not self._is_known(path, stamp)]
        for done, reading in enumerate(self._readings(wanted), 1):
            self._take(reading, before)
            self._job.tell("read", done, len(wanted))
        return before

    def _is_known(self, path: str, stamp: Stamp) -> bool:
        row = self._files.get(path)
        return row is not None and row.stamp == stamp and is_settled(stamp, row.read_at)

    def _readings(self, paths: list[str]) -> Iterable[Reading]:
        if not paths:
            return
        digests = {path: row.digest for path in paths if (row := self._files.get(path)) is not None}
        read_one = _reader(self._job.folder, digests)
        if self._job.is_careful or sum(self._tree.sources[path].size for path in paths) > _LITTLE:
            found = self._shared(paths, read_one, _READ_AT_ONCE)
        else:
            found = do_here(paths, read_one, patience=_PATIENCE, is_native=True)
        for path, packed in found:
            yield Reading.unpack(packed) if packed else self._crashed(path)

    def _crashed(self, path: str) -> Reading:
        return Reading(path, self._tree.sources[path], time.time_ns(), b"", "crashed", "", b"", b"")

    def _take(self, reading: Reading, before: dict[str, Facts | None]) -> None:
        """Write down what was read of a file."""
        path, known = reading.path, self._files.get(reading.path)
        if reading.state == "same":
            assert known is not None
            self._put(known._replace(stamp=reading.stamp, read_at=reading.read_at))
            return
        self._parsed += reading.state in HAS_FACTS
        old = self._old_facts(path)
        row = FileRow(
            known.number if known is not None else self._new_number(),
            path,
            is_manifest=False,
            stamp=reading.stamp,
            read_at=reading.read_at,
            digest=reading.digest,
            state=reading.state,
            language=reading.language,
        )
        if reading.state in HAS_FACTS:
            if old is None or self._unpacked(reading) != old or (known and known.state == "unlinked"):
                before[path] = old
            self._shelf.put(row, reading.facts, reading.words)
            if known is not None:
                row = row._replace(linked=known.linked, nodes=known.nodes, edges=known.edges)
        elif known is not None:
            self._forget_contents(known, old, before)
        self._put(row)

    def _old_facts(self, path: str) -> Facts | None:
        return None if self._is_new else self._shelf.facts(path)

    def _unpacked(self, reading: Reading) -> Facts:
        facts = unpack(reading.facts)
        self._kept.put(reading.path, reading.digest, facts, len(reading.facts))
        return facts

    def _forget(self, path: str, before: dict[str, Facts | None]) -> None:
        self._forget_contents(self._files[path], self._old_facts(path), before)
        self._store.remove(self._files.pop(path).number)

    def _forget_contents(self, row: FileRow, old: Facts | None, before: dict[str, Facts | None]) -> None:
        if old is not None:
            before[row.path] = old
        self._shelf.remove(row.path)
        self._store.remove_contents(row.number)

    def _read_manifests(self) -> bool:
        """Read every manifest that may have changed; whether one did."""
        changed = False
        for path in [
            path for path, row in self._files.items() if row.is_manifest and path not in self._tree.manifests
        ]:
            self._store.remove(self._files.pop(path).number)
            self._shelf.remove_manifest(path)
            changed = True
        wanted = [path for path, stamp in self._tree.manifests.items() if not self._is_known(path, stamp)]
        files = Files(self._job.folder)
        try:
            for path in wanted:
                changed |= self._take_manifest(read_manifest(files, path))
        finally:
            files.close()
        return changed

    def _take_manifest(self, reading: Reading) -> bool:
        known = self._files.get(reading.path)
        number = known.number if known is not None else self._new_number()
        row = FileRow(
            number, reading.path, True, reading.stamp, reading.read_at, reading.digest, reading.state, ""
        )
        self._put(row)
        if known is not None and known.digest == reading.digest:
            return False
        self._shelf.put_manifest(row, reading.facts)
        return True

    def _link(self, before: Mapping[str, Facts | None], old_manifests: Mapping[str, str]) -> set[str]:
        if len(self._files) > _MANY:
            import_module("numpy")
        linker = Linker(self._shelf, self._shelf.modules)
        if self._is_new:
            paths = set(self._shelf.paths())
        else:
            paths = linker.affected(before, old_manifests, self._shelf.memories())
        self._write_links(linker, sorted(paths))
        return paths

    def _write_links(self, linker: Linker, paths: list[str]) -> None:
        numbering = Numbering(self._store, self._files, is_new=self._is_new)
        generation = (self._store.meta("generation") or 0) + 1

        def link(path: str) -> bytes:
            return loosen(*next(iter(linker.link([path]))))

        if len(paths) > _FEW:
            linker.arrange()
            found = self._shared(paths, _careful(link), _LINK_AT_ONCE)
        else:
            found = do_here(paths, _careful(link), patience=_PATIENCE)
        for done, (path, packed) in enumerate(found, 1):
            self._write(path, packed, numbering, generation)
            self._job.tell("link", done, len(paths))
        self._store.set_meta({"next": numbering.next})

    def _write(self, path: str, packed: bytes | None, numbering: Numbering, generation: int) -> None:
        if packed == _DAMAGED:
            raise Damaged("facts")
        row = self._files[path]
        state = "unlinked" if not packed else row.state
        if packed and state == "unlinked":
            facts = self._shelf.facts(path)
            state = "broken" if facts is not None and facts.is_broken else ""
        found = loose(packed or loosen(path, (), (), b""))
        nodes, edges = put_links(self._store, row.number, path, found, numbering)
        self._shelf.remember(path, found.memory)
        self._put(row._replace(state=state, linked=generation, nodes=nodes, edges=edges))

    def _shared(
        self, paths: list[str], work: Callable[[str], bytes], batch: int
    ) -> Iterable[tuple[str, bytes | None]]:
        if not paths:
            return ()
        gc.freeze()
        workers = min(cores(), -(-len(paths) // 4))
        return share_out(
            paths, work, batch=min(batch, -(-len(paths) // workers)), patience=_PATIENCE, workers=workers
        )

    def _put(self, row: FileRow) -> None:
        self._files[row.path] = row
        self._store.put_file(row)

    def _new_number(self) -> int:
        self._next_file += 1
        return self._next_file - 1

    def _report(self, relinked: int) -> dict[str, Any]:
        rows = [row for row in self._files.values() if not row.is_manifest]
        read_rows = [row for row in rows if row.state in HAS_FACTS]
        skipped = self._tree.skipped + Counter(
            row.state for row in rows if row.state not in HAS_FACTS and row.state not in _BROKEN
        )
        return {
            "files": len(read_rows),
            "nodes": sum(row.nodes for row in rows),
            "edges": sum(row.edges for row in rows),
            "parsed": self._parsed,
            "relinked": relinked,
            "broken": sorted(row.path for row in rows if row.state in _BROKEN),
            "skipped": dict(sorted(skipped.items())),
            "truncated": self._tree.truncated,
            "languages": dict(sorted(Counter(row.language for row in read_rows).items())),
            "rebuilt": None,
        }


def _reader(folder: Path, digests: Mapping[str, bytes]) -> Callable[[str], bytes]:
    """Reads in whichever process it is called first."""
    opened: list[Files] = []

    def reading(path: str) -> bytes:
        if not opened:
            opened.append(Files(folder))
        return read(opened[0], path, digests.get(path)).pack()

    return _careful(reading)


def _careful(work: Callable[[str], bytes]) -> Callable[[str], bytes]:
    """The work; nothing for a file on which it fails."""

    def tried(path: str) -> bytes:
        try:
            return work(path)
        except Damaged:
            return _DAMAGED
        except MemoryError:
            raise  # not the file's fault, perhaps: a process with an empty memory tries again
        except Exception:  # noqa: BLE001 - whatever a hostile file brings about is that file's trouble only
            return b""

    return tried
