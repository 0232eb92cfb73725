"""The only way out of a confined program's network: a port of its own loopback, behind which Belayer's proxy listens.

No program of ours runs inside: a helper steps into the namespace for a moment, opens the port, and hands it on.
"""

import asyncio
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from belayer.sandbox.proxy import Proxy
from belayer.sandbox.sandbox import Network
from belayer.vocabulary.errors import ChildFailed

_STEP_IN = Path(__file__).with_name("step_in.py")
_PORT = 3128
_PATIENCE = 15.0
_PAUSE = 0.002


class Doorway:
    """A port inside, and the proxy behind it."""

    def __init__(self, network: Network) -> None:
        self._proxy = Proxy(network)
        self._server: asyncio.Server | None = None

    def environment(self) -> dict[str, str]:
        """What tells programs to use it."""
        here = f"http://127.0.0.1:{_PORT}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        local = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
        return dict.fromkeys(names, here) | local | {"NODE_USE_ENV_PROXY": "1"}

    async def open(self, first: Callable[[], int | None]) -> None:
        """Open the port in the namespace of the process that `first` gives, as soon as there is one."""
        async with asyncio.timeout(_PATIENCE):
            while (pid := first()) is None:  # noqa: ASYNC110 - bubblewrap says it in its own time
                await asyncio.sleep(_PAUSE)
            port = await _opened_within(pid)
        self._server = await asyncio.start_server(self._proxy.serve, sock=port)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._proxy.close()


async def _opened_within(pid: int) -> socket.socket:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        helper = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_STEP_IN), str(pid), str(theirs.fileno()), str(_PORT)),
            pass_fds=(theirs.fileno(),),
            env={},
            cwd="/",
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, complaint = await helper.communicate()
        if helper.returncode != 0:
            raise ChildFailed(
                "The sandbox's network could not be entered, so the program was not run: "
                + complaint.decode(errors="replace").strip()[-300:],
                "Run it without network hosts; `belayer doctor` tells of the sandbox.",
            )
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    port = socket.socket(fileno=descriptors[0])
    port.setblocking(False)
    return port
