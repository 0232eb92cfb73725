"""What somebody outside has still to be told: how far the log was read for them, and what has not reached them yet.

Kept in one small file. What to tell is read from the log again each time, so the file holds numbers only; when it is
older than the truth, something is told twice, never not at all.
"""

import asyncio
import fcntl
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import IO

import structlog
from pydantic import ValidationError

from belayer.sessions.record import Record
from belayer.sessions.store import Mark
from belayer.vocabulary.events.event import Shape
from belayer.vocabulary.ids import SessionId

_MOST_LEFT = 1_000
_logger = structlog.get_logger()


class Letter(Shape):
    """A status change to be told. `due` is when to try next, in microseconds since 1970."""

    session_id: SessionId
    seq: int
    attempts: int = 0
    due: int = 0


class _Page(Shape):
    """What the file holds."""

    place: int
    hash: str
    at: int
    since: int
    left: tuple[Letter, ...]


class Outbox:
    """The letters that are left, in the order in which things happened. One process at a time has it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: IO[bytes] | None = None
        self._left: list[Letter] = []
        self._saved: _Page | None = None
        self.mark = Mark()

    def hold(self) -> bool:
        """Have it for oneself, until the process ends; False while another process has it."""
        file = self._path.with_suffix(".lock").open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._held = file
        return True

    def release(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None

    def read(self) -> bool:
        """Take up what was left; False if nothing was ever kept here, or it cannot be read."""
        try:
            page = _Page.model_validate_json(self._path.read_bytes())
            self.mark = Mark(page.place, bytes.fromhex(page.hash), page.at, page.since)
        except FileNotFoundError:
            return False
        except (OSError, ValidationError, ValueError) as error:
            _logger.error("outbox cannot be read; what was left in it is lost", error=type(error).__name__)
            return False
        self._left, self._saved = list(page.left), page
        return True

    @property
    def has_room(self) -> bool:
        """Whether more may be taken in. The log keeps what has no room here."""
        return len(self._left) < _MOST_LEFT

    def take(self, records: Iterable[Record], mark: Mark) -> None:
        """Have these told too; everything up to the mark was looked at."""
        self._left += [Letter(session_id=record.session_id, seq=record.seq) for record in records]
        self.mark = mark

    def due(self, now: int, busy: Collection[SessionId], most: int) -> list[Letter]:
        """The letters to try now: of each session only the first that is left, so that they arrive in order."""
        firsts: dict[SessionId, Letter] = {}
        for letter in self._left:
            firsts.setdefault(letter.session_id, letter)
        ready = [one for one in firsts.values() if one.due <= now and one.session_id not in busy]
        return ready[: max(most, 0)]

    def settle(self, letter: Letter) -> None:
        """It arrived, or nothing more will be tried."""
        self._left = [one for one in self._left if not _is_same(one, letter)]

    def postpone(self, letter: Letter, due: int) -> None:
        """It did not arrive; try again then."""
        later = letter.model_copy(update={"attempts": letter.attempts + 1, "due": due})
        self._left = [later if _is_same(one, letter) else one for one in self._left]

    async def save(self) -> None:
        """Keep it as it is now, whole or not at all. A disk that is full is tried again the next time."""
        place, hash_, at, since = self.mark
        page = _Page(place=place, hash=hash_.hex(), at=at, since=since, left=tuple(self._left))
        if page == self._saved:
            return
        try:
            await asyncio.to_thread(_write, self._path, page.model_dump_json().encode())
        except OSError as error:
            _logger.error("outbox cannot be saved", problem=f"{self._path}: {error.strerror}")
        else:
            self._saved = page


def _is_same(one: Letter, other: Letter) -> bool:
    return (one.session_id, one.seq) == (other.session_id, other.seq)


def _write(path: Path, content: bytes) -> None:
    aside = path.with_suffix(".new")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
