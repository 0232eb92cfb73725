"""Start one program under limits, and behind walls if it is told so; tell what it used, and leave nothing of it behind.

Run by its path in a bare interpreter (`python -I -S`), so it imports nothing of ours. It stays between Belayer and the
program: that way the numbers are the program's own, and when Belayer dies the kernel tells it to end everything.
"""

import base64
import ctypes
import json
import os
import resource
import signal
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, cast

_SET_PARENT_DEATH_SIGNAL = 1
_SET_SECCOMP = 22
_DROP_FROM_BOUNDING_SET = 24
_SET_CHILD_SUBREAPER = 36
_SET_NO_NEW_PRIVILEGES = 38
_AMBIENT, _CLEAR_ALL = 47, 4
_FILTER = 2
_CAPABILITIES_V3 = 0x20080522
_SET_CAPABILITIES = {"x86_64": 126, "aarch64": 91}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
# Of the kernel's rights on files: execute, write, read, truncate, use of devices. All others are on folders.
_ON_FILES = 0b1100_0000_0000_0111
_ALL_RIGHTS, _ALL_TCP, _ALL_SCOPES = 0xFFFF, 0b11, 0b11
_NOT_STARTED = 127


class Stopped(Exception):
    """Belayer wants it to end, or is gone."""


def main(plan: dict[str, Any]) -> int:
    signal.signal(signal.SIGTERM, _stop)
    _control(_SET_CHILD_SUBREAPER, 1)
    _end_with(plan["parent"], signal.SIGTERM)
    for entrance in plan["groups"]:
        Path(entrance).write_text("0")
    launcher = os.getpid()
    program = os.fork()
    if program == 0:
        _become(plan, launcher)
    _let_go_of_pipes()
    with suppress(OSError):  # the program does it too; whoever comes first
        os.setpgid(program, program)
    with suppress(Stopped):
        os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
    used = _end(program)
    if plan["report"] is not None:
        os.write(plan["report"], json.dumps(used).encode())
    return used["exit_code"] if used["exit_code"] >= 0 else 128 - used["exit_code"]


def _become(plan: dict[str, Any], launcher: int) -> NoReturn:
    argv: list[str] = plan["argv"]
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        _end_with(launcher, signal.SIGKILL)
        os.chdir(plan["cwd"])
        for kind, soft, hard in plan["limits"]:
            _limit(kind, soft, hard)
        if plan["walls"] is not None:
            _wall_in(**plan["walls"])
        os.closerange(3, 1 << 16)
        os.execvpe(argv[0], argv, plan["env"])
    except OSError as error:
        os.write(2, f"{argv[0]} cannot be started: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(_NOT_STARTED)


def _limit(kind: int, soft: int, hard: int) -> None:
    most = resource.getrlimit(kind)[1]
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)  # what we have ourselves cannot be exceeded
    resource.setrlimit(kind, (soft, hard))


def _wall_in(paths: list[tuple[str, int]], filter_: str) -> None:
    """Give up all privileges, every path but these with these rights, and the calls that the filter refuses."""
    _give_up_privileges()
    _control(_SET_NO_NEW_PRIVILEGES, 1)
    # What a program asks of itself by this name is its own to know.
    _enclose([*paths, (f"/proc/{os.getpid()}", 0b1100)])
    program = base64.b64decode(filter_)
    held = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    _control(_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(head, len(head)))


def _give_up_privileges() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
    with suppress(OSError):  # until there is no next one, or for want of the privilege to
        for capability in range(64):
            _control(_DROP_FROM_BOUNDING_SET, capability)
    _control(_AMBIENT, _CLEAR_ALL)
    head = struct.pack("Ii", _CAPABILITIES_V3, 0)
    _call(_SET_CAPABILITIES[os.uname().machine], _in_memory(head), _in_memory(bytes(24)))


def _enclose(paths: list[tuple[str, int]]) -> None:
    handled = struct.pack("QQQ", _ALL_RIGHTS, _ALL_TCP, _ALL_SCOPES)
    rules = _call(_CREATE_RULESET, _in_memory(handled), ctypes.c_size_t(len(handled)), 0)
    for path, rights in paths:
        with suppress(FileNotFoundError, PermissionError):
            place = os.open(path, os.O_PATH | os.O_NOFOLLOW)
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                rights &= _ON_FILES  # noqa: PLW2901 - the kernel takes no others for a file
            if rights:
                _call(_ADD_RULE, rules, _PATH_BENEATH, _in_memory(struct.pack("=Qi", rights, place)), 0)
            os.close(place)
    _call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _end(program: int) -> dict[str, Any]:
    """Kill the program and all that came from it, also what tried to get away; what it all used."""
    with suppress(ProcessLookupError):
        os.killpg(program, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(program, signal.SIGKILL)
    _, status = os.waitpid(program, 0)
    while _children(os.getpid()):
        _kill_family()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "exit_code": os.waitstatus_to_exitcode(status),
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def _kill_family() -> None:
    """Stop all first, until no new one shows: what is stopped has no more children."""
    seen: set[int] = set()
    while new := set(_family()) - seen:
        _tell(new, signal.SIGSTOP)
        seen |= new
    _tell(seen, signal.SIGKILL)
    with suppress(ChildProcessError):
        while os.waitpid(-1, 0 if not set(_family()) - seen else os.WNOHANG)[0]:
            pass


def _tell(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _family() -> Iterator[int]:
    """All that came from the program and is still there. Orphans are ours, because we are their subreaper."""
    waiting = _children(os.getpid())
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += _children(pid)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def _let_go_of_pipes() -> None:
    """Belayer sees the end of the program's output only if nobody else holds it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _end_with(parent: int, number: signal.Signals) -> None:
    _control(_SET_PARENT_DEATH_SIGNAL, number)
    if os.getppid() != parent:  # it died before we could ask to be told
        os._exit(_NOT_STARTED)


def _control(option: int, value: int, more: Any = 0) -> None:
    prctl = cast("Callable[..., int]", ctypes.CDLL(None, use_errno=True).prctl)
    if prctl(option, ctypes.c_ulong(value), more, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}): {os.strerror(ctypes.get_errno())}")


def _call(number: int, *arguments: Any) -> int:
    syscall = cast("Callable[..., int]", ctypes.CDLL(None, use_errno=True).syscall)
    found = syscall(ctypes.c_long(number), *arguments)
    if found < 0:
        raise OSError(ctypes.get_errno(), f"call {number}: {os.strerror(ctypes.get_errno())}")
    return found


def _in_memory(content: bytes) -> Any:
    return ctypes.create_string_buffer(content, len(content))


def _stop(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1]), "rb") as _given:
        _plan = json.load(_given)
    sys.exit(main(_plan))
