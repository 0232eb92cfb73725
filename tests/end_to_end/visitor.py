"""Somebody at a browser, and what their page complained about."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

from tests.support.servers import Address

PATIENCE = 20_000.0
"""Milliseconds after which a page is not expected to change any more. A guard against hangs."""
_TOLD = ("error", "warning")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

expect.set_options(timeout=PATIENCE)


@dataclass(slots=True)
class Visitor:
    """A window with one page."""

    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list[str])
    expected: list[re.Pattern[str]] = field(default_factory=list[re.Pattern[str]])

    async def enter(self, server: Address, path: str = "/inbox") -> None:
        """Come by the link that the server prints, then go where the path leads."""
        await self.page.goto(f"{server.url}/?token={server.token}")
        if path != "/inbox":
            await self.page.goto(f"{server.url}{path}")
        await expect(self.page.get_by_role("navigation", name="Pages")).to_be_visible()

    async def pages(self) -> list[str]:
        """The paths that the navigation leads to."""
        links = self.page.get_by_role("navigation", name="Pages").get_by_role("link")
        return [str(await link.get_attribute("href")) for link in await links.all()]

    def expect_complaint(self, pattern: str) -> None:
        """The browser itself will log this, and that is in order."""
        self.expected.append(re.compile(pattern))

    def unexpected(self) -> list[str]:
        return [one for one in self.complaints if not any(known.search(one) for known in self.expected)]

    async def press(self, name: str) -> None:
        """Click the button with exactly this name."""
        await self.page.get_by_role("button", name=name, exact=True).click()

    @property
    def asked(self) -> Locator:
        """What the session asks, on its page."""
        return self.page.get_by_role("list", name="What it asks")

    @property
    def timeline(self) -> Locator:
        return self.page.get_by_role("region", name="Timeline")

    def row(self, title: str) -> Locator:
        """The step of this title in the timeline."""
        rows = self.timeline.get_by_role("article").filter(has=self.page.get_by_text(title, exact=True))
        return rows.first

    def status(self, word: str) -> Locator:
        """The session's status in the head of its page."""
        return self.page.locator("main header").get_by_text(word, exact=True)

    async def is_without_sideways_scroll(self) -> bool:
        return await self.page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    async def violations(self) -> list[str]:
        """What axe-core finds wrong, by rule and by place."""
        found = await Axe().run(self.page)
        return [
            f"{wrong['id']}: {' '.join(map(str, node['target']))} {node['failureSummary']}"
            for wrong in found.response["violations"]
            for node in wrong["nodes"]
        ]


@asynccontextmanager
async def visiting(browser: Browser, **options: Any) -> AsyncGenerator[Visitor]:
    """A window of its own; `options` are those of a context."""
    context = await browser.new_context(**{"reduced_motion": "reduce", **options})
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    visitor = Visitor(context, page)
    complain = visitor.complaints.append
    page.on("console", lambda message: complain(_told(message)) if message.type in _TOLD else None)
    page.on("pageerror", lambda error: complain(f"not caught: {error}"))
    try:
        yield visitor
    finally:
        await context.close()


def _told(message: ConsoleMessage) -> str:
    return f"{message.text} ({message.location.get('url', '')})"
