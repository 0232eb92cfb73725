"""What Java annotations say: which methods are tests, and which requests a method serves (Spring, JAX-RS)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from belayer.codegraph.languages.walk import Mark

TESTS = frozenset(
    {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory", "Property"}
)
SPRING_VERBS = {
    "GetMapping": "GET",
    "PostMapping": "POST",
    "PutMapping": "PUT",
    "DeleteMapping": "DELETE",
    "PatchMapping": "PATCH",
}
JAX_VERBS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
ROLES = {
    "RestController": ("spring", "controller"),
    "Controller": ("spring", "controller"),
    "Service": ("spring", "service"),
    "Repository": ("spring", "repository"),
    "Component": ("spring", "component"),
    "Configuration": ("spring", "configuration"),
    "SpringBootApplication": ("spring", "application"),
    "Entity": ("jpa", "entity"),
}
VARIABLE = re.compile(r"\{(\*?)(\w+)(?::((?:[^{}]|\{[^{}]*\})*))?\}")


def is_test(annotations: Sequence[Mark]) -> bool:
    return any(each.name in TESTS for each in annotations)


def tests_all_methods(annotations: Sequence[Mark]) -> bool:
    """TestNG: an annotated class makes a test of every public method."""
    return any(each.name == "Test" for each in annotations)


def tags_of(annotations: Sequence[Mark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for each in annotations for tag in ROLES.get(each.name, ())))


def routes(
    outer: Sequence[Mark], inner: Sequence[Mark], constants: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Methods, path and framework of every request that an annotated method of an annotated class serves."""
    yield from _spring(outer, inner, constants)
    yield from _jax(outer, inner, constants)


def _spring(
    outer: Sequence[Mark], inner: Sequence[Mark], constants: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    prefixes = [
        path for each in outer if each.name == "RequestMapping" for path in _paths(each, constants)
    ] or [""]
    for each in inner:
        if each.name in SPRING_VERBS or each.name == "RequestMapping":
            for prefix in prefixes:
                for path in _paths(each, constants) or [""]:
                    yield _verbs(each), joined(prefix, path), "spring"


def _verbs(mapping: Mark) -> tuple[str, ...]:
    if mapping.name in SPRING_VERBS:
        return (SPRING_VERBS[mapping.name],)
    return tuple(word.rpartition(".")[2].lstrip("$") for word in mapping.values.get("method", ())) or ("ANY",)


def _jax(
    outer: Sequence[Mark], inner: Sequence[Mark], constants: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    verbs = tuple(each.name for each in inner if each.name in JAX_VERBS)
    prefix = next((path for each in outer if each.name == "Path" for path in _paths(each, constants)), "")
    path = next((path for each in inner if each.name == "Path" for path in _paths(each, constants)), "")
    if verbs:
        yield verbs, joined(prefix, path), "jax-rs"


def _paths(annotation: Mark, constants: Mapping[str, str]) -> list[str]:
    words = annotation.values.get("value") or annotation.values.get("path") or ()
    return [_spelled(word, constants) for word in words]


def _spelled(word: str, constants: Mapping[str, str]) -> str:
    """A path with the file's own constants put in."""
    return re.sub(r"\$([\w.]+)", lambda found: constants.get(found[1].rpartition(".")[2], found[0]), word)


def joined(prefix: str, path: str) -> str:
    """A path under a prefix, variables spelled `{name}`."""
    parts = [part.strip("/") for part in (prefix, path)]
    whole = "/" + "/".join(part for part in parts if part)
    return VARIABLE.sub(lambda found: f"{{{found[2]}{'*' if found[1] or found[3] == '.*' else ''}}}", whole)
