"""The inbox, with nothing but a keyboard."""

from playwright.async_api import expect

from belayer.vocabulary.events.event import Status
from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import Hands, OpenStage, asks, sends
from tests.support.engines import reached

STORM = {
    "title": "Looks at the weather",
    "steps": [{"id": "check", "tool": "check", "params": {"weather": "storm"}}],
}
HAS_FOCUS_RING = """() => {
    const style = getComputedStyle(document.activeElement);
    return document.activeElement.matches(":focus-visible")
        && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""


async def test_five_requests_are_decided_without_a_mouse(open_stage: OpenStage, visitor: Visitor) -> None:
    hands = Hands()
    page, keyboard = visitor.page, visitor.page.keyboard
    on = await open_stage(tools=hands.tools())
    plans = [
        sends("a yes"),
        sends("a no"),
        asks("Sure?", kind="confirm"),
        STORM,
        asks("Which rope?"),
    ]
    yes, no, sure, storm, rope = [await on.begin_settled(plan) for plan in plans]
    await visitor.enter(on.server)
    await expect(page).to_have_title("(5) Belayer")
    heads = page.locator("main [data-head]")
    await expect(heads).to_have_count(5)
    await expect(heads.nth(0)).to_have_attribute("aria-expanded", "true")

    await keyboard.press("j")
    await expect(heads.nth(1)).to_be_focused()
    assert await page.evaluate(HAS_FOCUS_RING)
    await keyboard.press("k")
    await expect(heads.nth(0)).to_be_focused()

    await keyboard.press("a")
    await expect(heads).to_have_count(4)
    await reached(yes, Status.COMPLETED)
    assert hands.announced == ["a yes"]

    await keyboard.press("r")
    await expect(page.get_by_label("Why not?")).to_be_focused()
    assert await page.evaluate(HAS_FOCUS_RING)
    await keyboard.type("not today")
    await keyboard.press("Enter")
    await expect(heads).to_have_count(3)
    await reached(no, Status.COMPLETED)
    assert hands.announced == ["a yes"]

    await keyboard.press("a")
    await reached(sure, Status.COMPLETED)
    await expect(heads.nth(0)).to_contain_text("Nobody climbs in a storm.")
    await keyboard.press("e")
    editor = page.get_by_label("Parameters in full (JSON)")
    await expect(editor).to_be_focused()
    await keyboard.press("Control+a")
    await keyboard.type('{"weather": "sun"}')
    await keyboard.press("Control+Enter")
    await reached(storm, Status.COMPLETED)

    await expect(heads.nth(0)).to_contain_text("Which rope?")
    await keyboard.press("Enter")
    await expect(page.get_by_label("Your answer")).to_be_focused()
    await keyboard.type("the red one")
    await keyboard.press("Enter")
    await reached(rope, Status.COMPLETED)
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    await expect(page).to_have_title("Belayer")


async def test_keys_that_are_typed_into_a_field_decide_nothing(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    hands = Hands()
    on = await open_stage(tools=hands.tools())
    session = await on.begin_settled(sends("a secret"))
    await visitor.enter(on.server)
    await expect(visitor.page.get_by_role("button", name="Approve")).to_be_visible()
    await visitor.page.keyboard.press("r")
    await visitor.page.keyboard.type("a banana j k r e")
    await expect(visitor.page.get_by_label("Why not?")).to_have_value("a banana j k r e")
    await visitor.page.keyboard.press("Escape")
    await expect(visitor.page.get_by_role("button", name="Approve")).to_be_visible()
    assert len((await session.state()).pending) == 1
    assert hands.announced == []


async def test_a_request_that_comes_while_one_looks_appears_by_itself(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await open_stage()
    await visitor.enter(on.server)
    await expect(visitor.page.get_by_text("Nothing waits for you")).to_be_visible()
    await on.begin_settled(asks("Are you there?"))
    await expect(visitor.page.get_by_text("Are you there?").first).to_be_visible()
    await expect(visitor.page).to_have_title("(1) Belayer")


async def test_a_decision_that_somebody_else_made_first_is_taken_back_and_explained(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    visitor.expect_complaint("409")
    page = visitor.page
    on = await open_stage()
    session = await on.begin_settled(asks("Left or right?"))
    await visitor.enter(on.server)
    await page.get_by_label("Your answer").fill("left")
    await page.route("**/api/inbox", lambda route: route.abort())
    visitor.expect_complaint("ERR_FAILED")
    await session.answer("right")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("listitem").filter(has_text="answered")).to_be_visible()
