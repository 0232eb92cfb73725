"""A real browser for sessions: open, click, type, wait, extract, take pictures. Its pages are strangers' programs.

Every connection of a page goes through a gateway that checks the address it dials. What a page says is data. A page
lives no longer than the engine: it is not durable, what was done with it is.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.execution.step import UNDER_WAY
from belayer.tools.browsing.bounds import Bounds, Whose
from belayer.tools.browsing.finding import find_chromium
from belayer.tools.browsing.places import host_of, reach_of
from belayer.tools.dialling import Dialler
from belayer.tools.http_fetch import web_address
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.addresses import Allowed
from belayer.vocabulary.errors import ConfigurationError, LogicError, StepTimedOut
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.resolving import Resolver, resolved
from belayer.workspace.workspace import Workspace

if TYPE_CHECKING:
    from belayer.tools.browsing.page import Page
    from belayer.tools.browsing.visits import Visits

_RATE = Rate(calls=30, seconds=10.0)
_SECONDS = 60.0
_LONGEST_WAIT = 120.0
# A call gives up by itself a little before it is given up, so that it can say why and clear away.
_SPARE = 5.0

Selector = Annotated[str, Field(min_length=1, max_length=1_000, description="a CSS selector")]
Words = Annotated[str, Field(min_length=1, max_length=1_000, description="text that the page shows")]
OnHost = Annotated[
    str | None,
    Field(max_length=300, description="the host that the page must be on (example.org, or with its port)"),
]


class OpenParams(Params):
    url: Annotated[str, Field(max_length=4_096, description="http or https, without credentials")]

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, url: str) -> str:
        web_address(url)
        return url


class _OnPage(Params):
    """Something that is done with the page that is open."""

    host: OnHost = None

    @field_validator("host")
    @classmethod
    def _is_host(cls, host: str | None) -> str | None:
        if host is not None and host_of(f"http://{host}") != host:
            raise ValueError(
                "this is not a host as it stands in an address: write example.org or example.org:8080"
            )
        return host


class ClickParams(_OnPage):
    selector: Selector | None = None
    text: Words | None = None

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if (self.selector is None) == (self.text is None):
            raise ValueError("say what to click on: either a selector or a text")
        return self


class TypeParams(_OnPage):
    selector: Selector
    text: Annotated[str, Field(max_length=100_000, description="what to fill in, or to choose from a list")]
    submit: Annotated[bool, Field(description="press Enter afterwards")] = False


class WaitForParams(Params):
    selector: Selector | None = None
    text: Words | None = None
    url: Annotated[str | None, Field(min_length=1, max_length=4_096, description="a part of the address")] = (
        None
    )
    seconds: Annotated[float, Field(gt=0, le=_LONGEST_WAIT, allow_inf_nan=False)] = 10.0

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if sum(one is not None for one in (self.selector, self.text, self.url)) != 1:
            raise ValueError("say what to wait for: one of selector, text and url")
        return self


class ExtractParams(Params):
    selector: Selector | None = None
    form: Annotated[Literal["text", "html", "links", "table", "attribute"], Field(alias="as")] = "text"
    attribute: Annotated[str | None, Field(min_length=1, max_length=200)] = None

    @model_validator(mode="after")
    def _names_its_attribute(self) -> Self:
        if (self.form == "attribute") != (self.attribute is not None):
            raise ValueError("`attribute` names one, and belongs to `as: attribute`")
        return self


class ScreenshotParams(Params):
    selector: Selector | None = None
    full_page: Annotated[bool, Field(description="all of the page, not only what is in view")] = False


class CloseParams(Params):
    pass


class Browsers:
    """The browser of an engine, for as long as the block lasts. Nothing is started before it is used."""

    def __init__(
        self, allowed: Allowed, *, resolve: Resolver = resolved, bounds: Bounds | None = None
    ) -> None:
        self._dialler = Dialler(allowed, resolve)
        self._bounds = bounds or Bounds()
        self._stack = AsyncExitStack()
        self._group: asyncio.TaskGroup | None = None
        self._visits: Visits | None = None

    async def __aenter__(self) -> Self:
        self._group = await self._stack.enter_async_context(asyncio.TaskGroup())
        self._stack.push_async_callback(self._end)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._group = None
        await self._stack.aclose()

    def tools(self) -> list[AnyTool]:
        """What sessions can do with it."""
        return [
            Tool(
                "browser.open",
                "Open a page in a browser, with its scripts, and see what it shows.",
                OpenParams,
                self._open,
                effect=Effect.READ,
                timeout=_SECONDS,
                rate=_RATE,
                reach=lambda params: reach_of(params.url),
                health=self._health,
            ),
            Tool(
                "browser.click",
                "Click on an element of the open page: by CSS selector, or by the text of a button or link.",
                ClickParams,
                self._click,
                timeout=_SECONDS,
                rate=_RATE,
                reach=_on_page,
                preview=self._shown,
                health=self._health,
            ),
            Tool(
                "browser.type",
                "Fill in a field of the open page, or choose from a list; with submit, send its form.",
                TypeParams,
                self._type,
                timeout=_SECONDS,
                rate=_RATE,
                reach=_on_page,
                preview=self._shown,
                health=self._health,
            ),
            Tool(
                "browser.wait_for",
                "Wait until the open page shows an element or a text, or is at an address.",
                WaitForParams,
                self._wait_for,
                effect=Effect.READ,
                timeout=_LONGEST_WAIT + _SECONDS,
                health=self._health,
            ),
            Tool(
                "browser.extract",
                "Read the open page or its elements: as text, html, links, a table or the values of an attribute.",
                ExtractParams,
                self._extract,
                effect=Effect.READ,
                timeout=_SECONDS,
                health=self._health,
            ),
            Tool(
                "browser.screenshot",
                "Take a picture of the open page, or of one element; it is kept as an artefact of the session.",
                ScreenshotParams,
                self._screenshot,
                effect=Effect.READ,
                timeout=_SECONDS,
                health=self._health,
            ),
            Tool(
                "browser.close",
                "Close the page and forget its cookies.",
                CloseParams,
                self._close,
                effect=Effect.READ,
                timeout=_SECONDS,
            ),
        ]

    async def _open(self, params: OpenParams, workspace: Workspace) -> Json:
        whose = _whose(workspace)
        async with self._pages().opened(whose) as page, self._in_time(page, whose, host_of(params.url)):
            return await page.open(_with_fragment(params.url))

    async def _click(self, params: ClickParams, workspace: Workspace) -> Json:
        async with self._page(workspace, params.host) as page:
            return await page.click(params.selector, params.text)

    async def _type(self, params: TypeParams, workspace: Workspace) -> Json:
        async with self._page(workspace, params.host) as page:
            return await page.type(params.selector, params.text, submit=params.submit)

    async def _wait_for(self, params: WaitForParams, workspace: Workspace) -> Json:
        async with self._page(workspace, seconds=_LONGEST_WAIT + _SECONDS) as page:
            return await page.wait_for(params.selector, params.text, params.url, params.seconds)

    async def _extract(self, params: ExtractParams, workspace: Workspace) -> Json:
        async with self._page(workspace) as page:
            return await page.extract(params.form, params.selector, params.attribute)

    async def _screenshot(self, params: ScreenshotParams, workspace: Workspace) -> Json:
        async with self._page(workspace) as page:
            taken = await page.screenshot(params.selector, full_page=params.full_page)
        step = UNDER_WAY.get(None)
        kept = await step.keep("screenshot.png", "image/png", taken.png) if step is not None else None
        artifact = kept["artifact"] if isinstance(kept, dict) else None
        return {**taken.where, "artifact": artifact, "width": taken.width, "height": taken.height}

    async def _close(self, _params: CloseParams, workspace: Workspace) -> Json:
        return {"closed": self._visits is not None and await self._visits.close(_whose(workspace))}

    async def _shown(self, params: ClickParams | TypeParams, workspace: Workspace) -> Json:
        """The page and the element that a person is asked about. Without a page there is nothing to ask."""
        owners = self._pages().owners_in(workspace.folder)
        if len(owners) > 1:
            return {"page": None, "why": "several sessions have a page open in this folder"}
        text = params.text if isinstance(params, ClickParams) else None
        async with self._pages().open_already(owners[0] if owners else _whose(workspace)) as page:
            _check_host(page, params.host)
            return await page.describe(params.selector, text)

    async def _health(self) -> str | None:
        if find_spec("playwright") is None:
            return "The library playwright is missing. Install it with: pip install playwright"
        try:
            await asyncio.to_thread(find_chromium)
        except ConfigurationError as error:
            return f"{error.detail} {error.hint}"
        return None

    @asynccontextmanager
    async def _page(
        self, workspace: Workspace, host: str | None = None, seconds: float = _SECONDS
    ) -> AsyncGenerator["Page"]:
        """The page that the session has open."""
        whose = _whose(workspace)
        async with self._pages().open_already(whose) as page:
            _check_host(page, host)
            async with self._in_time(page, whose, None, seconds):
                yield page

    @asynccontextmanager
    async def _in_time(
        self, page: "Page", whose: Whose, approved: str | None, seconds: float = _SECONDS
    ) -> AsyncGenerator[None]:
        """Use the page. One that does not let itself be used is closed."""
        try:
            async with page.visit.call(approved), asyncio.timeout(seconds - _SPARE):
                yield
        except TimeoutError as error:
            await self._pages().close(whose)
            raise StepTimedOut(
                f"The page does not react. It was closed after {seconds - _SPARE:g} s.",
                "Open it again, or another page.",
            ) from error

    def _pages(self) -> "Visits":
        from belayer.tools.browsing.visits import Visits  # noqa: PLC0415 - 0.2 s that most engines never need

        if self._group is None:
            raise LogicError("The browser is not there any more.", "Start Belayer again.")
        if self._visits is None:
            self._visits = Visits(self._dialler, self._bounds, self._group)
        return self._visits

    async def _end(self) -> None:
        if self._visits is not None:
            await self._visits.end()


def _with_fragment(url: str) -> str:
    """The address in one spelling. A fragment is the page's own affair and leads to no other host."""
    _, mark, fragment = url.partition("#")
    return f"{web_address(url)}{mark}{fragment}"


def _on_page(params: _OnPage) -> Reach:
    return Reach(hosts=(params.host,)) if params.host is not None else Reach()


def _check_host(page: "Page", wanted: str | None) -> None:
    if wanted is not None and page.visit.host != wanted:
        raise LogicError(
            f"The page is on {page.visit.host}, not on {wanted}. Nothing was done.",
            "Open the page that is meant, or say that this one is.",
        )


def _whose(workspace: Workspace) -> Whose:
    """The session, and how often it was rewound: the first two parts of what makes its steps unique."""
    step = UNDER_WAY.get(None)
    session = ":".join(step.idempotency_key.split(":", 2)[:2]) if step is not None else ""
    return Whose(session, workspace.folder)
