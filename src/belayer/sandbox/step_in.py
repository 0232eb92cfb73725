"""Open a port on the loopback of another process's network namespace, and hand it to whoever is at the other end.

Run by its path in a bare interpreter (`python -I -S`): to change its user namespace, a process must have one thread.
"""

import ctypes
import fcntl
import os
import socket
import sys
from collections.abc import Callable
from typing import cast

_OWNER_OF_NAMESPACE = 0xB701
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_MAY_BE_DOWN = 15  # IP_FREEBIND: the loopback may not be up yet
_WAITING = 64


def main(pid: int, line: int, port: int) -> None:
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    _enter(fcntl.ioctl(network, _OWNER_OF_NAMESPACE), _NEW_USER)
    _enter(network, _NEW_NET)
    with socket.socket() as door, socket.socket(fileno=line) as out:
        door.setsockopt(socket.IPPROTO_IP, _MAY_BE_DOWN, 1)
        door.bind(("127.0.0.1", port))
        door.listen(_WAITING)
        socket.send_fds(out, [b"\0"], [door.fileno()])


def _enter(namespace: int, kind: int) -> None:
    setns = cast("Callable[..., int]", ctypes.CDLL(None, use_errno=True).setns)
    if setns(namespace, kind) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:4]))
