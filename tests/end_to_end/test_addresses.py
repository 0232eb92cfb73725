"""Links: the one that signs in, and those that lead to a session, an event, a request."""

import pytest
from playwright.async_api import expect

from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import OpenStage, asks
from tests.support.servers import counting


async def test_the_printed_link_signs_in_and_leaves_no_token_in_the_address(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await open_stage()
    await visitor.page.goto(f"{on.server.url}/?token={on.server.token}")
    await expect(visitor.page).to_have_url(f"{on.server.url}/inbox")
    (cookie,) = await visitor.context.cookies()
    assert cookie.get("httpOnly")
    assert cookie.get("sameSite") == "Strict"
    assert on.server.token not in cookie.get("value", "")
    assert on.server.token not in await visitor.page.evaluate("JSON.stringify(localStorage)")
    await visitor.page.reload()
    await expect(visitor.page.get_by_role("heading", name="Inbox")).to_be_visible()


async def test_a_stranger_is_told_how_to_come_in(open_stage: OpenStage, visitor: Visitor) -> None:
    visitor.expect_complaint("401")
    on = await open_stage()
    await visitor.page.goto(f"{on.server.url}/inbox")
    await expect(visitor.page.get_by_text("belayer serve")).to_be_visible()
    await expect(visitor.page.get_by_role("navigation")).to_have_count(0)


async def test_a_link_to_an_event_opens_the_timeline_there(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage(counting)
    session = await on.engine.start(counting, steps=900)
    await session.result()
    await visitor.enter(on.server, f"/sessions/{session.id}#event-100")
    row = visitor.page.locator("#event-100")
    await expect(row).to_be_in_viewport()
    await expect(row.get_by_role("button").first).to_have_attribute("aria-expanded", "true")


async def test_a_link_to_a_request_shows_it_among_others(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage()
    session = await on.begin_settled(asks("Which way?"))
    (request_id,) = (await session.state()).pending
    await visitor.enter(on.server)
    await visitor.page.get_by_role("link", name="Asks: Which way?").click()
    await expect(visitor.page).to_have_url(f"{on.server.url}/sessions/{session.id}?request={request_id}")
    await expect(visitor.asked.get_by_role("listitem")).to_be_focused()
    await visitor.page.reload()
    await expect(visitor.asked.get_by_role("listitem")).to_be_focused()


async def test_the_start_of_an_id_suffices(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage()
    session = await on.begin_settled(asks("Which way?"))
    await visitor.enter(on.server, f"/sessions/{session.id[:18]}")
    await expect(visitor.asked).to_contain_text("Which way?")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/sessions/00000000-0000-7000-8000-000000000000", "There is no session"),
        ("/nowhere/at/all", "There is no such page"),
    ],
)
async def test_a_link_that_leads_nowhere_says_so(
    open_stage: OpenStage, visitor: Visitor, path: str, words: str
) -> None:
    visitor.expect_complaint("404")
    on = await open_stage()
    await visitor.enter(on.server, path)
    await expect(visitor.page.get_by_text(words)).to_be_visible()
