"""What is shown for approval is exactly what would be done, and nothing in it can hide or pose as ours."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.cli.calls import call_lines, look_alikes
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import RequestId
from belayer.vocabulary.rules import Risk, Rule, Verdict

ASKED = ApprovalRequested(request_id=RequestId("r"), key="#gate/a/1", title="t", digest="d", why="a rule")


def lines(params: Json, see_all: str | None = "belayer show x --full", **more: Json) -> list[str]:
    shown: dict[str, Json] = {"tool": "files.write", "effect": "write", "params": params, **more}
    return [line.plain for line in call_lines(ASKED, shown, see_all)]


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=2_000), max_size=5), st.text(max_size=500))
def test_whatever_the_text_every_line_is_ours_or_behind_a_bar(params: dict[str, str], preview: str) -> None:
    for line in lines({**params}, preview=preview):
        assert line.startswith(
            (
                "  │ ",
                "  ! cut: ",
                "  ! letters ",
                "  tool: ",
                "  why: ",
                "  parameters: ",
                "  what would change: ",
            )
        )
        assert all(character.isprintable() or character.isspace() for character in line)
        assert "\n" not in line


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=50), st.lists, max_leaves=5))
def test_a_short_value_stands_there_as_json(value: Json) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii() and text.isprintable() and len(text) < 300:
        assert f"  │ x: {text}" in lines({"x": value})


def test_a_long_text_is_cut_unless_all_is_wanted() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    assert "  │   │ line 99" not in lines({"content": text})
    assert any("cut: it has 789 characters, sha256 " in line for line in lines({"content": text}))
    assert "  │   │ line 99" in lines({"content": text}, None)


def test_a_long_difference_is_cut_unless_all_is_wanted() -> None:
    preview = "\n".join(f"+{number}" for number in range(100))
    assert any("cut: there are 40 more lines" in line for line in lines({}, preview=preview))
    assert "  │ +99" in lines({}, None, preview=preview)


def test_the_colours_of_a_difference_come_from_its_marks() -> None:
    shown: dict[str, Json] = {"tool": "t", "effect": "write", "params": {}, "preview": "-old\n+new\n same"}
    styles = {
        line.plain[4:]: [span.style for span in line.spans][1:] for line in call_lines(ASKED, shown, None)
    }
    assert (styles["-old"], styles["+new"], styles[" same"]) == (["red"], ["green"], [])


def test_risk_targets_and_what_always_means_are_said() -> None:
    rule = Rule(verdict=Verdict.ALLOW, tool="t", path="evil\u202e/**")
    asked = ASKED.model_copy(update={"risk": Risk.HIGH, "offers": rule})
    shown: dict[str, Json] = {
        "tool": "t",
        "effect": "write",
        "params": {},
        "targets": {"a": "ab12", "b": None},
    }
    said = [line.plain for line in call_lines(asked, shown, None)]
    assert "  risk: high" in said
    assert "  touches: a (sha256 ab12)" in said
    assert "  touches: b (not there yet)" in said
    assert "  always: would mean, in this session: allow tool t, path evil<U+202E>/**" in said


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("paypal.com", False),
        ("p\u0430ypal.com", True),
        ("\u0430\u0440\u0440\u04cf\u0435.com", True),
        ("\u043f\u0440\u0438\u0432\u0435\u0442", False),
        ("\uff41pi.example.org", True),
        ("", False),
    ],
)
def test_letters_that_pass_for_latin_ones_are_named(text: str, found: bool) -> None:
    assert (look_alikes(text) is not None) is found
    assert any("look like others" in line for line in lines({"url": text})) is found
