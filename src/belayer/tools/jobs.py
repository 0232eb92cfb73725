"""Commands that go on in the background: started, looked at, read from and stopped by their handle.

They belong to the session and the workspace they were started in, and end with it, or with the engine.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex

from belayer.sandbox.sandbox import Ended, Process
from belayer.sessions.record import Record
from belayer.vocabulary.errors import BelayerError, ConfigurationError, ResourceShort, StoreError
from belayer.vocabulary.events.event import FINAL, Json, Status
from belayer.vocabulary.events.lifecycle import SessionChanged

_MOST_RUNNING = 8
_MOST_KNOWN = 64
_KEPT = 1_048_576
_GRACE = 5.0
_GRACE_AT_THE_END = 1.0
# Files are being brought back: whoever still writes must stop now.
_GRACE_AT_REWIND = 0.0

Owner = tuple[str, str]


class Output:
    """The last part of what a job has written, by its place in the whole."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._held = bytearray()
        self.total = 0

    def add(self, text: str) -> None:
        content = text.encode(errors="replace")
        self.total += len(content)
        self._held += content
        if len(self._held) > 2 * self._kept:
            del self._held[: -self._kept]

    def read(self, offset: int, most: int) -> tuple[str, int, int]:
        """The text from there on, where it ends, and how much before it is no longer kept."""
        first = self.total - len(self._held)
        lost = max(0, first - offset)
        begin = max(offset, first) - first
        piece = bytes(self._held[begin : begin + most])
        if begin + most < len(self._held):
            piece = _whole(piece)
        return piece.decode(errors="replace"), first + begin + len(piece), lost


@dataclass(slots=True, eq=False)
class Job:
    """One command. It has one reader, which is ours; others look at what that has kept."""

    handle: str
    owner: Owner
    process: Process
    output: Output = field(default_factory=Output)
    began: float = field(default_factory=time.monotonic)
    ended: Ended | None = None
    error: BelayerError | None = None
    was_stopped: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)
    reading: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        return self.reading is not None and self.reading.done()

    async def read_to_the_end(self) -> None:
        try:
            async for line in self.process:
                self.output.add(line.text + ("\n" if line.ends else ""))
                self.news.set()
            self.ended = await self.process.wait()
        except BelayerError as error:
            self.error = error
        finally:
            self.news.set()

    async def heard(self, seconds: float) -> None:
        """Wait until something is new, but no longer than this."""
        if not self.is_over:
            self.news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.news.wait()

    async def over(self, seconds: float) -> None:
        """Wait for its end, but no longer than this."""
        assert self.reading is not None
        await asyncio.wait({self.reading}, timeout=seconds)

    async def stop(self, grace: float = _GRACE) -> None:
        if not self.is_over:
            self.was_stopped = True
            await self.process.stop(grace)
            await self.over(grace)

    def told(self) -> dict[str, Json]:
        """How it is."""
        told: dict[str, Json] = {"job": self.handle, "status": self._status(), "bytes": self.output.total}
        if self.ended is not None:
            told |= {"exit_code": self.ended.exit_code, "seconds": round(self.ended.seconds, 3)}
        else:
            told |= {"exit_code": None, "seconds": round(time.monotonic() - self.began, 3)}
        return told | ({"problem": self.error.detail} if self.error is not None else {})

    def _status(self) -> str:
        if not self.is_over:
            return "running"
        if self.was_stopped:
            return "stopped"
        return "failed" if self.error is not None else "ended"


class Jobs:
    """All jobs of an engine. Leave it, and they end."""

    def __init__(self) -> None:
        self._mine = token_hex(4)
        self._jobs: dict[str, Job] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Jobs":
        return self

    async def __aexit__(self, *_: object) -> None:
        jobs = list(self._jobs.values())
        await asyncio.gather(*(job.stop(_GRACE_AT_THE_END) for job in jobs), return_exceptions=True)

    def hear(self, records: Sequence[Record]) -> None:
        """End the jobs of a session that has ended, is put aside, or goes back to before it had them."""
        for record in records:
            grace = _grace_after(record) if record.type == "session" else None
            if grace is not None:
                self._end_all(record.session_id, grace)

    def _end_all(self, session_id: str, grace: float) -> None:
        for job in self._jobs.values():
            if job.owner[0] == session_id and not job.is_over:
                ending = asyncio.create_task(job.stop(grace))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)

    def admit(self, owner: Owner) -> None:
        """Raise if the owner has as many jobs as may run at once."""
        running = [job for job in self._jobs.values() if job.owner == owner and not job.is_over]
        if len(running) >= _MOST_RUNNING:
            raise ResourceShort(
                f"{_MOST_RUNNING} jobs run in this session already, so no other was started.",
                "Stop one of them first: " + ", ".join(job.handle for job in running),
            )

    def begin(self, owner: Owner, process: Process) -> Job:
        """Take care of a process from here on."""
        job = Job(f"job-{self._mine}-{token_hex(6)}", owner, process)
        job.reading = asyncio.create_task(job.read_to_the_end())
        self._jobs[job.handle] = job
        self._forget(owner)
        return job

    def find(self, owner: Owner, handle: str) -> Job | None:
        """The job; None if it ended with an earlier Belayer. ConfigurationError if there never was one here."""
        job = self._jobs.get(handle)
        if job is not None and job.owner == owner:
            return job
        prefix, _, rest = handle.partition("-")
        if prefix == "job" and rest.count("-") == 1 and rest.partition("-")[0] != self._mine:
            return None
        raise ConfigurationError(
            f"This session has no job {handle!r}.", "Give the handle that shell.start has returned."
        )

    def _forget(self, owner: Owner) -> None:
        """Of those that are over, only the latest are remembered."""
        over = [job for job in self._jobs.values() if job.owner == owner and job.is_over]
        for job in over[: max(0, len(over) - _MOST_KNOWN)]:
            del self._jobs[job.handle]


def _grace_after(record: Record) -> float | None:
    """How long jobs have to end after this; None if they need not."""
    try:
        event = record.event()
    except StoreError:
        return None
    if not isinstance(event, SessionChanged):
        return None
    if event.rewound_to is not None:
        return _GRACE_AT_REWIND
    return _GRACE_AT_THE_END if event.status in FINAL or event.status is Status.EXPIRED else None


def _whole(piece: bytes) -> bytes:
    """Without a character that is cut off at its end; all of it if that would leave nothing."""
    end = len(piece)
    while end > max(0, len(piece) - 3) and piece[end - 1] & 0xC0 == 0x80:
        end -= 1
    if end > 0 and piece[end - 1] >= 0xC0:
        return piece[: end - 1] or piece
    return piece
