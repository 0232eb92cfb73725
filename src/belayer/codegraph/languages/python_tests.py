"""Which Python files, classes and functions are tests, and the few tags that a path or a base class is good for."""

from collections.abc import Iterator, Sequence

_FOLDERS = {
    "api": "api",
    "routers": "api",
    "endpoints": "api",
    "models": "models",
    "migrations": "migrations",
    "views": "views",
    "cli": "cli",
    "scripts": "scripts",
    "examples": "examples",
    "docs": "docs",
}
_TEST_FOLDERS = frozenset({"tests", "test", "testing"})
_BASES = {"BaseModel": "pydantic", "APIView": "endpoint", "MethodView": "endpoint", "View": "endpoint"}


def is_test_file(path: str) -> bool:
    """Whether a file holds tests, by pytest's and unittest's names or by its folder."""
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0]
    is_named = stem.startswith("test_") or stem.endswith("_test") or stem in ("conftest", "tests", "test")
    return is_named or bool(_TEST_FOLDERS.intersection(folders))


def is_test_function(name: str) -> bool:
    return name.startswith("test")


def is_test_class(name: str, bases: Sequence[str], *, in_test_file: bool) -> bool:
    """Whether a class's test methods are run: a TestCase of unittest, or a Test… class in a file of tests."""
    is_case = any(base.endswith(("TestCase", "Tests", "TestBase")) for base in bases)
    return (
        is_case
        or (in_test_file and name.startswith("Test"))
        or (in_test_file and name.endswith(("Test", "Tests")))
    )


def class_tags(bases: Sequence[str], *, is_test: bool) -> tuple[str, ...]:
    """What a class is for."""
    tags = [_BASES[base] for base in bases if base in _BASES]
    return tuple(dict.fromkeys([*(["test"] if is_test else []), *tags]))


def tags_of(path: str) -> Iterator[str]:
    """What a file is for, by its folders and its name."""
    *folders, name = path.split("/")
    for part in (*folders, name.rpartition(".")[0]):
        if part in _FOLDERS:
            yield _FOLDERS[part]
