"""Several sessions over one WebSocket, as a chat: the same log, the same commands, in other frames.

What was not shown on a connection cannot be approved over it.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self, assert_never

from fastapi import APIRouter, FastAPI, WebSocket, WebSocketDisconnect
from pydantic import Field, StrictBool, StrictInt, TypeAdapter, ValidationError, model_validator
from pydantic_core import from_json, to_json

from belayer.api.asked import TheEngine, TheSettings
from belayer.api.cursor import cursor_in
from belayer.api.fanout import BROKEN, RESTART, Backlog, Batch, Ending, Fanout
from belayer.api.line import EXTENSION, Line
from belayer.api.problems import NoSuchAddress, UnfitRequest, problem_response
from belayer.api.shapes import TheRequest
from belayer.api.socket import BYTES_LIKE_A_FRAME, FRAMES_A_SECOND, FRAMES_AT_ONCE, Allowance, Direct
from belayer.api.strict import strict_json
from belayer.api.wire import refusal
from belayer.engine import Engine
from belayer.vocabulary.commands import Approve, Cancel, Reject, Say, Start, Text
from belayer.vocabulary.errors import (
    BelayerError,
    RateLimited,
    TooManySessions,
    UnknownRequest,
    UnknownWorkflow,
)
from belayer.vocabulary.events.event import Shape
from belayer.vocabulary.ids import RequestId, SessionId

router = APIRouter()

_CHANGE = "change"
_MOST_FOLLOWED = 100

Named = Annotated[str, Field(min_length=1, max_length=200)]


def stream_chat(app: FastAPI, fanout: Fanout) -> None:
    """Have the app chat over this fan-out. To be called last: any socket that no route has is refused from here on."""
    app.state.fanout = fanout
    app.include_router(router)


class ChatMessage(Shape):
    """Something to say: to a session, which is followed from then on, or to begin a code change."""

    message: Text
    repo_url: Annotated[str, Field(max_length=2_000)] | None = None
    session_id: Named | None = None
    after: Annotated[StrictInt, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.session_id is None and not (self.message.strip() and self.repo_url):
            raise ValueError("a new change needs a message and a repo_url; one that is there, its session_id")
        if self.session_id is None and self.after is not None:
            raise ValueError("after is a place in a session; give its session_id too")
        return self


class PlanApproval(Shape):
    """A yes to a plan as it was shown here, or a no."""

    session_id: Named
    plan_id: TheRequest
    approved: StrictBool
    notes: Text | None = None


class PlanRejection(Shape):
    """A no to a plan."""

    session_id: Named
    plan_id: TheRequest
    reason: Text


class Cancellation(Shape):
    """The end of a session for good."""

    session_id: Named


class ChatMessageFrame(Shape):
    event: Literal["chat_message"]
    data: ChatMessage


class ApprovePlanFrame(Shape):
    event: Literal["approve_plan"]
    data: PlanApproval


class RejectPlanFrame(Shape):
    event: Literal["reject_plan"]
    data: PlanRejection


class CancelRequestFrame(Shape):
    event: Literal["cancel_request"]
    data: Cancellation


ChatFrame = ChatMessageFrame | ApprovePlanFrame | RejectPlanFrame | CancelRequestFrame
_READER = TypeAdapter[ChatFrame](Annotated[ChatFrame, Field(discriminator="event")])


@router.websocket("/ws/chat")
async def chat(websocket: WebSocket, engine: TheEngine, settings: TheSettings) -> None:
    """Talk with any number of sessions, until the client goes."""
    await websocket.accept()
    line: Line | None = websocket.scope.get("extensions", {}).get(EXTENSION)
    outlet = Backlog() if line is None else Direct(line)
    fanout: Fanout = websocket.app.state.fanout
    try:
        async with asyncio.TaskGroup() as group:
            talk = _Chat(websocket, engine, settings.max_sessions, fanout, outlet, group)
            sending = group.create_task(_send_on(websocket, outlet))
            fanout.attend(talk.end)
            try:
                await talk.listen()
            finally:
                fanout.dismiss(talk.end)
                talk.leave()
                sending.cancel()
    except* WebSocketDisconnect:
        pass


@router.websocket("/{path:path}")
async def nowhere(websocket: WebSocket) -> None:
    """Refuse a socket that there is none of, before the handshake, as HTTP refuses an address."""
    problem = NoSuchAddress("There is no socket at this address.", "Use /ws/execution/SESSION or /ws/chat.")
    await websocket.send_denial_response(problem_response(problem, 404))


async def _send_on(websocket: WebSocket, outlet: Backlog | Direct) -> None:
    """Send what comes, unless the outlet does so by itself."""
    if isinstance(outlet, Backlog):
        async for batch in outlet.batches():
            for _, frame in batch.told if batch else ():
                await websocket.send_text(frame.decode())
        if outlet.ending is not None:
            await websocket.close(outlet.ending.code, outlet.ending.reason)


@dataclass(eq=False, slots=True)
class _Chat:
    """One connection: the sessions it follows, and the digest of every approval that it was shown."""

    websocket: WebSocket
    engine: Engine
    most_live: int
    fanout: Fanout
    outlet: Backlog | Direct
    group: asyncio.TaskGroup
    followed: dict[SessionId, "_Followed"] = field(default_factory=dict[SessionId, "_Followed"])
    shown: dict[tuple[SessionId, RequestId], str] = field(
        default_factory=dict[tuple[SessionId, RequestId], str]
    )
    over: bool = False

    async def listen(self) -> None:
        """Carry out what the client sends, one frame after the other, until it goes."""
        await self.send(_status("connected", "Belayer is here."))
        allowance = Allowance(FRAMES_A_SECOND, FRAMES_AT_ONCE)
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text: str | None = message.get("text")
            size = len(text or message.get("bytes") or "")
            allowed = allowance.takes(1 + size // BYTES_LIKE_A_FRAME, asyncio.get_running_loop().time())
            await self._answer(text, allowed=allowed)

    def leave(self) -> None:
        """Follow nothing any more."""
        for followed in self.followed.values():
            followed.leave()

    async def send(self, frame: bytes) -> None:
        """Send it at the client's pace."""
        await self.websocket.send_text(frame.decode())

    def tell(self, frame: bytes) -> None:
        """Send it without waiting; a client that is too slow misses it."""
        self.outlet.take(Batch([(None, frame)]))

    def end(self, ending: Ending) -> None:
        """Close the connection, however many sessions say so."""
        if not self.over:
            self.over = True
            if ending is RESTART:
                self.tell(_status("disconnected", "The server stops. Come back in a moment."))
            self.outlet.end(ending)

    async def _answer(self, text: str | None, *, allowed: bool) -> None:
        content: dict[str, Any] = {}
        try:
            if text is None:
                raise UnfitRequest("A frame must be text; this one was binary.", "Send JSON as a text frame.")
            if allowed or len(text) < BYTES_LIKE_A_FRAME:
                content = _object_in(text)
            if not allowed:
                raise RateLimited(
                    f"More than {FRAMES_A_SECOND} frames a second came; this one was not carried out.",
                    "Wait a second, then send it again.",
                )
            await self._carry_out(_frame_in(content))
        except WebSocketDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 - the API's own door: a frame never ends the connection
            await self.send(_error(error, _session_named(content)))

    async def _carry_out(self, frame: ChatFrame) -> None:
        match frame:
            case ChatMessageFrame(data=said):
                if said.session_id is None:
                    await self._begin(said)
                else:
                    await self._say(said, await self.engine.find(said.session_id))
            case ApprovePlanFrame(data=data):
                await self._decide(data.session_id, data.plan_id, data.notes, approved=data.approved)
            case RejectPlanFrame(data=data):
                await self._decide(data.session_id, data.plan_id, data.reason, approved=False)
            case CancelRequestFrame(data=data):
                await self.engine.tell(await self.engine.find(data.session_id), Cancel())
            case _:
                assert_never(frame)

    async def _begin(self, said: ChatMessage) -> None:
        self._refuse_more()
        given = Start(workflow=_CHANGE, input={"message": said.message, "repo_url": said.repo_url})
        try:
            session_id = await self.engine.begin(given, most_live=self.most_live)
        except UnknownWorkflow as error:
            raise UnknownWorkflow(
                "Code cannot be changed by this version: it has no workflow for that. Nothing was started.",
                "Give the session_id of a session that is there, or start a plan: POST /api/execution/start.",
            ) from error
        await self._follow(session_id, 0)

    async def _say(self, said: ChatMessage, session_id: SessionId) -> None:
        """Follow the session, anew if the client says from where; then tell it, if there is anything to tell."""
        if session_id not in self.followed or said.after is not None:
            await self._follow(session_id, await cursor_in(self.engine, session_id, said.after))
        if said.message:
            await self.engine.tell(session_id, Say(text=said.message))

    async def _decide(self, named: str, plan_id: RequestId, why: str | None, *, approved: bool) -> None:
        """Decide on exactly what this connection was shown: the client does not say what it saw."""
        session_id = await self.engine.find(named)
        digest = self.shown.get((session_id, plan_id))
        if digest is None:
            raise UnknownRequest(
                f"Session {session_id} has shown no plan {plan_id} on this connection. Nothing was decided.",
                'Send a chat_message with its session_id and "after": 0 to be shown everything, then decide.',
            )
        if approved:
            command = Approve(request_id=plan_id, digest=digest, notes=why)
        else:
            command = Reject(request_id=plan_id, digest=digest, reason=why)
        await self.engine.tell(session_id, command)

    async def _follow(self, session_id: SessionId, after: int) -> None:
        earlier = self.followed.pop(session_id, None)
        if earlier is not None:
            earlier.leave()
        self._refuse_more()
        await self.send(_status("connected", "Its events follow.", session_id))
        followed = self.followed[session_id] = _Followed(self, session_id)
        followed.begin(after)

    def _refuse_more(self) -> None:
        if len(self.followed) >= _MOST_FOLLOWED:
            raise TooManySessions(
                f"This connection follows {_MOST_FOLLOWED} sessions, which is as many as it may.",
                "Open another connection for more.",
            )


@dataclass(eq=False, slots=True)
class _Followed:
    """One session of a chat: an outlet of the fan-out whose frames share the chat's connection."""

    chat: _Chat
    session_id: SessionId
    _catching_up: asyncio.Task[None] | None = None

    def begin(self, after: int) -> None:
        self._catching_up = self.chat.group.create_task(self._catch_up(after))

    def leave(self) -> None:
        if self._catching_up is not None:
            self._catching_up.cancel()
        self.chat.fanout.leave(self.session_id, self)

    def take(self, batch: Batch) -> bool:
        if not self.chat.outlet.take(Batch([(seq, _update(wire)) for seq, wire in batch.told])):
            return False
        for seq, wire in batch.told:
            self._note(seq, wire)
        return True

    def end(self, ending: Ending) -> None:
        """A log that cannot be read ends only this; a client that is too slow, or a server that stops, the chat."""
        if ending is BROKEN:
            self.chat.tell(_status("error", ending.reason, self.session_id))
            self._forget()
        else:
            self.chat.end(ending)

    async def _catch_up(self, after: int) -> None:
        """Send what was missed, at the client's pace."""
        try:
            async with aclosing(self.chat.fanout.missed(self.session_id, after, self)) as missed:
                async for batch in missed:
                    for seq, wire in batch.told:
                        await self.chat.send(_update(wire))
                        self._note(seq, wire)
        except BelayerError as error:
            await self.chat.send(_error(error, self.session_id))
            self.end(BROKEN)

    def _note(self, seq: int | None, envelope: bytes) -> None:
        """Remember what the client was shown for approval. What passes and is not kept asks for nothing."""
        if seq is None or b'"approval_request"' not in envelope:
            return
        match from_json(envelope):
            case {"type": "approval_request", "data": {"request_id": str(request_id), "digest": str(digest)}}:
                self.chat.shown[self.session_id, RequestId(request_id)] = digest
            case _:
                pass  # another event that only speaks of one

    def _forget(self) -> None:
        """The client may join it again."""
        if self.chat.followed.get(self.session_id) is self:
            del self.chat.followed[self.session_id]


def _update(envelope: bytes) -> bytes:
    """The envelope, byte for byte, in a frame of the chat."""
    return b'{"event":"agent_update","data":%s}' % envelope


def _status(
    status: Literal["connected", "disconnected", "error"], message: str, session_id: SessionId | None = None
) -> bytes:
    told = {"status": status, "message": message, "session_id": session_id}
    return to_json({"event": "connection_status", "data": told})


def _error(error: Exception, session_id: str | None) -> bytes:
    """The problem as the execution socket tells it, and whose it is."""
    problem = from_json(refusal(None, error))["data"]
    return to_json({"event": "error", "data": {**problem, "session_id": session_id}})


def _object_in(text: str) -> dict[str, Any]:
    content = strict_json(text.encode("utf-8", "surrogatepass"))
    if not isinstance(content, dict):
        raise UnfitRequest("A frame must be a JSON object.", 'Send {"event": …, "data": …}.')
    return content


def _frame_in(content: dict[str, Any]) -> ChatFrame:
    """The frame that this is; UnfitRequest if it is none."""
    try:
        return _READER.validate_python(content)
    except ValidationError as error:
        found = [f"{_place(item['loc'])}: {item['msg']}"[:300] for item in error.errors(include_url=False)]
        raise UnfitRequest(
            f"The frame does not fit: {'; '.join(found[:5])}.", "Correct these, then send it again."
        ) from error


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:100] for part in loc) or "event"


def _session_named(content: dict[str, Any]) -> str | None:
    """The session that a frame is about, as the client named it."""
    match content:
        case {"data": {"session_id": str(named)}}:
            return named[:200]
        case _:
            return None
