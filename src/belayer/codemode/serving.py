"""A worker's work: a machine kept ready, a script run on it turn by turn, a new machine for the next."""

import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from belayer.codemode.frames import (
    BEGIN,
    CRASHED,
    LARGEST_FRAME,
    REPORT,
    SETTLE,
    STOPPED,
    Crash,
    Frames,
    Stop,
    packed,
)

# Seconds after which a worker that nobody needs goes.
_IDLE = 300.0


class Machine(Protocol):
    """What runs one script. Texts go in and reports come out; Stop and Crash say that it is over."""

    def start(self, text: bytes, given: dict[str, Any]) -> bytes: ...

    def settle(self, outcomes: Sequence[bytes]) -> bytes: ...

    def printed(self) -> list[str]:
        """What the script printed and nobody has fetched."""
        ...

    def close(self) -> None: ...


class Machines(Protocol):
    def machine(self) -> Machine: ...


def serve(sock: socket.socket, language: str, folder: Path) -> None:
    """One script after the other, until nobody wants more or one of them ends badly."""
    machines, frames = _machines(language, folder), Frames(sock)
    while True:
        machine = machines.machine()
        sock.settimeout(_IDLE)
        frame = frames.next()
        sock.settimeout(None)
        while frame is not None and frame[0] in (BEGIN, SETTLE):
            kind, content = _answer(machine, *frame)
            sock.sendall(packed(kind, content))
            if kind != REPORT:
                return
            frame = frames.next()
        if frame is None:
            return
        machine.close()


def _answer(machine: Machine, kind: bytes, content: bytes) -> tuple[bytes, bytes]:
    try:
        if kind == BEGIN:
            report = machine.start(content, json.loads(content))
        else:
            report = machine.settle(content.split(b"\n"))
        if len(report) > LARGEST_FRAME:
            raise Stop("result")
    except Stop as stop:
        told = {"limit": stop.limit, "line": stop.line, "output": machine.printed()}
        return STOPPED, json.dumps(told).encode()
    except Crash as crash:
        told = {"what": crash.what, "line": crash.line, "output": machine.printed()}
        return CRASHED, json.dumps(told).encode()
    return REPORT, report


def _machines(language: str, folder: Path) -> Machines:
    if language == "python":
        from belayer.codemode.python import Python  # noqa: PLC0415 - a worker loads one machine only

        return Python()
    from belayer.codemode.javascript import JavaScript  # noqa: PLC0415

    return JavaScript(folder)
