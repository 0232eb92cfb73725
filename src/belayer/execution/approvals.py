"""A seal over exactly what a person was shown."""

import hashlib
import json
from dataclasses import dataclass

from belayer.vocabulary.events.event import Json


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided. True when they said yes."""

    approved: bool
    notes: str | None = None
    digest: str = ""

    def __bool__(self) -> bool:
        return self.approved


def seal(title: str, shown: Json) -> str:
    """The digest of what is shown: the same for equal content, whatever the order of its keys."""
    content = json.dumps([title, shown], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
