"""The files of a repository as the evaluator and the languages may ask for them; every question is noted."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Protocol

from belayer.codegraph.facts import Facts
from belayer.codegraph.languages.catalog import language_named
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.marks import Marks
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL, Notes


class Library(Protocol):
    """What the linker may look at."""

    def paths(self) -> Iterable[str]:
        """Every source file."""
        ...

    def facts(self, path: str) -> Facts | None: ...

    def words(self) -> Marks:
        """What `words_of` said of the files' facts: kept, so that a small change need not load all facts."""
        ...

    def manifests(self) -> Mapping[str, str]:
        """The text of each of the languages' manifests, by path."""
        ...


class World:
    """All files. It is the `Project` that languages ask."""

    def __init__(self, library: Library, notes: Notes, kept: dict[str, Module]) -> None:
        self._library, self._notes, self._kept = library, notes, kept
        self._modules: dict[str, tuple[int, Module | None]] = {}
        self._known: dict[str, bool] = {}
        self._stored: dict[str, bool] = {}
        self._defined: dict[str, bool] = {}

    @cached_property
    def paths(self) -> dict[str, None]:
        """Every source file, in order."""
        return dict.fromkeys(sorted(self._library.paths()))

    @cached_property
    def _folders(self) -> set[str]:
        return folders_of(self.paths)

    @cached_property
    def _words(self) -> Marks:
        return self._library.words()

    def arrange(self) -> None:
        """Have at hand what many questions need, for all processes that are forked afterwards."""
        self._words.arrange()
        _ = self._folders

    def module(self, path: str) -> Module | None:
        """The file as the evaluator sees it."""
        found = self._modules.get(path)
        if found is None:
            found = self._modules[path] = key(keys.FILE, path), self._module(path)
        self._notes.keys.add(found[0])
        return found[1]

    def _module(self, path: str) -> Module | None:
        facts = self._library.facts(path) if path in self.paths else None
        language = language_named(facts.language) if facts is not None else None
        if facts is None or language is None:
            return None
        module = self._kept.get(path)
        if module is None or module.facts is not facts:
            module = self._kept[path] = Module(facts, language)
        return module

    def has(self, path: str) -> bool:
        self._notes.keys.add(key(keys.FILE, path))
        return path in self.paths

    def folder(self, path: str) -> bool:
        path = path.rstrip("/")
        self._notes.keys.add(key(keys.FOLDER, path))
        return path in self._folders

    def in_package(self, package: str) -> tuple[str, ...]:
        self._notes.keys.add(key(keys.PACKAGE, package))
        return self._notes.ask(("package", package), FULL, 0, (), self._in_package, package)

    def _in_package(self, package: str, _: int) -> tuple[str, ...]:
        found = (self.module(path) for path in self.having(words.PACKAGE, package))
        return tuple(
            module.path
            for module in found
            if module is not None and (module.facts.package == package or package in module.facts.packages)
        )

    def manifest(self, name: str) -> Mapping[str, str]:
        self._notes.keys.add(key(keys.MANIFEST, name))
        texts = self._library.manifests()
        return {path: texts[path] for path in sorted(texts) if fnmatchcase(path.rpartition("/")[2], name)}

    def having(self, role: str, name: str) -> tuple[str, ...]:
        """The files with this word. Whoever asks notes a key that fits the role."""
        return self._words.having(words.word(role, name))

    def stores(self, name: str) -> bool:
        """Whether any file stores an attribute of this name."""
        found = self._stored.get(name)
        if found is None:
            found = self._stored[name] = bool(self.having(words.STORES, name))
        if not found:
            self._notes.keys.add(key(keys.STORED, name))
        return found

    def defines(self, name: str) -> bool:
        """Whether any file has a definition or a top-level variable of this name."""
        found = self._defined.get(name)
        if found is None:
            found = self._defined[name] = bool(self.having(words.DEFINED, name))
        if not found:
            self._notes.keys.add(key(keys.NEW_DEFINITION, name))
        return found

    def knows(self, name: str) -> bool:
        """Whether any value of ours may be found under this name; without it there is no need to look further."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = bool(self.having(words.KNOWN, name))
        if not found:
            self._notes.keys.add(key(keys.NEW, name))
        return found


def folders_of(paths: Iterable[str]) -> set[str]:
    """Every folder that has one of these files somewhere below it; the root is the empty string."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
