"""A shell that waits, in a control group of its own, to become the command it is told.

To move a process into a group can take the kernel longer than all the rest of a start; so it is done beforehand.
"""

import fcntl
import itertools
import os
import select
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from belayer.sandbox.groups import Group, Groups
from belayer.sandbox.running import Started

_SHELL = "/bin/sh"
# Shells name only the descriptors below ten; those are kept free for what the script opens.
_FROM = 20
_NUMBERS = itertools.count()


class Stub:
    """Tell it what to `become`, or `dismiss` it. It ends by itself when Belayer does.

    `args`, `filter`, `telling` and `waiting` are the numbers of the descriptors it holds for bubblewrap.
    """

    def __init__(self, folder: Path, groups: Groups | None, filter_: bytes) -> None:
        number = next(_NUMBERS)
        self._script, self._stdin = folder / f"script-{number}", folder / f"stdin-{number}"
        self.group: Group | None = groups.new() if groups is not None else None
        self._told, telling = os.pipe()
        waiting, self._go = os.pipe()
        given, self._control = os.pipe()
        self._args, allowed = os.memfd_create("args"), os.memfd_create("filter")
        os.pwrite(allowed, filter_, 0)
        held = [_moved(os.dup(self._args)), _moved(allowed), _moved(telling), _moved(waiting)]
        self.args, self.filter, self.telling, self.waiting = held
        enter = [f"echo 0 >{shlex.quote(file)}" for file in self.group.entrances()] if self.group else []
        script = " && ".join([*enter, "IFS= read -r it", '. "$it"'])
        self.started = Started([_SHELL, "-c", script], stdin=given, descriptors=held)

    def become(self, argv: Sequence[str], args: Sequence[str], rules: Sequence[str], stdin: bytes) -> None:
        """Become the command `argv`, with `args` for bubblewrap to read, after what `rules` say."""
        os.pwrite(self._args, b"".join(os.fsencode(arg) + b"\0" for arg in args), 0)
        if stdin:
            self._stdin.write_bytes(stdin)
        source = str(self._stdin) if stdin else os.devnull
        command = f"exec {' '.join(map(shlex.quote, argv))} <{shlex.quote(source)}"
        lines = [*(f"{rule} || exit" for rule in rules), command, ""]
        self._script.write_bytes(os.fsencode("\n".join(lines)))
        os.write(self._control, os.fsencode(f"{self._script}\n"))

    def go(self) -> None:
        """Let a bubblewrap that waits go on."""
        os.write(self._go, b"\0")

    def heard(self) -> bytes:
        """What bubblewrap has told since the last time."""
        poll = select.poll()
        poll.register(self._told, select.POLLIN)
        heard = b""
        while poll.poll(0) and (said := os.read(self._told, 4096)):
            heard += said
        return heard

    def dismiss(self) -> None:
        """It was not needed."""
        self.started.forgo()
        self.clear()

    def clear(self) -> None:
        """Remove what was made for it, once nothing of it runs."""
        for descriptor in (self._told, self._go, self._control, self._args):
            os.close(descriptor)
        for file in (self._script, self._stdin):
            with suppress(OSError):
                file.unlink()
        if self.group is not None and not self.group.remove():
            self.group.kill()
            self.group.remove()


def _moved(descriptor: int) -> int:
    """The same under a higher number."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FROM)
    finally:
        os.close(descriptor)
