"""Tools by name, and what is wrong with a call, where."""

import pytest

from belayer.tools.catalog import Means, catalog
from belayer.tools.toolbox import Path, Toolbox
from belayer.vocabulary.errors import ConfigurationError, UnknownTool
from belayer.vocabulary.events.event import Json

BOX = Toolbox(catalog(Means()))


def test_every_tool_is_found_under_its_name() -> None:
    assert BOX.names() == sorted(tool.name for tool in catalog(Means()))
    assert [BOX.named(name).name for name in BOX.names()] == BOX.names()


def test_a_later_tool_takes_the_place_of_one_with_the_same_name() -> None:
    wait = BOX.named("wait")
    assert Toolbox([*catalog(Means()), wait]).names() == BOX.names()


@pytest.mark.parametrize(
    ("name", "params", "hint"),
    [
        ("file.read", {}, "files.read"),
        ("http_fech", {}, "http_fetch"),
        ("files", {"action": "reed"}, "files.read"),
        ("files", {}, "files.write"),
        ("files", {"action": 7}, "files.write"),
        ("qqqqqqqq", {}, "There are"),
        ("", {}, "There are"),
    ],
)
def test_an_unknown_name_gets_a_better_one(name: str, params: dict[str, Json], hint: str) -> None:
    assert not BOX.knows(name, params)
    with pytest.raises(UnknownTool) as refused:
        BOX.resolve(name, params)
    assert repr(name) in refused.value.detail
    assert hint in (refused.value.hint or "")


def test_a_tool_with_an_action_is_the_tool_of_that_action() -> None:
    tool, params = BOX.resolve("files", {"action": "read", "path": "a"})
    assert (tool.name, params) == ("files.read", {"path": "a"})
    assert BOX.knows("files", {"action": "read"})


def test_a_tool_that_has_the_name_keeps_its_parameter_called_action() -> None:
    tool, params = BOX.resolve("wait", {"action": "read"})
    assert (tool.name, params) == ("wait", {"action": "read"})


@pytest.mark.parametrize(
    ("name", "params", "places"),
    [
        ("files.read", {"path": "a"}, []),
        ("files.read", {}, [("path",)]),
        ("files.read", {"path": 1, "more": 2}, [("path",), ("more",)]),
        ("files", {"action": "read", "first_line": 0}, [("path",), ("first_line",)]),
        ("request_input", {"prompt": "?", "kind": "choice", "choices": ["a", 1]}, [("choices", 1)]),
        ("request_input", {"prompt": "?", "kind": "choice"}, [()]),
        ("wait", {}, [()]),
        ("http_fetch", {"url": "ftp://x"}, [("url",)]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(name: str, params: dict[str, Json], places: list[Path]) -> None:
    found = BOX.problems(name, params)
    assert [place for place, _ in found] == places
    assert all(what for _, what in found)


@pytest.mark.parametrize(
    ("name", "params", "templated"),
    [
        ("files.read", {"path": "{{x}}", "first_line": "{{n}}"}, [("first_line",), ("path",)]),
        ("wait", {"seconds": "{{n}}"}, [("seconds",)]),
        (
            "request_input",
            {"prompt": "?", "kind": "choice", "choices": ["{{x}}", 1]},
            [("choices", 0), ("choices", 1)],
        ),
        ("request_input", {"prompt": "?", "kind": "choice", "choices": "{{x}}"}, [("choices",)]),
        ("http_fetch", {"url": "{{x}}"}, [("url",)]),
    ],
)
def test_nothing_is_said_of_what_only_a_template_will_fill_in(
    name: str, params: dict[str, Json], templated: list[Path]
) -> None:
    assert BOX.problems(name, params, templated) == []


def test_what_no_template_fills_in_is_still_told() -> None:
    found = BOX.problems("files.read", {"path": 1, "first_line": "{{n}}"}, [("first_line",)])
    assert [place for place, _ in found] == [("path",)]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        BOX.named("files.write").read({"path": "", "contents": "x"})
    assert all(name in refused.value.detail for name in ("path", "content", "contents"))
    assert refused.value.hint == "See what it takes: belayer tools files.write"
