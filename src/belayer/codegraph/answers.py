"""What the graph's questions answer with: plain words, ready for JSON. A confidence is told by its name."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Sureness = Literal["resolved", "inferred", "by-name"]
Direction = Literal["dependents", "dependencies"]
Level = Literal["low", "medium", "high"]


class Answer(BaseModel):
    """The manner of them all."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Symbol(Answer):
    """A node: a module, class, function, method or endpoint, and where it stands."""

    id: str
    kind: Literal["module", "class", "function", "method", "endpoint"]
    name: str
    path: str
    line: int
    end_line: int
    language: str
    tags: tuple[str, ...] = ()


class Link(Answer):
    """One reference: `source` refers to `target`, in the source's file at this place.

    `count` is more than 1 where several references are told as one; the place is then the first one's.
    """

    source: str
    target: str
    relation: Literal["contains", "imports", "calls", "inherits", "overrides", "uses", "serves", "tests"]
    confidence: Sureness
    path: str
    line: int
    column: int
    count: int = 1


class Module(Answer):
    """A module and how it stands among the others."""

    path: str
    name: str
    language: str
    tags: tuple[str, ...]
    lines: int
    symbols: int
    dependents: int
    dependencies: int
    is_broken: bool


class Modules(Answer):
    """A page of modules, by path. `after` begins the next page; None when this is the last."""

    modules: tuple[Module, ...]
    total: int
    tags: dict[str, int]
    after: str | None


class Hit(Answer):
    """A symbol that a change reaches (or that is needed). `why` leads from it to what was asked about."""

    symbol: Symbol
    depth: int
    confidence: Sureness
    why: tuple[Link, ...]


class ModuleHit(Answer):
    """A module that a change reaches, by the nearest and surest of its symbols."""

    path: str
    name: str
    depth: int
    confidence: Sureness
    symbols: int
    is_test: bool
    why: tuple[Link, ...]


class TestReason(Answer):
    """One thing that speaks for running a test: how many points it gives, and the sentence for a person."""

    __test__ = False

    factor: Literal["distance", "share", "name", "words", "history", "imports"]
    points: float
    text: str


class TestHit(Answer):
    """A test to run. `reaches` counts the changed things it comes to; `is_named_after` says that its file or name is
    made of theirs (test_cart for cart). `score` is the sum of its reasons' points; the second and later tests of a file
    stand a little further down than their scores. Best first."""

    __test__ = False

    symbol: Symbol
    depth: int
    confidence: Sureness
    reaches: int
    is_named_after: bool
    score: float
    reasons: tuple[TestReason, ...]
    why: tuple[Link, ...]


class Endpoint(Answer):
    """A request that is served here."""

    id: str
    method: str
    route: str
    framework: str | None
    path: str
    line: int
    handler: Symbol | None


class EndpointHit(Answer):
    """An endpoint that a change reaches."""

    endpoint: Endpoint
    depth: int
    confidence: Sureness
    why: tuple[Link, ...]


class Reason(Answer):
    """One part of a risk: what was counted, how much that adds to the score, and the sentence for a person."""

    factor: Literal["fan_in", "fan_out", "spread", "endpoints", "untested", "churn"]
    value: float | None
    points: float
    text: str


class Risk(Answer):
    """How much can go wrong when the targets change: 0 to 100, and why."""

    score: int
    level: Level
    reasons: tuple[Reason, ...]


class Totals(Answer):
    """How many there are, whatever the limit leaves out."""

    modules: int
    symbols: int
    tests: int
    endpoints: int


class Impact(Answer):
    """What a change of the targets reaches, or what they need. Nearest and surest first."""

    targets: tuple[Symbol, ...]
    direction: Direction
    depth: int
    least: Sureness
    modules: tuple[ModuleHit, ...]
    symbols: tuple[Hit, ...]
    tests: tuple[TestHit, ...]
    endpoints: tuple[EndpointHit, ...]
    risk: Risk
    totals: Totals
    truncated: bool


class Endpoints(Answer):
    """The endpoints that fit a pattern."""

    endpoints: tuple[Endpoint, ...]
    total: int
    truncated: bool


class ModuleLink(Answer):
    """Another module, and how many references of each kind lead there (or come from there)."""

    path: str
    name: str
    confidence: Sureness
    references: int
    relations: dict[str, int]


class Use(Answer):
    """A reference over the border of what was asked about: `inner` is ours, `outer` the other one."""

    inner: Symbol
    outer: Symbol
    link: Link


class Dependencies(Answer):
    """What a module (or symbol) imports and is imported by, calls and is called by: one reference away."""

    target: Symbol
    imports: tuple[ModuleLink, ...]
    imported_by: tuple[ModuleLink, ...]
    callees: tuple[Use, ...]
    callers: tuple[Use, ...]
    truncated: bool


class Found(Answer):
    """A symbol that a search found; `fit` says how: exact, prefix, parts, substring or letters."""

    symbol: Symbol
    fit: Literal["exact", "prefix", "parts", "substring", "letters"]


class Symbols(Answer):
    """What a search found, best first."""

    symbols: tuple[Found, ...]
    total: int
    truncated: bool


class Neighbours(Answer):
    """A node, what is around it, and every link among these."""

    center: Symbol
    nodes: tuple[Symbol, ...]
    links: tuple[Link, ...]
    truncated: bool


class Graph(Answer):
    """The graph, or the best connected part of it, for a drawing."""

    level: Literal["modules", "symbols"]
    nodes: tuple[Symbol, ...]
    links: tuple[Link, ...]
    total_nodes: int
    total_links: int
    truncated: bool
