"""Which endpoints a path or pattern means: /users/42 is served by /users/{id}."""

import re

import numpy as np
import re2

from belayer.codegraph.answers import Endpoint, Endpoints
from belayer.codegraph.arrays import Snapshot, allowed, once_per_snapshot
from belayer.codegraph.closure import edges_of
from belayer.codegraph.graph import Kind, Relation
from belayer.codegraph.telling import symbol

_LONGEST = 500
_METHOD = re.compile(r"(?i)^(get|post|put|patch|delete|head|options|trace|connect|any|websocket)(?:\s+|$)")
_TOKENS = re.compile(r"\{[^{}/]*\}|\*\*/|/\*\*|\*\*|\*|[^{*/]+|.", re.DOTALL)
_QUIETLY = re2.Options()
_QUIETLY.log_errors = False


def endpoints(graph: Snapshot, pattern: str | None, limit: int) -> Endpoints:
    """The endpoints that fit, those that serve exactly this path first."""
    method, path = _asked((pattern or "").strip()[:_LONGEST])
    found = [
        (rank, route, node)
        for route, node in _routes(graph)
        if (rank := _rank(route, method, path)) is not None
    ]
    found.sort()
    return Endpoints(
        endpoints=tuple(endpoint(graph, node) for *_, node in found[:limit]),
        total=len(found),
        truncated=len(found) > limit,
    )


def endpoint(graph: Snapshot, node: int) -> Endpoint:
    """One endpoint, with its handler if that is known."""
    method, route = _parts(graph.names[node])
    handlers, _ = edges_of(graph.outgoing, np.array([node], np.int32), allowed((Relation.SERVES,)))
    handler = symbol(graph, int(graph.outgoing.other[handlers[0]])) if len(handlers) else None
    file = int(graph.file[node])
    return Endpoint(
        id=graph.ids[node],
        method=method,
        route=route,
        framework=next((tag for tag in graph.tags[node] if tag != "test"), None),
        path=graph.paths[file],
        line=graph.lines[node],
        handler=handler,
    )


@once_per_snapshot
def _routes(graph: Snapshot) -> list[tuple[str, int]]:
    return [(graph.names[node], int(node)) for node in np.flatnonzero(graph.of_kind(Kind.ENDPOINT))]


def _asked(pattern: str) -> tuple[str | None, str]:
    method = _METHOD.match(pattern)
    if method is None:
        return None, pattern
    return method[1].upper(), pattern[method.end() :].strip()


def _parts(name: str) -> tuple[str, str]:
    method, space, route = name.partition(" ")
    return (method, route) if space else ("ANY", name)


def _rank(name: str, method: str | None, path: str) -> int | None:
    """0 for a route that serves the path, 1 for one that has it in it, None for others."""
    own, route = _parts(name)
    if method is not None and own not in (method, "ANY") and method != "ANY":
        return None
    if not path:
        return 0
    if "*" in path:
        return 0 if _fits(path, route) else None
    if path.startswith("/") and _serves(route, path):
        return 0
    return 1 if path.lower() in route.lower() else None


def _serves(route: str, path: str) -> bool:
    if _bare(route) == _bare(path):
        return True
    return "{" in route and _fits(_bare(route) or "/", _bare(path) or "/")


def _bare(path: str) -> str:
    """A route by its shape: parameters have no names, a slash at the end does not matter."""
    return re.sub(r"\{[^{}/*]*\}", "{}", path).rstrip("/")


def _fits(pattern: str, text: str) -> bool:
    try:
        compiled = re2.compile("(?s)" + "".join(map(_expression, _TOKENS.findall(pattern))), _QUIETLY)
    except re2.error:
        return False
    return compiled.fullmatch(text) is not None


def _expression(token: str) -> str:
    if token.startswith("{") and token.endswith("}"):
        return ".+" if "*" in token else "[^/]+"
    match token:
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "(?:/.*)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case _:
            return re2.escape(token)
