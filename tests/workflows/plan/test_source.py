"""Plans as text: YAML and JSON mean the same, lines are known, and surprises are refused."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.errors import UnfitPlan
from belayer.vocabulary.plain import plain
from belayer.workflows.plan.source import read_plan
from tests.workflows.plan.desk import jsons, texts

PLAIN = [
    ("true", True),
    ("false", False),
    ("null", None),
    ("~", None),
    ("", None),
    ("3", 3),
    ("-3", -3),
    ("0", 0),
    ("1.5", 1.5),
    ("-1.5e3", -1500.0),
    ("1E2", 100.0),
    ("9223372036854775807", 2**63 - 1),
    ("-9223372036854775808", -(2**63)),
    ("'3'", "3"),
    ('"true"', "true"),
    ("'<<'", "<<"),
    ('"a\\u0041"', "aA"),
    *[
        (word, word)
        for word in [
            *["yes", "no", "on", "off", "y", "n", "True", "NULL", "Yes"],
            *["2026-01-02", "2026-01-02T03:04:05Z", "12:30:45", "12:30", "0x1F", "0o17", "0755", "017"],
            *["1_000", "+5", ".5", "5.", "1e", "--1", "1.2.3", "inf", "nan", "Infinity", "=", "<<"],
        ]
    ],
]


@pytest.mark.parametrize(("written", "meant"), PLAIN)
def test_a_plain_word_is_what_it_would_be_in_json_or_a_text(written: str, meant: Any) -> None:
    data = read_plan(f"x: {written}").data
    assert data == {"x": meant}
    assert isinstance(data, dict)
    assert type(data["x"]) is type(meant)


def test_a_plan_may_begin_with_a_byte_order_mark_or_a_comment() -> None:
    assert read_plan("\ufeff# hello\nx: 1").data == {"x": 1}
    assert read_plan('\ufeff{"x": 1}').data == {"x": 1}


@pytest.mark.parametrize("text", ["{x: [a, b]}", "{ x: [a, b,] }", "{'x': ['a', \"b\"]}"])
def test_yaml_may_begin_like_json(text: str) -> None:
    assert read_plan(text).data == {"x": ["a", "b"]}


def test_json_may_have_what_yaml_does_not_take() -> None:
    assert read_plan('{\t"x":\t"\\ud83d\\ude00\\/"}').data == {"x": "😀/"}


YAML = """# a plan
steps:
  - id: a
    params:
      url: x

  - {id: b,
     needs: [a,
       c]}
"""
JSON = """
{"steps": [
  {"id": "a",
    "params": {
      "url": "x"}},

  {"id": "b",
     "needs": ["a",
       "c"]}]}"""


@pytest.mark.parametrize("text", [YAML, JSON])
def test_the_line_of_everything_is_known(text: str) -> None:
    source = read_plan(text)
    assert source.line_of(("steps",)) == 2
    assert source.line_of(("steps", 0, "id")) == 3
    assert source.line_of(("steps", 0, "params", "url")) == 5
    assert source.line_of(("steps", 1)) == 7
    assert source.line_of(("steps", 1, "needs", 1)) == 9


def test_the_line_of_what_is_not_there_is_that_of_what_it_would_stand_in() -> None:
    assert read_plan(YAML).line_of(("steps", 1, "tool")) == 7


REFUSED = [
    ("", 1, "there is nothing in it"),
    ("# only\n# comments", 1, "there is nothing in it"),
    ("a: 1\nb: [", 2, "this is not YAML: did not find expected node content"),
    ("a: 1\n\tb: 2", 2, "this is not YAML"),
    ("a: b: c", 1, "this is not YAML: mapping values are not allowed in this context"),
    ("a: 1\nb: 2\na: 3", 3, 'the key "a" stands here for the second time; first on line 1'),
    ("a: 1\n'a': 3", 2, 'the key "a" stands here for the second time'),
    ('{"a": 1,\n"b": {"c": 1,\n"c": 2}}', 3, 'the key "c" stands here for the second time; first on line 2'),
    ("a: &x 1", 1, "anchors (&) and aliases (*) are not taken"),
    ("a: 1\nb: *x", 2, "anchors (&) and aliases (*) are not taken"),
    ("a: 1\n*x : 2", 2, "anchors (&) and aliases (*) are not taken"),
    ("a: &x [1]\nb: [*x, *x]", 1, "anchors (&) and aliases (*) are not taken"),
    ("a:\n  <<: {b: 1}", 2, "merge keys (<<) are not taken"),
    ("a: !!python/object/apply:os.system [ls]", 1, "tags (!) are not taken"),
    ("a: !x 1", 1, "tags (!) are not taken"),
    ("!!map\na: 1", 1, "tags (!) are not taken"),
    ("1: a", 1, "a key is not a text; write it in quotes"),
    ("true: a", 1, "a key is not a text"),
    ("null: a", 1, "a key is not a text"),
    ("? [a]\n: 1", 1, "a key is not a text"),
    ("a: 1\nb: {{input.x}}", 2, 'a reference stands in quotes: "{{input.name}}"'),
    ("a: 1\n---\nb: 2", 2, "a second document begins"),
    ("a: 1\n...\n---\nb: 2", 3, "a second document begins"),
    ("a: .nan", 1, ".nan is not a number that a plan can hold"),
    ("a: -.inf", 1, "-.inf is not a number that a plan can hold"),
    ("a: 1e400", 1, "a number is too large"),
    ('{"a": NaN}', 1, "NaN is not a number that a plan can hold"),
    ('{"a":\n-Infinity}', 2, "-Infinity is not a number that a plan can hold"),
    ('{"a": 1e400}', 1, "a number is too large"),
    ("a: 9223372036854775808", 1, "a whole number goes beyond 64 bits"),
    ('{"a": -9223372036854775809}', 1, "a whole number goes beyond 64 bits"),
    ("a: " + "9" * 5000, 1, "a whole number goes beyond 64 bits"),
    ('{"a": ' + "9" * 5000 + "}", 1, "a whole number goes beyond 64 bits"),
    ('{"a":\n"\\ud800"}', 2, "half a character"),
    ('{"\\ud800": 1}', 1, "half a character"),
    ('a: "\\ud800"', 1, "this is not YAML"),
    ("a: 1\nb: \ud800", 2, 'the character "\\ud800" does not belong in a plan'),
    ("a: 1\nb: \x1b[2J", 2, 'the character "\\u001b" does not belong in a plan'),
    ("a: \0", 1, 'the character "\\u0000" does not belong in a plan'),
    ("[" * 100_000, 1, "lists and objects lie more than 50 deep"),
    ('{"a":' * 100_000, 1, "lists and objects lie more than 50 deep"),
    ("- " * 1_000, 1, "lists and objects lie more than 50 deep"),
    ("[" * 51 + "]" * 51, 1, "lists and objects lie more than 50 deep"),
    ("- 1\n" * 100_001, 100_000, "more than 100,000 values"),
    ('{"a": 1', 1, "this is not JSON: expecting , (column 8)"),
    ('{"a": 1,\n "b" 2}', 2, "this is not JSON: expecting : (column 6)"),
    ('{"a": }', 1, "this is not JSON: expecting value"),
    ('{"a": "x\ny', 1, "this is not JSON"),
    ('{"a": 1} {"b": 2}', 1, "this is not JSON: extra text after the end (column 10)"),
    ('{"a": 1,\n2: "b": }', 2, "this is not JSON: expecting a name in double quotes"),
    ("{a: 1, a: 2}", 1, 'the key "a" stands here for the second time'),
]


@pytest.mark.parametrize(("text", "line", "why"), REFUSED)
def test_what_cannot_be_taken_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(UnfitPlan) as caught:
        read_plan(text, "work.yaml")
    [(place, what)] = caught.value.problems
    assert place == f"work.yaml, line {line}"
    assert why in what


def test_a_text_that_is_too_large_is_not_even_looked_at() -> None:
    with pytest.raises(UnfitPlan, match="larger than 1 MB"):
        read_plan("é" * 500_001)


def test_fifty_levels_are_not_too_deep() -> None:
    assert read_plan("[" * 50 + "]" * 50).data == read_plan("- " * 49 + "[]").data


@given(st.dictionaries(texts, jsons, max_size=5), st.sampled_from([None, 0, 2, "\t"]))
def test_json_is_read_as_python_reads_it(data: Any, indent: Any) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=indent is None)
    assert read_plan(text).data == plain(data)


@given(st.dictionaries(texts, jsons, max_size=5), st.booleans())
def test_yaml_says_the_same_as_json(data: Any, flow: bool) -> None:
    text = yaml.dump(data, Dumper=Quoting, default_flow_style=flow, explicit_start=True)
    assert read_plan(text).data == read_plan(json.dumps(data)).data


class Quoting(yaml.SafeDumper):
    """Writes texts in quotes and numbers as JSON does, whatever YAML 1.1 thinks of them; without aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _as_json(dumper: Any, value: float) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:float", json.dumps(value))


Quoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)
Quoting.add_representer(float, _as_json)
Quoting.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"-?[0-9.]+e-?[0-9]+"), list("-0123456789")
)

signs = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "\n",
    "\n  ",
    ",",
    '"',
    "'",
    "&a",
    "*a",
    "!",
    "|",
    ">",
    "#",
    "? ",
    "---",
]


@given(
    st.lists(st.sampled_from([*signs, "a", "1", "~", "\t", "%", "\0", "\ud800"]) | st.text(max_size=3)).map(
        "".join
    )
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_plan(text)
    except UnfitPlan as error:
        found = error
    if isinstance(found, UnfitPlan):
        assert all(map(str.isprintable, found.detail.split("\n")))
    else:
        assert plain(found.data) == found.data
        assert () in found.places
