"""Where a client says it was. A cursor that the session never gave is refused: it belongs to something else."""

from belayer.engine import Engine
from belayer.vocabulary.errors import BadCursor
from belayer.vocabulary.ids import SessionId

_LONGEST = 16


async def cursor_in(engine: Engine, session_id: SessionId, given: str | int | None) -> int:
    """The seq after which to go on: 0, the beginning, if none is given; BadCursor if it is none of the session's."""
    text = str(given or 0)
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST):
        raise BadCursor(
            f"{text[:50]!r} is no cursor.",
            "Give the seq of the last event you have, or nothing for all of them.",
        )
    last = (await engine.row(session_id)).last_seq
    if int(text) > last:
        raise BadCursor(
            f"The session has {last} events; the cursor {text} lies beyond them, so it is another session's.",
            f"Forget what you have of this session and follow it from the beginning, or after {last}.",
        )
    return int(text)
