"""Make the golden logs of the version at hand: `python -m tests.replay.make_golden`. Done once for each release.

Two sessions are run for real on a manual clock: one that meets everything that can happen and ends, and one that
is left while it waits. Their exports, and the states they fold to, must be readable by every later version.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from belayer import Budget, OutcomeUnknown, Run, Session, Status, TransientError, act
from belayer.sessions.state import SessionState
from belayer.sessions.view import view
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from tests.support.engines import memory_engine, while_time_flies

FOLDER = Path(__file__).parent
_FORM: dict[str, Any] = {"properties": {"name": {"type": "string"}, "note": {}}, "required": ["name"]}


class World:
    """What is outside: it fails in the ways that leave a trace in the log."""

    def __init__(self) -> None:
        self.failures = 5
        self.lost_answers = 1
        self.broken = True

    def acts(self) -> dict[str, Callable[..., Any]]:
        @act(effect="read", retries=9)
        async def fetch(what: str) -> dict[str, Any]:
            if self.failures:
                self.failures -= 1
                raise TransientError("The other side does not answer.", "Wait.")
            return {"what": what, "nothing": None, "list": [1, 2.5, "☃", True]}

        @act(effect="external")
        async def send(text: str) -> str:
            if self.lost_answers:
                self.lost_answers -= 1
                raise OutcomeUnknown("The connection broke after the request was sent.")
            return text.upper()

        @act(effect="write", idempotent=True)
        async def large() -> str:
            return "large " * 5_500

        return {"fetch": fetch, "send": send, "large": large}


def everything(world: World) -> Callable[..., Any]:
    """A workflow that meets everything."""
    acts = world.acts()

    async def meets_everything(run: Run, request: dict[str, Any]) -> dict[str, Any]:
        await run.plan(("fetch", "Fetch it"), ("send", "Send it"), "large")
        await run.log("It begins.", "info")
        began = await run.now()
        luck = await run.random()
        await run.checkpoint("begun")
        colour = await run.ask("colour", "Which colour?", choices=["red", "blue"])
        form = await run.ask("form", "Who are you?", form=_FORM)
        approved = await run.approve("plan", {"request": request, "colour": colour}, title="The plan")
        fetched = await run.step("fetch", acts["fetch"], request["what"])
        await run.sleep(30)
        sent = await run.step("send", acts["send"], "hello")
        size = len(await run.step("large", acts["large"]))
        if world.broken:
            raise RuntimeError("The world is broken.")
        return {
            "began": began.isoformat(),
            "lucky": 0 <= luck < 1,
            "form": form,
            "approved": approved.approved,
            "fetched": fetched,
            "sent": sent,
            "size": size,
        }

    return meets_everything


async def waits(run: Run) -> str:
    """A workflow that is left while it waits."""
    await run.step("look", _look)
    return await run.ask("name", "What is your name?")


@act(effect="read")
async def _look() -> dict[str, Any]:
    return {"seen": None}


async def conduct(session: Session, world: World) -> SessionState:
    """Answer, stop, resume and go back until the session has ended well."""
    stopped: set[str] = set()
    while True:
        state = await session.settled()
        match state.status:
            case Status.COMPLETED:
                return state
            case Status.FAILED:
                world.broken = False
                await session.rewind(state.seq - 2)
            case Status.PAUSED | Status.INTERRUPTED:
                await session.resume()
            case _ if not state.pending:
                await asyncio.sleep(0)
            case _ if "interrupted" not in stopped:
                stopped.add("interrupted")
                await session.interrupt()
            case _ if "paused" not in stopped:
                stopped.add("paused")
                await session.pause(timeout=timedelta(days=1), then="cancel")
            case _:
                await answer(session, next(iter(state.pending.values())))


async def answer(session: Session, request: InputRequested | ApprovalRequested) -> None:
    match request:
        case ApprovalRequested():
            await session.approve(request.request_id, notes="Looks good.")
        case InputRequested(kind="form"):
            await session.answer({"name": "Ada", "note": None}, request.request_id)
        case InputRequested(purpose="in_doubt"):
            await session.answer("did not happen", request.request_id)
        case InputRequested():
            await session.answer(request.choices[0], request.request_id)


def told(state: SessionState) -> dict[str, Any]:
    """What a later version must still say of the session."""
    said = {
        "view": view(state),
        "epoch": state.epoch,
        "idempotency_key": state.idempotency_key,
        "answered": state.answered,
        "after_pause": state.after_pause,
    }
    return from_json(to_json(said))


def keep(name: str, content: bytes, state: SessionState) -> None:
    folder = FOLDER / version("belayer")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_bytes(content)
    (folder / f"{name}.state.json").write_bytes(to_json(told(state), indent=1) + b"\n")
    print(f"{folder / name}.json: {state.seq} events")


async def main() -> None:
    world, clock = World(), ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    workflow = everything(world)
    async with memory_engine(workflow, waits, clock=clock) as engine:
        request = {"what": "a thing", "nothing": None}
        session = await engine.start(
            workflow, request, title="Meets everything", budget=Budget(steps=1), idempotency_key="golden"
        )
        state = await while_time_flies(clock, conduct(session, world))
        keep("everything", await engine.export(session.id), state)
        session = await engine.start(waits, title="Waits")
        state = await while_time_flies(clock, session.settled())
        keep("waiting", await engine.export(session.id), state)


if __name__ == "__main__":
    asyncio.run(main())
