"""One session's page: where it is, where it may go, and what it tried that it may not."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import copy_context
from typing import Any, cast

from playwright.async_api import (
    BrowserContext,
    Dialog,
    Download,
    Error,
    Frame,
    Page,
    Request,
    Response,
    Route,
)

from belayer.execution.policy import Reach
from belayer.execution.step import may_load, may_reach
from belayer.tools.browsing.chromium import Chromium
from belayer.tools.browsing.gateway import Gateway
from belayer.tools.browsing.looking import Eyes, Wire, shown_url
from belayer.tools.browsing.places import host_of, reach_of
from belayer.tools.charsets import cleaned
from belayer.tools.http_fetch import web_address
from belayer.vocabulary.errors import BelayerError, ConfigurationError, PolicyDenied, TransientError

Spawn = Callable[[Coroutine[Any, Any, None]], None]
Permits = Callable[[Reach], bool]

_MOST_NOTES = 20
_CLOSE_SECONDS = 5.0
_VIEWPORT = {"width": 1280, "height": 800}
_USUAL_PORTS = {"http": 80, "https": 443}


class Visit:
    """A page in a context of its own: nobody else's cookies, nothing kept when it is closed."""

    def __init__(
        self, chromium: Chromium, context: BrowserContext, page: Page, gateway: Gateway, spawn: Spawn
    ) -> None:
        self.chromium = chromium
        self.page = page
        self.gateway = gateway
        self.at_work = asyncio.Lock()
        self.used = 0.0
        self.status: int | None = None
        self.asked_for = ""
        self.arrived = asyncio.Event()
        self.refusal: BelayerError | None = None
        self.downloads: list[str] = []
        self.offered = asyncio.Event()
        self.over: BelayerError | None = None
        self.notes: list[str] = []
        self.stack = AsyncExitStack()
        self.arrived.set()
        self._context = context
        self._spawn = spawn
        self._permits: Permits | None = None
        self._approved: str | None = None
        self._eyes: Eyes | None = None
        self._session: Wire | None = None
        self._frame = ""

    @property
    def eyes(self) -> Eyes:
        assert self._eyes is not None
        return self._eyes

    @property
    def session(self) -> Wire:
        assert self._session is not None
        return self._session

    @property
    def url(self) -> str:
        return shown_url(self.page.url)

    @property
    def host(self) -> str | None:
        """The host of the page, with its port if that is not the usual one."""
        return host_of(self.page.url)

    async def watch(self) -> None:
        """Stand between the page and what it may not do."""
        self._session = cast("Wire", await self._context.new_cdp_session(self.page))
        tree = await self._session.send("Page.getFrameTree")
        self._frame = cast("str", tree["frameTree"]["frame"]["id"])
        self._eyes = Eyes(self._session, self._frame)
        await self._context.route("**/*", self._route)
        self._context.on("page", lambda other: self._spawn(self._close_other(other)))
        self.page.on("dialog", lambda dialog: self._spawn(self._dismiss(dialog)))
        self.page.on("crash", lambda _: self._crashed())
        self.page.on("download", self._leave_file)
        self.page.on("response", self._hear)
        self.page.on("framenavigated", self._arrive)
        self.page.on("requestfailed", self._give_up)
        self._session.on("Fetch.requestPaused", lambda event: self._spawn(self._decide(event)))
        # Every hop of a navigation is asked about, also those of a redirect.
        patterns = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}]
        await self._session.send("Fetch.enable", {"patterns": patterns})
        self.gateway.when_full = self._overfill

    @asynccontextmanager
    async def call(self, approved: str | None = None) -> AsyncGenerator[None]:
        """While a step is at it, the page may go to the host that was approved and where the step's rules let it."""
        caller = copy_context()
        self._approved = approved or self.host
        self._permits = lambda reach: caller.copy().run(may_reach, reach)
        self.gateway.lets_load = lambda host: self._is_settled(host) or caller.copy().run(may_load, host)
        self.gateway.refill()
        self.notes.clear()
        self.downloads.clear()
        self.offered.clear()
        self.refusal = None
        try:
            yield
        finally:
            self._permits = self._approved = None

    def note(self, text: str) -> None:
        """Something that the caller should know."""
        if len(self.notes) < _MOST_NOTES and text not in self.notes:
            self.notes.append(text)

    def trouble(self) -> BelayerError | None:
        """Why nothing can be done with the page, or why it did not go where it wanted to."""
        return self.chromium.over or self.over or self.refusal

    def unreached(self) -> BelayerError | None:
        """Why the last address that the page wanted to go to was not reached."""
        try:
            asked = web_address(self.asked_for)
        except ValueError:
            return None
        port = asked.port or _USUAL_PORTS[asked.scheme]
        return self.gateway.trouble_at(asked.raw_host.decode("ascii"), port)

    async def close(self) -> None:
        """Forget the page and everything it left behind."""
        self.over = self.over or TransientError("The page was closed.", "Open the page again.")
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._context.close()
        await self.stack.aclose()

    async def _decide(self, event: dict[str, Any]) -> None:
        """Let a document be asked for, or not."""
        url, request = str(event["request"]["url"]), {"requestId": event["requestId"]}
        refusal = self._refused(url) if event["frameId"] == self._frame else None
        if refusal is None:
            if event["frameId"] == self._frame:
                self.arrived.clear()
            await self._tell("Fetch.continueRequest", request)
            return
        self.refusal = refusal
        self.arrived.set()
        self.note(f"{refusal.detail} {refusal.hint}")
        await self._tell("Fetch.failRequest", {**request, "errorReason": "Aborted"})

    async def _tell(self, method: str, params: dict[str, Any]) -> None:
        with suppress(Error):  # the request or the page is gone
            await self.session.send(method, params)

    def _refused(self, url: str) -> BelayerError | None:
        """Why the page may not go there. The host that was approved is settled; any other needs a rule."""
        self.asked_for = url
        try:
            ahead = reach_of(url)
        except ValueError as error:
            return ConfigurationError(
                f"The page wanted to go to a place that is not opened: {error}.", "Open another page."
            )
        if ahead.hosts[0] == (self.host if self._permits is None else self._approved):
            return None
        if self._permits is not None and self._permits(ahead):
            return None
        return PolicyDenied(
            f"The page wanted to go to {ahead.hosts[0]}, which the rules do not allow without asking.",
            f"Open {shown_url(url)[:200]} itself, so that it can be decided on.",
        )

    def _is_settled(self, host: str) -> bool:
        """Whether somebody has decided on this host, or a rule that was asked before the page went there."""
        return host in (self._approved, self.host)

    async def _route(self, route: Route, request: Request) -> None:
        """What other windows ask for is not sent."""
        try:
            is_ours = request.frame.page == self.page
        except Error:  # the first request of a window that is not there yet
            is_ours = False
        with suppress(Error):
            if is_ours:
                await route.continue_()
                return
            self.note(
                f"A new window with {shown_url(request.url)[:200]} was blocked. Open it itself if it matters."
            )
            await route.abort("blockedbyclient")

    async def _close_other(self, other: Page) -> None:
        with suppress(Error):
            if other != self.page:
                await other.close()

    async def _dismiss(self, dialog: Dialog) -> None:
        with suppress(Error):
            if dialog.type == "beforeunload":
                await dialog.accept()
                return
            self.note(
                f"The page showed a dialog ({dialog.type}), which was dismissed: {cleaned(dialog.message)[:200]}"
            )
            await dialog.dismiss()

    def _overfill(self, why: BelayerError) -> None:
        self.over = why
        self._spawn(self.close())

    def _crashed(self) -> None:
        self.over = TransientError("The page crashed and is gone.", "Open the page again.")

    def _leave_file(self, download: Download) -> None:
        self.downloads.append(shown_url(download.url))
        self.offered.set()

    def _hear(self, response: Response) -> None:
        if self._is_navigation(response.request):
            self.status = response.status

    def _arrive(self, frame: Frame) -> None:
        if frame == self.page.main_frame:
            self.arrived.set()

    def _give_up(self, request: Request) -> None:
        if self._is_navigation(request):
            self.arrived.set()

    def _is_navigation(self, request: Request) -> bool:
        with suppress(Error):
            return request.is_navigation_request() and request.frame == self.page.main_frame
        return False


async def visit_on(chromium: Chromium, gateway: Gateway, spawn: Spawn) -> Visit:
    """A new page that goes through the gateway and nowhere else."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(gateway)
        context = await chromium.browser.new_context(
            proxy={"server": gateway.address},
            service_workers="block",
            accept_downloads=False,
            viewport=cast("Any", _VIEWPORT),
            reduced_motion="reduce",
        )
        stack.push_async_callback(context.close)
        visit = Visit(chromium, context, await context.new_page(), gateway, spawn)
        await visit.watch()
        stack.pop_all()
        visit.stack.push_async_exit(gateway)
        return visit
