"""Python's parameters: their names, their annotations and their defaults."""

from __future__ import annotations

from tree_sitter import Node

from belayer.codegraph.facts import Param, as_row
from belayer.codegraph.languages.python_draft import Draft
from belayer.codegraph.languages.python_grammar import fields, kinds
from belayer.codegraph.languages.python_types import annotated

_NAME, _TYPE, _VALUE = fields("name type value")
_COMMENT, _IDENTIFIER, _TYPED = kinds("comment identifier typed_parameter")
_WITH_DEFAULT = frozenset(kinds("default_parameter typed_default_parameter"))
_STARS = dict(zip(kinds("list_splat_pattern dictionary_splat_pattern"), ("*", "**"), strict=True))


def parameters(draft: Draft, node: Node | None) -> tuple[Param, ...]:
    """The parameters of a function or lambda."""
    if node is None:
        return ()
    found: list[Param] = []
    for child in node.named_children:
        param = _parameter(draft, child)
        if param is not None:
            found.append(param)
    return tuple(found)


def without_self(params: tuple[Param, ...]) -> tuple[Param, ...]:
    """A method's parameters: its first is the instance, and no parameter of ours."""
    return params[1:] if params and not params[0].star else params


def self_name(draft: Draft, node: Node | None) -> str | None:
    """The name of a method's first parameter, if it is one that takes the instance alone."""
    children = node.named_children if node is not None else []
    first = next((child for child in children if child.kind_id != _COMMENT), None)
    if first is not None and first.kind_id == _TYPED:
        first = first.named_children[0]
    return draft.text(first) if first is not None and first.kind_id == _IDENTIFIER else None


def _parameter(draft: Draft, node: Node) -> Param | None:
    kind = node.kind_id
    if kind == _IDENTIFIER:
        return as_row(Param, (draft.text(node), None, None, ""))
    if kind in _WITH_DEFAULT:
        name = node.child_by_field_id(_NAME)
        annotation = annotated(draft, node.child_by_field_id(_TYPE))
        default = draft.read(node.child_by_field_id(_VALUE))
        return as_row(Param, (draft.text(name) if name is not None else "", annotation, default, ""))
    if kind == _TYPED:
        inner = _parameter(draft, node.named_children[0])
        annotation = annotated(draft, node.child_by_field_id(_TYPE))
        if inner is None or inner.star:
            return inner
        return Param(inner.name, annotation)
    if kind in _STARS and node.named_children:
        return Param(draft.text(node.named_children[0]), None, None, _STARS[kind])
    return None
