"""The routes of Python's web frameworks (FastAPI, Starlette, Flask, Django and their like), out of a file's calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from belayer.codegraph.facts import Call, Expr, Mount, Route
from belayer.codegraph.languages.python_draft import Draft

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "trace"})
_SOCKETS = frozenset({"websocket", "websocket_route"})
_ROUTING = frozenset({"route", "api_route"})
_ADDING = frozenset(
    {"add_api_route", "add_url_rule", "add_route", "add_websocket_route", "add_api_websocket_route"}
)
_ROUTERS = frozenset({"APIRouter", "Blueprint"})
_STARLETTE = frozenset({"Route", "Mount", "WebSocketRoute"})
_DJANGO = frozenset({"path", "re_path", "url"})
_METHODS = _ADDING | _ROUTERS | _STARLETTE | {"include_router", "register_blueprint", "mount", "register"}
_FUNCTIONS = _ROUTERS | _STARLETTE | _DJANGO
_FRAMEWORKS = (
    "fastapi",
    "flask",
    "django",
    "starlette",
    "quart",
    "sanic",
    "litestar",
    "rest_framework",
    "aiohttp",
    "bottle",
)
_MODULE: Expr = ("def", 0)
_DEEPEST = 8
_ANGLE = re.compile(r"<(?:(?P<kind>[^<>:]+):)?(?P<name>[^<>:]+)>")
_BRACE = re.compile(r"\{(?P<name>[^{}:]+):(?P<kind>[^{}]*)\}")
_GROUP = re.compile(r"\(\?P<(?P<name>\w+)>(?:[^()]|\([^()]*\))*\)")


class Frameworks:
    """Finds routes and mounts in what was read of a file."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._framework = _framework(draft)
        self._listed: dict[int, Expr] = {}  # the list that a call stands in

    def find(self) -> None:
        """Adds the routes and mounts of all calls to the draft."""
        self._note_lists()
        for number, call in enumerate(self._draft.calls):
            callee = call[1]
            word = callee[0]
            if word == "attr":
                if callee[2] in _METHODS:
                    self._method(number, call, callee[2])
            elif word in ("name", "bound"):
                name = self._name(callee)
                if name in _FUNCTIONS:
                    self._function(number, call, name)
            elif word == "call" and call.args:
                self._decorator(call)

    def _note_lists(self) -> None:
        for number, binding in enumerate(self._draft.bindings):
            if binding.value[0] in ("list", "put"):
                home: Expr = _MODULE if binding.name == "urlpatterns" else ("bound", number)
                self._note_list(binding.value, home, 0)
        for store in self._draft.stores:
            if store.target[0] == "item" and self._is_urlpatterns(cast("Expr", store.target[1])):
                value = cast("Expr", store.value[1]) if store.value[0] == "item" else store.value
                self._note_list(value, _MODULE, 0)

    def _is_urlpatterns(self, base: Expr) -> bool:
        return self._name(base) == "urlpatterns"

    def _note_list(self, value: Expr, home: Expr, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if value[0] == "call":
            self._listed.setdefault(cast("int", value[1]), home)
            self._note_inside(cast("int", value[1]), depth)
        elif value[0] == "list":
            for part in cast("tuple[Expr, ...]", value[1]):
                self._note_list(part, home, depth + 1)

    def _note_inside(self, number: int, depth: int) -> None:
        """Routes that are listed in a mount's own arguments belong to the mount."""
        call = self._draft.calls[number]
        for arg in (*call.args, *(value for _, value in call.keywords)):
            if arg[0] == "list":
                self._note_list(arg, ("call", number), depth + 1)
            elif arg[0] == "call":
                inner = self._draft.calls[cast("int", arg[1])]
                if self._name(inner.callee) == "include":
                    for part in inner.args:
                        if part[0] == "list":
                            self._note_list(part, ("call", number), depth + 1)

    # Decorators and methods of an application or a router

    def _decorator(self, call: Call) -> None:
        """`@app.get("/users")`: the decorator is itself a call, and it is called with the function."""
        made = self._draft.calls[cast("int", call.callee[1])]
        if made.callee[0] != "attr":
            return
        handler = self._innermost(call.args[0])
        path = _path(made, "path", "rule", "uri")
        verb = str(made.callee[2])
        if handler is None or path is None or not (path.startswith("/") or (path == "" and self._framework)):
            return
        router = cast("Expr", made.callee[1])
        for methods in self._methods(verb, made):
            self._route(methods, path, handler, router, made)

    def _methods(self, verb: str, call: Call) -> Iterator[tuple[str, ...]]:
        if verb in _VERBS:
            yield (verb.upper(),)
        elif verb in _SOCKETS:
            yield ("WEBSOCKET",)
        elif verb in _ROUTING:
            yield _written_methods(call) or ("GET",)

    def _innermost(self, value: Expr) -> Expr | None:
        """The function under all its decorators."""
        for _ in range(_DEEPEST):
            if value[0] == "def":
                return value
            if value[0] != "call":
                return None
            call = self._draft.calls[cast("int", value[1])]
            if not call.args:
                return None
            value = call.args[0]
        return None

    def _method(self, number: int, call: Call, name: str) -> None:
        router = cast("Expr", call.callee[1])
        if name in _ADDING:
            self._added(call, name, router)
        elif name == "include_router" and call.args:
            self._mount(router, _prefix(call, "prefix"), call.args[0], call)
        elif name == "register_blueprint" and call.args:
            self._mount(router, _prefix(call, "url_prefix"), call.args[0], call)
        elif name == "mount" and len(call.args) > 1 and call.args[0][0] == "key":
            self._mount(router, str(call.args[0][1]), call.args[1], call)
        elif (
            name == "register"
            and len(call.args) > 1
            and call.args[0][0] == "key"
            and self._framework == "rest_framework"
        ):
            prefix = str(call.args[0][1]).strip("/")
            self._route(("ANY",), f"/{prefix}/", call.args[1], router, call)
            self._route(("ANY",), f"/{prefix}/{{pk}}/", call.args[1], router, call)
        elif name in _ROUTERS:
            self._own_prefix(number, call)
        elif name in _STARLETTE:
            self._function(number, call, name)

    def _added(self, call: Call, name: str, router: Expr) -> None:
        path = _path(call, "path", "rule")
        handler = _keyword(call, "view_func", "endpoint", "route", "handler")
        if handler is None or handler[0] == "key":
            later = [arg for arg in call.args[1:] if arg[0] not in ("key", "literal")]
            handler = later[0] if later else None
        if path is None or handler is None:
            return
        methods = (
            ("WEBSOCKET",)
            if "websocket" in name
            else _written_methods(call) or (("ANY",) if self._is_view(handler) else ("GET",))
        )
        self._route(methods, path, self._view(handler), router, call)

    def _own_prefix(self, number: int, call: Call) -> None:
        prefix = _prefix(call, "prefix") or _prefix(call, "url_prefix")
        if prefix:
            self._mount(None, prefix, ("call", number), call)

    # Functions that make routes

    def _function(self, number: int, call: Call, name: str) -> None:
        if name in _ROUTERS:
            self._own_prefix(number, call)
        elif name in ("Route", "WebSocketRoute") and self._framework:
            self._starlette_route(number, call, name)
        elif name == "Mount" and self._framework:
            self._starlette_mount(number, call)
        elif name in _DJANGO and number in self._listed:
            self._django(number, call, name)

    def _starlette_route(self, number: int, call: Call, name: str) -> None:
        path = _path(call, "path")
        handler = _keyword(call, "endpoint") or (call.args[1] if len(call.args) > 1 else None)
        if path is None or handler is None:
            return
        methods = ("WEBSOCKET",) if name == "WebSocketRoute" else _written_methods(call) or ("GET",)
        self._route(methods, path, handler, self._listed.get(number), call)

    def _starlette_mount(self, number: int, call: Call) -> None:
        prefix = _path(call, "path")
        inside = _keyword(call, "routes", "app") or (call.args[1] if len(call.args) > 1 else None)
        if prefix is None or inside is None:
            return
        child: Expr = ("call", number) if inside[0] == "list" else inside
        self._mount(self._listed.get(number, _MODULE), prefix, child, call)

    def _django(self, number: int, call: Call, name: str) -> None:
        written = _path(call, "route", "regex")
        handler = _keyword(call, "view") or (call.args[1] if len(call.args) > 1 else None)
        if written is None or handler is None:
            return
        path = _from_pattern(written) if name != "path" else written
        router = self._listed[number]
        included = self._included(handler, number)
        if included is not None:
            self._mount(router, path, included, call)
        elif handler[0] != "attr" or handler[2] != "urls":
            self._route(("ANY",), path, self._view(handler), router, call)

    def _included(self, handler: Expr, number: int) -> Expr | None:
        """What `include(…)` takes in: a module by its name, or a list."""
        if handler[0] != "call":
            return None
        call = self._draft.calls[cast("int", handler[1])]
        if self._name(call.callee) != "include" or not call.args:
            return None
        what = call.args[0]
        if what[0] == "key":
            return ("import", str(what[1]), None)
        if what[0] == "list":
            parts = cast("tuple[Expr, ...]", what[1])
            is_pair = len(parts) == 2 and parts[1][0] == "key"
            inside = parts[0] if is_pair else what
            if inside[0] == "key":
                return ("import", str(inside[1]), None)
            return ("call", number) if inside[0] == "list" else inside
        if what[0] == "attr" and what[2] == "urls":
            return cast("Expr", what[1])
        return what

    def _is_view(self, handler: Expr) -> bool:
        return self._view(handler) is not handler

    def _view(self, handler: Expr) -> Expr:
        """The class behind `View.as_view()`, the function inside `login_required(view)`."""
        for _ in range(_DEEPEST):
            if handler[0] != "call":
                return handler
            call = self._draft.calls[cast("int", handler[1])]
            if call.callee[0] == "attr" and call.callee[2] == "as_view":
                return cast("Expr", call.callee[1])
            if not call.args or call.args[0][0] in ("key", "literal"):
                return handler
            handler = call.args[0]
        return handler

    # Facts

    def _route(
        self, methods: tuple[str, ...], path: str, handler: Expr, router: Expr | None, call: Call
    ) -> None:
        self._draft.routes.append(
            Route(methods, plain(path), handler, router, self._framework or "web", call.scope, call.line)
        )

    def _mount(self, parent: Expr | None, prefix: str | Expr, child: Expr, call: Call) -> None:
        framework = self._framework or "web"
        where = plain(prefix) if isinstance(prefix, str) else prefix
        self._draft.mounts.append(Mount(parent, where, child, framework, call.scope, call.line))

    def _name(self, callee: Expr) -> str:
        """The name that a function was imported under, or its own."""
        if callee[0] == "bound":
            binding = self._draft.bindings[cast("int", callee[1])]
            if binding.value[0] == "import" and binding.value[2]:
                return str(binding.value[2])
            return binding.name
        return str(callee[1]) if callee[0] == "name" else str(callee[2]) if callee[0] == "attr" else ""


def _framework(draft: Draft) -> str:
    """The web framework that a file imports, if it imports one."""
    specs = [fact.spec.partition(".")[0] for fact in draft.imports]
    if "rest_framework" in specs:
        return "rest_framework"
    return next((name for name in _FRAMEWORKS if name in specs), "")


def _keyword(call: Call, *names: str) -> Expr | None:
    return next((value for name, value in call.keywords if name in names), None)


def _prefix(call: Call, name: str) -> str | Expr:
    """A prefix as it is written, or what stands for it: a constant, an attribute of the settings."""
    value = _keyword(call, name)
    if value is None or value[0] not in ("key", "name", "bound", "attr"):
        return ""
    return str(value[1]) if value[0] == "key" else value


def _path(call: Call, *names: str) -> str | None:
    """A path that is written as the first argument, or under one of these names."""
    value = call.args[0] if call.args else _keyword(call, *names)
    return str(value[1]) if value is not None and value[0] == "key" else None


def _written_methods(call: Call) -> tuple[str, ...]:
    value = _keyword(call, "methods")
    if value is None or value[0] != "list":
        return ()
    return tuple(str(part[1]).upper() for part in cast("tuple[Expr, ...]", value[1]) if part[0] == "key")


def plain(path: str) -> str:
    """A path whose parameters are written {name}, and {name*} where one takes the rest of the path."""
    path = _ANGLE.sub(lambda found: _parameter(found["name"], found["kind"] or ""), path)
    return _BRACE.sub(lambda found: _parameter(found["name"], found["kind"]), path)


def _parameter(name: str, kind: str) -> str:
    return f"{{{name}*}}" if kind == "path" else f"{{{name}}}"


def _from_pattern(pattern: str) -> str:
    """A regular expression of Django's as a path."""
    path = _GROUP.sub(lambda found: f"{{{found['name']}}}", pattern)
    path = (
        path.replace("\\.", ".").replace("\\-", "-").removeprefix("^").removesuffix("$").removesuffix("\\Z")
    )
    return path.removesuffix("/?")
