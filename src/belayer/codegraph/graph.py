"""The words of the graph: nodes, edges, and how sure an edge is. Pure data."""

from enum import IntEnum, StrEnum
from typing import NamedTuple

NodeId = str


class Kind(StrEnum):
    """What a node is."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    ENDPOINT = "endpoint"


class Relation(StrEnum):
    """What an edge says of its source and its target."""

    CONTAINS = "contains"
    IMPORTS = "imports"
    CALLS = "calls"
    INHERITS = "inherits"
    OVERRIDES = "overrides"
    USES = "uses"
    SERVES = "serves"
    TESTS = "tests"


class Confidence(IntEnum):
    """How sure an edge is: found by the language's rules, by following values, or by a name that fits."""

    BY_NAME = 1
    INFERRED = 2
    RESOLVED = 3


class Node(NamedTuple):
    """A thing in the source. The id of a module is its path; of what is in it, `path::Outer.name`.

    `name` is what people call it (`shop.cart.Cart.add`), `line` and `end_line` count from 1.
    """

    id: NodeId
    kind: Kind
    name: str
    path: str
    line: int
    end_line: int
    language: str
    tags: tuple[str, ...] = ()


class Edge(NamedTuple):
    """One thing refers to another, at this place in the source of the first."""

    source: NodeId
    target: NodeId
    relation: Relation
    confidence: Confidence
    line: int
    column: int
