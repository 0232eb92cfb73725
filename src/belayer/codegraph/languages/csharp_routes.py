"""What C# says of tests (xUnit, NUnit, MSTest) and requests (ASP.NET controllers, minimal APIs)."""

import re
from collections.abc import Sequence

from belayer.codegraph.facts import Expr, Route, Trait
from belayer.codegraph.languages.draft import Draft
from belayer.codegraph.languages.prefixes import Prefixes
from belayer.codegraph.languages.walk import Mark

TESTS = frozenset(
    {"Fact", "Theory", "Test", "TestCase", "TestCaseSource", "TestMethod", "DataTestMethod", "Property"}
)
VERBS = {
    "HttpGet": "GET",
    "HttpPost": "POST",
    "HttpPut": "PUT",
    "HttpDelete": "DELETE",
    "HttpPatch": "PATCH",
    "HttpHead": "HEAD",
    "HttpOptions": "OPTIONS",
}
MAPPED = {
    "MapGet": ("GET",),
    "MapPost": ("POST",),
    "MapPut": ("PUT",),
    "MapDelete": ("DELETE",),
    "MapPatch": ("PATCH",),
    "MapMethods": ("ANY",),
    "Map": ("ANY",),
}
CONTROLLERS = frozenset({"Controller", "ControllerBase"})
VARIABLE = re.compile(r"\{(\*{0,2})(\w+)(?:[:=][^{}]*)?\??\}")


def is_test(attributes: Sequence[Mark]) -> bool:
    return any(each.name in TESTS for each in attributes)


def tags_of(name: str, attributes: Sequence[Mark]) -> tuple[str, ...]:
    if any(each.name in ("ApiController", "Controller") for each in attributes) or name.endswith(
        "Controller"
    ):
        return ("aspnet", "controller")
    return ()


class Routes:
    """Collects the requests that a file's methods serve; follows groups of a minimal API through it."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._prefixes = Prefixes(draft)

    def controller(self, owner: int, number: int, outer: Sequence[Mark], inner: Sequence[Mark]) -> None:
        """A method of a class: an action, if it or its class says so."""
        verbs = [(VERBS[each.name], each.values["value"]) for each in inner if each.name in VERBS]
        templates = _templates(inner)
        if not verbs and not templates and not self._is_action(owner, number, inner):
            return
        prefixes = _templates(outer)
        own = self.draft.definitions
        for verb, texts in verbs or [("ANY" if templates else "GET", ())]:
            for template in ([texts[0]] if texts else templates) or [""]:
                for prefix in prefixes or ([""] if template else ["[controller]/[action]"]):
                    path = _absolute(prefix, template)
                    named = _tokens(path, own[owner].name, own[number].name)
                    self._add((verb,), named, ("def", number), own[number].line)

    def _is_action(self, owner: int, number: int, inner: Sequence[Mark]) -> bool:
        """A public method of a controller is an action by convention."""
        holder, method = self.draft.definitions[owner], self.draft.definitions[number]
        bases = {str(base[-1]) for base in holder.bases if base[0] == "name"}
        is_public = method.traits & Trait.EXPORTED and not method.traits & Trait.STATIC
        return bool(bases & CONTROLLERS and is_public and all(each.name != "NonAction" for each in inner))

    def bound(self, name: str, value: Expr) -> None:
        """A variable gets what a call gave: maybe a group under a prefix."""
        self._prefixes.bind(name, value)

    def called(
        self,
        word: str,
        router: Expr,
        given: Expr,
        texts: Sequence[str | None],
        values: Sequence[Expr],
        line: int,
    ) -> None:
        """A method was called: a group is made or passed on, or a request gets its handler."""
        first = texts[0] if texts else None
        prefix = self._prefixes.of(router)
        if word == "MapGroup" and first is not None:
            self._prefixes.of_groups[given[1]] = _joined(prefix, first)
        elif word in MAPPED and first is not None and len(values) > 1:
            self._add(MAPPED[word], _joined(prefix, first), values[-1], line)
        elif prefix:  # .WithTags(), .RequireAuthorization() …
            self._prefixes.of_groups[given[1]] = prefix

    def _add(self, methods: tuple[str, ...], path: str, handler: Expr, line: int) -> None:
        self.draft.routes.append(Route(methods, path, handler, None, "aspnet", self.draft.scope, line))


def _templates(marks: Sequence[Mark]) -> list[str]:
    return [each.values["value"][0] for each in marks if each.name == "Route" and each.values["value"]]


def _absolute(prefix: str, template: str) -> str:
    if template.startswith(("/", "~/")):
        return _joined("", template.lstrip("~"))
    return _joined(prefix, template)


def _tokens(path: str, controller: str, action: str) -> str:
    """`[controller]` and `[action]` stand for the class's and the method's names."""
    return path.replace("[controller]", controller.removesuffix("Controller")).replace("[action]", action)


def _joined(prefix: str, path: str) -> str:
    """A path under a prefix, parameters spelled `{name}`."""
    parts = [part.strip("/") for part in (prefix, path)]
    whole = "/" + "/".join(part for part in parts if part)
    return VARIABLE.sub(lambda found: f"{{{found[2]}{'*' if found[1] else ''}}}", whole)
