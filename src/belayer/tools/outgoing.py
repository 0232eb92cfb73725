"""What leaves the house: nothing hidden in it, and no secret that we know of."""

from collections.abc import Iterable
from typing import Annotated
from uuid import uuid4

from pydantic import AfterValidator
from pydantic_core import to_json

from belayer.execution.step import UNDER_WAY
from belayer.sessions.redact import Redactor
from belayer.tools.visible import all_seen, one_line
from belayer.vocabulary.errors import HoldsSecret

# A file is looked at piece by piece, so that nobody else has to wait for it; no secret is longer than the overlap.
_WINDOW = 262_144
_OVERLAP = 16_384

Line = Annotated[str, AfterValidator(one_line)]
Text = Annotated[str, AfterValidator(all_seen)]


def refuse_secrets(redactor: Redactor, texts: Iterable[tuple[str, str]]) -> None:
    """Raise HoldsSecret if one of the texts, each given with what it is, holds what must never leave."""
    for what, text in texts:
        if any(
            _holds_secret(redactor, text[at : at + _WINDOW]) for at in range(0, len(text), _WINDOW - _OVERLAP)
        ):
            raise HoldsSecret(
                f"The {what} holds a secret, so nothing was sent.",
                "Leave out keys, tokens and passwords: say where to find them instead.",
            )


def once_key() -> str:
    """The same for every attempt at the step under way, so that the other side can recognise a second one."""
    step = UNDER_WAY.get(None)
    return step.idempotency_key if step is not None else uuid4().hex


def _holds_secret(redactor: Redactor, text: str) -> bool:
    data = to_json(text)
    return redactor.data(data) is not data
