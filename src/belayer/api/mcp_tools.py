"""What each MCP tool does with the engine. The same commands as everywhere; nothing is decided here for a person."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from mcp import types

from belayer.api import mcp_about as about
from belayer.api.mcp_arguments import (
    AnswerArguments,
    ApproveArguments,
    EventsArguments,
    ListArguments,
    ResumeArguments,
    StartArguments,
    StatusArguments,
    StopArguments,
    read,
)
from belayer.api.mcp_people import (
    MOST_ROUNDS,
    Form,
    Person,
    answer_from,
    approval_form,
    confirmation_form,
    decision_from,
    is_confirmed,
    question_form,
)
from belayer.api.mcp_results import EventsTold, SessionTold, fitting, session_told
from belayer.api.routes.execution import sessions
from belayer.api.shapes import SessionsPage, StartBody
from belayer.engine import Engine
from belayer.sessions.blobs import whole
from belayer.sessions.state import SessionState
from belayer.settings import Settings
from belayer.vocabulary.commands import Answer, Approve, Cancel, Command, Interrupt, Reject, Resume
from belayer.vocabulary.errors import DigestChanged, UnfitAnswer
from belayer.vocabulary.events.event import Shape, Status
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.wiring import blobs_in

Told = SessionTold | SessionsPage | EventsTold | types.InputRequiredResult

_MOST_BYTES_OF_EVENTS = 200_000
_LEFT_OPEN = "The person did not say anything to this, so the session still waits."


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool as it is listed and called."""

    name: str
    about: str
    takes: type[Shape]
    gives: type[Shape]
    do: Callable[[Any, Person], Awaitable[Told]]
    hints: types.ToolAnnotations


@dataclass(frozen=True, slots=True)
class Counter:
    """Where other agents are served."""

    engine: Engine
    settings: Settings

    def tools(self) -> Sequence[McpTool]:
        """Every tool there is."""
        looks = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        acts = types.ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
        steers = types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        begins = about.START + "\n".join(_signatures(self.engine))
        return (
            McpTool("engine_start", begins, StartArguments, SessionTold, self.start, acts),
            McpTool("engine_status", about.STATUS, StatusArguments, SessionTold, self.status, looks),
            McpTool("engine_list", about.LIST, ListArguments, SessionsPage, self.list, looks),
            McpTool("engine_events", about.EVENTS, EventsArguments, EventsTold, self.events, looks),
            McpTool("engine_answer", about.ANSWER, AnswerArguments, SessionTold, self.answer, acts),
            McpTool("engine_approve", about.APPROVE, ApproveArguments, SessionTold, self.approve, acts),
            McpTool("engine_interrupt", about.INTERRUPT, StopArguments, SessionTold, self.interrupt, steers),
            McpTool("engine_resume", about.RESUME, ResumeArguments, SessionTold, self.resume, acts),
            McpTool("engine_cancel", about.CANCEL, StopArguments, SessionTold, self.cancel, acts),
        )

    async def start(self, given: StartArguments, person: Person) -> Told:
        carried = person.carried
        if carried is not None:
            return await self._attend(carried.session_id, person, given.wait_seconds)
        chosen = {name: getattr(given, name) for name in given.model_fields_set - {"wait_seconds"}}
        body = read(StartBody, chosen, "engine_start")
        session_id = await self.engine.begin(body.command(), most_live=self.settings.max_sessions)
        return await self._attend(session_id, person, given.wait_seconds)

    async def status(self, given: StatusArguments, _person: Person) -> Told:
        session_id = await self.engine.find(given.session_id)
        state = await self._rested(session_id, given.wait_seconds)
        first = max(0, state.seq - given.last_events)
        events = await self.engine.events(session_id, first, given.last_events) if given.last_events else []
        return await self._told(state, events)

    async def list(self, given: ListArguments, _person: Person) -> Told:
        return await sessions(
            self.engine,
            [*given.status],
            given.mode,
            given.workflow,
            given.text,
            given.limit,
            given.cursor,
        )

    async def events(self, given: EventsArguments, _person: Person) -> Told:
        session_id = await self.engine.find(given.session_id)
        last = (await self.engine.row(session_id)).last_seq
        wires = fitting(await self.engine.events(session_id, given.after, given.limit), _MOST_BYTES_OF_EVENTS)
        reached = given.after + len(wires)
        return EventsTold(
            session_id=session_id,
            events=tuple(json.loads(wire) for wire in wires),
            next=reached if wires and reached < last else None,
        )

    async def answer(self, given: AnswerArguments, person: Person) -> Told:
        session_id = await self.engine.find(given.session_id)
        if not _is_settled(person, given.request_id):
            state = await self.engine.state(session_id)
            said = await self._answer(state, given, person)
            if not isinstance(said, Answer):
                return said or await self._told(state, note=_LEFT_OPEN)
            await self.engine.tell(session_id, said)
        return await self._attend(session_id, person, given.wait_seconds)

    async def approve(self, given: ApproveArguments, person: Person) -> Told:
        session_id = await self.engine.find(given.session_id)
        if not _is_settled(person, given.request_id):
            state = await self.engine.state(session_id)
            said = await self._decision(state, given, person)
            if not isinstance(said, Approve | Reject):
                return said or await self._told(state, note=_LEFT_OPEN)
            await self.engine.tell(session_id, said)
        return await self._attend(session_id, person, given.wait_seconds)

    async def interrupt(self, given: StopArguments, _person: Person) -> Told:
        return await self._tell(given, Interrupt(reason=given.reason))

    async def cancel(self, given: StopArguments, _person: Person) -> Told:
        return await self._tell(given, Cancel(reason=given.reason))

    async def resume(self, given: ResumeArguments, person: Person) -> Told:
        session_id = await self.engine.find(given.session_id)
        if person.carried is None:
            await self.engine.tell(session_id, Resume(reason=given.reason))
        return await self._attend(session_id, person, given.wait_seconds)

    async def _tell(self, given: StopArguments, command: Command) -> Told:
        session_id = await self.engine.find(given.session_id)
        return await self._told(await self.engine.tell(session_id, command))

    async def _answer(
        self, state: SessionState, given: AnswerArguments, person: Person
    ) -> Answer | types.InputRequiredResult | None:
        """The answer; what is no mere question has to be the person's own wherever they can be reached."""
        request = state.pending.get(given.request_id)
        plainly = Answer(request_id=given.request_id, value=given.value)
        if not isinstance(request, InputRequested):
            return plainly
        if given.value is None:
            said = await person.fill_in(state.id, _form_or_refusal(state, request, person))
            return answer_from(request, said) if isinstance(said, dict) else said
        if request.purpose == "question" or not person.reachable:
            return plainly
        said = await person.fill_in(state.id, confirmation_form(state, request, given.value))
        if not isinstance(said, dict):
            return said
        return plainly if is_confirmed(said) else None

    async def _decision(
        self, state: SessionState, given: ApproveArguments, person: Person
    ) -> Approve | Reject | types.InputRequiredResult | None:
        """The decision: the person's own wherever they can be reached, whatever the model says they decided."""
        request = state.pending.get(given.request_id)
        if not isinstance(request, ApprovalRequested) or not person.reachable:
            return _as_given(given)
        if request.digest != given.digest:
            raise DigestChanged(
                f"What is to be approved is not what you saw (digest {given.digest}, now {request.digest}).",
                "Look at it again with engine_status, then decide.",
            )
        seen = await self._seen(request)
        said = await person.fill_in(state.id, approval_form(state, seen))
        return decision_from(request, given.digest, said) if isinstance(said, dict) else said

    async def _attend(self, session_id: SessionId, person: Person, seconds: float) -> Told:
        """The session once it rests; what it asks meanwhile is put to the person, if they can be reached."""
        rounds = person.carried.round if person.carried else 0
        while True:
            state = await self._rested(session_id, seconds)
            asked = _question(state, person)
            if asked is None or (rounds >= MOST_ROUNDS and not person.brings(asked[0].request_id)):
                return await self._told(state)
            request, form = asked
            said = await person.fill_in(session_id, form)
            if not isinstance(said, dict):
                return said or await self._told(state, note=_LEFT_OPEN)
            await self.engine.tell(session_id, answer_from(request, said))
            rounds += 1

    async def _rested(self, session_id: SessionId, seconds: float) -> SessionState:
        """The state once nothing happens unless somebody does something, or after so long."""
        try:
            async with asyncio.timeout(seconds):
                while _sleeps(state := await self.engine.settled(session_id)):
                    await self._next_event(state)
                return state
        except TimeoutError:
            return await self.engine.state(session_id)

    async def _next_event(self, state: SessionState) -> None:
        async with aclosing(self.engine.follow(state.id, state.seq)) as frames:
            async for frame in frames:
                if frame.seq is not None:
                    return

    async def _told(
        self, state: SessionState, events: Sequence[bytes] = (), note: str | None = None
    ) -> SessionTold:
        pending = [
            await self._seen(request) if isinstance(request, ApprovalRequested) else request
            for request in state.pending.values()
        ]
        return session_told(state, pending, events, note)

    async def _seen(self, request: ApprovalRequested) -> ApprovalRequested:
        """The request with all that it shows, from wherever that lies."""
        if not request.aside:
            return request
        shown = await whole(blobs_in(self.settings.home), "shown", request.shown, request.aside)
        return request.model_copy(update={"shown": shown, "aside": None})


def _is_settled(person: Person, request_id: RequestId) -> bool:
    """Whether an earlier round of this call has settled the request, and went on to another."""
    return person.carried is not None and not person.brings(request_id)


def _question(state: SessionState, person: Person) -> tuple[InputRequested, Form] | None:
    """The first thing that the session waits for and that the person can be asked now."""
    if state.status is not Status.WAITING or not person.reachable:
        return None
    for request in state.pending.values():
        if isinstance(request, InputRequested) and (form := question_form(state, request)) is not None:
            return request, form
    return None


def _form_or_refusal(state: SessionState, request: InputRequested, person: Person) -> Form:
    form = question_form(state, request) if person.reachable else None
    if form is None:
        raise UnfitAnswer(
            "There is no value, and this client cannot put the question to a person.",
            "Ask the person yourself, then call engine_answer with what they said as value.",
        )
    return form


def _as_given(given: ApproveArguments) -> Approve | Reject:
    if given.approved:
        return Approve(
            request_id=given.request_id, digest=given.digest, notes=given.notes, remember=given.remember
        )
    return Reject(request_id=given.request_id, digest=given.digest, reason=given.notes)


def _sleeps(state: SessionState) -> bool:
    return state.status is Status.WAITING and state.wake_at is not None and not state.pending


def _signatures(engine: Engine) -> Iterator[str]:
    """What a plan's steps can use, on a line each: `?` marks what may be left out."""
    for tool in engine.toolbox.tools():
        schema = tool.params.model_json_schema()
        needed = schema.get("required", ())
        takes = ", ".join(name if name in needed else f"{name}?" for name in schema.get("properties", ()))
        yield f"- {tool.name}({takes}): {tool.about}"
