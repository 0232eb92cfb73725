"""What a person types becomes what it means."""

from datetime import timedelta
from pathlib import Path

import pytest
import typer

from belayer.cli.values import (
    age_from,
    answer_from,
    changes_from,
    field_from,
    object_from,
    pairs_from,
    value_for,
)
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import InputRequested, Kind
from belayer.vocabulary.ids import RequestId


def request(kind: Kind, *choices: str) -> InputRequested:
    return InputRequested(request_id=RequestId("r"), key="k", prompt="?", kind=kind, choices=choices)


@pytest.mark.parametrize(
    ("asked", "typed", "meant"),
    [
        (request("text"), "123", "123"),
        (request("text"), '{"a": 1}', '{"a": 1}'),
        (request("file"), "a.txt", "a.txt"),
        (request("confirm"), "Y", True),
        (request("confirm"), "no", False),
        (request("confirm"), "perhaps", "perhaps"),
        (request("choice", "red", "blue"), "2", "blue"),
        (request("choice", "red", "blue"), "Red", "red"),
        (request("choice", "2", "1"), "2", "2"),
        (request("choice", "red"), "7", 7),
        (
            request("choice", "happened"),
            '{"choice": "happened", "output": 3}',
            {"choice": "happened", "output": 3},
        ),
        (request("form"), '{"name": "Ada"}', {"name": "Ada"}),
    ],
)
def test_an_answer_is_read_as_the_kind_that_was_asked_for(
    asked: InputRequested, typed: str, meant: Json
) -> None:
    assert answer_from(asked, typed) == meant


@pytest.mark.parametrize(
    ("schema", "typed", "meant"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "integer"}, "12", 12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "yes", True),
        ({"type": "array"}, "a, b", ["a", "b"]),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"type": "object"}, '{"x": 1}', {"x": 1}),
        ({}, "12", "12"),
    ],
)
def test_a_form_field_is_read_as_its_type(schema: dict[str, Json], typed: str, meant: Json) -> None:
    assert field_from(schema, typed) == meant


def wanting(version: str, place: Path, count: int, anything: object) -> None: ...


@pytest.mark.parametrize(
    ("name", "typed", "meant"),
    [
        ("version", "1.2", "1.2"),
        ("version", '"1.2"', "1.2"),
        ("place", "7", "7"),
        ("count", "7", 7),
        ("anything", "[]", []),
    ],
)
def test_an_input_is_json_unless_a_text_is_wanted(name: str, typed: str, meant: Json) -> None:
    assert value_for(wanting, name, typed) == meant


@pytest.mark.parametrize(("typed", "meant"), [("r", "retry"), ("S", "skip"), ("x", "x"), ("2", "skip")])
def test_a_way_out_of_a_failure_is_chosen_by_its_first_letter(typed: str, meant: Json) -> None:
    asked = request("choice", "retry", "skip").model_copy(update={"purpose": "failure"})
    assert answer_from(asked, typed) == meant
    if len(typed) == 1 and typed.isalpha():
        assert answer_from(request("choice", "retry", "skip"), typed) == typed


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("path=b.txt", {"path": "b.txt", "n": 1}),
        ("n = 2", {"path": "a.txt", "n": 2}),
        ("new=[1]", {"path": "a.txt", "n": 1, "new": [1]}),
        ('{"path": "c=d"}', {"path": "c=d"}),
    ],
)
def test_parameters_are_changed_one_by_one_or_all_at_once(typed: str, meant: Json) -> None:
    assert changes_from(typed, {"path": "a.txt", "n": 1}) == meant


@pytest.mark.parametrize("typed", ["b.txt", "[1]", "a b=c", '{"path":'])
def test_a_change_that_cannot_be_read_says_so(typed: str) -> None:
    with pytest.raises(ValueError, match="This is n"):
        changes_from(typed, {})


def test_inputs_come_as_pairs_and_as_an_object() -> None:
    assert pairs_from(["a=b=c", "x="]) == {"a": "b=c", "x": ""}
    assert object_from('{"a": 1}') == {"a": 1}
    assert object_from(None) == {}


@pytest.mark.parametrize("pair", ["name", "=x"])
def test_an_input_without_a_name_is_a_usage_error(pair: str) -> None:
    with pytest.raises(typer.BadParameter):
        pairs_from([pair])


@pytest.mark.parametrize("text", ["[1]", "{", "7"])
def test_an_input_that_is_no_object_is_a_usage_error(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        object_from(text)


def test_an_age_has_a_unit() -> None:
    assert age_from("30d") == timedelta(days=30)
    assert age_from("1.5 h") == timedelta(minutes=90)
    for text in ("30", "d", "-1d", "3 months"):
        with pytest.raises(typer.BadParameter):
            age_from(text)
