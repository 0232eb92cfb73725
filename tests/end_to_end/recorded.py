"""A recorded change of code, told to a page in place of a session's own log: the server has no such workflow yet."""

import json
from pathlib import Path
from typing import Any

from playwright.async_api import Page, Route, WebSocketRoute

from belayer.engine import Session
from belayer.execution.run import Run

LOG = Path(__file__).resolve().parents[2] / "web/tests/fixtures/change.jsonl"
ASKED = 11
"""So many events, and its plan is to be approved."""


async def change(run: Run, message: str, repo_url: str) -> str:
    """Stands where the real one will: waits, so that there is a session."""
    return await run.ask("go", message)


async def play(page: Page, session: Session, count: int | None = None) -> None:
    """The session's page shows the recording, or its first events."""
    events = [json.loads(line) for line in LOG.read_text().splitlines()][:count]
    for event in events:
        event["session_id"] = session.id
    at = f"**/api/execution/sessions/{session.id}"

    async def tell_view(route: Route) -> None:
        response = await route.fetch()
        await route.fulfill(json={**await response.json(), **_standing(events)})

    async def tell_events(route: Route) -> None:
        await route.fulfill(json={"events": events, "next": None})

    await page.route(f"{at}?*", tell_view)
    await page.route(f"{at}/events?*", tell_events)
    await page.route_web_socket(f"**/ws/execution/{session.id}?*", _say_nothing)


def _standing(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What the view says after these events."""
    told = {"seq": len(events), "title": events[0]["data"]["begun"]["title"], "pending": [], "reason": None}
    if len(events) != ASKED:
        return {**told, "status": "completed"}
    asked = {"type": "approval_request", **events[ASKED - 2]["data"]}
    return {**told, "status": "waiting", "pending": [asked]}


def _say_nothing(_socket: WebSocketRoute) -> None:
    """An open line on which nothing comes."""
