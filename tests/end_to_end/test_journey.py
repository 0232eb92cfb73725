"""From the start to the end of a session, with everything that a person can do on the way."""

from playwright.async_api import expect

from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import JOURNEY, Hands, OpenStage


async def test_a_person_takes_a_session_from_its_start_to_its_end(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    hands = Hands()
    page = visitor.page
    on = await open_stage(tools=hands.tools())
    await visitor.enter(on.server)
    await visitor.press("Start a session")
    dialog = page.get_by_role("dialog", name="Start a session")
    await dialog.get_by_label("Plan (required)").fill(JOURNEY)
    await dialog.get_by_label("Workspace").fill(str(on.folder))
    await dialog.get_by_role("button", name="Start", exact=True).click()

    asked = visitor.asked
    await expect(asked).to_contain_text("Who is the release for?")
    await expect(visitor.status("waiting")).to_be_visible()
    await asked.get_by_label("Your answer").fill("climbers")
    await asked.get_by_role("button", name="Answer").click()

    await expect(asked).to_contain_text("A release for climbers")
    assert (on.folder / "note.txt").read_text() == "For climbers\n"
    assert hands.announced == []
    await asked.get_by_role("button", name="Approve").click()

    await hands.measuring.wait()
    assert hands.announced == ["A release for climbers"]
    await expect(visitor.status("running")).to_be_visible()
    await visitor.press("Pause")
    hands.let_go.set()
    await expect(visitor.status("paused")).to_be_visible()

    await page.reload()
    await expect(visitor.status("paused")).to_be_visible()
    await expect(visitor.timeline.get_by_text("Tell the world", exact=True)).to_be_visible()
    await visitor.press("Resume")

    await expect(asked).to_contain_text("Nobody climbs in a storm.")
    await asked.get_by_role("radio", name="edit").check()
    await asked.get_by_role("button", name="Edit the parameters").click()
    params = asked.get_by_label("Parameters in full (JSON)")
    await expect(params).to_have_value('{\n  "weather": "storm"\n}')
    await params.fill('{"weather": "sun"}')
    await asked.get_by_role("button", name="Try with these").click()
    await expect(visitor.status("completed")).to_be_visible()
    assert (on.folder / "done.txt").exists()

    await visitor.press("Checkpoints")
    await visitor.press("Rewind to measure")
    rewind = page.get_by_role("dialog")
    await expect(rewind).to_contain_text("done.txt")
    await expect(rewind).to_contain_text("deleted")
    await rewind.get_by_role("button", name="Rewind", exact=True).click()
    await expect(visitor.status("paused")).to_be_visible()
    assert not (on.folder / "done.txt").exists()
    assert (on.folder / "note.txt").exists()
    await expect(visitor.timeline.get_by_text("left behind").first).to_be_visible()

    await visitor.press("Resume")
    await expect(asked).to_contain_text("Nobody climbs in a storm.")
    await asked.get_by_role("radio", name="skip").check()
    await asked.get_by_role("button", name="Answer").click()
    await expect(visitor.status("completed")).to_be_visible()
    assert hands.announced == ["A release for climbers"]
