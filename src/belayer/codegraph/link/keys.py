"""What a file's links depend on, as keys: one for each thing that can be asked of the facts.

A linked file remembers the keys of all that was asked for it. Two versions of a file are compared key by key; a file
is linked again if it remembers a key whose answer is another one now. Keys are hashed: two with one hash cost a
linking too many, never one too few.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, cast
from zlib import crc32

from belayer.codegraph.facts import Call, Expr, Facts, Shape, Trait
from belayer.codegraph.link.heads import Heads, Place, qualified_names
from belayer.codegraph.link.words import defined_names, known_names, package_variables

NAME = "name"  # path, scope, name: what a scope binds a name to
INNER = "inner"  # path, name: whether a scope inside of the file binds a name
STAR = "star"  # path: what a file imports without naming it
DEFINITION = "definition"  # path, definition: all it says of itself, but not what it does
RESULT = "result"  # path, definition: what it gives
STORE = "store"  # path, attribute: what the file stores under an attribute's name
ITEM = "item"  # path: what the file stores in lists and dicts
EXPORT = "export"  # path, name
FILE = "file"  # path: whether it is there, and what it says of itself
FOLDER = "folder"  # path: whether there are sources below it
PACKAGE = "package"  # name: which files it has
MANIFEST = "manifest"  # name
TOP = "top"  # name: which files have a definition, or a variable of their package, of this name
CALLED = "called"  # name: the calls of anything of this name, in any file
CALLED_IN = "called in"  # path, name
USED = "used"  # name: where a value of this name is passed on, in any file
USED_IN = "used in"  # path, name
BELOW = "below"  # name: the classes with a base of this name
METHOD = "method"  # name: the methods of this name
STORED = "stored"  # name: the files that store an attribute of this name
NEW = "new"  # name: whether any file has something of this name
NEW_DEFINITION = (
    "new definition"  # name: whether any file has a definition or a top-level variable of this name
)
MOUNTS = "mounts"  # where routers are mounted


def part_key(kind: str, first: str, second: str) -> int:
    """The hash of a key whose last part is still to come: see `whole_key`."""
    return crc32(f"{kind}\0{first}\0{second}\0".encode("utf-8", "surrogatepass"))


def whole_key(part: int, last: str) -> int:
    """The hash of a key, by that of its other parts."""
    return crc32(last.encode("utf-8", "surrogatepass"), part)


def inner_part(path: str) -> int:
    """The hash of a file's INNER keys, without the name."""
    return crc32(f"{INNER}\0{path}\0".encode("utf-8", "surrogatepass"))


def key(kind: str, first: str = "", second: str = "", third: str = "") -> int:
    """The hash of a key."""
    if third:
        return crc32(f"{kind}\0{first}\0{second}\0{third}".encode("utf-8", "surrogatepass"))
    return crc32(f"{kind}\0{first}\0{second}".encode("utf-8", "surrogatepass"))


def inner_names(facts: Facts) -> set[str]:
    """The names that scopes inside of a file bind: all others mean the same everywhere in it."""
    found = {fact.name for fact in facts.bindings if fact.scope}
    found.update(fact.name for fact in facts.definitions if fact.parent > 0)
    found.update(param.name for fact in facts.definitions for param in fact.params)
    found.update(fact.alias or fact.name or "" for fact in facts.imports if fact.scope)
    found.update(target[1] for _, target, _, _ in facts.stores if target[0] == "name")
    return found


def changes(before: Facts | None, after: Facts | None) -> set[int]:
    """The keys whose answers differ between two versions of a file; None stands for no file."""
    old = _answers(before) if before is not None else {}
    new = _answers(after) if after is not None else {}
    return {each for each in old.keys() | new.keys() if old.get(each) != new.get(each)}


def changed_manifests(before: Mapping[str, str], after: Mapping[str, str], names: set[str]) -> set[int]:
    """The keys of the manifests (by the names that languages ask for) whose texts differ."""
    paths = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return {
        key(MANIFEST, name) for name in names for path in paths if fnmatchcase(path.rpartition("/")[2], name)
    }


def _answers(facts: Facts) -> dict[int, list[object]]:
    found: dict[int, list[object]] = {}
    for name, answer in _Answers(facts).all():
        found.setdefault(name, []).append(answer)
    return found


class _Answers:
    """All answers of one file, spelled so that they stay the same when other lines come and go."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._path = facts, facts.path
        self._names = qualified_names(facts.definitions)
        self._heads = Heads(facts)
        self._calls: dict[int, object] = {}
        self._bindings = self._ordinals()

    def all(self) -> Iterator[tuple[int, object]]:
        facts = self._facts
        about = (
            facts.language,
            facts.package,
            facts.packages,
            facts.starred,
            facts.exports is None,
            "test" in facts.tags,
        )
        yield key(FILE, self._path), about
        for package in (facts.package, *facts.packages):
            yield key(PACKAGE, package), self._path
        yield from self._bound()
        yield from self._defined()
        yield from self._stored()
        yield from self._exported()
        yield from self._passed_on()
        yield from ((key(NEW, name), True) for name in known_names(facts))
        yield from ((key(NEW_DEFINITION, name), True) for name in defined_names(facts))
        yield from ((key(TOP, name), self._path) for name in package_variables(facts))
        for mount in facts.mounts:
            spelled = (
                self._spell(mount.parent),
                mount.prefix if isinstance(mount.prefix, str) else self._spell(mount.prefix),
                self._spell(mount.child),
                self._names[mount.scope],
            )
            yield key(MOUNTS), (self._path, spelled)

    def _bound(self) -> Iterator[tuple[int, object]]:
        facts, path, names = self._facts, self._path, self._names
        for scope, name, value, _, replaces in facts.bindings:
            yield key(NAME, path, names[scope], name), (self._spell(value), replaces)
        yield from ((key(INNER, path, name), True) for name in inner_names(facts))
        for scope, target, value, _ in facts.stores:
            if target[0] == "name":
                for around in self._around(scope):
                    yield key(NAME, path, names[around], target[1]), (names[scope], self._spell(value))
        for fact in facts.imports:
            if fact.name == "*":
                yield key(STAR, path), fact.spec
            name = fact.alias or fact.name or ""
            yield key(NAME, path, names[fact.scope], name), ("import", fact.spec, fact.name)
        for fact in facts.bindings:
            if fact.name == "*":
                yield key(STAR, path), self._spell(fact.value)

    def _around(self, scope: int) -> Iterator[int]:
        while scope >= 0:
            yield scope
            scope = self._facts.definitions[scope].parent

    def _defined(self) -> Iterator[tuple[int, object]]:
        path, names = self._path, self._names
        for number, fact in enumerate(self._facts.definitions):
            params = tuple((p.name, self._spell(p.type), self._spell(p.default), p.star) for p in fact.params)
            bases = tuple(map(self._spell, fact.bases))
            about = (
                fact.shape.value,
                params,
                bases,
                self._spell(fact.result),
                fact.traits,
                "fixture" in fact.tags,
            )
            yield key(DEFINITION, path, names[number]), about
            yield key(RESULT, path, names[number]), tuple(map(self._spell, fact.returns))
            if number == 0:
                continue
            yield key(NAME, path, names[fact.parent], fact.name), ("def", names[number])
            if fact.parent == 0:
                yield key(TOP, fact.name), path
            if fact.shape is Shape.METHOD:
                yield key(METHOD, fact.name), (path, names[number], len(fact.params))
            if fact.traits & Trait.PART:
                yield key(TOP, fact.name), (path, names[number])
            for base in fact.bases:
                yield from ((key(BELOW, head), (path, names[number])) for head in self._heads.of(base))

    def _stored(self) -> Iterator[tuple[int, object]]:
        path, names = self._path, self._names
        for scope, target, value, _ in self._facts.stores:
            spelled = (names[scope], self._spell(target), self._spell(value))
            if target[0] == "attr":
                yield key(ITEM, path), spelled
                yield key(STORE, path, target[2]), spelled
                yield key(STORED, target[2]), (path, spelled)
            elif target[0] == "item":
                yield key(ITEM, path), spelled

    def _exported(self) -> Iterator[tuple[int, object]]:
        for name, value in self._facts.exports or ():
            yield key(EXPORT, self._path, name), self._spell(value)

    def _passed_on(self) -> Iterator[tuple[int, object]]:
        path, heads = self._path, self._heads
        shared = heads.shared(heads.calls, heads.uses)
        for head, numbers in heads.calls.items():
            calls = tuple(
                (self._names[self._facts.calls[n].scope], self._spell(("call", n))) for n in numbers
            )
            yield key(CALLED_IN, path, head), calls
            if head in shared:
                yield key(CALLED, head), (path, calls)
        for head, places in heads.uses.items():
            spelled = tuple(map(self._place, places))
            yield key(USED_IN, path, head), spelled
            if head in shared:
                yield key(USED, head), (path, spelled)

    def _place(self, place: Place) -> object:
        if place.kind == "argument":
            call = self._facts.calls[place.number]
            return (
                place.kind,
                self._names[call.scope],
                self._spell(("call", place.number)),
                place.name,
                place.position,
            )
        return place.kind, self._names[place.number], place.name

    def _ordinals(self) -> list[tuple[str, str, int]]:
        """Each binding by its scope, its name and its place among those of the same name."""
        counts: dict[tuple[int, str], int] = {}
        found: list[tuple[str, str, int]] = []
        for scope, name, *_ in self._facts.bindings:
            place = counts.get((scope, name), 0)
            counts[scope, name] = place + 1
            found.append((self._names[scope], name, place))
        return found

    def _spell(self, expr: Expr | None) -> object:
        """An expression without the numbers that shift when something is added above it."""
        if expr is None:
            return None
        word = expr[0]
        if word == "call":
            return self._spell_call(expr[1])
        if word == "bound":
            binding: int = expr[1]
            return "bound", self._bindings[binding]
        if word == "def":
            number: int = expr[1]
            return "def", self._names[number]
        return tuple(map(self._spell_part, expr))

    def _spell_part(self, part: Any) -> object:
        if type(part) is not tuple or not part:
            return cast("object", part)
        parts = cast("tuple[Any, ...]", part)
        if parts[0] in _NUMBERED and type(parts[-1]) is int:
            return self._spell(parts)
        return tuple(map(self._spell_part, parts))

    def _spell_call(self, number: int) -> object:
        found = self._calls.get(number)
        if found is None:
            call: Call = self._facts.calls[number]
            self._calls[number] = "itself"
            unless = self._spell_call(call.unless) if call.unless >= 0 else None
            keywords = tuple((name, self._spell(arg)) for name, arg in call.keywords)
            spelled = (
                self._spell(call.callee),
                tuple(map(self._spell, call.args)),
                keywords,
                call.new,
                unless,
            )
            found = "call", hash(spelled)
            self._calls[number] = found
        return found


_NUMBERED = frozenset({"call", "bound", "def"})
