"""Definitions and calls of a TypeScript file while they are being read."""

from typing import NamedTuple

from tree_sitter import Node

from belayer.codegraph.facts import Definition, Expr, Param, Shape


class Written(NamedTuple):
    """A call as it stands: `holder.word(args)`, or `word(args)` without a holder."""

    callee: Node
    holder: Expr | None
    word: str
    args: tuple[Expr, ...]
    spread: tuple[tuple[str, Expr], ...]
    nodes: tuple[Node, ...]
    has_functions: bool = False


class Draft:
    """A definition while it is being read."""

    __slots__ = (
        "bases",
        "column",
        "decorators",
        "end_line",
        "has_jsx",
        "line",
        "name",
        "params",
        "parent",
        "result",
        "returns",
        "shape",
        "tags",
        "traits",
    )

    def __init__(self, shape: Shape, name: str, parent: int, line: int, end_line: int, column: int) -> None:
        self.shape, self.name, self.parent = shape, name, parent
        self.line, self.end_line, self.column = line, end_line, column
        self.params: list[Param] = []
        self.bases: list[Expr] = []
        self.decorators: list[Expr] = []
        self.returns: list[Expr] = []
        self.result: Expr | None = None
        self.traits = 0
        self.tags: list[str] = []
        self.has_jsx = False

    def done(self) -> Definition:
        return Definition(
            self.shape,
            self.name,
            self.parent,
            self.line,
            self.end_line,
            self.column,
            tuple(self.params),
            tuple(self.bases),
            tuple(self.decorators),
            tuple(self.returns),
            self.result,
            self.traits,
            tuple(self.tags),
        )
