"""Words appear as they are written; who comes late sees what was written so far."""

import asyncio

from playwright.async_api import expect

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.events.event import Effect
from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import OpenStage

WORDS = asyncio.Queue[str]()


@act(effect=Effect.READ)
async def write() -> str:
    """Shows every word that the test hands it, until an empty one."""
    said: list[str] = []
    while word := await WORDS.get():
        said.append(word)
        this_step().show("token", message=this_step().key, text=word)
    return "".join(said)


async def writing(run: Run) -> str:
    return await run.step("reply", write)


async def test_tokens_are_shown_as_they_come_and_give_way_to_the_whole(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    page = visitor.page
    on = await open_stage(writing)
    session = await on.engine.start(writing)
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await expect(visitor.timeline.get_by_text("live", exact=True)).to_be_visible()

    WORDS.put_nowait("Ropes ")
    await expect(page.get_by_text("reply is writing…")).to_be_visible()
    written = page.get_by_text("Ropes", exact=False).last
    await expect(written).to_have_text("Ropes")
    WORDS.put_nowait("hold ")
    await expect(written).to_have_text("Ropes hold")

    await page.reload()
    await expect(written).to_have_text("Ropes hold")
    WORDS.put_nowait("us.")
    await expect(written).to_have_text("Ropes hold us.")

    WORDS.put_nowait("")
    await expect(visitor.status("completed")).to_be_visible()
    await expect(page.get_by_text("reply is writing…")).to_have_count(0)
    await visitor.row("reply").get_by_role("button").click()
    await expect(visitor.row("reply").get_by_text("Ropes hold us.").first).to_be_visible()
