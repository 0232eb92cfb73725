"""The page comes back by itself after the server went away: no gap, nothing twice."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from belayer.execution.run import Run
from tests.end_to_end.visitor import Visitor
from tests.end_to_end.work import OpenStage
from tests.support.servers import ServerProcess, count

TALL = pytest.mark.parametrize("visitor", [{"viewport": {"width": 1280, "height": 4000}}], indirect=True)
REFUSED = r"ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection to"


async def halting(run: Run) -> str:
    """Steps before and after a question."""
    for number in range(12):
        await run.step(f"before/{number}", count, number)
    answer = await run.ask("go", "Shall it go on?")
    for number in range(12):
        await run.step(f"after/{number}", count, number)
    return answer


@TALL
@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_what_happened_while_the_server_was_away_is_told_once(
    tmp_path: Path, visitor: Visitor, ending: str
) -> None:
    page = visitor.page
    visitor.expect_complaint(REFUSED)
    async with ServerProcess(tmp_path, "tests.end_to_end.test_reconnect:halting") as server:
        async with server.at.client() as client:
            started = await client.post("/api/execution/start", json={"workflow": "halting"})
        session_id = started.json()["session_id"]
        await visitor.enter(server.at, f"/sessions/{session_id}")
        await expect(visitor.asked).to_contain_text("Shall it go on?")
        await page.get_by_label("every event").check()

        await (server.stop() if ending == "stop" else server.kill())
        await expect(visitor.timeline).to_contain_text("reconnecting…")
        await expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
        await server.start()
        async with server.at.client() as client:
            view = (await client.get(f"/api/execution/sessions/{session_id}")).json()
            body = {"request_id": view["pending"][0]["request_id"], "value": "yes"}
            await client.post(f"/api/execution/sessions/{session_id}/respond", json=body)

        await expect(visitor.status("completed")).to_be_visible()
        await expect(visitor.timeline.get_by_text("live", exact=True)).to_be_visible()
        await expect(page.get_by_text("The server cannot be reached.")).to_have_count(0)
        async with server.at.client() as client:
            last = (await client.get(f"/api/execution/sessions/{session_id}")).json()["seq"]
        assert last > 30
        await expect(page.locator(f"#event-{last}")).to_be_visible()
        shown = await page.locator("article").evaluate_all("all => all.map(one => one.id)")
        assert shown == [f"event-{seq}" for seq in range(1, last + 1)]


async def test_a_browser_without_a_network_says_so_and_goes_on_by_itself(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    visitor.expect_complaint(r"ERR_INTERNET_DISCONNECTED|WebSocket connection to")
    on = await open_stage(halting)
    session = await on.engine.start(halting)
    await session.settled()
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await expect(visitor.timeline.get_by_text("live", exact=True)).to_be_visible()

    await visitor.context.set_offline(True)
    await expect(visitor.page.get_by_text("What you see may be old")).to_be_visible()
    await expect(visitor.timeline).to_contain_text("offline")
    await expect(visitor.page.get_by_role("button", name="Pause")).to_be_disabled()
    await session.answer("yes")
    await session.result()

    await visitor.context.set_offline(False)
    await expect(visitor.status("completed")).to_be_visible()
    await expect(visitor.page.get_by_text("What you see may be old")).to_have_count(0)
