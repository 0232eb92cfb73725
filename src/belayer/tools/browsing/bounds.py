"""How much the browser may use, and whose pages are whose."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most of everything: memory of all its processes together, pages at once, bytes that one call may load."""

    memory_bytes: int = 2 * 1024**3
    pages: int = 8
    transfer_bytes: int = 100_000_000
    idle_seconds: float = 1800.0
    look_every: float = 1.0


@dataclass(frozen=True, slots=True)
class Whose:
    """Which session's page it is. A session that was rewound is another: its pages cannot be taken back."""

    session: str
    folder: Path
