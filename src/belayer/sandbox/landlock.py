"""The second rung, for where namespaces are refused: the kernel's Landlock, a system call filter, and a reaper.

The program shares the host's processes and network, so it is given no sockets at all, and no file but those it needs.
"""

import asyncio
import base64
import ctypes
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from belayer.sandbox import system
from belayer.sandbox.camp import Camp
from belayer.sandbox.disk import Growth
from belayer.sandbox.groups import Group
from belayer.sandbox.launcher import Plan, Rule, rules
from belayer.sandbox.running import SEEN_ABOVE, Running, Started
from belayer.sandbox.sandbox import Limits, Process, Program, Rung, check
from belayer.sandbox.seccomp import filter_for
from belayer.sandbox.usage import Meter, TreeMeter, children, family
from belayer.vocabulary.errors import NoSandbox

# Before this version a program could signal others, or reach their sockets by names that are no paths.
_NEEDED_VERSION = 6
_CREATE_RULESET, _ASK_VERSION = 444, 1
_READ = 0b1101  # execute, read files, list folders
_SEE = 0b1000
_READ_WRITE = 0b0111_0111_1011_1111  # all but devices: neither made nor controlled
_READ_WRITE_FILE = 0b0110
_DEVICES = ("null", "zero", "full", "random", "urandom")
_FACTS = (
    *("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "self"),
    *("sys/kernel/osrelease", "sys/kernel/pid_max", "sys/kernel/cap_last_cap", "sys/vm/overcommit_memory"),
)
_ACCOUNTS = ("passwd", "group", "hosts", "nsswitch.conf")
_ANSWERS_WITHIN = 5.0

_PROTECTS = (
    "files: the system is read-only, the workspace is writable, its .git is not, nothing else can be opened",
    "secrets: no environment, home, keys or sockets of the host; Belayer's own files cannot be opened",
    "processes: only its own can be signalled or traced; all end with it, and with Belayer",
    "network: none at all, not even its own loopback",
    "kernel: no privileges, and no calls that are of use only to break out",
)
_DOES_NOT = (
    "hide the names, sizes and dates of files, the list of accounts, or that other processes exist",
    "give a /tmp or a loopback of its own: programs that insist on /tmp, on sockets or on shared memory fail",
    "allow to change modes, owners or dates of files by their names, nor new things beside a .git",
    "offer hosts of the network: a program that needs some is refused",
    "hold against a fault in the kernel itself: all programs share it",
)


class Landlock:
    """Runs programs behind Landlock."""

    def __init__(self, camp: Camp, home: Path | None) -> None:
        _refuse_old_kernels()
        self._camp = camp
        self._home = home.resolve() if home is not None else None
        self._filter = base64.b64encode(filter_for(alone=False)).decode()

    @property
    def rung(self) -> Rung:
        return self._camp.described("landlock", _PROTECTS, _DOES_NOT)

    async def start(self, program: Program) -> Process:
        check(program)
        if program.network.hosts:
            raise NoSandbox(
                "The landlock sandbox cannot let a program reach some hosts and no others, so it was not run.",
                "Run it without hosts, or install bubblewrap: apt-get install bubblewrap.",
            )
        private = self._camp.temporary()
        paths = [*self._shown(), *self._granted(program), (str(private), _READ_WRITE)]
        return launched(self._camp, program, private, {"paths": paths, "filter_": self._filter})

    def close(self) -> None:
        """Nothing is kept ready."""

    def _shown(self) -> Iterator[tuple[str, int]]:
        """What is to be seen of the machine."""
        for path in (*system.programs(), *system.settings(), *(Path("/etc") / name for name in _ACCOUNTS)):
            real = path.resolve()
            yield from granted(real, _READ, self._hidden(real), ())
        for name in _DEVICES:
            yield f"/dev/{name}", _READ_WRITE_FILE
        for name in _FACTS:
            yield f"/proc/{name}", _READ

    def _granted(self, program: Program) -> Iterator[tuple[str, int]]:
        for folder in program.readable:
            yield from granted(folder, _READ, self._hidden(folder), ())
        writable = (*program.writable, program.folder)
        named = [folder / name for folder in writable for name in system.PROTECTED]
        kept = [path for path in named if os.path.lexists(path)]
        for folder in writable:
            yield from granted(folder, _READ_WRITE, self._hidden(folder), kept)

    def _hidden(self, folder: Path) -> list[Path]:
        return [self._home] if self._home is not None and self._home.is_relative_to(folder) else []


def granted(
    folder: Path, rights: int, hidden: Iterable[Path], kept: Iterable[Path]
) -> Iterator[tuple[str, int]]:
    """The rights in a folder but for what is hidden, or only to be read.

    A right on a folder is one on all below it: where there are exceptions, all but these are named one by one.
    """
    hidden, kept = set(hidden), set(kept)
    if folder in hidden:
        return
    if folder in kept:
        yield str(folder), rights & _READ
    elif not any(path.is_relative_to(folder) for path in hidden | kept):
        yield str(folder), rights
    else:
        yield str(folder), _SEE
        for entry in folder.iterdir():
            if not entry.is_symlink():
                yield from granted(entry, rights, hidden, kept)


def launched(camp: Camp, program: Program, private: Path, walls: Mapping[str, object] | None) -> Running:
    """The program under the launcher, with limits, and behind walls if there are any."""
    limits = program.limits
    group = camp.groups.new() if camp.groups is not None else None
    if group is not None:
        group.limit(limits, besides=1)
    home = private / "home"
    home.mkdir()
    env = {"PATH": system.PATH, "HOME": str(home), "TMPDIR": str(private), "LANG": "C.UTF-8", "TERM": "dumb"}
    plan = Plan(
        program.argv,
        [*rules(limits.cpu_seconds, limits.open_files, limits.disk_bytes), *_ungrouped(limits, group)],
        cwd=str(program.folder / program.cwd),
        env=env | {"SHELL": "/bin/sh"} | dict(program.env),
        groups=group.entrances() if group is not None else (),
        walls=walls,
    )
    command, given = plan.command()
    stdin = os.open(os.devnull, os.O_RDONLY)
    if program.stdin:
        file = private.parent / f"{private.name}.stdin"
        file.write_bytes(program.stdin)
        os.close(stdin)
        stdin = os.open(file, os.O_RDONLY)
        file.unlink()
    hold = _Hold(Started(command, stdin, [given]), group, private)
    camp.note(hold.started.pid)
    growth = Growth((program.folder, *program.writable, private), limits.disk_bytes, hold.processes)
    growth.begin()
    return Running(program.argv[0], hold.started, hold, hold.meter(limits), growth, limits).begin()


class _Hold:
    """A program under the launcher, which ends all that came from it."""

    def __init__(self, started: Started, group: Group | None, private: Path) -> None:
        self.started = started
        self._group = group
        self._private = private
        self._told = False

    def meter(self, limits: Limits) -> Meter:
        return self._group or TreeMeter(lambda: self.started.pid, limits.memory_bytes)

    def processes(self) -> Iterable[int]:
        return self._group.processes() if self._group is not None else family(self.started.pid)

    def leader(self) -> int | None:
        return next(iter(children(self.started.pid)), None)

    def kill(self) -> None:
        """The group does it, or the launcher; if that does not, it is killed itself, and the program with it."""
        if self._group is not None:
            self.started.signal(signal.SIGKILL)  # it may not have come into the group yet
            self._group.kill()
        elif not self._told:
            self._told = True
            self.started.signal(signal.SIGTERM)
            loop = asyncio.get_running_loop()
            loop.call_later(_ANSWERS_WITHIN, self.started.signal, signal.SIGKILL)

    async def gone(self) -> None:
        if self._group is not None:
            await self._group.vacated()

    def failed(self) -> bool:
        return False

    async def release(self) -> None:
        if self._group is not None:
            self._group.remove()
        await _removed(self._private)


async def _removed(folder: Path) -> None:
    """Remove a folder that a stranger has filled: as deep and as closed as it may be."""
    for command in (("/bin/chmod", "-R", "u+rwX"), ("/bin/rm", "-rf")):
        remover = await asyncio.create_subprocess_exec(
            *(*command, "--", str(folder)), env={}, stderr=asyncio.subprocess.DEVNULL
        )
        await remover.wait()


def _ungrouped(limits: Limits, group: Group | None) -> list[Rule]:
    """What stands in for a group: the kernel's limits for each process, and for all of a user's."""
    if group is not None:
        return []
    most = _processes_of(os.geteuid()) + limits.processes + SEEN_ABOVE
    return [
        (resource.RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes),
        (resource.RLIMIT_NPROC, most, most),
    ]


def _processes_of(user: int) -> int:
    """How many threads the user has: what the kernel counts."""
    count = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == user:
                count += len(list((entry / "task").iterdir()))
        except OSError:
            continue
    return count


def _refuse_old_kernels() -> None:
    syscall = cast("Callable[..., int]", ctypes.CDLL(None, use_errno=True).syscall)
    version = syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < _NEEDED_VERSION:
        raise NoSandbox(
            f"This kernel's Landlock is {'absent' if version < 0 else f'version {version}'}, and version"
            f" {_NEEDED_VERSION} is needed to keep programs apart.",
            "Use Linux 6.12 or newer with Landlock enabled, or install bubblewrap.",
        )
