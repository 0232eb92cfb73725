"""Which requests a file's routes serve: their full paths, with all prefixes that their routers are mounted under."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from belayer.codegraph.facts import Expr, Mount, Route
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.evaluator import Evaluator
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL
from belayer.codegraph.link.values import Def, Folder, Instance, Outside, Unbound, Value

_MOST_PREFIXES = 16
_VERBS = ("get", "post", "put", "patch", "delete", "head", "options")


class Served(NamedTuple):
    """A request and what serves it."""

    name: str
    route: Route
    handlers: tuple[tuple[Def, bool], ...]


class _Mounted(NamedTuple):
    parents: tuple[Value, ...] | None
    prefix: str
    children: tuple[Value, ...]
    framework: str


class Routes:
    """Puts routes under their prefixes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes, self._world = evaluator, evaluator.notes, evaluator.world

    def served(self, module: Module) -> Iterator[Served]:
        """The requests that a file's routes serve, one for each method and full path."""
        for route in module.facts.routes:
            handlers = self._handlers(route, module)
            for prefix in self._prefixes_of(route, module):
                path = join(prefix, route.path) or "/"
                if module.facts.language == "typescript":  # there a slash at the end makes no other path
                    path = path.rstrip("/") or "/"
                for method, functions in self._methods(route, handlers):
                    yield Served(f"{method} {path}", route, functions)

    def _handlers(self, route: Route, module: Module) -> tuple[tuple[Def, bool], ...]:
        answer = self._evaluator.value(route.handler, module, route.scope, FULL)
        found: dict[Def, bool] = {}
        for values, is_sure in zip(answer, (True, False), strict=True):
            for value in values:
                handler = value.of if isinstance(value, (Unbound, Instance)) else value
                if isinstance(handler, Def):
                    found.setdefault(handler, is_sure)
        return tuple(found.items())

    def _methods(
        self, route: Route, handlers: tuple[tuple[Def, bool], ...]
    ) -> Iterator[tuple[str, tuple[tuple[Def, bool], ...]]]:
        """A class that handles requests has a method for each kind of request."""
        owners = [handler for handler, _ in handlers if handler.is_class]
        own = {
            verb: method
            for owner in owners
            for verb in _VERBS
            if (method := self._method(owner, verb)) is not None
        }
        wanted = route.methods
        if wanted == ("ANY",) and own:
            wanted = tuple(verb.upper() for verb in own)
        for method in wanted:
            extra = own.get(method.lower())
            yield method, (*handlers, *([(extra, True)] if extra is not None else []))

    def _method(self, owner: Def, name: str) -> Def | None:
        member = self._evaluator.classes.member(owner, name, FULL)
        found = [value for part in member or () for value in part if isinstance(value, Def)]
        return found[0] if found else None

    def _prefixes_of(self, route: Route, module: Module) -> list[str]:
        if route.router is None:
            return [self._prefix_of_all(module) if route.framework == "nest" else ""]
        routers = self._values(route.router, module, route.scope)
        return self._prefixes(self._mounted(), routers, ()) if routers else [""]

    def _prefix_of_all(self, module: Module) -> str:
        """The prefix that the program around a file has for all its routes."""
        for holder, mounts in self._mounted().items():
            if isinstance(holder, Module) and module.path.startswith(
                holder.path[: holder.path.rfind("/") + 1]
            ):
                found = next((mount.prefix for mount in mounts if mount.framework == "nest"), None)
                if found is not None:
                    return found
        return ""

    def _prefixes(
        self, everything: dict[Value, list[_Mounted]], routers: tuple[Value, ...], below: tuple[Value, ...]
    ) -> list[str]:
        """All prefixes that lead to a router; an empty one if it was never mounted."""
        mounted = list(dict.fromkeys(mount for router in routers for mount in everything.get(router, ())))
        own = next((mount.prefix for mount in mounted if mount.parents is None), "")
        found: dict[str, None] = {}
        below = below + routers
        for mount in mounted:
            if (
                mount.parents is None
                or any(parent in below for parent in mount.parents)
                or len(found) >= _MOST_PREFIXES
            ):
                continue
            inner = mount.prefix if mount.framework == "flask" and mount.prefix else join(mount.prefix, own)
            for outer in self._prefixes(everything, mount.parents, below) if mount.parents else [""]:
                found[join(outer, inner)] = None
        return list(found)[:_MOST_PREFIXES] or [own]

    def _mounted(self) -> dict[Value, list[_Mounted]]:
        """The mounts of all files, by what they mount."""
        return self._notes.ask("mounted", FULL, 0, {}, self._all_mounted)

    def _all_mounted(self, _: int) -> dict[Value, list[_Mounted]]:
        self._notes.keys.add(key(keys.MOUNTS))
        found: dict[Value, list[_Mounted]] = {}
        for path in self._world.having(words.MOUNTS, ""):
            module = self._world.module(path)
            for mount in module.facts.mounts if module is not None else ():
                if module is not None:
                    parents = (
                        self._values(mount.parent, module, mount.scope) if mount.parent is not None else None
                    )
                    children = self._values(mount.child, module, mount.scope)
                    prefix = self._prefix(mount, module)
                    mounted = _Mounted(parents, prefix, children, mount.framework)
                    for child in children:
                        found.setdefault(child, []).append(mounted)
        self._notes.settle()
        return found

    def _prefix(self, mount: Mount, module: Module) -> str:
        """The prefix as it is written, or the one string that its expression leads to."""
        if isinstance(mount.prefix, str):
            return mount.prefix
        answer = self._evaluator.value(mount.prefix, module, mount.scope, FULL)
        texts = [value for part in answer for value in part if isinstance(value, str)]
        return texts[0] if len(texts) == 1 else ""

    def _values(self, expr: Expr, module: Module, scope: int) -> tuple[Value, ...]:
        answer = self._evaluator.value(expr, module, scope, FULL)
        return tuple(
            value for part in answer for value in part if not isinstance(value, Outside | Folder | str | int)
        )


def join(prefix: str, path: str) -> str:
    """A path under a prefix, with one slash between them and one in front."""
    if not path:
        return prefix if prefix.startswith("/") or not prefix else f"/{prefix}"
    whole = f"{prefix.rstrip('/')}/{path.lstrip('/')}"
    return whole if whole.startswith("/") else f"/{whole}"
