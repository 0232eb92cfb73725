"""Events come back from their stored form as they were; what cannot be read is named."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from belayer.vocabulary.errors import CorruptLog, NewerEvent
from belayer.vocabulary.events.catalog import AnyEvent, from_data, to_data
from belayer.vocabulary.events.event import Status, StepStatus, Usage
from belayer.vocabulary.events.lifecycle import Logged, SessionChanged
from belayer.vocabulary.events.people import Responded
from belayer.vocabulary.events.steps import StepChanged
from tests.support.records import asked
from tests.vocabulary.strategies import BY_CLASS, events, first_events, jsons

CLASSES = get_args(AnyEvent)


def back(event: Any) -> Any:
    return from_data("s", 1, event.type, type(event).version, to_data(event))


def test_every_event_is_tried_here() -> None:
    assert set(CLASSES) == set(BY_CLASS)


@pytest.mark.parametrize("cls", CLASSES)
@settings(max_examples=30)
@given(data=st.data())
def test_an_event_comes_back_from_its_stored_form_as_it_was(cls: type, data: st.DataObject) -> None:
    event = data.draw(BY_CLASS[cls])
    assert back(event) == event


@settings(max_examples=30)
@given(first_events)
def test_a_beginning_comes_back_from_its_stored_form_as_it_was(event: AnyEvent) -> None:
    assert back(event) == event


@given(events | first_events)
def test_stored_data_is_written_the_same_way_once_it_was_read(event: AnyEvent) -> None:
    """The import relies on this: the chain is over the stored bytes."""
    data = to_data(event)
    assert to_json(from_json(data)) == data


@given(jsons)
def test_nothing_inside_a_value_is_left_out(value: Any) -> None:
    event = back(Responded(request_id=asked(), value={"kept": None, "list": [None, value]}))
    assert event.value == {"kept": None, "list": [None, value]}


@pytest.mark.parametrize(
    "value", [{"a": None}, [None], {"a": {"b": None}}, [{"a": None}], {"a": [{"b": [None]}]}, {}, [], "", 0]
)
def test_a_value_of_nothing_inside_something_is_kept(value: Any) -> None:
    step = StepChanged(key="k", name="n", status=StepStatus.COMPLETED, input=value, output=value)
    read = back(step)
    assert (read.input, read.output) == (value, value)


@pytest.mark.parametrize("value", [2**63, -(2**70), 10**40, 1e308, 5e-324, -0.0, 0.1, 1e22])
def test_a_number_of_any_size_is_kept(value: Any) -> None:
    read = back(Responded(request_id=asked(), value=value)).value
    assert (read, type(read)) == (value, type(value))


def test_fields_of_nothing_take_no_space() -> None:
    assert to_data(SessionChanged(status=Status.QUEUED)) == b'{"status":"queued"}'


def test_the_type_stands_beside_the_data_and_not_in_it() -> None:
    assert b"type" not in to_data(Logged(text="x"))


@pytest.mark.parametrize("cls", CLASSES)
def test_every_event_says_its_type_and_version(cls: Any) -> None:
    assert cls.version >= 1
    assert cls.model_fields["type"].default


def test_no_two_events_have_the_same_type() -> None:
    types = [cls.model_fields["type"].default for cls in CLASSES]
    assert len(set(types)) == len(types)


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Logged(text="x").text = "y"  # pyright: ignore[reportAttributeAccessIssue]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        Logged(text="x", unknown=1)  # pyright: ignore[reportCallIssue]


class TestReading:
    def test_an_event_of_an_unknown_type_is_from_a_newer_belayer(self) -> None:
        with pytest.raises(NewerEvent, match=r"Event 7 of session s \(telepathy, version 1\)") as caught:
            from_data("s", 7, "telepathy", 1, b"{}")
        assert "Update" in (caught.value.hint or "")

    def test_an_event_of_a_newer_version_is_from_a_newer_belayer(self) -> None:
        with pytest.raises(NewerEvent, match="version 2"):
            from_data("s", 7, "log", 2, b'{"text":"x"}')

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b'"x"',
            b"{}",
            b'{"text":1}',
            b'{"text":"x","more":1}',
            b'{"text":"\xff"}',
        ],
    )
    def test_data_that_cannot_be_read_is_damage_with_its_place(self, data: bytes) -> None:
        with pytest.raises(CorruptLog, match="session s is damaged at seq 7"):
            from_data("s", 7, "log", 1, data)

    @pytest.mark.parametrize("version", [0, -1])
    def test_a_version_that_never_was_is_damage(self, version: int) -> None:
        with pytest.raises(CorruptLog, match="seq 7"):
            from_data("s", 7, "log", version, b'{"text":"x"}')

    def test_an_older_version_is_brought_up_to_date_step_by_step(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Logged, "version", 3)
        upcasts: Any = {
            ("log", 1): lambda old: {"message": old["msg"]},
            ("log", 2): lambda old: {"text": old["message"], "level": "warning"},
        }
        read = from_data("s", 1, "log", 1, b'{"msg":"old"}', upcasts)
        assert read == Logged(text="old", level="warning")

    @pytest.mark.parametrize("data", [b'{"msg":"old"}', b"{"])
    def test_an_older_version_that_stays_unreadable_is_damage(
        self, monkeypatch: pytest.MonkeyPatch, data: bytes
    ) -> None:
        monkeypatch.setattr(Logged, "version", 2)
        with pytest.raises(CorruptLog, match="seq 7"):
            from_data("s", 7, "log", 1, data, {("log", 1): lambda old: {**old}})

    def test_the_current_version_is_not_upcast(self) -> None:
        upcasts: Any = {("log", 0): lambda old: {"text": "wrong"}, ("log", 1): lambda old: {"text": "wrong"}}
        assert from_data("s", 1, "log", 1, b'{"text":"right"}', upcasts) == Logged(text="right")

    @pytest.mark.parametrize(
        "data",
        [
            b'{"status":"waiting","wake_at":"2026-01-01T00:00:00"}',
            b'{"status":"paused","after_pause":{"at":"2026-01-01T00:00:00","then":"resume"}}',
            b'{"status":"running","epoch":-1}',
            b'{"status":"running","epoch":100000000000000000000}',
            b'{"status":"paused","rewound_to":0}',
            b'{"status":"completed","aside":{"result":{"digest":"../../etc/passwd","bytes":1}}}',
        ],
    )
    def test_a_status_with_something_impossible_in_it_is_damage(self, data: bytes) -> None:
        with pytest.raises(CorruptLog, match="seq 7"):
            from_data("s", 7, "session", 1, data)


class TestUsage:
    def test_a_step_that_ended_took_its_time(self) -> None:
        usage = Usage(tokens=5, usd=0.5)
        step = StepChanged(key="k", name="n", status=StepStatus.COMPLETED, seconds=2.0, usage=usage)
        assert step.spent() == Usage(tokens=5, usd=0.5, steps=1, seconds=2.0)

    @pytest.mark.parametrize("status", sorted(set(StepStatus) - {StepStatus.COMPLETED, StepStatus.FAILED}))
    def test_a_step_that_has_not_ended_took_nothing_yet(self, status: StepStatus) -> None:
        assert StepChanged(key="k", name="n", status=status, seconds=2.0).spent() == Usage()

    def test_a_mere_value_takes_nothing(self) -> None:
        assert StepChanged(key="now", name="now", status=StepStatus.COMPLETED).spent() == Usage()

    def test_usage_adds_up(self) -> None:
        one, two = Usage(tokens=1, usd=0.5, steps=2, seconds=3), Usage(tokens=10, usd=1, steps=20, seconds=30)
        assert one.plus(two) == Usage(tokens=11, usd=1.5, steps=22, seconds=33)
