"""A process for scripts. It has no environment and no home, limits on what it may take, and ends with its parent.

Run by its path, so that it does not load the whole of Belayer: `worker.py LANGUAGE SOCKET PARENT FOLDER`.
"""

import ctypes
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import cast

_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 38
# wasmtime reserves 4 GiB of addresses for a machine, without using them.
_ADDRESSES = 16 << 30
_LARGEST_FILE = 64 << 20
_OPEN_FILES = 64


def main(language: str, descriptor: int, parent: int, folder: str) -> None:
    _confine(parent)
    os.set_inheritable(descriptor, False)  # the interpreter that it may start has no part in this
    package = ModuleType("belayer")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules["belayer"] = package
    from belayer.codemode.serving import serve  # noqa: PLC0415 - without the package's own imports

    with socket.socket(fileno=descriptor) as sock, suppress(ConnectionError, TimeoutError):
        serve(sock, language, Path(folder))
    os._exit(0)  # whatever a library still has running is not worth waiting for


def _confine(parent: int) -> None:
    prctl = cast("Callable[..., int]", ctypes.CDLL(None, use_errno=True).prctl)
    prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if os.getppid() != parent:  # it died before we could ask to be told
        os._exit(0)
    for kind, most in (
        (resource.RLIMIT_AS, _ADDRESSES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)  # noqa: PLW2901 - ours cannot be exceeded
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
