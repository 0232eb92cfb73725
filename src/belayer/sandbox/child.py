"""Run a program under limits: it gets its input and nothing else, and nothing of it is left when this returns.

It limits, it does not confine: a program that is itself hostile needs more walls than these.
"""

import asyncio
import json
import os
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from belayer.sandbox.launcher import Plan, rules
from belayer.vocabulary.errors import ChildFailed, LimitReached

# What the launcher may take to kill a tree of processes before it is killed itself.
_GRACE = 5.0
_SHOWN = 500
# Failed allocations show only in what a program says at its end; the kernel does not tell.
_OUT_OF_MEMORY = (b"MemoryError", b"Cannot allocate memory", b"out of memory", b"bad_alloc")
_NEARLY = 0.8


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a program may use. `output_bytes` holds for each of its two streams."""

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: float
    output_bytes: int
    open_files: int = 64
    file_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that came to its end by itself, and what that took."""

    output: bytes
    errors: bytes
    seconds: float
    cpu_seconds: float
    peak_bytes: int


async def run_child(argv: Sequence[str], *, stdin: bytes, limits: Limits) -> Finished:
    """What the program wrote. `argv[0]` is an absolute path; LimitReached and ChildFailed say how it went wrong."""
    began = asyncio.get_running_loop().time()
    told, report = os.pipe()
    try:
        watch, in_time = await _watched(argv, stdin, limits, report)
        used = _Used.read(told)
    finally:
        os.close(told)
    name = Path(argv[0]).name
    if watch.over:
        raise _too_much("output", name, f"{limits.output_bytes:,} bytes of output")
    if not in_time:
        raise _too_much("wall", name, f"{limits.wall_seconds:g} s")
    _check(name, used, watch.errors, limits)
    seconds = asyncio.get_running_loop().time() - began
    return Finished(bytes(watch.output), bytes(watch.errors), seconds, used.cpu_seconds, used.peak_bytes)


@dataclass(frozen=True, slots=True)
class _Used:
    """What the launcher tells at the end. It tells nothing if it was killed."""

    exit_code: int
    cpu_seconds: float
    peak_bytes: int

    @classmethod
    def read(cls, told: int) -> "_Used":
        os.set_blocking(told, False)
        try:
            return cls(**json.loads(os.read(told, 4096)))
        except (BlockingIOError, ValueError):
            return cls(-signal.SIGKILL, 0.0, 0)


class _Watch(asyncio.SubprocessProtocol):
    """Keeps what a program writes, up to its limit, and knows when it is gone."""

    def __init__(self, most: int) -> None:
        self.output, self.errors = bytearray(), bytearray()
        self.over = False
        self.gone = asyncio.Event()
        self._most = most
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = self.output if fd == 1 else self.errors
        room = self._most - len(kept)
        kept += data[:room]
        if len(data) > room and not self.over:
            self.over = True
            self.stop()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        self.gone.set()

    def stop(self) -> None:
        """Ask the launcher to kill everything."""
        assert self._transport is not None
        with suppress(ProcessLookupError):
            self._transport.terminate()


async def _watched(argv: Sequence[str], stdin: bytes, limits: Limits, report: int) -> tuple[_Watch, bool]:
    """The program's traces once it is gone, and whether it went in time."""
    limited = rules(limits.cpu_seconds, limits.open_files, limits.file_bytes)
    limited.append((resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes))
    command, plan = Plan(argv, limited, report).command()
    try:
        transport, watch = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Watch(limits.output_bytes),
            *command,
            pass_fds=(plan, report),
            env={},
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(plan)
        os.close(report)
    try:
        return watch, await _gone(transport, watch, stdin, limits.wall_seconds)
    finally:
        await asyncio.shield(_end(transport, watch))


async def _gone(
    transport: asyncio.SubprocessTransport, watch: _Watch, stdin: bytes, wall_seconds: float
) -> bool:
    pipe = transport.get_pipe_transport(0)
    assert isinstance(pipe, asyncio.WriteTransport)
    pipe.write(stdin)
    pipe.write_eof()
    try:
        async with asyncio.timeout(wall_seconds):
            await watch.gone.wait()
    except TimeoutError:
        return False
    return True


async def _end(transport: asyncio.SubprocessTransport, watch: _Watch) -> None:
    """The launcher ends what is still there; if it cannot, it is killed, and the program with it."""
    if not watch.gone.is_set():
        watch.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await watch.gone.wait()
    transport.close()


def _check(name: str, used: _Used, errors: bytearray, limits: Limits) -> None:
    """Raise what a bad end means."""
    if used.exit_code == 0:
        return
    if used.exit_code == -signal.SIGXCPU or used.cpu_seconds >= limits.cpu_seconds:
        raise _too_much("cpu", name, f"{limits.cpu_seconds} s of CPU time")
    last_words = bytes(errors[-_SHOWN:])
    if used.peak_bytes >= _NEARLY * limits.memory_bytes or any(word in last_words for word in _OUT_OF_MEMORY):
        raise _too_much("memory", name, f"{limits.memory_bytes:,} bytes of memory")
    raise ChildFailed(
        f"{name} {_ending(used.exit_code)}: {last_words.decode(errors='replace').strip() or 'it said nothing'}",
        "Its last words are above; what it was given is probably not what it can work with.",
    )


def _too_much(limit: str, name: str, most: str) -> LimitReached:
    return LimitReached(
        limit, f"{name} was stopped: it may use {most}, and wanted more.", "Give it less to do at once."
    )


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    return f"was ended by signal {-exit_code} ({signal.strsignal(-exit_code)})"
