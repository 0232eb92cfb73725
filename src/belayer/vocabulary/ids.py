"""Names of things: time-sortable UUIDv7 strings, one type per kind of thing."""

import secrets
import uuid
from datetime import datetime
from typing import NewType

from belayer.vocabulary.clock import to_micros

SessionId = NewType("SessionId", str)
RequestId = NewType("RequestId", str)

_SUB_MILLISECOND_STEPS = 1 << 12


def uuid7(at: datetime) -> str:
    """A UUIDv7 whose first 60 bits are the time, so that later ids sort after earlier ones to a quarter microsecond."""
    millis, rest = divmod(to_micros(at), 1000)
    fraction = rest * _SUB_MILLISECOND_STEPS // 1000
    value = (millis & ((1 << 48) - 1)) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))


def new_session_id(at: datetime) -> SessionId:
    return SessionId(uuid7(at))


def new_request_id(at: datetime) -> RequestId:
    return RequestId(uuid7(at))


def new_reference() -> str:
    """Something short that a person can search a log for."""
    return secrets.token_hex(6)
