"""Correct TypeScript that the grammar does not know yet, spelled so that it does. Every byte stays where it was."""

import re

from tree_sitter import Node, Parser

# `export type * from`: the word says nothing about which names there are.
_TYPE_STAR = re.compile(rb"^(export\s+)type(?=\s*\*)", re.MULTILINE)
# `<in out T>`: how a parameter varies.
_VARIANCE = re.compile(rb"(?<=[<,\s])(in\s+out|in|out)(?=\s+[A-Za-z_$][\w$]*\s*(?:extends\b|[=,>]))")
# `f<typeof import("x")>()`: a type nobody here looks into.
_IMPORTED_TYPE = re.compile(rb"""(?<=<)typeof import\(["'][^"'\n]{1,200}["']\)(?=>)""")
# Behind these a line goes on in the next one.
_GOES_ON = re.compile(rb"(?:[=(\[{,|&:?<;+*/!-]|=>|\b(?:extends|keyof|typeof|infer|is|return|new|in|of))\Z")
_LARGEST = 400_000


def parsed(parser: Parser, source: bytes) -> Node:
    """The tree of a file; of one with errors, the tree of the respelled file if that has fewer."""
    root = parser.parse(source).root_node
    if not root.has_error or len(source) > _LARGEST:
        return root
    spelled = respelled(source)
    if spelled == source:
        return root
    other = parser.parse(spelled).root_node
    return other if _lost(other) < _lost(root) else root


def respelled(source: bytes) -> bytes:
    """The same source in words that the grammar knows."""
    source = _TYPE_STAR.sub(lambda found: found[1] + b"    ", source)
    source = _VARIANCE.sub(lambda found: b" " * len(found[0]), source)
    source = _IMPORTED_TYPE.sub(lambda found: b"any".ljust(len(found[0])), source)
    return _separated(source)


def _separated(source: bytes) -> bytes:
    """A semicolon before every member that starts with its type parameters, where a line's end was all there was."""
    lines = source.split(b"\n")
    before = b"{"
    for number, line in enumerate(lines):
        words = line.strip()
        if not words or words.startswith((b"//", b"/*", b"*")):
            continue
        if words.startswith(b"<") and line[:1].isspace() and not _GOES_ON.search(before[-20:]):
            indent = len(line) - len(line.lstrip())
            lines[number] = line[: indent - 1] + b";" + line[indent:]
        before = words
    return b"\n".join(lines)


def _lost(root: Node) -> int:
    """How many bytes of a file stand in what could not be parsed."""
    lost, waiting = 0, [root]
    while waiting:
        for child in waiting.pop().children:
            if child.is_error or child.is_missing:
                lost += 1 + child.end_byte - child.start_byte
            elif child.has_error:
                waiting.append(child)
    return lost
