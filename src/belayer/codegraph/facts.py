"""What one file says before anybody knows what its names mean: the words that every language's reader speaks.

Plain tuples of plain values, so that facts cross processes and the disk quickly, and equal sources give equal facts.
Positions: lines count from 1, columns from 0. A definition's number is its place in `Facts.definitions`; number 0 is
the module itself. A call's number is its place in `Facts.calls`.
"""

from enum import IntFlag, StrEnum
from typing import NamedTuple, TypeAlias

# An expression is a tuple whose first item is one of these words:
#   ("name", x)            a name, looked up from the scope it stands in
#   ("attr", e, x)         e.x
#   ("call", n)            what call number n gives
#   ("def", n)             definition number n itself: a function, class or lambda as a value
#   ("new", e)             an instance of the class that e names: an annotation, a declared type, a `new` without a call
#   ("item", e, key)       e[key]; key is a str or int when it is written there, else None; an iteration is None too
#   ("list", (e, …))       a list, tuple, set or array
#   ("dict", ((key, e), …))  a dict or object literal; key as in "item"
#   ("any", (e, …))        one of these: `a or b`, a conditional, a union type
#   ("self",)              the instance that a method runs on, where the language has a word for it (this)
#   ("super",)             the same instance, seen from the base classes
#   ("import", spec, name) what an import gives: the module `spec`, or `name` out of it; spec as the source spells it
#                          (Python's leading dots and the quotes' content included)
#   ("literal", type)      a value of a built-in type: "str", "int", "dict" …, in the language's own spelling
Expr: TypeAlias = tuple[object, ...]


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


class Param(NamedTuple):
    """A parameter. `star` is "", "*" or "**"."""

    name: str
    type: Expr | None = None
    default: Expr | None = None
    star: str = ""


class Definition(NamedTuple):
    """A module, class, function, method or lambda. `parent` is the number of what encloses it (-1 for the module).

    `name` is its own name; a lambda or anonymous function is named by its place (`<lambda:12:4>`).
    `returns` are the values it may give (yields too); `result` is the type that it declares.
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
    """A name of a scope (a definition's number) gets a value; in a class's scope it is an attribute of the class."""

    scope: int
    name: str
    value: Expr
    line: int


class Store(NamedTuple):
    """Something other than a name gets a value: `self.x = e`, `d["k"] = e`, `Class.method = e`."""

    scope: int
    target: Expr
    value: Expr
    line: int


class Call(NamedTuple):
    """A call, where it stands. `new` calls construct; a keyword argument has its name, a spread its star as one.

    A decorator that is applied, a JSX element and a tagged template are calls too.
    """

    scope: int
    callee: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    line: int
    column: int
    new: bool = False


class Reference(NamedTuple):
    """An expression that is read but not called: an annotation, a base passed on, a handler in a table."""

    scope: int
    value: Expr
    line: int
    column: int


class Import(NamedTuple):
    """An import as it stands. `name` is "*" for all names, None for the module itself."""

    scope: int
    spec: str
    name: str | None
    alias: str | None
    line: int
    is_type_only: bool = False


class Export(NamedTuple):
    """A name that a file gives to others; ("*", ("import", spec, None)) passes on everything."""

    name: str
    value: Expr


class Route(NamedTuple):
    """A request that a handler serves. `router` is what it was registered on, if that matters for its path."""

    methods: tuple[str, ...]
    path: str
    handler: Expr
    router: Expr | None
    framework: str
    scope: int
    line: int


class Mount(NamedTuple):
    """A router is put under a prefix of another one: include_router, register_blueprint, app.use, path(include)."""

    parent: Expr | None
    prefix: str
    child: Expr
    framework: str
    scope: int
    line: int


class Facts(NamedTuple):
    """All that one file says. `package` is the namespace it declares (Java, C#, Go); `exports` is None where
    everything is given to others (a Python module without __all__)."""

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
    is_broken: bool = False
