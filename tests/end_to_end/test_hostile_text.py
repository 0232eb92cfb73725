"""Whatever a model, a plan or a file name says is shown as text: nothing of it becomes a part of the page."""

from typing import Any

import pytest
from playwright.async_api import expect

from belayer.vocabulary.rules import Rule, Verdict
from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import Hands, OpenStage, asks

IMAGE = '<img src=x onerror="window.hacked=1">'
SCRIPT = "<script>window.hacked=1</script>"
BROKEN_OUT = '"><svg onload="window.hacked=1">'
LINK = "[click](javascript:window.hacked=1)"
ASKS_TO_WRITE = (Rule(verdict=Verdict.ASK, tool="files.write"),)

HOSTILE: dict[str, Any] = {
    "title": f"Title {IMAGE}",
    "steps": [
        {"id": "read", "title": f"Step {SCRIPT}", "tool": "check", "params": {"weather": BROKEN_OUT}},
        {
            "id": "ask",
            "title": f"Question {IMAGE}",
            "tool": "request_input",
            "needs": ["read"],
            "params": {
                "kind": "choice",
                "prompt": f"Prompt {SCRIPT} {LINK}",
                "choices": [f"one {IMAGE}", f"two {BROKEN_OUT}"],
            },
        },
        {
            "id": "write",
            "title": f"Write {BROKEN_OUT}",
            "tool": "files.write",
            "needs": ["ask"],
            "params": {"path": f"{IMAGE}.txt".replace("/", ""), "content": f"{SCRIPT}\n{LINK}\n"},
        },
    ],
}


async def assert_nothing_came_alive(visitor: Visitor) -> None:
    page = visitor.page
    assert await page.evaluate("window.hacked") is None
    assert await page.locator("img, iframe, object, embed").count() == 0
    assert await page.locator("body script, [onerror], [onload], [onclick]").count() == 0
    assert await page.locator('a[href^="javascript"]').count() == 0


async def test_hostile_texts_stay_texts_on_every_page(open_stage: OpenStage, visitor: Visitor) -> None:
    page = visitor.page
    on = await open_stage(tools=Hands().tools())
    session = await on.begin_settled(HOSTILE, policy=ASKS_TO_WRITE)
    await visitor.enter(on.server)
    await expect(page.get_by_text(f"Prompt {SCRIPT} {LINK}").first).to_be_visible()
    await expect(page.get_by_label(f"one {IMAGE}")).to_be_visible()
    await assert_nothing_came_alive(visitor)

    await page.goto(f"{on.server.url}/sessions")
    await expect(page.get_by_text(f"Title {IMAGE}")).to_be_visible()
    await assert_nothing_came_alive(visitor)

    await page.goto(f"{on.server.url}/sessions/{session.id}")
    await expect(page.get_by_role("heading", name=f"Title {IMAGE}")).to_be_visible()
    await visitor.row(f"Step {SCRIPT}").get_by_role("button").click()
    await expect(visitor.row(f"Step {SCRIPT}").get_by_text("<svg onload=").first).to_be_visible()
    await visitor.asked.get_by_label(f"two {BROKEN_OUT}").check()
    await visitor.asked.get_by_role("button", name="Answer").click()

    await expect(visitor.asked).to_contain_text(f"+{SCRIPT}")
    await expect(visitor.asked).to_contain_text(IMAGE)
    await assert_nothing_came_alive(visitor)
    await visitor.asked.get_by_role("button", name="Approve", exact=True).click()
    await expect(visitor.status("completed")).to_be_visible()
    for panel in ("Checkpoints", "Budget", "Details"):
        await visitor.press(panel)
        await assert_nothing_came_alive(visitor)
    await page.get_by_label("every event").check()
    for row in await page.get_by_role("article").all():
        await row.get_by_role("button").first.click()
    await assert_nothing_came_alive(visitor)


async def test_letters_that_hide_or_turn_text_around_are_shown_by_number(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await open_stage()
    await on.begin_settled(asks("pay \u202egnp.exe\u202c to\u200b bob"))
    await visitor.enter(on.server)
    shown = visitor.page.get_by_text("pay <U+202E>gnp.exe<U+202C> to<U+200B> bob")
    await expect(shown.first).to_be_visible()


@pytest.mark.parametrize("path", ["/inbox", "/sessions/{id}"])
async def test_a_script_that_got_into_the_page_would_not_run(
    open_stage: OpenStage, visitor: Visitor, path: str
) -> None:
    visitor.expect_complaint("Content Security Policy")
    on = await open_stage()
    session = await on.begin_settled(asks("Which?"))
    await visitor.enter(on.server, path.format(id=session.id))
    await visitor.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked=1'}))"
    )
    await visitor.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.hacked=1\">')"
    )
    await expect(visitor.page.locator("body > img")).to_have_count(1)
    assert await visitor.page.evaluate("window.hacked") is None
    assert len(visitor.complaints) >= 2
