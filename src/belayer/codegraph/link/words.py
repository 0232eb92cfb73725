"""Which files may have something to say about a name: a few hashed words per file (see marks.py).

A word is a role and a name. Two words with one hash cost a look too many, never a wrong answer.
"""

from array import array
from collections.abc import Iterator
from zlib import crc32

from belayer.codegraph.facts import Expr, Facts, Shape
from belayer.codegraph.link.heads import Heads, parts_of

CALLS = "c"  # something of this name is called
USES = "u"  # something of this name is passed on as a value
BASES = "b"  # a class has a base of this name
METHODS = "m"  # a method of this name is defined
STORES = "s"  # an attribute of this name is stored
TOP = "t"  # the file has a top-level definition, or a variable of its package, of this name
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
    yield TOP, {fact.name for fact in definitions if fact.parent == 0} | package_variables(facts)
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


def package_variables(facts: Facts) -> set[str]:
    """The variables that the other files of the package see as they see its functions."""
    return {fact.name for fact in facts.bindings if fact.scope == 0} if facts.language == "go" else set()


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
        elif target[0] in _PLACES and isinstance(target[2], str):
            found.add(target[2])
        _add_keys(value, found, 0)
    for call in facts.calls:
        callee = call.callee[1] if call.callee[0] == "attr" else call.callee
        if callee[0] in _NESTING:
            _add_keys(callee, found, 0)
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
    if facts.language == "typescript":
        found |= _passed_keys(facts)
    return found


def _passed_keys(facts: Facts) -> set[str]:
    """Strings that are passed on may become keys, which others read as attributes: `on("save", f)`, `h.save()`."""
    passed = [arg for call in facts.calls for arg in call.args]
    passed += [param.default for fact in facts.definitions for param in fact.params if param.default]
    return {value[1] for value in passed if value[0] == "key" and isinstance(value[1], str)}


def _add_keys(value: Expr, found: set[str], depth: int) -> None:
    """The keys of dict literals: in some languages they are attributes."""
    if value[0] not in _NESTING or depth > 12:
        return
    if value[0] == "dict":
        found.update(key for key, _ in value[1] if isinstance(key, str))
    for part in parts_of(value):
        _add_keys(part, found, depth + 1)


_NESTING = frozenset({"dict", "list", "any", "first", "put", "wrapped", "spread"})
_PLACES = frozenset({"attr", "item"})
_OPEN = (Shape.MODULE, Shape.CLASS, Shape.INTERFACE)
