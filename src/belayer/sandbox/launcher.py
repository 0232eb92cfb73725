"""How the launcher (launch.py) is told what to start: a plan it reads from a file without a name."""

import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_LAUNCH = Path(__file__).with_name("launch.py")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}

# A resource of the kernel's, and the most of it: what is warned at, and what holds.
Rule = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """A program for the launcher. `report` is the descriptor it tells on; `walls` are those of landlock.py."""

    argv: Sequence[str]
    limits: Sequence[Rule]
    report: int | None = None
    cwd: str = "/"
    env: Mapping[str, str] = field(default_factory=lambda: _ENVIRONMENT)
    groups: Sequence[str] = ()
    walls: Mapping[str, object] | None = None

    def command(self) -> tuple[list[str], int]:
        """The launcher's command line, and the descriptor that it is to be given."""
        plan = {
            "parent": os.getpid(),
            "report": self.report,
            "argv": list(self.argv),
            "limits": list(self.limits),
            "cwd": self.cwd,
            "env": dict(self.env),
            "groups": list(self.groups),
            "walls": self.walls,
        }
        given = in_memory(json.dumps(plan).encode())
        return [sys.executable, "-I", "-S", str(_LAUNCH), str(given)], given


def rules(cpu_seconds: int, open_files: int, file_bytes: int) -> list[Rule]:
    """The limits that hold for each process."""
    return [
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),  # a program may ignore the first
        (resource.RLIMIT_NOFILE, open_files, open_files),
        (resource.RLIMIT_FSIZE, file_bytes, file_bytes),
        (resource.RLIMIT_CORE, 0, 0),
    ]


def in_memory(content: bytes) -> int:
    """A file without a name that holds this, at its beginning."""
    descriptor = os.memfd_create("belayer")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
