"""The page of a change of code, on a recorded log."""

import pytest
from playwright.async_api import expect

from tests.end_to_end.recorded import ASKED, change, play
from tests.end_to_end.visitor import PHONE, Visitor
from tests.end_to_end.work import OpenStage

looks = pytest.mark.parametrize(
    "visitor",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, PHONE],
    indirect=True,
    ids=["light", "dark", "phone"],
)


@looks
async def test_a_finished_change_is_shown_whole_and_accessibly(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await open_stage(change)
    session = await on.engine.start(change, message="rename the flag", repo_url="https://git.test/tool.git")
    await session.settled()
    await play(visitor.page, session)
    await visitor.enter(on.server, f"/changes/{session.id}")
    for part in ("Outcome", "Plan", "Files", "Tests"):
        await expect(visitor.page.get_by_role("region", name=part)).to_be_visible()
    await expect(visitor.page.get_by_text("Loading")).to_have_count(0)
    assert await visitor.is_without_sideways_scroll()
    assert await visitor.violations() == []


@looks
async def test_a_plan_that_waits_for_a_yes_is_shown_with_what_it_reaches(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await open_stage(change)
    session = await on.engine.start(change, message="rename the flag", repo_url="https://git.test/tool.git")
    await session.settled()
    await play(visitor.page, session, ASKED)
    await visitor.enter(on.server, f"/changes/{session.id}")
    await expect(visitor.asked.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    await expect(visitor.page.get_by_text("Loading")).to_have_count(0)
    assert await visitor.is_without_sideways_scroll()
    assert await visitor.violations() == []
