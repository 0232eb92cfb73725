"""Python's grammar, and the numbers that it gives to kinds of nodes and to fields."""

import tree_sitter_python
from tree_sitter import Language, Parser

GRAMMAR = Language(tree_sitter_python.language())
ERROR_KIND = 0xFFFF  # the number tree-sitter gives to what it could not parse

KINDS: dict[str, int] = {}
for _number in range(GRAMMAR.node_kind_count):
    if GRAMMAR.node_kind_is_named(_number) and GRAMMAR.node_kind_is_visible(_number):
        _kind = GRAMMAR.node_kind_for_id(_number)
        if _kind is not None:
            KINDS.setdefault(_kind, GRAMMAR.id_for_node_kind(_kind, True) or _number)

FIELDS: dict[str, int] = {
    _name: _number
    for _number in range(1, GRAMMAR.field_count + 1)
    if (_name := GRAMMAR.field_name_for_id(_number)) is not None
}
ALL_KINDS = (*range(GRAMMAR.node_kind_count), ERROR_KIND)


def kinds(names: str) -> tuple[int, ...]:
    """The numbers of these kinds of nodes."""
    return tuple(KINDS[name] for name in names.split())


def fields(names: str) -> tuple[int, ...]:
    """The numbers of these fields."""
    return tuple(FIELDS[name] for name in names.split())


def parser() -> Parser:
    """A parser; one for each thread."""
    return Parser(GRAMMAR)
