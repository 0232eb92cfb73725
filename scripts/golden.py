"""Make golden/*.jsonl: logs of plans that met everything, and the states that Python folds them to.

The browser's fold must give the same (web/tests/session/golden.test.ts); Python's must go on doing so (tests/replay).
"""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

from belayer import Effect, Json, Params, Rate, Session, Status, Tool, Workspace, open_engine
from belayer.engine import Engine
from belayer.execution.step import this_step
from belayer.sessions.state import SessionState
from belayer.vocabulary.commands import Approve, Fork, Say
from belayer.vocabulary.events.people import ApprovalRequested
from tests.replay.make_golden import told

FOLDER = Path(__file__).parents[1] / "golden"
PLACE = Path("/tmp/belayer-golden")  # the same on every machine, for it stands in the logs
ZERO: dict[str, Json] = {"seconds": 0}
PLAN: dict[str, Json] = {
    "title": "Meets everything",
    "parallel": 2,
    "steps": [
        {"id": "who", "tool": "request_input", "params": {"prompt": "Who?"}},
        {"id": "note", "tool": "files.write", "params": {"path": "a.txt", "content": "{{steps.who.output.answer}}"}},
        {"id": "ring", "tool": "bell", "needs": ["note"]},
        {"id": "again", "tool": "bell", "needs": ["ring"]},
        {"id": "missing", "tool": "files.read", "critical": False, "params": {"path": "none"}},
        {"id": "lost", "tool": "files.read", "params": {"path": "{{steps.missing.output.path}}"}},
        {"id": "other", "tool": "files.read", "params": {"path": "none"}, "fallback": {"tool": "wait", "params": ZERO}},
        {"id": "never", "tool": "wait", "params": ZERO, "when": "steps.who.output.answer == 'nobody'"},
        {"id": "edited", "tool": "files.read", "params": {"path": "nowhere"}, "needs": ["again"]},
        {"id": "left", "tool": "files.read", "params": {"path": "nowhere"}, "needs": ["edited"]},
    ],
}  # fmt: skip


class Nothing(Params):
    pass


async def _ring(_params: Nothing, _workspace: Workspace) -> Json:
    return await this_step().keep("note.txt", "text/plain", b"rung")


BELL = Tool("bell", "Ring it.", Nothing, _ring, effect=Effect.EXTERNAL, rate=Rate(1, 2))


async def _until(session: Session, *statuses: Status) -> SessionState:
    state = await session.settled()
    assert state.status in statuses, (state.status, state.reason)
    return state


async def _decide(engine: Engine, session: Session) -> None:
    (request,) = (await _until(session, Status.WAITING)).pending.values()
    assert isinstance(request, ApprovalRequested)
    command = Approve(request_id=request.request_id, digest=request.digest, remember="session")
    await engine.tell(session.id, command)


async def _answer(session: Session, value: Json) -> None:
    await _until(session, Status.WAITING)
    await session.answer(value)


async def _played(engine: Engine) -> Session:
    (PLACE / "work").mkdir(parents=True)
    session = await engine.carry_out(PLAN, workspace=PLACE / "work")
    await _until(session, Status.WAITING)
    await engine.tell(session.id, Say(text="Take your time."))
    await _answer(session, "Ada")
    await _decide(engine, session)
    await _answer(session, {"choice": "edit", "params": {"path": "a.txt"}})
    await _answer(session, "skip")
    await session.result()
    done = (await session.state()).steps["note"].seq
    await session.rewind(done)
    await session.resume()
    await _decide(engine, session)
    await _answer(session, "retry")
    await _until(session, Status.WAITING)
    return session


async def _keep(engine: Engine, session: Session, name: str) -> None:
    events = await engine.events(session.id)
    (FOLDER / f"{name}.jsonl").write_bytes(b"".join(event + b"\n" for event in events))
    state: Any = told(await session.state())
    (FOLDER / f"{name}.state.json").write_text(json.dumps(state, indent=1, ensure_ascii=False) + "\n")


async def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    FOLDER.mkdir(exist_ok=True)
    async with open_engine(PLACE / "home", tools=[BELL]) as engine:
        session = await _played(engine)
        await _keep(engine, session, "plan")
        fork = engine.session(await engine.fork(Fork(session_id=session.id)))
        await _keep(engine, fork, "fork")
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    asyncio.run(main())
