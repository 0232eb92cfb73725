"""Which requests a Go file's functions serve: net/http, gorilla/mux, chi, gin, echo and fiber, as registered."""

import re

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Route
from belayer.codegraph.languages.draft import Draft, line_of
from belayer.codegraph.languages.prefixes import Prefixes

FRAMEWORKS = {
    "go-chi/chi": "chi",
    "gin-gonic/gin": "gin",
    "labstack/echo": "echo",
    "gofiber/fiber": "fiber",
    "gorilla/mux": "gorilla",
}
CAPITAL_VERBS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
VERBS = {verb.capitalize(): verb for verb in CAPITAL_VERBS}
GROUPS = frozenset({"Group", "Route", "PathPrefix", "Path"})
PASSING = frozenset({"Subrouter", "With", "Use", "Methods", "Name", "StrictSlash", "Headers", "Queries"})
HANDLER_LAST = frozenset({"gin", "fiber"})
PATTERN = re.compile(r"(?:([A-Z]+)\s+)?(\S*)")
VARIABLE = re.compile(r"\{(\w+)(\.\.\.)?(?::(?:[^{}]|\{[^{}]*\})*)?\}|:(\w+)\??|\*(\w*)")


class Routes:
    """Follows routers through a file: which prefix a router has, and what is registered on it."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.framework = "net/http"
        self._prefixes = Prefixes(draft)
        self._methods: dict[object, tuple[str, ...]] = {}
        self._registered: dict[object, int] = {}
        self._pending: str | None = None

    def imported(self, spec: str) -> None:
        for part, framework in FRAMEWORKS.items():
            if part in spec:
                self.framework = framework

    def bound(self, name: str, value: Expr) -> None:
        """A variable gets what a call gave: maybe a router under a prefix."""
        self._prefixes.bind(name, value)

    def within(self, word: str, router: Expr, arguments: Node) -> str | None:
        """Before the arguments of a call are read: a function among them may get a router under a prefix."""
        before = self._pending
        if word in ("Route", "Group"):
            self._pending = _joined(self._prefixes.of(router), _text(self.draft, arguments, 0) or "")
        return before

    def leave(self, pending: str | None) -> None:
        self._pending = pending

    def entered(self, number: int) -> None:
        """A function literal begins."""
        params = self.draft.definitions[number].params
        if self._pending is not None and params:
            self._prefixes.of_names[number, params[0].name] = self._pending
        self._pending = None

    def called(self, word: str, router: Expr, given: Expr, arguments: Node, values: list[Expr]) -> None:
        """A method was called: a router is made, or a request gets its handler."""
        if word in GROUPS or word in PASSING:
            self._grouped(word, router, given, arguments)
        elif (
            word in ("HandlerFunc", "Handler")
            and router[0] == "call"
            and router[1] in self._prefixes.of_groups
            and values
        ):
            methods = self._methods.get(router[1], ("ANY",))
            self._add(methods, self._prefixes.of_groups[router[1]], values[0], arguments, given)
        else:
            self._registers(word, router, given, arguments, values)

    def _grouped(self, word: str, router: Expr, given: Expr, arguments: Node) -> None:
        if word == "Methods" and router[0] == "call":
            methods = tuple(_texts(self.draft, arguments))
            self._methods[given[1]] = methods
            place = self._registered.get(router[1])
            if place is not None and methods:
                self.draft.routes[place] = self.draft.routes[place]._replace(methods=methods)
        text = _text(self.draft, arguments, 0) if word in GROUPS else ""
        if text is not None:
            self._prefixes.of_groups[given[1]] = _joined(self._prefixes.of(router), text)

    def _registers(self, word: str, router: Expr, given: Expr, arguments: Node, values: list[Expr]) -> None:
        first = _text(self.draft, arguments, 0)
        if first is None or len(values) < 2:
            return
        handler = values[-1] if self.framework in HANDLER_LAST else values[1]
        if word in CAPITAL_VERBS or (word in VERBS and self.framework in ("chi", "fiber")):
            self._add((word.upper(),), _joined(self._prefixes.of(router), first), handler, arguments, given)
        elif word in ("Handle", "HandleFunc", "Method", "MethodFunc", "Any", "All", "Add"):
            path = _text(self.draft, arguments, 1)
            if path is not None and len(values) > 2 and first.upper() in CAPITAL_VERBS:
                self._add(
                    (first.upper(),), _joined(self._prefixes.of(router), path), values[2], arguments, given
                )
            elif word not in ("Method", "MethodFunc", "Add"):
                self._pattern(first, router, handler, arguments, given)

    def _pattern(self, text: str, router: Expr, handler: Expr, arguments: Node, given: Expr) -> None:
        """`"/path"`, or `"GET /path"` since Go 1.22."""
        found = PATTERN.fullmatch(text.strip())
        if found is not None and "/" in found[2]:
            methods = (found[1] or "ANY",)
            self._add(methods, _joined(self._prefixes.of(router), found[2]), handler, arguments, given)

    def _add(self, methods: tuple[str, ...], path: str, handler: Expr, at: Node, given: Expr) -> None:
        self._registered[given[1]] = len(self.draft.routes)
        self.draft.routes.append(
            Route(methods, path, handler, None, self.framework, self.draft.scope, line_of(at))
        )


def _text(draft: Draft, arguments: Node, place: int) -> str | None:
    """A string that is written as the argument at this place."""
    nodes = [child for child in arguments.named_children if child.type != "comment"]
    if place < len(nodes) and nodes[place].type in ("interpreted_string_literal", "raw_string_literal"):
        return draft.text(nodes[place])[1:-1]
    return None


def _texts(draft: Draft, arguments: Node) -> list[str]:
    found: list[str] = []
    for child in arguments.named_children:
        text = draft.text(child)
        if child.type == "interpreted_string_literal":
            found.append(text[1:-1])
        elif text.startswith("http.Method"):
            found.append(text.removeprefix("http.Method").upper())
    return found


def _joined(prefix: str, path: str) -> str:
    """A path under a prefix, parameters spelled `{name}`."""
    whole = VARIABLE.sub(_spelled, path.replace("{$}", ""))
    if not prefix:
        return whole
    return f"{prefix.rstrip('/')}/{whole.lstrip('/')}".rstrip("/") or "/"


def _spelled(found: re.Match[str]) -> str:
    name = found[1] or found[3] or found[4] or "path"
    return f"{{{name}*}}" if found[2] or found[4] is not None else f"{{{name}}}"
