"""On a phone, 390 pixels wide: everything can be reached, nothing scrolls sideways."""

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.recorded import change
from tests.end_to_end.visitor import PHONE, Visitor
from tests.end_to_end.work import JOURNEY, Hands, OpenStage, asks, sends

on_a_phone = pytest.mark.parametrize("visitor", [PHONE], indirect=True)
LONG = "a-name-without-any-space-" * 12
IS_CUT_OFF = """one => {
    const box = one.getBoundingClientRect();
    return box.left < 0 || box.right > document.documentElement.clientWidth;
}"""


IS_NAME_CUT = """link => {
    const name = link.querySelector("span");
    return name.offsetWidth < 2 || name.scrollWidth > name.clientWidth + 1;
}"""


async def reach(*buttons: Locator) -> None:
    """Each can be scrolled to and is not cut off."""
    for button in buttons:
        await button.scroll_into_view_if_needed()
        await expect(button).to_be_in_viewport(ratio=1)
        assert not await button.evaluate(IS_CUT_OFF)


@on_a_phone
async def test_a_session_can_be_watched_answered_and_stopped(open_stage: OpenStage, visitor: Visitor) -> None:
    page = visitor.page
    on = await open_stage(tools=Hands().tools())
    session = await on.begin_settled(JOURNEY)
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await expect(visitor.asked).to_contain_text("Who is the release for?")
    assert await visitor.is_without_sideways_scroll()
    await reach(*(page.get_by_role("button", name=name) for name in ("Pause", "Interrupt", "Cancel")))
    await visitor.asked.get_by_label("Your answer").fill("climbers")
    await visitor.asked.get_by_role("button", name="Answer").tap()
    await expect(visitor.asked).to_contain_text("A release for climbers")
    assert await visitor.is_without_sideways_scroll()
    decisions = ("Approve", "Reject", "Always in this session")
    await reach(*(visitor.asked.get_by_role("button", name=name, exact=True) for name in decisions))
    for panel in ("Steps", "Checkpoints", "Budget", "Details", "Timeline"):
        await page.get_by_role("button", name=panel, exact=True).first.tap()
        assert await visitor.is_without_sideways_scroll(), panel
    await expect(visitor.asked).to_be_visible()
    await visitor.press("Pause")
    await expect(visitor.status("paused")).to_be_visible()


@on_a_phone
@pytest.mark.parametrize("path", ["/inbox", "/sessions", "/sessions/{id}"])
async def test_names_without_end_do_not_make_a_page_wider(
    open_stage: OpenStage, visitor: Visitor, path: str
) -> None:
    on = await open_stage(tools=Hands().tools())
    plan = asks(LONG, kind="choice", choices=[LONG, "short"])
    session = await on.begin_settled(plan)
    await on.begin_settled(sends(LONG))
    await visitor.enter(on.server, path.format(id=session.id))
    await expect(visitor.page.get_by_text(LONG[:40]).first).to_be_visible()
    assert await visitor.is_without_sideways_scroll()


@on_a_phone
async def test_no_page_of_the_navigation_scrolls_sideways(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage(tools=Hands().tools())
    await on.begin_settled(sends("the news"))
    await visitor.enter(on.server)
    for path in await visitor.pages():
        await visitor.page.goto(f"{on.server.url}{path}")
        await expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
        await expect(visitor.page.get_by_text("Loading")).to_have_count(0)
        assert await visitor.is_without_sideways_scroll(), path


@on_a_phone
async def test_all_pages_are_in_sight_with_their_names(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage(change)
    session = await on.engine.start(
        change, title="Rename the flag", message="", repo_url="https://a.example/"
    )
    await session.settled()
    await on.begin_settled(asks("Which rope?"))
    await visitor.enter(on.server)
    pages = visitor.page.get_by_role("navigation", name="Pages").get_by_role("link")
    await expect(pages).to_have_count(7)
    for link in await pages.all():
        await expect(link).to_be_in_viewport(ratio=1)
        assert not await link.evaluate(IS_CUT_OFF)
        assert not await link.evaluate(IS_NAME_CUT), await link.text_content()
    assert await visitor.violations() == []
    await pages.last.tap()
    await expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Figures")


@on_a_phone
async def test_a_session_can_be_started(open_stage: OpenStage, visitor: Visitor) -> None:
    page = visitor.page
    on = await open_stage()
    await visitor.enter(on.server, "/sessions")
    await page.get_by_role("button", name="Start a session").tap()
    dialog = page.get_by_role("dialog", name="Start a session")
    plan = "steps: [{id: ask, tool: request_input, params: {prompt: Which?}}]"
    await dialog.get_by_label("Plan (required)").fill(plan)
    assert await visitor.is_without_sideways_scroll()
    start = dialog.get_by_role("button", name="Start", exact=True)
    await reach(start, dialog.get_by_role("button", name="Cancel"))
    await start.tap()
    await expect(visitor.asked).to_contain_text("Which?")
