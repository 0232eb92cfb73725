"""What a browser has to fetch before it shows the inbox."""

import gzip

from playwright.async_api import Response, expect

from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import OpenStage

MOST_BYTES = 200_000


async def test_the_first_load_is_small(open_stage: OpenStage, visitor: Visitor) -> None:
    fetched: list[Response] = []
    on = await open_stage()

    def note(response: Response) -> None:
        fetched.append(response)

    visitor.page.on("response", note)
    await visitor.enter(on.server)
    await expect(visitor.page.get_by_text("Nothing waits for you")).to_be_visible()
    files = [one for one in fetched if one.request.resource_type in ("document", "script", "stylesheet")]
    bodies = [await one.body() for one in files if one.ok]
    assert len(bodies) >= 3
    assert sum(len(gzip.compress(body)) for body in bodies) < MOST_BYTES


async def test_nothing_comes_from_anywhere_else(open_stage: OpenStage, visitor: Visitor) -> None:
    asked: list[str] = []
    on = await open_stage()
    visitor.page.on("request", lambda request: asked.append(request.url))
    await visitor.enter(on.server)
    await expect(visitor.page.get_by_text("Nothing waits for you")).to_be_visible()
    assert [url for url in asked if not url.startswith(on.server.url)] == []
