"""Start one program under limits, tell what it used, and leave nothing of it behind.

Run by its path in a bare interpreter (`python -I -S`), so it imports nothing of ours. It stays between Belayer and the
program: that way the numbers are the program's own, and when Belayer dies the kernel tells it to end everything.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, cast

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_NOT_STARTED = 127


class Stopped(Exception):
    """Belayer wants it to end, or is gone."""


def main(parent: int, report: int, limits: list[int], argv: list[str]) -> None:
    os.set_inheritable(report, False)
    signal.signal(signal.SIGTERM, _stop)
    _control(_SET_CHILD_SUBREAPER, 1)
    _end_with(parent, signal.SIGTERM)
    launcher = os.getpid()
    program = os.fork()
    if program == 0:
        _become(argv, limits, launcher)
    _let_go_of_pipes()
    with suppress(OSError):  # the program does it too; whoever comes first
        os.setpgid(program, program)
    with suppress(Stopped):
        os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
    used = _end(program)
    os.write(report, json.dumps(used).encode())


def _become(argv: list[str], limits: list[int], launcher: int) -> NoReturn:
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        _end_with(launcher, signal.SIGKILL)
        _limit(*limits)
        os.execv(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(_NOT_STARTED)


def _limit(memory: int, cpu: int, files: int, size: int) -> None:
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu, cpu + 1),  # a program may ignore the soft one
        (resource.RLIMIT_NOFILE, files, files),
        (resource.RLIMIT_FSIZE, size, size),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)  # noqa: PLW2901 - what we have ourselves cannot be exceeded
        resource.setrlimit(kind, (soft, hard))


def _end(program: int) -> dict[str, float]:
    """Kill the program and all that came from it, also what tried to get away; what it used."""
    with suppress(ProcessLookupError):
        os.killpg(program, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(program, signal.SIGKILL)
    _, status, usage = os.wait4(program, 0)
    while orphans := _children():
        for orphan in orphans:
            os.kill(orphan, signal.SIGKILL)
        os.waitpid(-1, 0)
    return {
        "exit_code": os.waitstatus_to_exitcode(status),
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def _children() -> list[int]:
    """Children that are not yet reaped. Orphans of the program are ours, because we are their subreaper."""
    try:
        return [int(pid) for pid in Path("/proc/thread-self/children").read_text().split()]
    except OSError:  # a kernel built without this file
        return []


def _let_go_of_pipes() -> None:
    """Belayer sees the end of the program's output only if nobody else holds it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _end_with(parent: int, number: signal.Signals) -> None:
    _control(_SET_PARENT_DEATH_SIGNAL, number)
    if os.getppid() != parent:  # it died before we could ask to be told
        os._exit(_NOT_STARTED)


def _control(option: int, value: int) -> None:
    prctl = cast("Callable[..., int]", ctypes.CDLL(None, use_errno=True).prctl)
    if prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def _stop(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


if __name__ == "__main__":
    _numbers = [int(number) for number in sys.argv[1:7]]
    main(_numbers[0], _numbers[1], _numbers[2:], sys.argv[7:])
