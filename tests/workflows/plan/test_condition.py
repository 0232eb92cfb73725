"""Conditions: what holds, what cannot be answered, what cannot be read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.errors import BelayerError, LogicError, UnfitPlan
from belayer.workflows.plan.condition import parse
from belayer.workflows.plan.template import Scope

SCOPE = Scope(
    outputs={"a": {"count": 4, "ok": False, "tags": ["x", 1], "name": "Ada", "none": None, "one": 1}},
    statuses={"a": "completed", "b": "failed"},
    inputs={"city": "Ulm", "empty": []},
    problems={"b": "no disk"},
)

HOLD = [
    True,
    "true",
    "not false",
    "not not true",
    "{{ true }}",
    "  {{steps.a.output.count > 3}}  ",
    "steps.a.output.count > 3 and not steps.a.output.ok",
    "steps.a.output.count>=4",
    "steps.a.output.count <= 4.0",
    "steps.a.output.count == 4.0",
    "-1.5e1 < -14",
    "false or false or input.city == 'Ulm'",
    "true or false and false",
    "not (true and false)",
    "not 1 == 2",
    "'x' in steps.a.output.tags",
    "1 in steps.a.output.tags",
    "true not in steps.a.output.tags",
    "'count' in steps.a.output",
    "'da' in steps.a.output.name",
    "'x' not  in steps.a.output.missing",
    "'a' < 'b'",
    "\"it's\" == 'it\\'s'",
    "\"\\u0041\" == 'A'",
    "steps.a.output.missing == null",
    "steps.later.output.deep.er == null",
    "not steps.later.status",
    "steps.b.status == 'failed' and 'disk' in steps.b.problem.detail",
    "steps.a.output.one != true",
    "steps.a.output.one != '1'",
    "steps.a.output.none == null",
    "(steps.a.output.count == 4) == true",
    "steps.a.output.tags == steps.a.output.tags",
    "steps.a.output == steps.a.output",
    "true or steps.a.output.name > 3",
    "not (false and steps.a.output.name > 3)",
    "steps.a.output['count'] == 4",
]


@pytest.mark.parametrize("text", HOLD)
def test_a_condition_holds(text: str | bool) -> None:
    assert parse(text).holds(SCOPE) is True


@pytest.mark.parametrize("text", HOLD)
def test_its_opposite_does_not(text: str | bool) -> None:
    whole = (
        str(text).strip().removeprefix("{{").removesuffix("}}").lower() if isinstance(text, bool) else text
    )
    whole = whole.strip().removeprefix("{{").removesuffix("}}")
    assert parse(f"not ({whole})").holds(SCOPE) is False


@pytest.mark.parametrize(
    "text",
    ["steps.a.output.name", "steps.a.output", "input.city", "1", "' '", "steps.a.output.tags"],
)
def test_what_is_not_empty_counts_as_true(text: str) -> None:
    assert parse(text).holds(SCOPE) is True


@pytest.mark.parametrize(
    "text", ["input.empty", "0", "0.0", "''", "null", "steps.a.output.none", "input.none"]
)
def test_what_is_empty_or_not_there_counts_as_false(text: str) -> None:
    assert parse(text).holds(SCOPE) is False


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("steps.a.output.name > 3", "a text > a number"),
        ("steps.a.output.missing > 3", "null > a number"),
        ("1 <= true", "a number <= true"),
        ("false < true", "false < true"),
        ("steps.a.output < steps.a.output", "an object < an object"),
        ("1 in 2", "a number in a number"),
        ("1 in 'x'", "a number in a text"),
        ("1 not in 'x'", "a number in a text"),
    ],
)
def test_what_cannot_be_compared_is_said(text: str, why: str) -> None:
    with pytest.raises(LogicError, match=why) as caught:
        parse(text).holds(SCOPE)
    assert caught.value.hint


UNREADABLE = [
    ("", "at character 1: it ends too early"),
    ("{{}}", "at character 3: it ends too early"),
    ("true and", "at character 9: it ends too early"),
    ("(true", "at character 6: a closing ) is missing"),
    ("true)", 'at character 5: ")" does not belong here'),
    ("true false", 'at character 6: "false" is not known'),
    ("input.x = 1", 'at character 9: "=" is not known here; write =='),
    ("true && true", '"&" is not known here; write and'),
    ("true || true", '"|" is not known here; write or'),
    ("!true", '"!" is not known here; write not'),
    ("{{input.x}} > 3", 'at character 1: "{" is not known here; leave the braces out'),
    ("{{input.x}} > {{input.y}}", 'at character 10: "}" is not known here; leave the braces out'),
    ("1 < 2 < 3", "two comparisons in a row"),
    ("yes", '"yes" is not known; a text stands in quotes, a reference begins with steps. or input.'),
    ("steps.a == 1", '"steps.a == 1" begins no reference'),
    ("steps == 1", "begins no reference"),
    ("'open", "is not closed"),
    ('"\\ud800" == 1', "half a character"),
    ("and true", '"and true" does not belong here'),
    ("true and or true", '"or true" does not belong here'),
    ("1.2.3", '"1.2.3" does not belong here'),
    ("012", '"012" does not belong here'),
    ("99999999999999999999", "does not belong here"),
    ("__import__('os')", '"__import__" is not known'),
    ("input.x.__class__()", '"()" does not belong here'),
    ("(" * 60, "nested more than 50 deep"),
    ("not " * 60 + "true", "nested more than 50 deep"),
]


@pytest.mark.parametrize(("text", "why"), UNREADABLE)
def test_what_cannot_be_read_is_said_with_its_position(text: str, why: str) -> None:
    with pytest.raises(UnfitPlan) as caught:
        parse(text)
    [(_, what)] = caught.value.problems
    assert what.startswith("the condition cannot be read at character ")
    assert why in what


def test_a_long_chain_is_not_a_deep_one() -> None:
    assert parse(" and ".join(["true"] * 300)).holds(SCOPE)


def test_a_condition_knows_everything_it_looks_at() -> None:
    found = parse("not (steps.a.output.x in input.y) or steps.b.status == 'failed'").references()
    assert [(one.part, one.name) for one in found] == [("output", "a"), ("input", "y"), ("status", "b")]


words = [
    "steps.a.output.count",
    "input.city",
    "and",
    "or",
    "not",
    "in",
    "==",
    "<",
    "(",
    ")",
    "1",
    "'x'",
    "null",
    "{{",
]


@given(st.lists(st.sampled_from(words) | st.text(max_size=2), max_size=12).map(" ".join))
def test_any_text_holds_or_not_or_is_refused(text: str) -> None:
    try:
        answer: Any = parse(text).holds(SCOPE)
    except BelayerError as error:
        answer = error.detail
    assert isinstance(answer, bool) or answer
