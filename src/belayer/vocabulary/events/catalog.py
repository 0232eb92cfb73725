"""All events there are: from class to stored form and back, old versions included."""

from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from belayer.vocabulary.errors import CorruptLog, NewerEvent, Unrecordable
from belayer.vocabulary.events.event import Event
from belayer.vocabulary.events.lifecycle import (
    BudgetReached,
    CheckpointMade,
    ErrorMet,
    Interrupted,
    Logged,
    Rehomed,
    Resumed,
    SessionChanged,
    WorkspaceRestored,
)
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Responded, Said
from belayer.vocabulary.events.steps import (
    ArtifactMade,
    BreakerChanged,
    DoubtRaised,
    LimitMet,
    Planned,
    Retried,
    StepChanged,
)

AnyEvent = (
    SessionChanged
    | Interrupted
    | Resumed
    | ErrorMet
    | CheckpointMade
    | WorkspaceRestored
    | Rehomed
    | Logged
    | BudgetReached
    | Planned
    | StepChanged
    | Retried
    | BreakerChanged
    | DoubtRaised
    | LimitMet
    | ArtifactMade
    | InputRequested
    | ApprovalRequested
    | Responded
    | Said
)

Upcast = Callable[[dict[str, Any]], dict[str, Any]]

_CLASSES: Mapping[str, type[Event]] = {
    get_args(cls.model_fields["type"].annotation)[0]: cls for cls in get_args(AnyEvent)
}
_READERS = {name: TypeAdapter[Any](cls) for name, cls in _CLASSES.items()}

_TYPE = {"type"}

# (type, version) → how its data becomes the data of the next version.
UPCASTS: Mapping[tuple[str, int], Upcast] = {}


def to_data(event: AnyEvent) -> bytes:
    """The event's data as it is stored and sent: JSON without the type and without what is None."""
    try:
        return event.__pydantic_serializer__.to_json(event, exclude=_TYPE, exclude_none=True)
    except (PydanticSerializationError, ValueError) as error:
        raise Unrecordable(
            f"A {event.type} event cannot be kept in the log: {error}", "Use texts that are valid Unicode."
        ) from error


def from_data(
    session_id: str,
    seq: int,
    type_: str,
    version: int,
    data: bytes,
    upcasts: Mapping[tuple[str, int], Upcast] = UPCASTS,
) -> AnyEvent:
    """The event that was stored; an older version is brought up to date on the way."""
    cls = _CLASSES.get(type_)
    if cls is None or version > cls.version:
        raise NewerEvent(
            f"Event {seq} of session {session_id} ({type_}, version {version}) was written by a newer Belayer.",
            "Update Belayer, then try again.",
        )
    if version < 1:
        raise CorruptLog(session_id, seq, f"there never was a version {version} of {type_}")
    try:
        if version == cls.version:
            return _READERS[type_].validate_json(data)
        return cast("AnyEvent", cls.model_validate(_upcast(type_, version, cls.version, data, upcasts)))
    except (ValidationError, ValueError) as error:
        raise CorruptLog(session_id, seq, f"its {type_} data cannot be read") from error


def _upcast(
    type_: str, version: int, target: int, data: bytes, upcasts: Mapping[tuple[str, int], Upcast]
) -> dict[str, Any]:
    fields: dict[str, Any] = from_json(data)
    for step in range(version, target):
        fields = upcasts[type_, step](fields)
    return fields
