"""Whether an answer is of the kind that was asked for."""

from typing import Any

import pytest

from belayer.sessions.answers import check_answer
from belayer.vocabulary.errors import UnfitAnswer
from tests.support.records import question

FORM = {
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "height": {"type": "number"},
        "member": {"type": "boolean"},
        "tags": {"type": "array"},
        "more": {"type": "object"},
        "any": {},
    },
    "required": ["name"],
}

FITTING = [
    ("text", "x"),
    ("text", ""),
    ("file", "a/b.txt"),
    ("confirm", True),
    ("confirm", False),
    ("choice", "red"),
    ("choice", {"choice": "red", "because": "warm"}),
    ("form", {"name": "a"}),
    ("form", {"name": "a", "age": 3, "height": 1.7, "member": True, "tags": [], "more": {}, "any": None}),
    ("form", {"name": "a", "height": 2}),
]
UNFIT = [
    ("text", 1),
    ("text", None),
    ("text", ["x"]),
    ("file", {"name": "x"}),
    ("confirm", "yes"),
    ("confirm", 1),
    ("confirm", None),
    ("choice", "green"),
    ("choice", "Red"),
    ("choice", None),
    ("choice", ["red"]),
    ("choice", {"choice": "green"}),
    ("choice", {"chosen": "red"}),
    ("choice", {}),
    ("form", "name"),
    ("form", []),
    ("form", None),
    ("form", {}),
    ("form", {"age": 3}),
    ("form", {"name": 5}),
    ("form", {"name": "a", "age": "3"}),
    ("form", {"name": "a", "age": 3.5}),
    ("form", {"name": "a", "age": True}),
    ("form", {"name": "a", "height": False}),
    ("form", {"name": "a", "member": 1}),
    ("form", {"name": "a", "tags": "x"}),
    ("form", {"name": "a", "more": []}),
    ("form", {"name": "a", "unknown": 1}),
]


def asked_for(kind: Any) -> Any:
    return question(
        kind=kind, choices=("red", "blue") if kind == "choice" else (), form=FORM if kind == "form" else None
    )


@pytest.mark.parametrize(("kind", "value"), FITTING)
def test_an_answer_of_the_right_kind_fits(kind: str, value: Any) -> None:
    check_answer(asked_for(kind), value)


@pytest.mark.parametrize(("kind", "value"), UNFIT)
def test_an_answer_of_another_kind_is_refused_with_a_hint(kind: str, value: Any) -> None:
    with pytest.raises(UnfitAnswer) as caught:
        check_answer(asked_for(kind), value)
    assert caught.value.hint


def test_a_refused_choice_names_the_choices() -> None:
    with pytest.raises(UnfitAnswer) as caught:
        check_answer(asked_for("choice"), "green")
    assert "red, blue" in (caught.value.hint or "")


def test_every_wrong_field_of_a_form_is_named() -> None:
    with pytest.raises(UnfitAnswer) as caught:
        check_answer(asked_for("form"), {"age": "3", "unknown": 1})
    assert "name is missing; unknown is not in the form; age must be of type integer" in caught.value.detail


@pytest.mark.parametrize("form", [None, {}, {"title": "no fields"}])
def test_a_form_without_fields_takes_any_object(form: Any) -> None:
    check_answer(question(kind="form", form=form), {"whatever": 1})


@pytest.mark.parametrize("type_", ["null", "something", ["string", "null"], 5])
def test_a_type_that_is_not_known_is_not_checked(type_: Any) -> None:
    check_answer(question(kind="form", form={"properties": {"x": {"type": type_}}}), {"x": 1})
