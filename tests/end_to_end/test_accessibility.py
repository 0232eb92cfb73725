"""axe-core finds nothing wrong: every page of the navigation, a session in every kind of state, every dialog."""

import pytest
from playwright.async_api import expect

from tests.end_to_end.visitor import PHONE, Visitor
from tests.end_to_end.work import JOURNEY, Hands, OpenStage, asks, sends

in_both_themes = pytest.mark.parametrize(
    "visitor", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
FORM = {
    "type": "object",
    "required": ["version"],
    "properties": {
        "version": {"type": "string"},
        "kind": {"enum": ["major", "minor"]},
        "sure": {"type": "boolean"},
    },
}
ASKING = (
    asks("Which rope?"),
    asks("Sure?", kind="confirm"),
    asks("Which way?", kind="choice", choices=["up", "down"]),
    asks("What is released?", kind="form", form=FORM),
    sends("the news"),
    {"title": "Weather", "steps": [{"id": "check", "tool": "check", "params": {"weather": "storm"}}]},
)


async def live(visitor: Visitor) -> None:
    await expect(visitor.timeline.get_by_text("live", exact=True)).to_be_visible()


async def assert_fine(visitor: Visitor, where: str) -> None:
    found = await visitor.violations()
    assert found == [], where


@in_both_themes
async def test_every_page_of_the_navigation_is_accessible(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage(tools=Hands().tools())
    for plans in ((), ASKING):
        for plan in plans:
            await on.begin_settled(plan)
        await visitor.enter(on.server)
        for path in [*await visitor.pages(), "/changes"]:
            await visitor.page.goto(f"{on.server.url}{path}")
            await expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
            await expect(visitor.page.get_by_text("Loading")).to_have_count(0)
            await assert_fine(visitor, f"{path} with {len(plans)} sessions")


@in_both_themes
async def test_every_kind_of_request_is_accessible(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage(tools=Hands().tools())
    for plan in ASKING:
        await on.begin_settled(plan)
    await visitor.enter(on.server)
    heads = visitor.page.locator("main [data-head]")
    await expect(heads).to_have_count(len(ASKING))
    for place in range(len(ASKING)):
        await heads.nth(place).click()
        await expect(heads.nth(place)).to_have_attribute("aria-expanded", "true")
        await assert_fine(visitor, f"request {place}")
    await visitor.page.keyboard.press("e")
    await expect(visitor.page.get_by_label("Parameters in full (JSON)")).to_be_visible()
    await assert_fine(visitor, "the parameters of a step that failed")
    await heads.nth(4).click()
    await visitor.press("Reject")
    await assert_fine(visitor, "the reason for a no")


@in_both_themes
async def test_a_session_is_accessible_in_every_state_and_panel(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    hands = Hands()
    page = visitor.page
    on = await open_stage(tools=hands.tools())
    session = await on.begin_settled(JOURNEY)
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await live(visitor)
    await assert_fine(visitor, "waiting")
    await session.answer("climbers")
    await session.settled()
    await session.approve()
    await expect(visitor.status("running")).to_be_visible()
    await assert_fine(visitor, "running")
    hands.let_go.set()
    await expect(visitor.asked).to_contain_text("storm")
    await session.answer({"choice": "edit", "params": {"weather": "sun"}})
    await expect(visitor.status("completed")).to_be_visible()
    await visitor.row("Write the note").get_by_role("button").click()
    await visitor.row("Check the weather").get_by_role("button").click()
    for panel in ("Steps", "Checkpoints", "Budget", "Details"):
        await visitor.press(panel)
        await expect(page.get_by_text("Loading")).to_have_count(0)
        await assert_fine(visitor, panel)
    await visitor.press("Checkpoints")
    await visitor.press("Rewind to note")
    await expect(page.get_by_role("dialog")).to_contain_text("done.txt")
    await assert_fine(visitor, "rewind")
    await page.get_by_role("dialog").get_by_role("button", name="Rewind", exact=True).click()
    await expect(page.get_by_text("left behind").first).to_be_visible()
    await assert_fine(visitor, "left behind")


@in_both_themes
async def test_the_dialogs_are_accessible(open_stage: OpenStage, visitor: Visitor) -> None:
    visitor.expect_complaint("404|422")
    page = visitor.page
    on = await open_stage()
    await visitor.enter(on.server)
    for key in ("n", "?", "Control+k"):
        await page.keyboard.press(key)
        await expect(page.get_by_role("dialog")).to_be_visible()
        await assert_fine(visitor, key)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("n")
    await page.get_by_label("Plan (required)").fill("steps: [{id: a, tool: nothing, params: {}}]")
    await page.get_by_role("dialog").get_by_role("button", name="Start", exact=True).click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await assert_fine(visitor, "a plan that is refused")
    await page.goto(f"{on.server.url}/sessions/00000000-0000-7000-8000-000000000000")
    await expect(page.get_by_role("alert")).to_be_visible()
    await assert_fine(visitor, "a session that is not there")


@pytest.mark.parametrize("visitor", [PHONE], indirect=True)
async def test_a_session_on_a_phone_is_accessible(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await open_stage(tools=Hands().tools())
    session = await on.begin_settled(JOURNEY)
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await live(visitor)
    await assert_fine(visitor, "timeline")
    await visitor.press("Steps")
    await assert_fine(visitor, "steps")
