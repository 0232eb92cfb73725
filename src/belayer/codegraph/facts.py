"""What one file says before anybody knows what its names mean: the words that every language's reader speaks.

Plain tuples of plain values, so that facts cross processes and the disk quickly, and equal sources give equal facts.
Positions: lines count from 1, columns from 0. A definition's number is its place in `Facts.definitions`; number 0 is
the module itself. A call's number is its place in `Facts.calls`.
"""

import marshal
from enum import IntFlag, StrEnum
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

# An expression is a tuple whose first item is one of these words:
#   ("name", x)            a name, looked up from the scope it stands in
#   ("bound", n)           the value that binding number n gives: a name where only one binding can be meant
#                          (straight-line code). A reader that does not follow the flow writes "name" only
#   ("attr", e, x)         e.x
#   ("call", n)            what call number n gives
#   ("def", n)             definition number n itself: a function, class or lambda as a value; ("def", 0) is this module
#   ("wrapped", e, c)      e, behind what c makes of it: a decorated function (c is the decorator's call)
#   ("new", e)             an instance of the class that e names: an annotation, a declared type, a `new` without a call
#   ("item", e, key)       e[key]; key is a str or int when it is written there, an expression when it is computed, or
#                          None for any of them; an iteration is None too
#   ("slice", e, from, to) e[from:to], with ints or None
#   ("list", (e, …))       a list, tuple, set or array
#   ("dict", ((key, e), …))  a dict or object literal; key as in "item"; (None, ("spread", e)) takes over all of e
#   ("spread", e)          in a list or dict: all items of e
#   ("put", e, key, v)     e, with v under this key (a str or int): what `d["k"] = v` leaves behind
#   ("any", (e, …))        one of these: `a or b`, a conditional, a union type
#   ("first", (e, …))      the first of these that leads anywhere
#   ("self",)              the instance that a method runs on, where the language has a word for it (this)
#   ("super",)             the same instance, seen from the base classes
#   ("import", spec, name) what an import gives: the module `spec`, or `name` out of it; spec as the source spells it
#                          (Python's leading dots and the quotes' content included)
#   ("key", v)             a str or int that is written there, where it may serve as a key
#   ("literal", type)      a value of a built-in type: "str", "int", "dict" …, in the language's own spelling
#
# A List[T] in an annotation is written ("list", (("new", T),)).
#
# What binds a name: a Binding does. Unless its scope has a Binding of the same name, a definition binds its own name in
# its parent's scope (not if the name starts with "<"), and an Import its alias or name ("*" all of them; one that has
# neither binds nothing). A parameter is bound by its definition. A Binding(0, "*", e) makes all members of the class e
# names of the file, looked up last.
Expr: TypeAlias = tuple[Any, ...]


class Shape(StrEnum):
    """What a definition is in the source."""

    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    FUNCTION = "function"
    METHOD = "method"
    LAMBDA = "lambda"


class Trait(IntFlag):
    """What else there is to say of a definition."""

    NONE = 0
    STATIC = 1
    CLASS_METHOD = 2
    PROPERTY = 4
    ABSTRACT = 8
    ASYNC = 16
    GENERATOR = 32
    CONSTRUCTOR = 64
    TEST = 128
    EXPORTED = 256
    PART = 512  # a class whose other parts are the definitions of the same name in the same package
    ABSENT = (
        1024  # a part that only holds members: the class itself is declared elsewhere, and this gives no node
    )
    EXTENSION = 2048  # a function that is called like a method of its first parameter's type


class Param(NamedTuple):
    """A parameter. `star` is "", "*" or "**"."""

    name: str
    type: Expr | None = None
    default: Expr | None = None
    star: str = ""


class Definition(NamedTuple):
    """A module, class, function, method or lambda. `parent` is the number of what encloses it (-1 for the module).

    `name` is its own name; a lambda or anonymous function is named by its place (`<lambda:12:4>`).
    `returns` are the values it may give (with GENERATOR: what it yields); `result` is the type that it declares.
    """

    shape: Shape
    name: str
    parent: int
    line: int
    end_line: int
    column: int = 0
    params: tuple[Param, ...] = ()
    bases: tuple[Expr, ...] = ()
    decorators: tuple[Expr, ...] = ()
    returns: tuple[Expr, ...] = ()
    result: Expr | None = None
    traits: int = 0
    tags: tuple[str, ...] = ()


class Binding(NamedTuple):
    """A name of a scope (a definition's number) gets a value; in a class's scope it is an attribute of the class.

    One that `replaces` stands in no branch or loop: afterwards nothing is left of the name's earlier bindings.
    """

    scope: int
    name: str
    value: Expr
    line: int
    replaces: bool = False


class Store(NamedTuple):
    """Something other than a name of this scope gets a value: `self.x = e`, `d["k"] = e`, `Class.method = e`; with a
    ("name", x) as its target, a variable of a scope around this one."""

    scope: int
    target: Expr
    value: Expr
    line: int


class Call(NamedTuple):
    """A call, where it stands. `new` calls construct; a keyword argument has its name, a spread its star as one.

    A decorator that is applied, a JSX element and a tagged template are calls too. A spread argument is written as the
    keyword ("*", e) or ("**", e); `args` then end where the first spread stands. What an operator calls is written as a
    call of its method (`a[b]` in Python: ("attr", a, "__getitem__")). With `unless`, it counts only if that other call
    leads to nothing of ours: what `xs.map(f)` does with f, if map is the built-in.
    """

    scope: int
    callee: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    line: int
    column: int
    new: bool = False
    unless: int = -1


class Reference(NamedTuple):
    """An expression that is read but not called: an annotation, a base passed on, a handler in a table."""

    scope: int
    value: Expr
    line: int
    column: int


class Import(NamedTuple):
    """An import as it stands. `name` is "*" for all names, None for the module itself; see above for what it binds."""

    scope: int
    spec: str
    name: str | None
    alias: str | None
    line: int
    is_type_only: bool = False


class Export(NamedTuple):
    """A name that a file gives to others; ("*", ("import", spec, None)) passes on everything, "=" is what the module
    itself is (module.exports = …)."""

    name: str
    value: Expr


class Route(NamedTuple):
    """A request that a handler serves. `router` is what it was registered on, if that matters for its path.

    A method is written in capitals, "ANY" for all and "WEBSOCKET" for a socket; a path parameter as `{name}`.
    """

    methods: tuple[str, ...]
    path: str
    handler: Expr
    router: Expr | None
    framework: str
    scope: int
    line: int


class Mount(NamedTuple):
    """A router is put under a prefix of another one: include_router, register_blueprint, app.use, path(include).

    Without a parent it is the router's own prefix: APIRouter(prefix=…), a controller class's path. A prefix that is
    not written there is an expression for it: `settings.PREFIX`.
    """

    parent: Expr | None
    prefix: str | Expr
    child: Expr
    framework: str
    scope: int
    line: int


class Facts(NamedTuple):
    """All that one file says.

    `package` is the namespace it declares (Java, C#, Go), `packages` all of several. `exports` is None where every
    top-level name is given to others. `starred` are the names that an import of everything gives (Python's __all__);
    None for all that do not start with an underscore.
    """

    path: str
    language: str
    definitions: tuple[Definition, ...]
    bindings: tuple[Binding, ...] = ()
    stores: tuple[Store, ...] = ()
    calls: tuple[Call, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] | None = None
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    package: str = ""
    tags: tuple[str, ...] = ()
    starred: tuple[str, ...] | None = None
    packages: tuple[str, ...] = ()
    is_broken: bool = False


R = TypeVar("R", bound=tuple[Any, ...])


class _AsRow(Protocol):
    def __call__(self, kind: type[R], values: tuple[Any, ...], /) -> R: ...


# A row out of all its values: what its class's own constructor does, in half the time. A file has thousands of them.
as_row = cast("_AsRow", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]


def pack(facts: Facts) -> bytes:
    """The facts as bytes, for a pipe or our own store: quick, and only ever read back by the same version."""
    plain = [
        tuple(map(tuple, part)) if type(part) is tuple and part and isinstance(part[0], tuple) else part
        for part in facts
    ]
    plain[2] = tuple(
        [
            (d[0].value, *d[1:6], tuple(map(tuple, d[6])) if d[6] else (), *d[7:11], int(d[11]), d[12])
            for d in facts.definitions
        ]
    )
    return marshal.dumps(tuple(plain))


def unpack(packed: bytes) -> Facts:
    """The facts out of the bytes that `pack` made. Not for bytes from anywhere else."""
    parts: list[Any] = list(marshal.loads(packed))
    parts[2] = tuple(
        [
            as_row(Definition, (_SHAPES[d[0]], *d[1:6], tuple(map(_PARAM, d[6])) if d[6] else (), *d[7:]))
            for d in parts[2]
        ]
    )
    for place, row in _ROWS:
        parts[place] = tuple(map(row, parts[place])) if parts[place] is not None else None
    return Facts._make(parts)


_SHAPES = {shape.value: shape for shape in Shape}
_PARAM = partial(as_row, Param)
_ROWS = tuple(
    (Facts._fields.index(name), partial(as_row, row))
    for name, row in (
        ("bindings", Binding),
        ("stores", Store),
        ("calls", Call),
        ("references", Reference),
        ("imports", Import),
        ("exports", Export),
        ("routes", Route),
        ("mounts", Mount),
    )
)
