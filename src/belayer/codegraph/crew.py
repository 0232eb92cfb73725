"""Share work out over forked processes. Work on which a process dies or gets stuck is reported; the rest goes on.

Forked and not spawned: the workers see all that was read so far without its being copied. So this runs only in the
build's own process, which has no threads.
"""

import mmap
import os
import select
import signal
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn, TypeVar

Task = TypeVar("Task")

_MOST_BATCHES = 8_000
_FRAME = struct.Struct("<II")
_NUMBER = struct.Struct("<i")
_FLUSH_AT = 256 * 1024
_LOOK_EVERY_MS = 1_000
_NOTHING = -1


def cores() -> int:
    return min(len(os.sched_getaffinity(0)), 8)


def share_out(
    tasks: Sequence[Task], work: Callable[[Task], bytes], *, batch: int, patience: float, workers: int
) -> Iterator[tuple[Task, bytes | None]]:
    """Each task with what `work` made of it, in any order; None if processes died on it or one was stuck."""
    crew = _Crew(tasks, work, max(batch, -(-len(tasks) // _MOST_BATCHES)), patience)
    try:
        crew.start(min(workers, len(crew.batches)))
        for number, result in crew.results():
            yield tasks[number], result
    finally:
        crew.end()


def do_here(
    tasks: Sequence[Task], work: Callable[[Task], bytes], *, patience: float, is_native: bool = False
) -> Iterator[tuple[Task, bytes | None]]:
    """The same for a few tasks without other processes. A task that takes too long fails; native code, which no
    exception can stop, takes this process with it."""
    before = signal.signal(signal.SIGVTALRM, signal.SIG_DFL if is_native else _stop)
    try:
        for task in tasks:
            signal.setitimer(signal.ITIMER_VIRTUAL, patience)
            try:
                result = work(task)
            except Exception:  # noqa: BLE001 - whatever it is, it is this task's trouble only
                result = None
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            yield task, result
    finally:
        signal.signal(signal.SIGVTALRM, before)


class _Stuck(Exception):
    """A task took too long."""


def _stop(_number: int, _frame: object) -> None:
    raise _Stuck


class _Worker:
    """One process, as its parent sees it."""

    def __init__(self, pid: int, pipe: int, place: int, home: int) -> None:
        self.pid, self.pipe, self.place, self.home = pid, pipe, place, home
        self.received = bytearray()
        self.task, self.since = _NOTHING, time.monotonic()
        self.is_stuck = False


class _Crew:
    def __init__(
        self, tasks: Sequence[Task], work: Callable[[Task], bytes], batch: int, patience: float
    ) -> None:
        self.batches = [range(at, min(at + batch, len(tasks))) for at in range(0, len(tasks), batch)]
        self._tasks, self._work, self._patience = tasks, work, patience
        self._workers: dict[int, _Worker] = {}
        self._open = set(range(len(tasks)))
        self._struck: set[int] = set()
        self._queues: list[int] = []
        # Where each worker says what it is at: a place of its own in memory that survives it.
        self._slots: deque[mmap.mmap] = deque()

    def start(self, count: int) -> None:
        """Each worker begins with a run of its own: neighbours have much in common that it then knows already."""
        run = -(-len(self.batches) // max(count, 1))
        numbers = range(len(self.batches))
        self._queues = [_queue(numbers[home * run : (home + 1) * run]) for home in range(count)]
        for home in range(count):
            self._hire([], home)

    def results(self) -> Iterator[tuple[int, bytes | None]]:
        while self._workers:
            poll = select.poll()
            for pipe in self._workers:
                poll.register(pipe, select.POLLIN)
            for pipe, _ in poll.poll(_LOOK_EVERY_MS):
                yield from self._hear(self._workers[pipe])
            self._wake_the_stuck()
        yield from ((number, None) for number in sorted(self._open))  # nobody was left to do them

    def end(self) -> None:
        for worker in self._workers.values():
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)
            os.close(worker.pipe)
        self._workers.clear()
        for queue in self._queues:
            os.close(queue)

    def _hire(self, first: list[int], home: int) -> None:
        ear, mouth = os.pipe()
        slot = mmap.mmap(-1, 8)
        slot[:8] = struct.pack("<ii", _NOTHING, _NOTHING)
        self._slots.append(slot)
        pid = os.fork()
        if pid == 0:
            os.close(ear)
            queues = self._queues[home:] + self._queues[:home]
            _toil(self._tasks, self._work, self.batches, first, queues, mouth, slot)
        os.close(mouth)
        self._workers[ear] = _Worker(pid, ear, len(self._slots) - 1, home)

    def _hear(self, worker: _Worker) -> Iterator[tuple[int, bytes | None]]:
        piece = os.read(worker.pipe, 1 << 20)
        if not piece:
            yield from self._dismiss(worker)
            return
        worker.received += piece
        yield from self._frames(worker.received)

    def _frames(self, received: bytearray) -> Iterator[tuple[int, bytes]]:
        at = 0
        while len(received) - at >= _FRAME.size:
            number, length = _FRAME.unpack_from(received, at)
            if len(received) - at - _FRAME.size < length:
                break
            at += _FRAME.size
            self._open.discard(number)
            yield number, bytes(received[at : at + length])
            at += length
        del received[:at]

    def _dismiss(self, worker: _Worker) -> Iterator[tuple[int, None]]:
        """A worker is gone. Unless it had finished, it died on its task; somebody else takes the rest of its batch."""
        os.waitpid(worker.pid, 0)
        os.close(worker.pipe)
        del self._workers[worker.pipe]
        batch, task = struct.unpack("<ii", self._slots[worker.place][:8])
        if task == _NOTHING:
            return  # it had finished, or never began
        if task in self._open and (task in self._struck or worker.is_stuck):
            self._open.discard(task)
            yield task, None
        self._struck.add(task)  # the next one begins with nothing in its memory, so a task gets a second try
        left = [number for number in self._of(batch, task) if number in self._open]
        self._hire(left, worker.home)

    def _of(self, batch: int, task: int) -> Sequence[int]:
        """The batch's tasks; those that a worker was hired for have no batch, but their own is among them."""
        if batch != _NOTHING:
            return self.batches[batch]
        return next((known for known in self.batches if task in known), ())

    def _wake_the_stuck(self) -> None:
        now = time.monotonic()
        for worker in self._workers.values():
            _, task = struct.unpack("<ii", self._slots[worker.place][:8])
            if task != worker.task or task == _NOTHING:
                worker.task, worker.since = task, now
            elif now - worker.since > self._patience:
                os.kill(worker.pid, signal.SIGKILL)
                worker.is_stuck = True


def _toil(
    tasks: Sequence[Task],
    work: Callable[[Task], bytes],
    batches: list[range],
    first: list[int],
    queues: list[int],
    mouth: int,
    slot: mmap.mmap,
) -> NoReturn:
    """The worker's life."""
    try:
        said = bytearray()
        batch = _NOTHING
        numbers: Sequence[int] = first
        while True:
            for number in numbers:
                slot[:8] = struct.pack("<ii", batch, number)
                result = work(tasks[number])
                said += _FRAME.pack(number, len(result)) + result
                if len(said) >= _FLUSH_AT:
                    _say(mouth, said)
            _say(mouth, said)
            slot[:8] = struct.pack("<ii", _NOTHING, _NOTHING)
            batch = _taken(queues)
            if batch == _NOTHING:
                os._exit(0)
            numbers = batches[batch]
    finally:
        os._exit(1)  # whatever happened, the parent's life is not led twice


def _queue(numbers: Sequence[int]) -> int:
    """A pipe that has these, and then ends; whoever reads takes one."""
    queue, feed = os.pipe()
    os.write(feed, b"".join(map(_NUMBER.pack, numbers)))
    os.close(feed)
    return queue


def _taken(queues: list[int]) -> int:
    """The next number of the first queue that has one."""
    for queue in queues:
        taken = os.read(queue, _NUMBER.size)
        if taken:
            return int.from_bytes(taken, "little", signed=True)
    return _NOTHING


def _say(mouth: int, said: bytearray) -> None:
    view = memoryview(bytes(said))
    said.clear()
    while view:
        view = view[os.write(mouth, view) :]
