"""References in parameters: found, filled in once, or refused with what there is instead."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.errors import LogicError, UnfitPlan
from belayer.vocabulary.plain import plain
from belayer.workflows.plan.template import Scope, references, render, scan
from tests.workflows.plan.desk import jsons

SCOPE = Scope(
    outputs={
        "a": {"count": 3, "items": [{"name": "Ada"}, None], "0": "zero", "a}}b": 1, "it's": 2, "x y": True},
        "list": [10, 20],
        "text": "{{input.city}}",
        "half": 0.5,
        "none": None,
    },
    statuses={"a": "completed", "bad": "failed", "left": "skipped"},
    inputs={"city": "Ulm", "deep": {"x": [1]}},
    problems={"bad": "no disk"},
)

FILLED = [
    ("{{steps.a.output.count}}", 3),
    ("{{ steps.a.output.count }}", 3),
    ("{{\tsteps.a.output.count\n}}", 3),
    ("{{steps.a.output.items[0].name}}", "Ada"),
    ("{{steps.a.output.items.0.name}}", "Ada"),
    ("{{steps.a.output.items[ 0 ]['name']}}", "Ada"),
    ('{{steps.a.output["items"][1]}}', None),
    ("{{steps.a.output.0}}", "zero"),
    ('{{steps.a.output["0"]}}', "zero"),
    ('{{steps.a.output["a}}b"]}}', 1),
    (r"{{steps.a.output['it\'s']}}", 2),
    ('{{steps.a.output["x\\u0020y"]}}', True),
    ("{{steps.list.output}}", [10, 20]),
    ("{{steps.list.output}}!", "[10,20]!"),
    ("{{steps.none.output}}", None),
    ("<{{steps.none.output}}>", "<null>"),
    ("<{{steps.half.output}}>", "<0.5>"),
    ("{{steps.a.output.count}}{{steps.a.output.count}}", "33"),
    ("{{steps.a.status}}", "completed"),
    ("{{steps.bad.status}}: {{steps.bad.problem.detail}}", "failed: no disk"),
    ("{{input.city}} am {{input.deep.x[0]}}", "Ulm am 1"),
    (r"\{{input.city}}", "{{input.city}}"),
    (r"\\{{input.city}}", "\\Ulm"),
    (r"\\\{{input.city}}", r"\{{input.city}}"),
    (r"C:\dir\{{", r"C:\dir{{"),
    (r"a\b }} {x} { {", r"a\b }} {x} { {"),
    (r"\{{{{input.city}}", "{{Ulm"),
    ("{{steps.text.output}}", "{{input.city}}"),
    ("({{steps.text.output}})", "({{input.city}})"),
    ({"k": ["{{input.city}}", {"{{input.city}}": 1}]}, {"k": ["Ulm", {"{{input.city}}": 1}]}),
]


@pytest.mark.parametrize(("written", "meant"), FILLED)
def test_a_reference_is_filled_in_once(written: Any, meant: Any) -> None:
    assert render(written, SCOPE) == meant


MISSING = [
    ("{{input.town}}", 'there is no input "town"; there is: "city", "deep"'),
    ("{{steps.a.output.size}}", '"steps.a.output" has no member "size"; it has: "count", "items"'),
    ("{{steps.a.output.items[2]}}", '"steps.a.output.items" has no item 2; it has 2, counted from 0'),
    ("{{steps.a.output.items.name}}", '"steps.a.output.items" is a list and has no member "name"'),
    ("{{steps.a.output.count.x}}", '"steps.a.output.count" is a number and has no member "x"'),
    ("{{steps.none.output[0]}}", '"steps.none.output" is null and has no item 0'),
    ("{{input.city.x}}", '"input.city" is a text and has no member "x"'),
    ("{{steps.bad.output}}", 'the step "bad" failed, so it has no output'),
    ("{{steps.left.output}}", 'the step "left" was skipped, so it has no output'),
    ("{{steps.later.status}}", 'the step "later" has not ended'),
    ("{{steps.a.problem.detail}}", 'the step "a" completed, so it has no problem to tell'),
]


@pytest.mark.parametrize(("written", "why"), MISSING)
def test_what_is_not_there_is_named_with_what_is(written: str, why: str) -> None:
    with pytest.raises(LogicError) as caught:
        render({"x": [written]}, SCOPE)
    assert caught.value.detail.startswith('"{{')
    assert why in caught.value.detail
    assert caught.value.hint


FAULTS = [
    (
        "{{}}",
        '"}}" begins no reference: write steps.ID.output, steps.ID.status, steps.ID.problem.detail or input.NAME',
    ),
    ("{{name}}", '"name}}" begins no reference'),
    ("{{steps.a}}", '"steps.a}}" begins no reference'),
    ("{{steps.a.outputs}}", "begins no reference"),
    ("{{steps.1a.output}}", "begins no reference"),
    (f"{{{{steps.{'a' * 65}.output}}}}", "begins no reference"),
    ("{{{input.x}}}", '"{input.x}}}" begins no reference'),
    ("{{input.x", 'comes "" instead of }}; write \\{{ for plain braces'),
    ("{{input.x }", 'after "input.x" comes " }" instead of }}'),
    ("{{input.x + 1}}", 'comes " + 1}}" instead'),
    ("{{steps.a.status.x}}", 'after "steps.a.status" comes ".x}}"'),
    ("{{input.x.01}}", 'comes ".01}}"'),
    ("{{input.x[-1]}}", 'comes "[-1]}}"'),
    ("{{input.x[0}}", 'comes "[0}}"'),
    ('{{input.x["a}}', "is not closed"),
    ("{{input.x['a}}", "is not closed"),
    ('{{input.x["a"}}', "lacks its closing ]"),
    ('{{input.x["\\ud800"]}}', "half a character"),
]


@pytest.mark.parametrize(("written", "why"), FAULTS)
def test_a_reference_that_cannot_be_read_is_found_with_its_place(written: str, why: str) -> None:
    [(path, what)] = scan({"a": ["x", written]}).faults
    assert path == ("a", 1)
    assert why in what
    with pytest.raises(UnfitPlan, match=re.escape(why)):
        render(written, SCOPE)


def test_references_come_with_the_place_of_their_text() -> None:
    found = references({"a": ["{{input.x}} {{steps.s.output.y[1]}}"], "b": "{{steps.t.status}}"})
    assert [(one.at, one.part, one.name, one.path) for one in found] == [
        (("a", 0), "input", "x", ()),
        (("a", 0), "output", "s", ("y", 1)),
        (("b",), "status", "t", ()),
    ]
    assert [one.step for one in found] == [None, "s", "t"]


def test_a_text_that_will_change_is_known_as_such() -> None:
    assert scan({"a": "{{input.x}}", "b": r"\{{", "c": ["{{"], "d": "}}"}).templated == {
        ("a",),
        ("b",),
        ("c", 0),
    }


@pytest.mark.parametrize("value", [["{{steps.big.output}}"] * 50, "{{steps.big.output}}" * 50])
def test_an_output_that_is_taken_many_times_cannot_fill_the_memory(value: Any) -> None:
    with pytest.raises(LogicError, match="larger than 10 MB"):
        render(value, Scope(outputs={"big": ["x" * 1_000_000]}))


def test_what_strangers_call_their_members_cannot_reach_the_terminal_as_it_is() -> None:
    with pytest.raises(LogicError) as caught:
        render("{{input.x.y}}", Scope(inputs={"x": {"\x1b[2J\u202e": 1}}))
    assert "\\u001b[2J\\u202e" in caught.value.detail
    assert "\x1b" not in caught.value.detail


@given(jsons.map(plain))
def test_a_value_without_references_stays_as_it_is(value: Any) -> None:
    assert "{{" in repr(value) or render(value, SCOPE) == value


nasty = st.lists(
    st.sampled_from(
        ["{{", "}}", "\\", "steps.", "a", ".output", "input", ".city", "[", "]", "0", '"', "'", " ", "\0"]
    )
    | st.text(max_size=3)
).map("".join)


@given(nasty)
def test_an_escaped_text_comes_out_as_it_was(text: str) -> None:
    escaped = re.sub(r"(\\*)\{\{", lambda found: found[1] * 2 + r"\{{", text)
    assert render(escaped, SCOPE) == text


@given(nasty)
def test_any_text_is_filled_in_or_refused(text: str) -> None:
    scanned = scan(text)
    try:
        render(text, SCOPE)
    except UnfitPlan:
        assert scanned.faults
    except LogicError:
        assert scanned.references
    else:
        assert not scanned.faults
