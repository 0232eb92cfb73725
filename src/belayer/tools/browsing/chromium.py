"""One Chromium process of our own: found, started without the host's environment, measured, and ended for certain."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from playwright.async_api import Browser, Error, async_playwright

from belayer.tools.browsing.finding import find_chromium
from belayer.tools.browsing.lodging import lodging
from belayer.tools.browsing.looking import Wire
from belayer.vocabulary.errors import BelayerError, ConfigurationError, TransientError

_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--deny-permission-prompts",
    # WebRTC speaks UDP, which no proxy carries. Chromium reads the first of these, its headless shell the second.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
    # Names are looked up by the gateway alone.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
# What does not belong to a session's page goes nowhere: nobody listens there.
_NOWHERE = "socks5://127.0.0.1:1"
_START_SECONDS = 30.0
_END_SECONDS = 5.0
_SANDBOX_HINT = (
    "Run `chromium --headless --dump-dom about:blank` as the same user to see why; without user namespaces it needs the"
    " package chromium-sandbox."
)


@dataclass(slots=True)
class Chromium:
    """A browser that runs. `over` says why it does not any more."""

    browser: Browser
    pid: int
    stack: AsyncExitStack
    over: BelayerError | None = None
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        """End it and everything it started."""
        self.over = self.over or TransientError("The browser was closed.", "Open the page again.")
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self.stack.aclose()
        self.kill()

    def kill(self) -> None:
        """End its processes at once. It leads a session of its own, so nobody else's are among them."""
        if self.pid > 1:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def lost(self) -> None:
        """It is gone, and nobody meant it to be."""
        self.over = self.over or TransientError(
            "The browser crashed. Its pages are gone; it is started again when it is needed.",
            "Open the page again.",
        )
        self.gone.set()


async def start_chromium(not_in: Path | None = None) -> Chromium:
    """The browser, started. It sees an empty home and no variable of ours."""
    executable = await asyncio.to_thread(find_chromium, not_in)
    stack = AsyncExitStack()
    try:
        home = str(await asyncio.to_thread(stack.enter_context, lodging()))
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(
            executable_path=executable,
            args=_FLAGS,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"},
            proxy={"server": _NOWHERE},
            # Its own sandbox; Chromium refuses to have one as root.
            chromium_sandbox=os.geteuid() != 0,
            handle_sigint=False,
            timeout=_START_SECONDS * 1000,
        )
        stack.push_async_callback(browser.close)
        started = Chromium(browser, await _pid_of(browser), stack)
    except Error as error:
        await stack.aclose()
        raise ConfigurationError(
            f"Chromium ({executable}) does not start: {_first_lines(error.message)}", _SANDBOX_HINT
        ) from error
    except BaseException:
        await asyncio.shield(stack.aclose())
        raise
    browser.on("disconnected", lambda _: started.lost())
    return started


async def _pid_of(browser: Browser) -> int:
    session = await browser.new_browser_cdp_session()
    known = await cast("Wire", session).send("SystemInfo.getProcessInfo")
    await session.detach()
    return next(one["id"] for one in known["processInfo"] if one["type"] == "browser")


def _first_lines(text: str) -> str:
    return " ".join(text.split())[:500]


def memory_of(leader: int) -> int:
    """The bytes that the processes of a session hold together; what they share counts once."""
    return sum(_share(pid) for pid in _members(leader))


def _members(leader: int) -> list[Path]:
    """The processes of the session: the sixth field of their `stat`, the fourth after the name in parentheses."""
    found: list[Path] = []
    for pid in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            after_name = (pid / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(after_name[3]) == leader:
                found.append(pid)
    return found


def _share(pid: Path) -> int:
    """A process's proportional share, or what it has resident where the kernel does not tell."""
    for name, line in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        with suppress(OSError):
            for text in (pid / name).read_text(errors="replace").splitlines():
                if text.startswith(line):
                    return int(text.split()[1]) * 1024
    return 0
