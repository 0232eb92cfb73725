"""Small things done with expressions of facts, and the few that are always the same. Pure."""

from belayer.codegraph.facts import Expr, Trait

UNKNOWN: Expr = ("any", ())
SELF: Expr = ("self",)
SUPER: Expr = ("super",)
STRING: Expr = ("literal", "string")
NUMBER: Expr = ("literal", "number")
MODULE: Expr = ("def", 0)
MODULE_NAME: Expr = ("name", "module")
# Plain numbers: flags of an enum take ten times as long to combine.
STATIC, PROPERTY, ABSTRACT, ASYNC, GENERATOR, CONSTRUCTOR, TEST = (
    trait.value
    for trait in (
        Trait.STATIC,
        Trait.PROPERTY,
        Trait.ABSTRACT,
        Trait.ASYNC,
        Trait.GENERATOR,
        Trait.CONSTRUCTOR,
        Trait.TEST,
    )
)
# An expression is a tuple in a tuple in a tuple: those who hash, store or follow it must not go too deep either.
LONGEST_CHAIN = 40
MOST_CHOICES = 24
LONGEST_KEY = 60
OBJECT = "<object:"  # how the name of an object literal begins whose functions say `this`


def inside(expr: Expr) -> Expr:
    """What an expression is built on: the e of ("attr", e, x)."""
    return expr[1]  # pyright: ignore[reportReturnType]


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The members of a list or of an "any"."""
    return expr[1]  # pyright: ignore[reportReturnType]


def pairs(expr: Expr) -> tuple[tuple[object, Expr], ...]:
    """The keys and values of a dict."""
    return expr[1]  # pyright: ignore[reportReturnType]


def number_of(expr: Expr) -> int:
    """The number in a "call", "def" or "bound"."""
    return expr[1]  # pyright: ignore[reportReturnType]


def put(holder: Expr, keys: list[object], value: Expr) -> Expr:
    """The holder, with the value under these keys."""
    if len(keys) == 1:
        return ("put", holder, keys[0], value)
    inner: Expr = attr_of(holder, keys[0])
    return ("put", holder, keys[0], put(inner, keys[1:], value))


def attr_of(value: Expr, key: object) -> Expr:
    """A property, looked up at once where the value is written there."""
    if value[0] == "import" and value[2] is None and isinstance(key, str):
        return ("import", value[1], key)
    return ("attr", value, key) if isinstance(key, str) else ("item", value, key)


def property_of(value: Expr | None, key: object) -> Expr | None:
    """The property of a value that may be written right there."""
    if value is None:
        return None
    if value[0] == "dict" and all(name is not None for name, _ in pairs(value)):
        return next((held for name, held in reversed(pairs(value)) if name == key), None)
    return attr_of(value, key)


def item_of(value: Expr | None, index: int) -> Expr | None:
    """The item of a list that may be written right there."""
    if value is None:
        return None
    if value[0] == "list":
        items = parts(value)
        if not any(item[0] == "spread" for item in items):
            return items[index] if index < len(items) else None
    return ("item", value, index)


def is_object(value: Expr) -> bool:
    """Whether a value is an object literal, or may be one: `x || {}`. One that says `this` has a name of its own."""
    if value[0] == "any":
        return any(map(is_object, parts(value)))
    return value[0] == "dict" or (value[0] == "name" and str(value[1]).startswith(OBJECT))


def as_key(text: str) -> str | int:
    """`1` and `"1"` are one key."""
    return (
        int(text) if text.isascii() and text.isdigit() and len(text) < 9 and str(int(text)) == text else text
    )


def one_of(one: Expr | None, other: Expr | None, *more: Expr | None) -> Expr | None:
    """One of these, without those that say nothing."""
    if not more and (one is None or other is None or one == other):
        return other if one is None else one
    known: dict[Expr, None] = {}
    for value in (one, other, *more):
        if value is not None:
            known.update(dict.fromkeys(parts(value) if value[0] == "any" else (value,)))
    if not known:
        return None
    return next(iter(known)) if len(known) == 1 else ("any", tuple(known)[:MOST_CHOICES])


def root_name(expr: Expr) -> str | None:
    """The name that a chain of attributes starts from."""
    while expr[0] in ("attr", "item"):
        expr = inside(expr)
    return str(expr[1]) if expr[0] == "name" else None
