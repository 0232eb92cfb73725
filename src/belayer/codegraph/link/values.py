"""What an expression can stand for: the things that the evaluator hands around. Equal things are the same object."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from belayer.codegraph.facts import Expr, Shape, Trait

if TYPE_CHECKING:
    from belayer.codegraph.facts import Definition
    from belayer.codegraph.link.module import Module


# Plain numbers: a flag of an enum takes ten times as long to compare.
PART, ABSENT, STATIC, CLASS_METHOD, PROPERTY = (
    int(each) for each in (Trait.PART, Trait.ABSENT, Trait.STATIC, Trait.CLASS_METHOD, Trait.PROPERTY)
)
ABSTRACT, CONSTRUCTOR, GENERATOR, TEST, EXTENSION = (
    int(each) for each in (Trait.ABSTRACT, Trait.CONSTRUCTOR, Trait.GENERATOR, Trait.TEST, Trait.EXTENSION)
)


class Def:
    """A definition: the function or class itself."""

    __slots__ = (
        "exact",
        "fact",
        "id",
        "instance",
        "is_absent",
        "is_class",
        "is_constructor",
        "is_final",
        "is_part",
        "is_property",
        "is_static",
        "module",
        "name",
        "number",
        "qualified",
        "traits",
        "unbound",
    )

    def __init__(self, module: Module, number: int, fact: Definition, qualified: str) -> None:
        self.module, self.number, self.fact, self.qualified = module, number, fact, qualified
        self.id = f"{module.path}::{qualified}"
        self.name, self.traits = fact.name, int(fact.traits)
        self.is_part = bool(self.traits & PART)
        self.is_absent = bool(self.traits & ABSENT)
        self.is_static = bool(self.traits & (STATIC | CLASS_METHOD))
        self.is_property = bool(self.traits & PROPERTY)
        self.is_constructor = bool(self.traits & CONSTRUCTOR)
        self.is_class = fact.shape is Shape.CLASS or fact.shape is Shape.INTERFACE
        self.is_final = not self.is_class and self._is_never_replaced()
        self.instance = Instance(self, is_exact=False)
        self.exact = Instance(self, is_exact=True)
        self.unbound = Unbound(self)

    def _is_never_replaced(self) -> bool:
        """Whether it is plain that no other function runs where this one is called."""
        if self.fact.shape is not Shape.METHOD or self.traits & (STATIC | CONSTRUCTOR):
            return True
        owner = self.module.facts.definitions[self.fact.parent]
        is_declared = self.is_abstract or owner.shape is Shape.INTERFACE
        return not is_declared and not self.module.language.names_see_members

    @property
    def is_abstract(self) -> bool:
        """Whether somebody else has to say what it does."""
        return bool(self.traits & ABSTRACT)


class Instance:
    """An instance of a class. One that is not exact may be of a class below it."""

    __slots__ = ("is_exact", "of")

    def __init__(self, of: Def, *, is_exact: bool) -> None:
        self.of, self.is_exact = of, is_exact


class Unbound:
    """A method taken from its class: its first argument is the instance."""

    __slots__ = ("of",)

    def __init__(self, of: Def) -> None:
        self.of = of


class Super:
    """The instance of a method of this class, seen from the classes above it."""

    __slots__ = ("of", "on_class")

    def __init__(self, of: Def, *, on_class: bool) -> None:
        self.of, self.on_class = of, on_class


class Box:
    """A list or dict as it was written: its items are looked at when somebody asks."""

    __slots__ = ("expr", "module", "name", "scope")

    def __init__(self, module: Module, scope: int, expr: Expr, name: str) -> None:
        self.module, self.scope, self.expr = module, scope, expr
        self.name = name  # of the variable or attribute that first held it, if one did


class Yields:
    """What a generator gives, one after the other."""

    __slots__ = ("of",)

    def __init__(self, of: Def) -> None:
        self.of = of


class Folder:
    """A package without a file of its own."""

    __slots__ = ("module", "path")

    def __init__(self, module: Module, path: str) -> None:
        self.module, self.path = module, path


class Site:
    """What a call of something outside made here: nothing is known of it but its identity."""

    __slots__ = ("call", "module")

    def __init__(self, module: Module, call: int) -> None:
        self.module, self.call = module, call


class Outside:
    """Something that is not ours."""

    __slots__ = ()


OUTSIDE = Outside()

Value: TypeAlias = (
    "Def | Instance | Unbound | Super | Box | Yields | Folder | Site | Outside | Module | str | int"
)

# Which values it may be: those that the language's rules alone lead to, and those found by following values.
Answer: TypeAlias = tuple[tuple[Value, ...], tuple[Value, ...]]

NOTHING: Answer = ((), ())
ELSEWHERE: Answer = ((OUTSIDE,), ())
SILENT = (NOTHING, ELSEWHERE)  # answers that lead nowhere
FOREIGN = frozenset(
    {Outside, Site, Box, Yields, Folder, str, int}
)  # what runs nothing of ours when it is called
NOBODY: Answer = ((OUTSIDE, OUTSIDE), ())  # None, null: no choice beside anything else
MOST_VALUES = 24
# Expressions whose values are at hand or remembered by themselves.
REMEMBERED = frozenset(
    {"name", "bound", "call", "def", "import", "self", "key", "literal", "list", "dict", "put"}
)
CONTAINERS = frozenset({"list", "dict", "put"})  # expressions that make something with an identity of its own


def doubtful(answer: Answer) -> Answer:
    """The same values, found by following values."""
    sure, unsure = answer
    return ((), sure + unsure) if sure else answer


def joined(answers: list[Answer]) -> Answer:
    """One of several: sure only if there was no choice. Never more than a few dozen values."""
    if len(answers) > 1 and NOBODY in answers:
        answers = [answer for answer in answers if answer is not NOBODY] or answers[:1]
    if len(answers) == 1:
        return answers[0]
    values = dict.fromkeys(value for answer in answers for part in answer for value in part)
    return ((), tuple(values)[:MOST_VALUES]) if values else NOTHING
