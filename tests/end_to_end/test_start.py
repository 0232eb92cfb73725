"""The start dialog: what it refuses, and how it says so."""

from playwright.async_api import expect

from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import OpenStage, asks

PLAN = "steps: [{id: ask, tool: request_input, params: {prompt: Which?}}]"


async def test_at_the_limit_it_says_kindly_which_sessions_there_are(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    visitor.expect_complaint("429")
    on = await open_stage(max_sessions=1)
    first = await on.begin_settled(asks("Up or down?"))
    await visitor.enter(on.server)
    await visitor.page.keyboard.press("n")
    dialog = visitor.page.get_by_role("dialog", name="Start a session")
    await dialog.get_by_label("Plan (required)").fill(PLAN)
    await dialog.get_by_role("button", name="Start", exact=True).click()

    told = dialog.get_by_role("alert")
    await expect(told).to_contain_text("Nothing is lost")
    await expect(told.get_by_role("link", name="Asks: Up or down?")).to_be_visible()
    await expect(dialog.get_by_label("Plan (required)")).to_have_value(PLAN)

    await first.cancel()
    await dialog.get_by_role("button", name="Start", exact=True).click()
    await expect(visitor.asked).to_contain_text("Which?")


async def test_every_mistake_in_a_plan_is_named_with_its_place(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    visitor.expect_complaint("422")
    on = await open_stage()
    await visitor.enter(on.server)
    await visitor.page.keyboard.press("n")
    dialog = visitor.page.get_by_role("dialog", name="Start a session")
    wrong = "steps: [{id: a, tool: nothing_like_it, params: {}}, {id: b, tool: wait, needs: [c], params: {seconds: 1}}]"
    await dialog.get_by_label("Plan (required)").fill(wrong)
    await dialog.get_by_role("button", name="Start", exact=True).click()

    told = dialog.get_by_role("alert")
    await expect(told).to_contain_text("nothing_like_it")
    await expect(told).to_contain_text("c")
    await expect(told.get_by_role("listitem")).to_have_count(2)
    assert await on.engine.sessions() == []
