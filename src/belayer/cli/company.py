"""Go along with a session until it rests: show what it does, ask what it asks, say how it ended."""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from belayer.cli.desk import Desk
from belayer.cli.ending import tell_ending
from belayer.cli.exits import exit_for
from belayer.cli.people import Later, decide_at
from belayer.cli.reading import asked_now, is_driven
from belayer.cli.targets import Code
from belayer.cli.tellers import telling
from belayer.engine import Engine
from belayer.sessions.state import Request, SessionState
from belayer.vocabulary.commands import Command
from belayer.vocabulary.errors import DigestChanged, Refused
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import RequestId, SessionId

_MOVING = (Status.QUEUED, Status.RUNNING)


async def drive_on(desk: Desk, session_id: SessionId, code: Code | None, *, after: int = 0) -> int:
    """Go along with the session until it rests, from after the cursor on; the exit code.

    With its code it is driven here, unless a living process does that already; without, it is only followed.
    """
    resume = desk.command("resume", session_id)
    desk.when_stopped = f"Stopped. The session is kept; go on with: {resume}"
    async with desk.engine("none" if code is None else {session_id}, *(code or ())) as engine:
        state = await Company(desk, engine, session_id).stay(after)
    await tell_ending(desk, state, asked=desk.screen.interactive and state.status is Status.WAITING)
    return exit_for(state.status)


@dataclass(slots=True)
class Company:
    """A person beside one session."""

    desk: Desk
    engine: Engine
    session_id: SessionId
    heading: bool = True

    async def stay(self, after: int) -> SessionState:
        """The state in which it rests."""
        await self._say_who_drives()
        while True:
            state = await self._until_rest(after)
            after = state.seq
            if not state.pending or not self.desk.screen.interactive or state.status is not Status.WAITING:
                return state
            try:
                for request in list(state.pending.values()):
                    await self._settle(state, request)
            except Later:
                return state

    async def _until_rest(self, after: int) -> SessionState:
        desk = self.desk
        state = await self.engine.state(self.session_id)
        known = state.seq
        async with (
            telling(desk.screen, state, heading=self.heading) as teller,
            aclosing(self.engine.watch(self.session_id)) as frames,
        ):
            self.heading, desk.notices.show = False, teller.notice
            try:
                async for state, frame in frames:
                    if frame.seq is None or frame.seq > after:
                        teller.hear(state, frame)
                    if state.seq >= known and rests(state):
                        return state
            except asyncio.CancelledError:
                teller.notice("Stopping: the current step gets its grace. Ctrl-C again stops at once.")
                raise
            finally:
                desk.notices.show = None
        return state

    async def _settle(self, state: SessionState, request: Request) -> None:
        """Have one request answered: here, or by somebody who was faster elsewhere."""
        asked = await asked_now(self.desk, state, request, await self.engine.records(self.session_id))
        while True:
            command = await self._said(decide_at(self.desk.screen, asked), request.request_id)
            if command is None:
                self.desk.screen.say()
                self.desk.screen.warn("This has been settled elsewhere in the meantime.")
                return
            try:
                await self.engine.tell(self.session_id, command)
            except DigestChanged as error:  # the session asks again, with what is there now
                self.desk.screen.trouble(error.problem())
                return
            except Refused as error:
                self.desk.screen.trouble(error.problem())
            else:
                return

    async def _said(self, deciding: Coroutine[Any, Any, Command], request_id: RequestId) -> Command | None:
        """What the person says, or None when the request is no longer open before they have said it."""
        mine, others = asyncio.create_task(deciding), asyncio.create_task(self._gone(request_id))
        try:
            await asyncio.wait({mine, others}, return_when=asyncio.FIRST_COMPLETED)
            return mine.result() if mine.done() else None
        finally:
            mine.cancel()
            others.cancel()

    async def _gone(self, request_id: RequestId) -> None:
        known = (await self.engine.state(self.session_id)).seq
        async with aclosing(self.engine.watch(self.session_id)) as frames:
            async for state, _ in frames:
                if state.seq >= known and request_id not in state.pending:
                    return

    async def _say_who_drives(self) -> None:
        row = await self.engine.row(self.session_id)
        if is_driven(self.desk.home, row):
            self.desk.screen.say("Another process drives this session; following it.", style="bright_black")


def rests(state: SessionState) -> bool:
    """Whether nothing will happen unless somebody does something. A session that sleeps will go on by itself."""
    if state.status in _MOVING:
        return False
    sleeps = state.status is Status.WAITING and state.wake_at is not None
    return not sleeps or bool(state.pending)
