"""What a worker and its host say to each other, and how a script is stopped. Imports nothing: workers start fast.

A frame is its length, a letter for its kind, and JSON.
"""

import socket
import struct
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

BEGIN, SETTLE, END = b"B", b"S", b"E"
REPORT, STOPPED, CRASHED = b"R", b"L", b"C"
STOPS = ("calls", "in_flight", "argument", "output", "result", "memory")
LARGEST_FRAME = 64 << 20
HEAD = struct.Struct("!Ic")
_AT_ONCE = 1 << 18


class Stop(Exception):
    """The script went beyond a limit, in this line if that is known."""

    def __init__(self, limit: str, line: int | None = None) -> None:
        super().__init__(limit)
        self.limit = limit
        self.line = line


class Crash(Exception):
    """The machine broke."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


def packed(kind: bytes, content: bytes) -> bytes:
    return HEAD.pack(len(content), kind) + content


class Frames:
    """The frames that come over a socket, one after the other."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._received = bytearray()

    def next(self) -> tuple[bytes, bytes] | None:
        """The next frame; None when there will be no more."""
        while True:
            frame = taken(self._received)
            if frame is not None:
                return frame
            part = self._sock.recv(_AT_ONCE)
            if not part:
                return None
            self._received += part


def taken(received: bytearray) -> tuple[bytes, bytes] | None:
    """The first frame of what was received, if it is all there; it is taken out."""
    if len(received) < HEAD.size:
        return None
    length, kind = HEAD.unpack_from(received)
    if length > LARGEST_FRAME:
        raise ValueError(f"a frame of {length} bytes")
    end = HEAD.size + length
    if len(received) < end:
        return None
    content = bytes(received[HEAD.size : end])
    del received[:end]
    return kind, content


class Timer:
    """The processor time that a script may still use. Counts only inside `with`; a thread watches it."""

    TICK = 0.01
    GRACE = 0.2

    def __init__(self, kill: Callable[[], None]) -> None:
        """`kill` stops a script that does not listen."""
        self.is_over = False
        self._kill = kill
        self._left = 0.0
        self._began: float | None = None
        self._wake = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def allow(self, seconds: float) -> None:
        """A new script begins."""
        self.is_over = False
        self._left = seconds

    @contextmanager
    def again(self) -> Generator[None]:
        """Let a script that has ended say where."""
        over, self.is_over, self._left = self.is_over, False, self.GRACE
        try:
            with self:
                yield
        finally:
            self.is_over = over

    def __enter__(self) -> None:
        with self._lock:
            self._began = time.process_time()
            if not self._wake.is_set():
                self._wake.set()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            assert self._began is not None
            self._left -= time.process_time() - self._began
            self._began = None

    def _watch(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(self.TICK)
            with self._lock:
                if self._began is None:
                    self._wake.clear()
                    continue
                over = time.process_time() - self._began - self._left
                self.is_over = self.is_over or over > 0
                if over > self.GRACE:
                    self._kill()
