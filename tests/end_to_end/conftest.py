"""One real Chromium for all tests of a worker; a window of its own, with nothing remembered, for each test.

A test fails if its page logs an error that it did not expect: a script's own, a violation of the content policy, a
request that went wrong.
"""

import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.end_to_end.visitor import Visitor, visiting
from tests.end_to_end.work import OpenStage, Stage, stage

CHROMIUM = shutil.which("chromium")
HERE = Path(__file__).parent
_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One loop for them all, since the browser belongs to it."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    """The system's browser."""
    if CHROMIUM is None:
        pytest.skip("There is no Chromium here and scripts/browser.sh could not install it.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_stage(tmp_path: Path) -> AsyncGenerator[OpenStage]:
    """Servers that are there until the visitor has left."""
    async with AsyncExitStack() as stack:

        async def opened(*workflows: Any, **options: Any) -> Stage:
            return await stack.enter_async_context(stage(tmp_path, *workflows, **options))

        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(
    chromium: Browser,
    open_stage: OpenStage,  # only so that it is closed later
    request: pytest.FixtureRequest,
) -> AsyncGenerator[Visitor]:
    """Somebody at a browser. `@pytest.mark.parametrize("visitor", [{…}], indirect=True)` gives options of a context."""
    options: dict[str, Any] = getattr(request, "param", {})
    async with visiting(chromium, **options) as visitor:
        yield visitor
    assert visitor.unexpected() == []
