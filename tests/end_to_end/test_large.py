"""A session of 100,000 events opens at its end, scrolls to its beginning, and never fills the page with rows."""

from pathlib import Path

from playwright.async_api import expect

from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.events.event import Effect, Status, StepStatus
from belayer.vocabulary.ids import SessionId
from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import OpenStage
from tests.support.records import beginning, create, named, now_is, stepped, taken

STEPS = 49_998
EVENTS = 3 + 2 * STEPS + 1
MOST_NODES = 5_000


async def write_long_log(home: Path) -> SessionId:
    """A finished session of so many events, straight into the store."""
    home.mkdir(parents=True)
    store = await SqliteStore.open(home / "belayer.db")
    steps = [
        stepped(f"step/{number}", status, effect=Effect.WRITE, **more)
        for number in range(STEPS)
        for status, more in (
            (StepStatus.RUNNING, {}),
            (StepStatus.COMPLETED, {"seconds": 0.1, "output": number}),
        )
    ]
    ends = now_is(Status.COMPLETED), now_is(Status.COMPLETED)
    await create(store, named(1), beginning("A long climb"), taken(1), *steps, *ends)
    await store.close()
    return named(1)


async def test_a_hundred_thousand_events_open_and_scroll(
    open_stage: OpenStage, tmp_path: Path, visitor: Visitor
) -> None:
    page = visitor.page
    session_id = await write_long_log(tmp_path / "home")
    on = await open_stage()
    await visitor.enter(on.server, f"/sessions/{session_id}")
    await expect(visitor.timeline).to_contain_text("100,000 events")
    await expect(page.locator(f"#event-{EVENTS - 3}")).to_be_visible()
    assert await nodes(visitor) < MOST_NODES

    await page.evaluate("location.hash = 'event-5001'")
    await expect(page.locator("#event-5001")).to_be_in_viewport()
    assert await nodes(visitor) < MOST_NODES

    await page.evaluate("location.hash = 'event-1'")
    await expect(page.locator("#event-1")).to_be_in_viewport()
    await expect(page.get_by_text("The session began here.")).to_be_visible()
    await visitor.press("Newest")
    await expect(page.locator(f"#event-{EVENTS - 3}")).to_be_visible()
    assert await nodes(visitor) < MOST_NODES


async def nodes(visitor: Visitor) -> int:
    return await visitor.page.evaluate("document.querySelectorAll('*').length")
