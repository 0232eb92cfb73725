"""The event envelopes as the schema describes them: one per event class, so that clients get types for every event."""

from typing import Annotated, Any, Literal, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Event
from belayer.vocabulary.ids import SessionId

_CONFIG = ConfigDict(frozen=True, extra="forbid")


def _data_of(event: type[Event]) -> type[BaseModel]:
    """What an event's `data` holds: its fields without the type, which stands in the envelope."""
    fields: dict[str, Any] = {
        name: (field.annotation, field) for name, field in event.model_fields.items() if name != "type"
    }
    return create_model(f"{event.__name__}Data", __config__=_CONFIG, __doc__=event.__doc__, **fields)


def _envelope_of(event: type[Event]) -> type[BaseModel]:
    (name,) = get_args(event.model_fields["type"].annotation)
    fields: dict[str, Any] = {
        "seq": (int, ...),
        "session_id": (SessionId, ...),
        "type": (Literal[name], ...),
        "stage": (str | None, ...),
        "timestamp": (str, ...),
        "data": (_data_of(event), ...),
    }
    return create_model(f"{event.__name__}Envelope", __config__=_CONFIG, **fields)


_EVERY: Any = tuple(_envelope_of(event) for event in get_args(AnyEvent))

Envelope = Annotated[Union[_EVERY], Field(discriminator="type")]  # noqa: UP007 - a union of what is made above
