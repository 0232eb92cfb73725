"""Which files may have something to say about a name: a few hashed words per file, small enough to look at all of them.

A word is a role and a name. Two words with one hash cost a look too many, never a wrong answer.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any
from zlib import crc32

from belayer.codegraph.facts import Expr, Facts, Shape
from belayer.codegraph.link.heads import Heads, parts_of

CALLS = "c"  # something of this name is called
USES = "u"  # something of this name is passed on as a value
BASES = "b"  # a class has a base of this name
METHODS = "m"  # a method of this name is defined
STORES = "s"  # an attribute of this name is stored
TOP = "t"  # the file has a top-level definition of this name
DEFINED = "d"  # a definition or a top-level variable of this name
KNOWN = "k"  # a value of ours may be found under this name
PACKAGE = "p"  # the file belongs to this package
MOUNTS = "w"  # the file mounts routers


_ROLES = {
    role: crc32(role.encode())
    for role in (CALLS, USES, BASES, METHODS, STORES, TOP, DEFINED, KNOWN, PACKAGE, MOUNTS)
}


def word(role: str, name: str) -> int:
    """The hash of a role and a name."""
    return crc32(name.encode("utf-8", "surrogatepass"), _ROLES[role])


def words_of(facts: Facts) -> bytes:
    """The words of a file, to be kept beside its facts."""
    found: set[int] = set()
    for role, names in roles_of(facts):
        start = _ROLES[role]
        found.update(crc32(name.encode("utf-8", "surrogatepass"), start) for name in names)
    return array("I", sorted(found)).tobytes()


def roles_of(facts: Facts) -> Iterator[tuple[str, set[str]]]:
    """The names of a file, by the roles that they play in it."""
    heads = Heads(facts)
    called, used = heads.names()
    shared = heads.shared(called, used)
    definitions = facts.definitions[1:]
    stored = {target[2] for _, target, _, _ in facts.stores if target[0] == "attr"}
    yield CALLS, called & shared
    yield USES, used & shared
    yield BASES, {head for fact in definitions for base in fact.bases for head in heads.of(base)}
    yield METHODS, {fact.name for fact in definitions if fact.shape is Shape.METHOD}
    yield STORES, stored
    yield TOP, {fact.name for fact in definitions if fact.parent == 0}
    yield DEFINED, defined_names(facts)
    yield KNOWN, known_names(facts)
    yield PACKAGE, {facts.package, *facts.packages}
    yield MOUNTS, {""} if facts.mounts else set()


def defined_names(facts: Facts) -> set[str]:
    """The names of definitions, top-level variables and what is passed on under another name."""
    found = {fact.name for fact in facts.definitions}
    found.update(fact.name for fact in facts.bindings if fact.scope == 0)
    found.update(fact.alias or fact.name or "" for fact in facts.imports)
    found.update(fact.name for fact in facts.exports or ())
    return found


def known_names(facts: Facts) -> set[str]:
    """The names under which a value of this file may be found from elsewhere: top-level names, members, attributes."""
    definitions = facts.definitions
    found = {fact.name for fact in definitions}
    found.update(fact.alias or fact.name or "" for fact in facts.imports)
    for scope, name, value, _, _ in facts.bindings:
        if scope == 0 or definitions[scope].shape in _OPEN:
            found.add(name)
        if value[0] in _NESTING:
            _add_keys(value, found, 0)
    for _, target, value, _ in facts.stores:
        if target[0] == "name":
            found.add(target[1])
        elif isinstance(target[2], str):
            found.add(target[2])
        _add_keys(value, found, 0)
    for call in facts.calls:
        for arg in call.args:
            if arg[0] in _NESTING:
                _add_keys(arg, found, 0)
        for _, arg in call.keywords:
            if arg[0] in _NESTING:
                _add_keys(arg, found, 0)
    for fact in definitions:
        for value in fact.returns:
            _add_keys(value, found, 0)
    for name, value in facts.exports or ():
        found.add(name)
        _add_keys(value, found, 0)
    return found


def _add_keys(value: Expr, found: set[str], depth: int) -> None:
    """The keys of dict literals: in some languages they are attributes."""
    if value[0] not in _NESTING or depth > 12:
        return
    if value[0] == "dict":
        found.update(key for key, _ in value[1] if isinstance(key, str))
    for part in parts_of(value):
        _add_keys(part, found, depth + 1)


_NESTING = frozenset({"dict", "list", "any", "first", "put", "wrapped", "spread"})
_OPEN = (Shape.MODULE, Shape.CLASS, Shape.INTERFACE)


class Index:
    """All files' words, and which files have one."""

    def __init__(self, paths: Sequence[str], words: Iterable[bytes]) -> None:
        self._paths, self._words = paths, list(words)
        self._found: dict[int, tuple[str, ...]] = {}
        self._arranged: dict[int, list[int]] | None = None

    def having(self, role: str, name: str) -> tuple[str, ...]:
        """The files with this word, in the order of the paths."""
        wanted = word(role, name)
        found = self._found.get(wanted)
        if found is None:
            found = self._found[wanted] = tuple(self._paths[place] for place in self._look(wanted))
        return found

    def _look(self, wanted: int) -> Iterable[int]:
        if self._arranged is None and (numpy_at_hand() is None or len(self._found) > _FEW_LOOKS):
            self._arranged = self._places()
        if self._arranged is not None:
            return self._arranged.get(wanted, ())
        numpy = numpy_at_hand()
        words, ends = self._arrays
        return numpy.searchsorted(ends, numpy.flatnonzero(words == wanted), "right").tolist()

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        numpy = numpy_at_hand()
        words = numpy.frombuffer(b"".join(self._words), numpy.uint32)
        return words, numpy.cumsum([len(each) // 4 for each in self._words])

    def _places(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for place, words in enumerate(self._words):
            for each in memoryview(words).cast("I"):
                if each in found:
                    found[each].append(place)
                else:
                    found[each] = [place]
        return found


# A small change asks for few words: looking through all of them is quicker than arranging them.
_FEW_LOOKS = 600


def numpy_at_hand() -> Any:
    """numpy where it is loaded anyway: who answers questions has it, a child that builds saves the time to load it."""
    return sys.modules.get("numpy")
