"""Control groups: the kernel's own count, and limit, of what many processes use together. Version 1 and 2.

Ours are made below the group that Belayer itself is in, so that whatever limits Belayer limits them too.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from belayer.sandbox.sandbox import Limits
from belayer.sandbox.usage import Reading

_WANTED_V1 = ("memory", "pids", "cpuacct")
_WANTED_V2 = ("memory", "pids")
_TRIES = 1000
_CHUNK = 65536
_PAUSE = 0.001


@dataclass(frozen=True, slots=True)
class Place:
    """Where groups can be made: a folder per controller (version 1) or one for all (version 2)."""

    version: int
    folders: Mapping[str, Path]

    def below(self, name: str) -> "Place":
        return Place(self.version, {controller: folder / name for controller, folder in self.folders.items()})

    def all(self) -> list[Path]:
        return sorted(set(self.folders.values()))


def places(cgroup: str, mountinfo: str) -> list[Place]:
    """Where groups might be made, from /proc/self/cgroup and /proc/self/mountinfo; the best first. Pure."""
    own = dict(_own(cgroup))
    found: list[Place] = []
    v1 = {
        controller: point / own[controller].lstrip("/")
        for kind, point, options in _mounts(mountinfo)
        if kind == "cgroup"
        for controller in options
        if controller in own
    }
    if all(controller in v1 for controller in _WANTED_V1):
        wanted = {controller: v1[controller] for controller in (*_WANTED_V1, "cpu") if controller in v1}
        found.append(Place(1, wanted))
    for kind, point, _ in _mounts(mountinfo):
        if kind == "cgroup2" and "" in own:
            folder = point / own[""].lstrip("/")
            found += [Place(2, {"": folder})] + ([Place(2, {"": folder.parent})] if folder != point else [])
    return found


def _own(cgroup: str) -> Iterable[tuple[str, str]]:
    for line in cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path


def _mounts(mountinfo: str) -> Iterable[tuple[str, Path, list[str]]]:
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        yield kind, Path(before.split()[4]), options.split(",")


class Groups:
    """The groups of this Belayer: one for itself, and one below it for each program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._count = 0

    @property
    def version(self) -> int:
        return self._place.version

    @classmethod
    def open(cls, name: str) -> "Groups | None":
        """Groups below our own, tried out with a process; None where they cannot be had."""
        found = places(_text("/proc/self/cgroup"), _text("/proc/self/mountinfo"))
        for place in found:
            groups = cls(place.below(name))
            if groups._made(place) and groups._works():
                return groups
            groups.close()
        return None

    def folders(self) -> list[Path]:
        return self._place.all()

    def new(self) -> "Group":
        """A new group, without limits yet."""
        self._count += 1
        group = Group(self._place.below(str(self._count)))
        group.make()
        return group

    def close(self) -> None:
        for folder in self._place.all():
            remove_tree(folder)

    def _made(self, place: Place) -> bool:
        try:
            if place.version == 2:
                _hand_down(place.folders[""])
            for folder in self._place.all():
                folder.mkdir()
            if place.version == 2:
                _hand_down(self._place.folders[""])
        except (OSError, ValueError):
            return False
        return True

    def _works(self) -> bool:
        group = None
        try:
            group = self.new()
            group.limit(Limits(), besides=0)
            script = "".join(f"echo 0 >{file} &&" for file in group.entrances()) + " :"
            done = subprocess.run(["/bin/sh", "-c", script], check=False, capture_output=True, env={})
            return done.returncode == 0 and not group.read().starved
        except OSError:
            return False
        finally:
            if group is not None:
                group.remove()


def _hand_down(folder: Path) -> None:
    """Let the groups below this one have limits of their own (version 2)."""
    there = (folder / "cgroup.subtree_control").read_text().split()
    if missing := [controller for controller in _WANTED_V2 if controller not in there]:
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in missing))


class Group:
    """The group of one program."""

    def __init__(self, place: Place) -> None:
        self._folders = [str(folder) for folder in place.all()]
        self._v1 = place.version == 1
        at = {controller: str(folder) for controller, folder in place.folders.items()}
        self._memory, self._pids, self._cpu = (
            at[controller if self._v1 else ""] for controller in ("memory", "pids", "cpuacct")
        )

    def make(self) -> None:
        for folder in self._folders:
            os.mkdir(folder)  # noqa: PTH102 - a Path costs more than the folder, several times in every start

    def limit(self, limits: Limits, *, besides: int) -> None:
        """Hold what is in it to these limits; `besides` is how many processes of ours are in it too."""
        _write(f"{self._pids}/pids.max", limits.processes + besides)
        if self._v1:
            _write(f"{self._memory}/memory.limit_in_bytes", limits.memory_bytes)
            _write(f"{self._memory}/memory.memsw.limit_in_bytes", limits.memory_bytes, needed=False)
        else:
            _write(f"{self._memory}/memory.max", limits.memory_bytes)
            _write(f"{self._memory}/memory.swap.max", 0, needed=False)
            _write(f"{self._memory}/memory.oom.group", 1, needed=False)

    def entrances(self) -> list[str]:
        """The files that a process writes 0 to in order to come in."""
        return [f"{folder}/cgroup.procs" for folder in self._folders]

    def read(self) -> Reading:
        memory = self._memory
        if self._v1:
            cpu = _number(f"{self._cpu}/cpuacct.usage") / 1e9
            now, peak = (f"{memory}/memory.{name}_in_bytes" for name in ("usage", "max_usage"))
            kills = _fields(f"{memory}/memory.oom_control")
        else:
            cpu = _fields(f"{memory}/cpu.stat").get("usage_usec", 0) / 1e6
            now, peak = f"{memory}/memory.current", f"{memory}/memory.peak"
            kills = _fields(f"{memory}/memory.events")
        return Reading(
            cpu,
            _number(now),
            _number(peak),
            _number(f"{self._pids}/pids.current"),
            starved=kills.get("oom_kill", 0) > 0,
            crowded=_fields(f"{self._pids}/pids.events").get("max", 0) > 0,
        )

    def processes(self) -> list[int]:
        """What runs in it: of several hierarchies, one is enough to ask."""
        return [int(pid) for pid in _text(f"{self._pids}/cgroup.procs").split()]

    async def vacated(self) -> None:
        """Return when nothing runs in it any more."""
        while self.processes():  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(_PAUSE)

    def kill(self) -> None:
        if self.processes():
            _empty(self._pids)

    def remove(self) -> bool:
        """Remove it, if nothing is in it any more."""
        for folder in self._folders:
            with suppress(FileNotFoundError):
                try:
                    os.rmdir(folder)  # noqa: PTH106 - as in make
                except OSError:
                    return False
        return True


def remove_tree(folder: Path) -> bool:
    """End every process in a group and the groups below it, and remove them; whether that succeeded."""
    for _ in range(_TRIES):
        groups = [path for path, _, _ in os.walk(folder, topdown=False)]
        for group in groups:
            _empty(group)
            with suppress(OSError):
                Path(group).rmdir()
        if not folder.exists():
            return True
        time.sleep(_PAUSE)
    return False


def _empty(group: str) -> None:
    """Kill what is in it; first see to it that nothing new can come."""
    _write(f"{group}/pids.max", 0, needed=False)
    _write(f"{group}/cgroup.kill", 1, needed=False)
    for pid in _text(f"{group}/cgroup.procs").split():
        with suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)


def _write(file: str, value: int, *, needed: bool = True) -> None:
    """Never makes a file: one that is missing is a limit that is."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, str(value).encode())
        finally:
            os.close(descriptor)
    except OSError:
        if needed:
            raise


def _text(file: str) -> str:
    """All of a small file of the kernel's; nothing if it is not there."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return ""
    text = b""
    try:
        while piece := os.read(descriptor, _CHUNK):
            text += piece
    except OSError:  # the group went away
        pass
    finally:
        os.close(descriptor)
    return text.decode()


def _number(file: str) -> int:
    text = _text(file).strip()
    return int(text) if text.isdigit() else 0


def _fields(file: str) -> dict[str, int]:
    pairs = (line.split() for line in _text(file).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
