"""The workers that scripts run in: at most so many at once, each killable, one kept warm for the next script."""

import asyncio
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self, cast

from pydantic import ValidationError

from belayer.codemode.frames import BEGIN, CRASHED, END, REPORT, SETTLE, STOPPED, packed, taken
from belayer.codemode.limits import Limits
from belayer.codemode.script import Ending, Language, MachineEnded, Report, Script, read_report

_WORKER = Path(__file__).with_name("worker.py")
# Each has a process or two of its own; who comes later waits.
_AT_ONCE = 16
_KEPT_WARM = 2
# What one process serves before another takes its place.
_SCRIPTS_PER_WORKER = 200


class Machines:
    """Where scripts run. An async context: on leaving, every worker is gone."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is a private one for compiled code; without it there is one that goes with this object."""
        self._given = folder
        self._folder: Path | None = None
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._idle: dict[Language, list[_Worker]] = defaultdict(list)
        self._living: set[_Worker] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in list(self._living):
            await self._end(worker)
        if self._given is None and self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    @asynccontextmanager
    async def machine(self, language: Language, limits: Limits) -> AsyncGenerator["Machine"]:
        """A machine for one script; nothing of it is left afterwards."""
        async with self._turns:
            machine = Machine(await self._worker(language), limits)
            try:
                yield machine
            finally:
                await asyncio.shield(self._leave(language, machine))

    async def _leave(self, language: Language, machine: "Machine") -> None:
        worker, idle = machine.worker, self._idle[language]
        if (
            machine.is_done
            and worker.is_well
            and len(idle) < _KEPT_WARM
            and worker.served < _SCRIPTS_PER_WORKER
        ):
            worker.send(END, b"")
            idle.append(worker)
        else:
            await self._end(worker)

    async def _worker(self, language: Language) -> "_Worker":
        while self._idle[language]:
            worker = self._idle[language].pop()
            if worker.is_well:
                worker.served += 1
                return worker
            await self._end(worker)
        worker = await _Worker.begin(language, await asyncio.to_thread(self._private))
        self._living.add(worker)
        return worker

    async def _end(self, worker: "_Worker") -> None:
        self._living.discard(worker)
        await worker.end()

    def _private(self) -> Path:
        """The folder for compiled code, which nobody else may write."""
        if self._folder is None:
            self._folder = self._given or Path(tempfile.mkdtemp(prefix="belayer-machines-"))
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder


class Machine:
    """One script's machine, as seen from here. MachineEnded says that it is gone."""

    def __init__(self, worker: "_Worker", limits: Limits) -> None:
        self.worker = worker
        self.is_done = False
        self._left = limits.wall

    async def start(self, script: Script, now: float, seed: float) -> Report:
        """Begin; what the script does until it waits."""
        return await self._turn(BEGIN, script.beginning(now, seed))

    async def settle(self, outcomes: Sequence[bytes]) -> Report:
        """Give it what came of its calls, in this order; what it does then."""
        return await self._turn(SETTLE, b"\n".join(outcomes))

    async def _turn(self, kind: bytes, content: bytes) -> Report:
        loop = asyncio.get_running_loop()
        began = loop.time()
        kind, content = await self.worker.exchange(kind, content, self._left)
        self._left -= loop.time() - began
        if kind != REPORT:
            raise MachineEnded(_ending(content))
        report = read_report(content)
        self.is_done = report.end is not None
        return report


class _Worker(asyncio.Protocol):
    """A process, and the socket to it."""

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self.served = 1
        self._sock = sock
        self._process = process
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._answer: asyncio.Future[tuple[bytes, bytes]] | None = None

    @classmethod
    async def begin(cls, language: Language, folder: Path) -> "_Worker":
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                arguments = (language, str(theirs.fileno()), str(os.getpid()), str(folder))
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", str(_WORKER), *arguments),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except BaseException:
                ours.close()
                raise
        worker = cls(process, ours)
        ours.setblocking(False)
        await asyncio.get_running_loop().create_unix_connection(lambda: worker, sock=ours)
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_well(self) -> bool:
        """Whether the process is there; the loop may not have heard of its end yet."""
        if self._transport is None or self._transport.is_closing():
            return False
        try:
            return bool(self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def exchange(self, kind: bytes, content: bytes, seconds: float) -> tuple[bytes, bytes]:
        """Say something, and give the answer, which may take so long."""
        if self._transport is None or self._transport.is_closing():
            return _BROKEN
        loop = asyncio.get_running_loop()
        self._answer = loop.create_future()
        timer = loop.call_later(seconds, self._settle, _LATE)
        try:
            self.send(kind, content)
            return await self._answer
        finally:
            timer.cancel()

    def send(self, kind: bytes, content: bytes) -> None:
        assert self._transport is not None
        self._transport.write(packed(kind, content))

    async def end(self) -> None:
        """Nothing of it is left: neither the process nor what it started."""
        if self._transport is not None:
            self._transport.abort()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        try:
            frame = taken(self._received)
        except ValueError:
            frame = _BROKEN
        if frame is not None:
            self._settle(frame)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        self._settle(_BROKEN)

    def _settle(self, answer: tuple[bytes, bytes]) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)


_LATE = (STOPPED, b'{"limit":"wall"}')
_BROKEN = (CRASHED, b'{"what":"its process ended"}')


def _ending(content: bytes) -> Ending:
    try:
        return Ending.model_validate_json(content)
    except ValidationError:
        return Ending(what="its last words make no sense")
