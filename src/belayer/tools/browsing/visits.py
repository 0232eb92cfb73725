"""The pages of all sessions in one browser: started when needed, bounded in number and memory, ended when idle."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from playwright.async_api import Error

from belayer.tools.browsing.bounds import Bounds, Whose
from belayer.tools.browsing.chromium import Chromium, memory_of, start_chromium
from belayer.tools.browsing.gateway import Gateway
from belayer.tools.browsing.page import Page
from belayer.tools.browsing.visit import Visit, visit_on
from belayer.tools.dialling import Dialler
from belayer.vocabulary.errors import LimitReached, LogicError, TransientError

_logger = structlog.get_logger()


class Visits:
    """Opens and finds the page of whoever asks."""

    def __init__(self, dialler: Dialler, bounds: Bounds, group: asyncio.TaskGroup) -> None:
        self._dialler = dialler
        self._bounds = bounds
        self._group = group
        self._starting = asyncio.Lock()
        self._chromium: Chromium | None = None
        self._visits: dict[Whose, Visit] = {}
        self._own_ports: set[int] = set()
        self._used = 0.0
        self._ended = False

    @property
    def chromium(self) -> Chromium | None:
        return self._chromium

    @asynccontextmanager
    async def opened(self, whose: Whose) -> AsyncGenerator[Page]:
        """The session's page, or a new one; nobody else uses it meanwhile."""
        visit = await self._opened(whose)
        async with self._held(visit, whose):
            yield Page(visit)

    @asynccontextmanager
    async def open_already(self, whose: Whose) -> AsyncGenerator[Page]:
        """The session's page; LogicError if there is none, or once what became of it."""
        lost = self._visits.get(whose)
        visit = self._living(whose)
        if visit is None:
            raise (lost.trouble() if lost is not None else None) or no_page()
        async with self._held(visit, whose):
            yield Page(visit)

    def owners_in(self, folder: Path) -> list[Whose]:
        """The sessions that work in this folder and have a page."""
        return [whose for whose in list(self._visits) if whose.folder == folder and self._living(whose)]

    async def close(self, whose: Whose) -> bool:
        """Forget the session's page; whether there was one."""
        visit = self._visits.pop(whose, None)
        if visit is not None:
            await visit.close()
        return visit is not None

    async def end(self) -> None:
        """Close everything for good."""
        self._ended = True
        await self._close_all()

    async def _close_all(self) -> None:
        await asyncio.gather(*(self.close(whose) for whose in list(self._visits)))
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            await chromium.close()

    @asynccontextmanager
    async def _held(self, visit: Visit, whose: Whose) -> AsyncGenerator[None]:
        async with visit.at_work:
            try:
                yield
            finally:
                visit.used = self._used = self._now()
                self._living(whose)  # what ended under the caller's hands has been told already

    def _living(self, whose: Whose) -> Visit | None:
        visit = self._visits.get(whose)
        if visit is not None and (visit.over or visit.chromium.over):
            del self._visits[whose]
            self.spawn(visit.close())
            return None
        return visit

    async def _opened(self, whose: Whose) -> Visit:
        async with self._starting:
            visit = self._living(whose)
            if visit is None:
                chromium = await self._running(whose.folder)
                await self._make_room()
                visit = self._visits[whose] = await self._begun(chromium)
            visit.used = self._used = self._now()
            return visit

    async def _begun(self, chromium: Chromium) -> Visit:
        gateway = Gateway(self._dialler, self._bounds.transfer_bytes, self._own_ports)
        try:
            return await visit_on(chromium, gateway, self.spawn)
        except Error as error:
            raise chromium.over or TransientError(
                "The browser could not open a new page.", "Try again later."
            ) from error

    async def _running(self, folder: Path) -> Chromium:
        if self._chromium is None or self._chromium.over is not None:
            await self._close_all()
            self._chromium = await start_chromium(folder)
            _logger.info("browser started", pid=self._chromium.pid)
            self.spawn(self._watch(self._chromium))
        return self._chromium

    async def _make_room(self) -> None:
        """The page that was not used for longest goes, unless all are at work."""
        if len(self._visits) < self._bounds.pages:
            return
        idle = [(visit.used, whose) for whose, visit in self._visits.items() if not visit.at_work.locked()]
        if not idle:
            raise LimitReached(
                "pages",
                f"{len(self._visits)} sessions use the browser at the moment, which is as many as may.",
                "Try again when one of them is done.",
            )
        await self.close(min(idle, key=lambda one: one[0])[1])

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside."""
        if self._ended:
            work.close()
        else:
            self._group.create_task(_quietly(work))

    async def _watch(self, chromium: Chromium) -> None:
        """Hold the browser to its bounds for as long as it runs."""
        while chromium.over is None:
            try:
                async with asyncio.timeout(self._bounds.look_every):
                    await chromium.gone.wait()
            except TimeoutError:
                await self._check(chromium)
        if chromium is self._chromium:
            _logger.warning("browser gone", pid=chromium.pid, problem=chromium.over.detail)
        chromium.kill()

    async def _check(self, chromium: Chromium) -> None:
        used = await asyncio.to_thread(memory_of, chromium.pid)
        if used > self._bounds.memory_bytes and chromium.over is None:
            chromium.over = LimitReached(
                "memory",
                f"The browser was ended: it may use {self._bounds.memory_bytes:,} bytes of memory and used {used:,}."
                " All its pages are gone.",
                "Open the page again, or a smaller one.",
            )
            chromium.kill()
            return
        await self._leave_idle(chromium)

    async def _leave_idle(self, chromium: Chromium) -> None:
        long_ago = self._now() - self._bounds.idle_seconds
        for whose, visit in list(self._visits.items()):
            if visit.used < long_ago and not visit.at_work.locked():
                await self.close(whose)
        if not self._visits and self._used < long_ago and not self._starting.locked():
            self._chromium = None
            await chromium.close()
            _logger.info("idle browser ended", pid=chromium.pid)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - what a page does beside must not end the engine
        _logger.warning("something beside a page failed", error=repr(error))


def no_page() -> LogicError:
    """What it means that a session has no page."""
    return LogicError(
        "This session has no open page: none was opened, it was closed after a while without use, or Belayer was"
        " started anew. Nothing was done.",
        "Open the page again with browser.open, then go on from there.",
    )
