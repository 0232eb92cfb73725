"""Commands are checked where they come in."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from belayer.vocabulary.commands import (
    Answer,
    Approve,
    Command,
    Fork,
    MakeCheckpoint,
    Pause,
    Rewind,
    Start,
)
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Budget, Mode
from tests.support.records import asked, named

READER: TypeAdapter[Any] = TypeAdapter(Command)


@pytest.mark.parametrize(
    "sent",
    [
        b'{"type":"user_response","request_id":"r","value":{"a":[null]}}',
        b'{"type":"approve","request_id":"r","digest":"d","remember":"session"}',
        b'{"type":"reject","request_id":"r","digest":"d","reason":"no"}',
        b'{"type":"pause","timeout":"PT1H","then":"cancel"}',
        b'{"type":"resume"}',
        b'{"type":"interrupt"}',
        b'{"type":"cancel","reason":"enough"}',
        b'{"type":"checkpoint","name":"here"}',
        b'{"type":"rewind","seq":3}',
    ],
)
def test_a_command_on_the_wire_is_understood_by_its_type(sent: bytes) -> None:
    command = READER.validate_json(sent)
    assert command.type.encode() in sent


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rewind(seq=0),
        lambda: Rewind(seq=-1),
        lambda: Fork(session_id=named(1), seq=0),
        lambda: MakeCheckpoint(name=""),
        lambda: MakeCheckpoint(name="x" * 201),
        lambda: Pause(reason="x" * 10_001),
        lambda: Pause(then="explode"),  # pyright: ignore[reportArgumentType]
        lambda: Approve(request_id=asked(), digest="d", remember="for ever"),  # pyright: ignore[reportArgumentType]
        lambda: Start(workflow=""),
        lambda: Start(workflow="w", mode="both"),  # pyright: ignore[reportArgumentType]
        lambda: Start(workflow="w", more=1),  # pyright: ignore[reportCallIssue]
        lambda: Start(workflow="w", title="\udcff"),
        lambda: Pause(reason="\udcff"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(make: Any) -> None:
    with pytest.raises(ValidationError):
        make()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\udcff", {"a": [float("-inf")]}, {1, 2}, object()]
)
@pytest.mark.parametrize(
    "make",
    [lambda value: Answer(request_id=asked(), value=value), lambda value: Start(workflow="w", input=value)],
)
def test_what_cannot_be_recorded_is_refused_at_the_door(make: Any, value: Any) -> None:
    try:
        given = make(value)
    except (BelayerError, ValidationError):
        return
    assert value == {1, 2}  # a set may come in as a list
    assert sorted(getattr(given, "value", None) or given.input) == [1, 2]


def test_a_session_begins_with_a_person_in_the_loop_and_no_limits_unless_told_otherwise() -> None:
    start = Start(workflow="w")
    assert (start.mode, start.budget) == (Mode.HITL, Budget())
