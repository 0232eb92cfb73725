"""The first rung: namespaces of its own for the program, made by bubblewrap, with a system call filter.

The program sees the system read-only, its folders at their own paths, a /tmp and a loopback of its own, and no more.
"""

import asyncio
import json
import os
import resource
import signal
import stat
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from belayer.sandbox import system
from belayer.sandbox.camp import Camp
from belayer.sandbox.disk import Growth
from belayer.sandbox.groups import Group
from belayer.sandbox.ports import Doorway
from belayer.sandbox.running import SEEN_ABOVE, Running, Started, ended
from belayer.sandbox.sandbox import Limits, Process, Program, Rung, check
from belayer.sandbox.seccomp import filter_for
from belayer.sandbox.stub import Stub
from belayer.sandbox.usage import Meter, TreeMeter, children, family
from belayer.vocabulary.errors import NoSandbox

_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin")
_SHELL = "/bin/sh"
_ID = "1000"
_HOME = "/tmp/home"
_WALLS = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
    *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
    *("--uid", _ID, "--gid", _ID, "--hostname", "sandbox"),
)
# Besides the program: bubblewrap, and the first process of the namespace.
_BESIDES = 2
# Shells that are kept ready. They are made a little later: while the kernel moves one to its group, it starts nothing.
_AHEAD = 6
_MADE_AFTER = 0.03
# The descriptors that a shell can name and nobody else uses.
_NAMED = range(3, 10)

_PROTECTS = (
    "files: the system is read-only, the workspace is writable, its .git is not, everything else is absent",
    "secrets: no environment, home, keys or sockets of the host; Belayer's own files are absent",
    "processes: only its own can be seen, signalled or traced; all end with it, and with Belayer",
    "network: none but its own loopback; listed hosts only through Belayer's proxy",
    "kernel: no privileges, and no calls that are of use only to break out",
)
_DOES_NOT = (
    "hold against a fault in the kernel itself: all programs share it",
    "judge what a program writes into the workspace: run nothing from there outside of the sandbox",
)


class Bubblewrap:
    """Runs programs in bubblewrap."""

    def __init__(self, camp: Camp, home: Path | None) -> None:
        self._bwrap = trusted_bwrap()
        self._binds_open_files = b"--ro-bind-fd" in _said_by(self._bwrap, "--help")
        self._camp = camp
        self._home = home.resolve() if home is not None else None
        self._filter = filter_for(alone=True)
        self._system = _system(system.copied(camp.folder / "etc", _ID, _HOME))
        self._ready: deque[Stub] = deque()
        self._is_open = True
        self._making: asyncio.TimerHandle | None = None

    @property
    def rung(self) -> Rung:
        return self._camp.described("bubblewrap", _PROTECTS, _DOES_NOT)

    async def start(self, program: Program) -> Process:
        check(program)
        _refuse_within(self._bwrap, program)
        limits = program.limits
        stub = self._ready.popleft() if self._ready else self._stub()
        if stub.group is None:
            self._camp.note(stub.started.pid)
        hold = _Hold(stub, Doorway(program.network) if program.network.hosts else None)
        growth = Growth((program.folder, *program.writable), limits.disk_bytes, hold.processes)
        growth.begin()
        try:
            self._begin(program, hold)
        except BaseException:
            await hold.abandon()
            raise
        running = Running(program.argv[0], hold.started, hold, hold.meter(limits), growth, limits)
        running.begin()
        self._make_ready_soon()
        if hold.doorway is not None:
            try:
                await hold.doorway.open(hold.first)
                hold.stub.go()
            except BaseException:
                await running.stop(0)
                raise
        return running

    def close(self) -> None:
        """Let go of what was made ready for the next program."""
        self._is_open = False
        if self._making is not None:
            self._making.cancel()
        while self._ready:
            self._ready.popleft().dismiss()

    def _make_ready_soon(self) -> None:
        loop = asyncio.get_running_loop()
        if self._making is None or self._making.when() < loop.time():  # it is another loop's, which is gone
            self._making = loop.call_later(_MADE_AFTER, self._make_ready)

    def _make_ready(self) -> None:
        self._making = None
        while self._is_open and len(self._ready) < _AHEAD:
            self._ready.append(self._stub())

    def _stub(self) -> Stub:
        return Stub(self._camp.folder, self._camp.groups, self._filter)

    def _begin(self, program: Program, hold: "_Hold") -> None:
        stub, limits = hold.stub, program.limits
        if stub.group is not None:
            stub.group.limit(limits, besides=_BESIDES)
        hold.kept = _protected((program.folder, *program.writable))
        if len(hold.kept) > len(_NAMED):
            raise NoSandbox(
                f"{len(hold.kept)} things in writable folders are to be kept read-only, and {len(_NAMED)} can be.",
                "Give the program fewer writable folders.",
            )
        names = dict(zip(_NAMED, hold.kept, strict=False))
        rules = [f"exec {name}</proc/{os.getpid()}/fd/{kept.descriptor}" for name, kept in names.items()]
        inner = [*self._let_go(names), *_counted(program, stub.group), *program.argv]
        stub.become(
            [str(self._bwrap), "--args", str(stub.args), "--", *inner],
            self._options(program, hold, {name: kept.path for name, kept in names.items()}),
            [*_rules(limits, stub.group), *rules],
            program.stdin,
        )

    def _options(self, program: Program, hold: "_Hold", names: dict[int, Path]) -> list[str]:
        limits, doorway = program.limits, hold.doorway
        size = str(max(4096, min(limits.disk_bytes, limits.memory_bytes // 2)))
        options = [*_WALLS, *self._system, "--proc", "/proc", "--dev", "/dev"]
        options += ["--size", size, "--perms", "1777", "--tmpfs", "/tmp", "--dir", _HOME]
        options += ["--size", size, "--perms", "1777", "--tmpfs", "/dev/shm"]
        options += [option for mount in self._mounts(program) for option in mount]
        for name, path in names.items():
            how = ["--ro-bind-fd", str(name)]
            options += how if self._binds_open_files else ["--ro-bind", f"/proc/self/fd/{name}"]
            options += [str(path)]
        # To whom root's files belong on the host, they belong in here, without any privilege: /proc/sys is among them.
        for place in ("/proc", "/dev", "/"):
            options += ["--remount-ro", place]
        for name, value in _environment(program, doorway).items():
            options += ["--setenv", name, value]
        options += ["--seccomp", str(hold.stub.filter), "--json-status-fd", str(hold.stub.telling)]
        options += (
            ["--block-fd", str(hold.stub.waiting)] if doorway else ["--sync-fd", str(hold.stub.waiting)]
        )
        return [*options, "--chdir", str(program.folder / program.cwd)]

    def _mounts(self, program: Program) -> Iterator[Sequence[str]]:
        """The folders, those that hold others first, and nothing in the place of Belayer's home."""
        mounts: dict[Path, Sequence[str]] = {}
        for path in program.readable:
            mounts[path] = ("--ro-bind", str(path), str(path))
        for path in (*program.writable, program.folder):
            mounts[path] = ("--bind", str(path), str(path))
        home = self._home
        if home is not None and any(home.is_relative_to(path) for path in (*mounts, *system.programs())):
            mounts[home] = ("--size", "4096", "--tmpfs", str(home), "--remount-ro", str(home))
        for path in sorted(mounts, key=lambda path: len(path.parts)):
            yield mounts[path]

    def _let_go(self, names: Iterable[int]) -> list[str]:
        """An open folder of the host would be a way out: an older bubblewrap leaves closing it to us."""
        if self._binds_open_files or not names:
            return []
        return [_SHELL, "-c", f'exec {" ".join(f"{name}<&-" for name in names)}; exec "$@"', "sh"]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Something in a writable folder that is not to be written, held open."""

    descriptor: int
    path: Path


@dataclass(slots=True)
class _Hold:
    """One bubblewrap: what it tells of itself, and how to end it."""

    stub: Stub
    doorway: Doorway | None
    kept: list[_Kept] = field(default_factory=list[_Kept])
    _words: bytes = b""
    _first: int | None = None
    _watched: int | None = None

    @property
    def started(self) -> Started:
        return self.stub.started

    def meter(self, limits: Limits) -> Meter:
        return self.stub.group or TreeMeter(self.first, limits.memory_bytes)

    def first(self) -> int | None:
        """The first process of the namespace: the kernel ends all the others before it is gone."""
        self._listen()
        return self._first

    def processes(self) -> Iterable[int]:
        if self.stub.group is not None:
            return self.stub.group.processes()
        first = self.first()
        return family(first) if first is not None else ()

    def leader(self) -> int | None:
        first = self.first()
        return next(iter(children(first)), None) if first is not None else None

    def kill(self) -> None:
        """All of it, also if bubblewrap is only about to make the namespace, and is not yet one with its child."""
        if self.stub.group is not None:
            self.stub.group.kill()
        elif self.started.is_alive:  # else its number may be another's
            self.started.signal(signal.SIGSTOP)
            for pid in children(self.started.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.started.signal(signal.SIGKILL)
        self._listen()
        if self._watched is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._watched, signal.SIGKILL)

    async def gone(self) -> None:
        if self._watched is not None:
            await ended(self._watched)
        if self.stub.group is not None:
            await self.stub.group.vacated()

    def failed(self) -> bool:
        self._listen()
        return b'"exit-code"' not in self._words

    async def release(self) -> None:
        if self.doorway is not None:
            await self.doorway.close()
        if self._watched is not None:
            os.close(self._watched)
        for kept in self.kept:
            os.close(kept.descriptor)
        self.stub.clear()

    async def abandon(self) -> None:
        """It did not come to a start."""
        self.started.forgo()
        await self.release()

    def _listen(self) -> None:
        """Hear what bubblewrap has said of itself so far: JSON, a document a line."""
        self._words += self.stub.heard()
        if self._first is None and b"\n" in self._words:
            self._first = int(json.loads(self._words.partition(b"\n")[0])["child-pid"])
            with suppress(ProcessLookupError):
                self._watched = os.pidfd_open(self._first)


def trusted_bwrap() -> Path:
    """bubblewrap from a folder that nobody but its owner can write; NoSandbox says what is missing."""
    for folder in _FOLDERS:
        path = Path(folder) / "bwrap"
        if path.is_file() and all(_is_safe(part) for part in (path, path.parent)):
            return path.resolve()
    raise NoSandbox(
        f"bubblewrap is not installed (no bwrap in {', '.join(_FOLDERS)} that only its owner can write).",
        "Install it: apt-get install bubblewrap, dnf install bubblewrap, or scripts/sandbox.sh.",
    )


def _is_safe(path: Path) -> bool:
    found = path.stat()
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _said_by(program: Path, option: str) -> bytes:
    return subprocess.run([str(program), option], check=False, capture_output=True, env={}).stdout


def _refuse_within(bwrap: Path, program: Program) -> None:
    for folder in (program.folder, *program.writable):
        if bwrap.is_relative_to(folder):
            raise NoSandbox(
                f"{folder} holds bubblewrap itself, which a program there could replace. Nothing was run.",
                "Choose a folder of your own.",
            )


def _system(etc: Path) -> list[str]:
    """The machine's programs and settings, read-only, as bubblewrap is told."""
    options = ["--ro-bind", str(etc), "/etc"]
    for path in system.programs():
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        else:
            options += ["--ro-bind", str(path), str(path)]
    return [*options, "--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]


def _environment(program: Program, doorway: Doorway | None) -> dict[str, str]:
    env = {"PATH": system.PATH, "HOME": _HOME, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb"}
    env |= {"USER": "sandbox", "LOGNAME": "sandbox", "SHELL": _SHELL}
    return env | (doorway.environment() if doorway else {}) | dict(program.env)


def _protected(folders: Iterable[Path]) -> list[_Kept]:
    """What is protected in writable folders, held open: what is mounted is what was looked at, and no link."""
    found: list[_Kept] = []
    for folder in folders:
        for name in system.PROTECTED:
            try:
                descriptor = os.open(folder / name, os.O_PATH | os.O_NOFOLLOW)
            except OSError:
                continue
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                found.append(_Kept(descriptor, folder / name))
            else:
                os.close(descriptor)
    return found


def _counted(program: Program, group: Group | None) -> list[str]:
    """Without a cgroup, the kernel counts processes by user, and in a namespace of users it counts only ours."""
    if group is not None:
        return []
    most = program.limits.processes + SEEN_ABOVE
    # Shells do not agree on the letter; one that knows neither runs nothing.
    script = f'ulimit -u {most} 2>/dev/null || ulimit -p {most} || exit 126; exec "$@"'
    return [_SHELL, "-c", script, "sh"]


def _rules(limits: Limits, group: Group | None) -> list[str]:
    """The limits that a shell can take on for what it becomes."""
    rules = ["ulimit -c 0", f"ulimit -n {_at_most(resource.RLIMIT_NOFILE, limits.open_files)}"]
    rules += [f"ulimit -t {_at_most(resource.RLIMIT_CPU, limits.cpu_seconds + 1)}"]
    rules += [f"ulimit -f {_at_most(resource.RLIMIT_FSIZE, limits.disk_bytes) // 512}"]
    if group is None:
        rules += [f"ulimit -d {_at_most(resource.RLIMIT_DATA, limits.memory_bytes) // 1024}"]
    return rules


def _at_most(kind: int, wanted: int) -> int:
    """What is wanted, or what we may have ourselves."""
    most = resource.getrlimit(kind)[1]
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)
