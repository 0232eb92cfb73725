"""What JavaScript's own functions do with what they are given: whom they call, what they put where, what they give."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from tree_sitter import Node

from belayer.codegraph.facts import Binding, Expr, Import, Store
from belayer.codegraph.languages.typescript_drafts import Written
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_values import (
    NUMBER,
    STRING,
    UNKNOWN,
    attr_of,
    number_of,
    one_of,
    pairs,
    parts,
)
from belayer.codegraph.languages.typescript_words import LIBRARY, RUNS_FIRST, SPACES, WRAPS_FIRST

_CALLABLE = frozenset(("def", "name", "bound", "attr", "call", "import", "any", "item"))
_RESOLVED = "<resolved>"
_ONE_CALL = re.compile(r"([A-Za-z_$][\w$]*)\(\);?")
_ARRAYS = (
    ("list", ()),
    ("name", "Array"),
)  # what stands for the array's own methods; `prototype` is left out


def names_its_function(holder: Expr | None, word: str) -> bool:
    """Whether `const f = wrap(() => …)` is how people give the function its name."""
    if holder is not None:
        return word in WRAPS_FIRST
    return word not in RUNS_FIRST and word not in ("lazy", "dynamic", "require")


def is_library(holder: Expr | None) -> bool:
    """Whether a call on this cannot lead to anything of ours."""
    return holder is not None and holder[0] == "name" and holder[1] in LIBRARY


def only_wraps(word: str) -> bool:
    """Whether a function that it is given is not called, only held."""
    return word in WRAPS_FIRST


def built_in_call(r: Reading, written: Written, number: int) -> Expr | None:
    """`setTimeout(f)`, `useMemo(f)`, `memo(C)`: by their bare names."""
    word, args = written.word, written.args
    if not args:
        return None
    if word in RUNS_FIRST:
        return _first_is_run(r, written, word, number)
    if word in WRAPS_FIRST:
        return args[0]
    if word == "lazy":
        return _lazy(r, args[0])
    if word == "useRef":
        return ("dict", (("current", args[0]),))
    if word in ("define", "require", "requirejs"):
        _asynchronous_module(r, written, number)
    if word == "eval" and args[0][0] == "key" and (code := _ONE_CALL.fullmatch(str(args[0][1]))):
        return r.call(r.name(code[1]), (), written.callee, unless=number)
    return None


def _asynchronous_module(r: Reading, written: Written, number: int) -> None:
    """`define(["a"], (a) => …)`: the modules are its arguments, and what it gives is what this module is."""
    maker, is_definition = written.args[-1], written.word == "define" and r.scope == 0
    listed = next((arg for arg in written.args[:-1] if arg[0] == "list"), None)
    if listed is None and not is_definition:
        return
    specs = [str(part[1]) for part in parts(listed) if part[0] == "key"] if listed is not None else []
    line = written.callee.start_point[0] + 1
    r.imports.extend(Import(r.scope, spec, None, None, line) for spec in specs)
    modules = tuple(("import", spec, None) for spec in specs)
    given = maker if maker[0] == "dict" else _calls(r, maker, modules, written.nodes[-1], number)
    if given is not None and is_definition:
        r.export("=", given)
        r.export("default", given)


def _first_is_run(r: Reading, written: Written, word: str, number: int) -> Expr | None:
    first = written.args[0]
    given = _calls(r, first, written.args[2:] if word.startswith("set") else (), written.nodes[0], number)
    if word == "useMemo":
        return given
    if word == "useState":
        return ("list", (one_of(first, given) or UNKNOWN, UNKNOWN))
    return None


def _lazy(r: Reading, loader: Expr) -> Expr | None:
    """`lazy(() => import("./X"))` is the default export of X."""
    if loader[0] != "def":
        return None
    returns = r.definitions[number_of(loader)].returns
    module = next((value for value in returns if value[0] == "import" and value[2] is None), None)
    return attr_of(module, "default") if module else None


def built_in_new(r: Reading, written: Written, number: int) -> Expr | None:
    """`new Promise(f)` calls f; `new Set(xs)` and `new Map(pairs)` hold what they were given."""
    args, word = written.args, written.word
    if not args:
        return ("list", ()) if word == "Set" else None
    if word == "Promise":
        return _calls(r, args[0], (), written.nodes[0], number)
    if word == "Set":
        return ("list", (("spread", args[0]),))
    if word == "Map" and args[0][0] == "list":
        entries = [parts(pair) for pair in parts(args[0]) if pair[0] == "list" and len(parts(pair)) == 2]
        return ("dict", tuple((key[1] if key[0] == "key" else None, value) for key, value in entries))
    if word in ("MutationObserver", "IntersectionObserver", "ResizeObserver", "PerformanceObserver"):
        _calls(r, args[0], (), written.nodes[0], number)
    return args[0] if word == "Proxy" else None


def follow_resolve(r: Reading, written: Written, start: int) -> None:
    """What `new Promise((resolve) => …)` is resolved with is what its function gives."""
    if not written.args or written.args[0][0] != "def":
        return
    number = number_of(written.args[0])
    draft = r.definitions[number]
    resolve: Expr | None = ("name", draft.params[0].name) if draft.params else None
    given = [call for call in r.calls[start:] if call.callee == resolve and call.args]
    if not given:
        return
    r.declared[number].add(_RESOLVED)
    r.bindings.append(Binding(number, _RESOLVED, UNKNOWN, draft.line))
    draft.returns = [("name", _RESOLVED)]
    for call in given:
        r.stores.append(Store(call.scope, ("name", _RESOLVED), call.args[0], call.line))


# ---- f.call, f.apply, f.bind


def bound_call(r: Reading, written: Written, number: int) -> Expr | None:
    """`f.call(o, a)` and `f.apply(o, as)` call f; `f.bind(o)` gives f."""
    holder, word, args = written.holder, written.word, written.args
    if holder is None or word not in ("call", "apply", "bind") or holder[0] not in _CALLABLE:
        return None
    if word == "bind":
        return holder
    if word == "call":
        if holder[0] == "attr" and holder[1] in _ARRAYS and args:
            return _on_first(r, written, str(holder[2]), number)
        return r.call(holder, args[1:], written.callee, written.spread, unless=number)
    if len(args) > 1 and args[1][0] == "list":
        return r.call(holder, parts(args[1]), written.callee, unless=number)
    spread = (("*", args[1]),) if len(args) > 1 else ()
    return r.call(holder, (), written.callee, spread, unless=number)


def _on_first(r: Reading, written: Written, method: str, number: int) -> Expr | None:
    """`[].map.call(xs, f)`, `Array.prototype.slice.call(xs, 1)`: a built-in method, called on its first argument."""
    first, *rest = written.args
    return built_in_method(
        r, written._replace(holder=first, word=method, args=tuple(rest), nodes=written.nodes[1:]), number
    )


# ---- methods


class _Use(NamedTuple):
    """A built-in being called: `holder.word(args)`, which is call `number`."""

    reading: Reading
    written: Written
    holder: Expr
    number: int

    @property
    def args(self) -> tuple[Expr, ...]:
        return self.written.args

    @property
    def first(self) -> Expr:
        """The first argument; the functions of Object, Array and Promise are only looked at with one."""
        return self.args[0]

    @property
    def line(self) -> int:
        return self.written.callee.start_point[0] + 1

    def calls(self, place: int, *args: Expr) -> Expr | None:
        """The built-in calls the argument at this place with these; what that gives."""
        if place >= len(self.args):
            return None
        return _calls(self.reading, self.args[place], args, self.written.nodes[place], self.number)

    def item(self) -> Expr:
        return ("item", self.holder, None)


def built_in_method(r: Reading, written: Written, number: int) -> Expr | None:
    """`xs.map(f)`, `p.then(f)`, `Object.assign(a, b)`: by the method's name, or by the two."""
    holder = written.holder
    if holder is None:
        return None
    if holder[0] == "name" and (holder[1] in LIBRARY or holder[1] in SPACES):
        static = _STATICS.get(f"{holder[1]}.{written.word}")
        if static is not None:
            return static(_Use(r, written, holder, number)) if written.args else None
        if holder[1] in SPACES:
            return built_in_call(r, written, number)
    method = _METHODS.get(written.word)
    return method(_Use(r, written, holder, number)) if method is not None else None


def _calls(r: Reading, callee: Expr, args: tuple[Expr, ...], at: Node, number: int) -> Expr | None:
    """A built-in calls this, if it is a function, unless the call turns out to lead to something of ours."""
    if callee[0] not in _CALLABLE or callee == UNKNOWN:
        return None
    return r.call(callee, args, at, unless=number)


def _map(use: _Use) -> Expr | None:
    given = use.calls(0, use.item(), NUMBER, use.holder)
    return ("list", (given,)) if given else None


def _flat_map(use: _Use) -> Expr | None:
    given = use.calls(0, use.item(), NUMBER, use.holder)
    return ("list", (("spread", given),)) if given else None


def _visit(use: _Use) -> Expr | None:
    use.calls(0, use.item(), UNKNOWN, use.holder)
    return None


def _filter(use: _Use) -> Expr | None:
    use.calls(0, use.item())
    return use.holder


def _find(use: _Use) -> Expr | None:
    use.calls(0, use.item())
    return use.item()


def _reduce(use: _Use) -> Expr | None:
    start = use.args[1] if len(use.args) > 1 else use.item()
    return one_of(start, use.calls(0, start, use.item()))


def _sort(use: _Use) -> Expr | None:
    use.calls(0, use.item(), use.item())
    return use.holder


def _then(use: _Use) -> Expr | None:
    """A promise is what it gives: then's callback gets it, and its result is what comes next."""
    return one_of(use.calls(0, use.holder), use.calls(1)) if use.args else use.holder


def _catch(use: _Use) -> Expr | None:
    return one_of(use.holder, use.calls(0))


def _finally(use: _Use) -> Expr | None:
    use.calls(0)
    return use.holder


def _listen(use: _Use) -> Expr | None:
    """`on("event", f)`, `addEventListener("click", f)`."""
    use.calls(1)
    return use.holder if use.written.word in ("on", "once") else None


def _replace(use: _Use) -> Expr | None:
    if len(use.args) > 1 and use.args[1][0] == "def":
        use.calls(1, STRING)
    return STRING


def _slice(use: _Use) -> Expr | None:
    bounds = [arg[1] if arg[0] == "key" and isinstance(arg[1], int) else None for arg in use.args]
    if any(bound is None for bound in bounds):
        return use.holder
    return ("slice", use.holder, bounds[0] if bounds else None, bounds[1] if len(bounds) > 1 else None)


def _same(use: _Use) -> Expr | None:
    return use.holder


def _concat(use: _Use) -> Expr | None:
    return ("list", tuple(("spread", part) for part in (use.holder, *use.args)))


def _item(use: _Use) -> Expr | None:
    first = use.args[0] if use.args else UNKNOWN
    is_place = use.written.word == "at" and first[0] == "key" and isinstance(first[1], int)
    return ("item", use.holder, first[1] if is_place else None)


def _add(use: _Use) -> Expr | None:
    for arg in use.args if use.holder[0] in ("name", "bound", "attr", "item") else ():
        if arg[0] in _CALLABLE or arg[0] in ("dict", "list"):
            use.reading.store(use.item(), arg, use.line)
    for _, spread in use.written.spread if use.holder[0] in ("name", "bound", "attr", "item") else ():
        use.reading.store(use.item(), ("spread", spread), use.line)
    return use.holder if use.written.word == "add" else None


def _set(use: _Use) -> Expr | None:
    if len(use.args) != 2 or not _may_be_map(use):
        return None
    key, value = use.args
    use.reading.store(("item", use.holder, key[1] if key[0] == "key" else None), value, use.line)
    return use.holder


def _get(use: _Use) -> Expr | None:
    if len(use.args) != 1:
        return None
    key = use.args[0]
    return ("item", use.holder, key[1] if key[0] == "key" else None)


def _may_be_map(use: _Use) -> bool:
    """Many things have a `set`: a field may be a map, a variable is one if it was made so."""
    holder = use.reading.always(use.holder)
    return holder[0] == "attr" or (
        holder[0] == "name" and str(holder[1]).partition("@")[0] in use.reading.maps
    )


def _next(use: _Use) -> Expr | None:
    """What an iterator gives."""
    return ("dict", (("value", use.item()),))


def _flat(use: _Use) -> Expr | None:
    return ("list", (("any", (use.item(), ("item", use.item(), None))),))


def _entries(use: _Use) -> Expr | None:
    return ("list", (("list", (UNKNOWN, use.item())),))


# ---- Object, Array, Promise: there is a first argument


def _assign(use: _Use) -> Expr | None:
    """`Object.assign(a, b)`: a gets what b has."""
    target, *sources = use.args
    for source in sources:
        if source[0] == "dict":
            _give(use, target, source)
        elif not use.reading.inherit(target, source, is_first=True):
            use.reading.store(("item", target, None), ("spread", source), use.line)
    if target[0] == "dict":
        return ("dict", (*pairs(target), *((None, ("spread", source)) for source in sources)))
    return target


def _give(use: _Use, target: Expr, source: Expr) -> None:
    for key, value in pairs(source):
        if target == ("def", 0) and isinstance(key, str):
            use.reading.export(key, value)
        elif key is not None:
            use.reading.store(attr_of(target, key), value, use.line)


def _create(use: _Use) -> Expr | None:
    """`Object.create(A.prototype)` is an A, `Object.create(o, {…})` has what o has, and what is described."""
    if use.reading.text(use.written.nodes[0]).endswith(".prototype"):
        return ("new", use.first)
    described = use.args[1] if len(use.args) > 1 else UNKNOWN
    if described[0] != "dict":
        return use.first if use.first != UNKNOWN else ("dict", ())
    own = tuple((key, value) for key, how in pairs(described) if (value := _described(use, how)) is not None)
    return ("dict", ((None, ("spread", use.first)), *own))


def _define_property(use: _Use) -> Expr | None:
    if len(use.args) < 3 or use.args[1][0] != "key":
        return use.first
    return _with_described(use, [(use.args[1][1], use.args[2])])


def _define_properties(use: _Use) -> Expr | None:
    described = use.args[1] if len(use.args) > 1 else UNKNOWN
    return _with_described(use, list(pairs(described))) if described[0] == "dict" else use.first


def _with_described(use: _Use, properties: list[tuple[object, Expr]]) -> Expr:
    """The object, with the properties that are described."""
    own = tuple((key, value) for key, how in properties if (value := _described(use, how)) is not None)
    if use.first[0] == "dict":
        return ("dict", (*pairs(use.first), *own))
    _give(use, use.first, ("dict", own))
    return use.first


def _described(use: _Use, how: Expr) -> Expr | None:
    """A property by its descriptor: a value, or what a getter gives."""
    if how[0] in ("name", "bound"):
        return attr_of(how, "value")
    said = dict(pairs(how)) if how[0] == "dict" else {}
    if "get" in said:
        return use.reading.call(said["get"], (), use.written.callee)
    return said.get("value")


def _set_prototype(use: _Use) -> Expr | None:
    if len(use.args) > 1 and not use.reading.inherit(use.first, use.args[1]):
        use.reading.store(("item", use.first, None), ("spread", use.args[1]), use.line)
    return use.first


def _first(use: _Use) -> Expr | None:
    return use.first


def _values(use: _Use) -> Expr | None:
    return ("list", (("item", use.first, None),))


def _entries_of(use: _Use) -> Expr | None:
    return ("list", (("list", (STRING, ("item", use.first, None))),))


def _from(use: _Use) -> Expr | None:
    """`Array.from(xs, f)`."""
    if len(use.args) == 1:
        return ("list", (("spread", use.first),))
    given = use.calls(1, ("item", use.first, None), NUMBER)
    return ("list", (given,)) if given else None


def _race(use: _Use) -> Expr | None:
    return ("item", use.first, None)


def _listed(use: _Use) -> Expr | None:
    return ("list", use.args)


def _applied(use: _Use) -> Expr | None:
    """`Reflect.apply(f, o, as)`."""
    spread = (("*", use.args[2]),) if len(use.args) > 2 else ()
    return use.reading.call(use.first, (), use.written.callee, spread, unless=use.number)


def _constructed(use: _Use) -> Expr | None:
    spread = (("*", use.args[1]),) if len(use.args) > 1 else ()
    return use.reading.call(use.first, (), use.written.callee, spread, new=True, unless=use.number)


_METHODS: Final[dict[str, Callable[[_Use], Expr | None]]] = {
    "map": _map,
    "flatMap": _flat_map,
    "forEach": _visit,
    "some": _visit,
    "every": _visit,
    "findIndex": _visit,
    "findLastIndex": _visit,
    "filter": _filter,
    "find": _find,
    "findLast": _find,
    "reduce": _reduce,
    "reduceRight": _reduce,
    "sort": _sort,
    "toSorted": _sort,
    "then": _then,
    "catch": _catch,
    "finally": _finally,
    "on": _listen,
    "once": _listen,
    "addListener": _listen,
    "addEventListener": _listen,
    "replace": _replace,
    "replaceAll": _replace,
    "slice": _slice,
    "reverse": _same,
    "toReversed": _same,
    "flat": _flat,
    "next": _next,
    "values": _same,
    "entries": _entries,
    "concat": _concat,
    "pop": _item,
    "shift": _item,
    "at": _item,
    "push": _add,
    "unshift": _add,
    "add": _add,
    "set": _set,
    "get": _get,
}
_STATICS: Final[dict[str, Callable[[_Use], Expr | None]]] = {
    "Object.assign": _assign,
    "Object.create": _create,
    "Object.defineProperty": _define_property,
    "Object.defineProperties": _define_properties,
    "Object.setPrototypeOf": _set_prototype,
    "util.inherits": _set_prototype,
    "Object.getPrototypeOf": _first,
    "Object.freeze": _first,
    "Object.seal": _first,
    "Object.values": _values,
    "Object.entries": _entries_of,
    "Array.from": _from,
    "Array.of": _listed,
    "Promise.all": _first,
    "Promise.allSettled": _first,
    "Promise.resolve": _first,
    "Promise.race": _race,
    "Promise.any": _race,
    "Reflect.apply": _applied,
    "Reflect.construct": _constructed,
}
