"""A program under way: its output as it comes, its limits while it runs, and its end with all that it has started.

How it is started and how it is ended for good differ from rung to rung; all else is here.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import IO, Literal, Protocol

from belayer.sandbox.disk import Growth
from belayer.sandbox.lines import Cutter
from belayer.sandbox.sandbox import Ended, Limits, Line, Stream
from belayer.sandbox.usage import Meter, Reading
from belayer.vocabulary.errors import ChildFailed, LimitReached

Limit = Literal["memory", "cpu", "wall", "pids", "files", "disk", "output"]

_CHUNK = 65536
_PIECES_AHEAD = 64
_FIRST_LOOK, _LONGEST_LOOK = 0.02, 0.1
_DROPS_AFTER = 0.005
# What may pass between the death of a program and the end of its output, and of all that it had started.
_LAST_BREATH = 10.0
# A refused allocation, file or write shows only in what a program says at its very end; the kernel does not tell.
_LAST_WORDS: dict[Limit, tuple[str, ...]] = {
    "memory": ("MemoryError", "Cannot allocate memory", "bad_alloc", "out of memory"),
    "pids": ("Cannot fork", "can't fork", "fork: Resource temporarily unavailable", "can't start new thread"),
    "files": ("Too many open files",),
    "disk": ("No space left on device", "File too large", "Disk quota exceeded"),
}
_SHOWN = 500
# Where we count processes ourselves, ours are among them, and the kernel refuses only what is well above the limit:
# what was refused cannot be seen.
_OURS = 3
SEEN_ABOVE = 16


class Hold(Protocol):
    """What a rung has set up for one program."""

    def leader(self) -> int | None:
        """The program's own process, as the host numbers it."""
        ...

    def kill(self) -> None:
        """End the program and all that it has started."""
        ...

    async def gone(self) -> None:
        """Return when nothing of it runs any more."""
        ...

    def failed(self) -> bool:
        """Whether it was the sandbox that did not come about, so that the program never ran."""
        ...

    async def release(self) -> None:
        """Give back all that was set up."""
        ...


class Started:
    """A child process, its two streams and its end. The descriptors given are its own from here on, and closed here."""

    def __init__(self, argv: Sequence[str], stdin: int, descriptors: Sequence[int] = ()) -> None:
        outputs, errors = os.pipe(), os.pipe()
        try:
            self._child = subprocess.Popen(
                argv,
                stdin=stdin,
                stdout=outputs[1],
                stderr=errors[1],
                pass_fds=descriptors,
                env={},
                cwd="/",
                start_new_session=True,
            )
        except BaseException:
            _close(outputs[0], errors[0])
            raise
        finally:
            _close(outputs[1], errors[1], stdin, *descriptors)
        self.pid = self._child.pid
        self.streams: dict[Stream, IO[bytes]] = {
            "stdout": os.fdopen(outputs[0], "rb", 0),
            "stderr": os.fdopen(errors[0], "rb", 0),
        }
        self._watched = os.pidfd_open(self.pid)

    @property
    def is_alive(self) -> bool:
        """Whether its number is still its own: it runs, or nobody has asked yet how it ended."""
        return self._child.returncode is None

    def forgo(self) -> None:
        """It is of no use; wait for its end, which is near."""
        self.signal(signal.SIGKILL)
        self.reaped()
        for stream in self.streams.values():
            stream.close()

    async def ended(self) -> tuple[int, float, int]:
        """Its exit code, and the CPU seconds and most bytes of it and the children it waited for."""
        await ended(self._watched)
        return self.reaped()

    def reaped(self) -> tuple[int, float, int]:
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self._watched)
        code = os.waitstatus_to_exitcode(status)
        self._child.returncode = code
        return (code if code >= 0 else 128 - code), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def signal(self, number: signal.Signals) -> None:
        """To itself alone; nothing happens if it is gone."""
        if self.is_alive:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._watched, number)


class Running:
    """The Process of every rung. `begin` once, then read, wait or stop."""

    def __init__(
        self, name: str, started: Started, hold: Hold, meter: Meter, growth: Growth, limits: Limits
    ) -> None:
        self._name = name
        self._started = started
        self._hold = hold
        self._meter = meter
        self._growth = growth
        self._limits = limits
        self._pieces: asyncio.Queue[list[Line] | None] = asyncio.Queue(_PIECES_AHEAD)
        self._over: asyncio.Task[Ended] | None = None
        self._breached: Limit | None = None
        self._stopped = False
        self._bytes = 0
        self._last_words = ""
        self._read_to_the_end = False

    def begin(self) -> "Running":
        self._over = asyncio.create_task(self._to_the_end())
        self._over.add_done_callback(_looked_at)
        return self

    async def __aiter__(self) -> AsyncIterator[Line]:
        while not self._read_to_the_end:
            lines = await self._pieces.get()
            if lines is None:
                self._read_to_the_end = True
                return
            for line in lines:
                yield line

    async def wait(self) -> Ended:
        assert self._over is not None
        draining = asyncio.create_task(self._drain())
        try:
            return await asyncio.shield(self._over)
        except asyncio.CancelledError:
            if not self._over.done():
                await asyncio.shield(self.stop(0))
            raise
        finally:
            draining.cancel()

    async def stop(self, grace: float = 5.0) -> None:
        assert self._over is not None
        self._stopped = True
        draining = asyncio.create_task(self._drain())
        if grace > 0 and not self._over.done():
            self._ask_to_end()
            await asyncio.wait({self._over}, timeout=grace)
        if not self._over.done():
            self._hold.kill()
            await asyncio.wait({self._over})
        draining.cancel()

    async def _drain(self) -> None:
        """Drop what nobody reads, so that the program is not held up on its way to the end."""
        while True:
            await asyncio.sleep(_DROPS_AFTER)
            while self._pieces.full():
                self._pieces.get_nowait()

    def _ask_to_end(self) -> None:
        leader = self._hold.leader()
        if leader is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(os.getpgid(leader), signal.SIGTERM)

    async def _to_the_end(self) -> Ended:
        began = asyncio.get_running_loop().time()
        watching = asyncio.create_task(self._watch(began))
        pumps = [asyncio.create_task(self._pump(stream)) for stream in self._started.streams]
        try:
            code, cpu, peak = await self._started.ended()
        except BaseException:
            self._hold.kill()
            self._started.reaped()
            raise
        finally:
            watching.cancel()
            await asyncio.wait({watching})
            seconds = asyncio.get_running_loop().time() - began
            await asyncio.shield(self._clear_up(pumps))
        last = await self._last_look(Reading(cpu, peak, peak))
        self._growth.end()
        never_ran = self._hold.failed()
        await self._hold.release()
        self._judge(code, last, never_ran)
        return Ended(code, seconds, last.cpu_seconds, last.peak_bytes, self._bytes)

    async def _clear_up(self, pumps: Sequence[asyncio.Task[None]]) -> None:
        """Nothing of it runs, and its output is at its end."""
        self._hold.kill()  # its end is the end of all that it has started
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_BREATH):
                await self._hold.gone()
        await asyncio.wait(pumps)
        await self._pieces.put(None)

    async def _last_look(self, own: Reading) -> Reading:
        """What it took in all. A meter that saw nothing, because all was over so soon, knows less than the kernel."""
        read = self._meter.read()
        if self._breached is None and not self._stopped and await self._growth.too_much(last=True):
            self._breached = "disk"
        return Reading(
            max(own.cpu_seconds, read.cpu_seconds),
            read.memory_bytes,
            read.peak_bytes or own.peak_bytes,
            read.processes,
            read.starved,
            read.crowded,
        )

    async def _watch(self, began: float) -> None:
        pause = _FIRST_LOOK
        loop = asyncio.get_running_loop()
        while self._breached is None:
            left = began + self._limits.wall_seconds - loop.time()
            if left <= 0:
                self._breach("wall")
                return
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_LOOK)
            self._breach(self._over_the_limit(self._meter.read()))
            if self._breached is None and await self._growth.too_much():
                self._breach("disk")

    def _over_the_limit(self, read: Reading) -> Limit | None:
        if read.starved or read.memory_bytes > self._limits.memory_bytes:
            return "memory"
        if read.crowded or read.processes > self._limits.processes + _OURS:
            return "pids"
        return "cpu" if read.cpu_seconds > self._limits.cpu_seconds else None

    def _breach(self, limit: Limit | None) -> None:
        if limit is not None and self._breached is None and not self._stopped:
            self._breached = limit
            self._hold.kill()

    async def _pump(self, stream: Stream) -> None:
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._started.streams[stream]
        )
        cutter = Cutter(stream)
        try:
            while chunk := await reader.read(_CHUNK):
                await self._took(stream, cutter, chunk)
            if lines := cutter.end():
                await self._pieces.put(lines)
        finally:
            transport.close()

    async def _took(self, stream: Stream, cutter: Cutter, chunk: bytes) -> None:
        room = max(0, self._limits.output_bytes - self._bytes)
        self._bytes += min(len(chunk), room)
        if stream == "stderr":
            self._last_words = (self._last_words + chunk[-_SHOWN:].decode(errors="replace"))[-_SHOWN:]
        if lines := cutter.cut(chunk[:room]):
            await self._pieces.put(lines)
        if len(chunk) > room:
            self._breach("output")

    def _judge(self, code: int, last: Reading, never_ran: bool) -> None:
        """Raise what a bad end means."""
        limit = self._breached or (None if self._stopped else self._told_by_the_end(code, last))
        if limit is not None:
            raise LimitReached(
                limit,
                f"{self._name} was stopped: it may use {_most(limit, self._limits)}, and wanted more."
                " What it did until then stays done.",
                "Give it less to do at once, or a higher limit.",
            )
        if never_ran and not self._stopped:
            raise ChildFailed(
                f"{self._name} was not run: {self._last_words.strip()}",
                "Check that the program is there; `belayer doctor` says whether the sandbox works.",
            )

    def _told_by_the_end(self, code: int, last: Reading) -> Limit | None:
        if over := self._over_the_limit(Reading(last.cpu_seconds, 0, 0, 0, last.starved, last.crowded)):
            return over
        if code == 128 + signal.SIGXCPU:
            return "cpu"
        if code == 128 + signal.SIGXFSZ:
            return "disk"
        if code == 0:
            return None
        last_line = self._last_words.rstrip().rpartition("\n")[2]
        return next(
            (limit for limit, words in _LAST_WORDS.items() if any(w in last_line for w in words)), None
        )


def _most(limit: Limit, limits: Limits) -> str:
    match limit:
        case "memory":
            return f"{limits.memory_bytes:,} bytes of memory"
        case "cpu":
            return f"{limits.cpu_seconds} s of CPU time"
        case "wall":
            return f"{limits.wall_seconds:g} s"
        case "pids":
            return f"{limits.processes} processes"
        case "files":
            return f"{limits.open_files} open files in a process"
        case "disk":
            return f"{limits.disk_bytes:,} bytes of disk"
        case "output":
            return f"{limits.output_bytes:,} bytes of output"


async def ended(process: int) -> None:
    """Return when the process of this descriptor has ended."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(process)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _looked_at(task: asyncio.Task[Ended]) -> None:
    """Nobody may ever wait for it; its error is then nobody's."""
    if not task.cancelled():
        task.exception()
