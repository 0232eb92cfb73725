"""A workflow that does everything a workflow can do, and a world outside that remembers what was done to it.

The world survives every crash. What it says is the truth that the log is measured against.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from belayer.engine import Engine
from belayer.execution.act import Act, DidNotHappen, Happened, Probed, act
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.sessions.feed import Frame
from belayer.sessions.state import Request, SessionState
from belayer.vocabulary.errors import TransientError
from belayer.vocabulary.events.event import FINAL, Json
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import SessionId
from tests.support.engines import Life, doubted

FLAWS = 2
"""How often each flaky act fails before it works."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that was done outside: read, tried in vain, or done."""

    kind: Literal["read", "failed", "done"]
    session_id: str
    key: str
    what: str
    idempotency_key: str
    at: int


class World(Protocol):
    """Whatever acts act upon."""

    def add(self, deed: Deed) -> None: ...

    def deeds(self) -> list[Deed]: ...


@dataclass(slots=True)
class ListWorld:
    """A world in memory, outside of any engine."""

    _deeds: list[Deed] = field(default_factory=list[Deed])

    def add(self, deed: Deed) -> None:
        self._deeds.append(deed)

    def deeds(self) -> list[Deed]:
        return list(self._deeds)


@dataclass(slots=True)
class FileWorld:
    """A world in a file: every deed is on disk before its act goes on."""

    path: Path

    def add(self, deed: Deed) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, json.dumps(asdict(deed)).encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def deeds(self) -> list[Deed]:
        if not self.path.exists():
            return []
        return [Deed(**json.loads(line)) for line in self.path.read_text().splitlines()]


class Reference:
    """The reference workflow on one world, in one life."""

    def __init__(
        self,
        world: World,
        life: Life | None = None,
        nap: float = 60.0,
        linger: float = 0.0,
        watch: Callable[[Deed], None] | None = None,
    ) -> None:
        self._world = world
        self._life = life
        self._nap = nap
        self._linger = linger
        self._watch = watch
        self.look: Act[..., str] = act(name="look", effect="read")(self._look)
        self.send: Act[..., str] = act(name="send")(self._send)
        self.post: Act[..., str] = act(name="post", probe=self._posted)(self._post)
        self.charge: Act[..., str] = act(name="charge", idempotent=True)(self._charge)
        # Patient, for many sessions fail at once and open the breaker for one another.
        self.flaky_look: Act[..., str] = act(name="flaky_look", effect="read", retries=50)(self._flaky_look)
        self.flaky_charge: Act[..., str] = act(name="flaky_charge", idempotent=True, retries=50)(
            self._flaky_charge
        )
        self.flaky_send: Act[..., str] = act(name="flaky_send", retries=50)(self._flaky_send)

    async def reference(self, run: Run) -> dict[str, Json]:
        me = run.session_id
        await run.plan("look", "send", "charge", ("post", "Post it"))
        began = await run.now()
        luck = await run.random()
        seen = await run.step("look", self.look, me, "look")
        sent = await run.step("send", self.send, me, "send")
        charged = await run.step("charge", self.charge, me, "charge")
        posted = await run.step("post", self.post, me, "post")
        sides = await run.parallel("side", [self._first_side, self._second_side, self._third_side], limit=2)
        await run.log("half-way")
        await run.checkpoint("half")
        flaky = [
            await run.step("flaky", self.flaky_look, me, "flaky_look"),
            await run.step("flaky", self.flaky_charge, me, "flaky_charge"),
            await run.step("flaky", self.flaky_send, me, "flaky_send"),
        ]
        colour = await run.ask("colour", "Which colour?", choices=["red", "blue"])
        decided = await run.approve("plan", {"colour": colour, "sent": sent})
        await run.sleep(self._nap)
        last = await run.step("last", self.send, me, "last")
        return {
            "began": began.isoformat(),
            "luck": luck,
            "steps": [seen, sent, charged, posted, last],
            "sides": list[Json](sides),
            "flaky": list[Json](flaky),
            "colour": colour,
            "approved": bool(decided),
        }

    async def _first_side(self, run: Run) -> str:
        seen = await run.step("look", self.look, run.session_id, "first/look")
        return seen + await run.step("send", self.send, run.session_id, "first/send")

    async def _second_side(self, run: Run) -> str:
        charged = await run.step("charge", self.charge, run.session_id, "second/charge")
        return charged + str(await run.ask("size", "Which size?"))

    async def _third_side(self, run: Run) -> str:
        return await run.step("post", self.post, run.session_id, "third/post")

    async def _look(self, session_id: str, what: str) -> str:
        await self._touch("read", session_id, what)
        return f"saw {what}"

    async def _flaky_look(self, session_id: str, what: str) -> str:
        await self._fail_at_first(session_id, what)
        return await self._look(session_id, what)

    async def _send(self, session_id: str, what: str) -> str:
        await self._touch("done", session_id, what)
        return f"sent {what}"

    async def _flaky_send(self, session_id: str, what: str) -> str:
        await self._fail_at_first(session_id, what)
        return await self._send(session_id, what)

    async def _post(self, session_id: str, what: str) -> str:
        await self._touch("done", session_id, what)
        return f"posted {what}"

    async def _posted(self, session_id: str, what: str) -> Probed:
        if self._life is not None:
            await self._life.still_here()
        if happened(self._world, session_id, what):
            return Happened(f"posted {what}")
        return DidNotHappen()

    async def _charge(self, session_id: str, what: str) -> str:
        await self._touch("done", session_id, what)
        return f"charged {what}"

    async def _flaky_charge(self, session_id: str, what: str) -> str:
        await self._fail_at_first(session_id, what)
        return await self._charge(session_id, what)

    async def _fail_at_first(self, session_id: str, what: str) -> None:
        failed = [
            d for d in self._world.deeds() if (d.kind, d.session_id, d.what) == ("failed", session_id, what)
        ]
        if len(failed) < FLAWS:
            await self._touch("failed", session_id, what)
            raise TransientError(f"{what} is not in the mood")

    async def _touch(self, kind: Literal["read", "failed", "done"], session_id: str, what: str) -> None:
        if self._life is not None:
            await self._life.still_here()
        step = this_step()
        deed = Deed(kind, session_id, step.key, what, step.idempotency_key, time.time_ns() // 1000)
        self._world.add(deed)
        if self._watch is not None:
            self._watch(deed)
        await asyncio.sleep(self._linger)


EXPECTED: dict[str, Json] = {
    "steps": ["saw look", "sent send", "charged charge", "posted post", "sent last"],
    "sides": ["saw first/looksent first/send", "charged second/chargelarge", "posted third/post"],
    "flaky": ["saw flaky_look", "charged flaky_charge", "sent flaky_send"],
    "colour": "blue",
    "approved": True,
}
ONCE = ("send", "post", "first/send", "third/post", "flaky_send", "last")
"""What must be done exactly once."""
ONCE_BY_KEY = ("charge", "second/charge", "flaky_charge")
"""What may be done again, but under one idempotency key only."""


def happened(world: World, session_id: str, what: str) -> bool:
    return any((d.kind, d.session_id, d.what) == ("done", session_id, what) for d in world.deeds())


async def attend(
    engine: Engine, session_id: SessionId, world: World, seen: Callable[[Frame], None]
) -> SessionState:
    """Watch a reference session to its end, and be the person it asks: one who tells the truth."""
    watching: AsyncIterator[tuple[SessionState, Frame]] = engine.watch(session_id)
    async with aclosing(watching) as frames:  # pyright: ignore[reportArgumentType]
        async for state, frame in frames:
            seen(frame)
            if state.status in FINAL:
                return state
            for request in list(state.pending.values()):
                await _respond(engine, state, request, world)
    raise AssertionError("a session is watched until it ends")


async def _respond(engine: Engine, state: SessionState, request: Request, world: World) -> None:
    session = engine.session(state.id)
    if request.request_id in (await session.state()).answered:
        return
    if isinstance(request, ApprovalRequested):
        await session.approve(request.request_id)
    elif request.purpose == "in_doubt":
        step = await doubted(engine, state.id, request.request_id)
        await session.answer(_truth(world, state.id, step), request.request_id)
    else:
        await session.answer("blue" if request.kind == "choice" else "large", request.request_id)


def _truth(world: World, session_id: str, key: str) -> Json:
    done = [d for d in world.deeds() if (d.kind, d.session_id, d.key) == ("done", session_id, key)]
    if not done:
        return "did not happen"
    return {"choice": "happened", "output": f"sent {done[0].what}"}
