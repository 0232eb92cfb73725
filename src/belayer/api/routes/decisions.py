"""Answer, approve, stop, go on: what a person says to a session."""

from datetime import timedelta

from fastapi import APIRouter

from belayer.api.asked import TheEngine, TheSession
from belayer.api.shapes import ApproveBody, MessageBody, PauseBody, RejectBody, RespondBody, StopBody
from belayer.api.strict import StrictRoute
from belayer.sessions.view import SessionView, view
from belayer.vocabulary.commands import (
    Answer,
    Approve,
    Cancel,
    Command,
    Interrupt,
    Pause,
    Reject,
    Resume,
    Say,
)

router = APIRouter(prefix="/api/execution/sessions/{session_id}", tags=["decisions"], route_class=StrictRoute)


@router.post("/respond")
async def respond(body: RespondBody, engine: TheEngine, session_id: TheSession) -> SessionView:
    """Answer a question. The same answer again changes nothing."""
    return view(await engine.tell(session_id, Answer(request_id=body.request_id, value=body.value)))


@router.post("/approve")
async def approve(body: ApproveBody, engine: TheEngine, session_id: TheSession) -> SessionView:
    """Agree to exactly what was shown."""
    return view(await engine.tell(session_id, Approve(**dict(body))))


@router.post("/reject")
async def reject(body: RejectBody, engine: TheEngine, session_id: TheSession) -> SessionView:
    """Say no to what was shown."""
    command = Reject(request_id=body.request_id, digest=body.digest, reason=body.reason or body.notes)
    return view(await engine.tell(session_id, command))


@router.post("/pause")
async def pause(engine: TheEngine, session_id: TheSession, body: PauseBody | None = None) -> SessionView:
    """Begin nothing new until somebody resumes."""
    body = body or PauseBody()
    timeout = timedelta(seconds=body.timeout) if body.timeout else None
    return await _told(engine, session_id, Pause(reason=body.reason, timeout=timeout, then=body.then))


@router.post("/resume")
async def resume(engine: TheEngine, session_id: TheSession, body: StopBody | None = None) -> SessionView:
    """Go on."""
    return await _told(engine, session_id, Resume(reason=body and body.reason))


@router.post("/interrupt")
async def interrupt(engine: TheEngine, session_id: TheSession, body: StopBody | None = None) -> SessionView:
    """Stop the current step now."""
    return await _told(engine, session_id, Interrupt(reason=body and body.reason))


@router.post("/cancel")
async def cancel(engine: TheEngine, session_id: TheSession, body: StopBody | None = None) -> SessionView:
    """End the session for good."""
    return await _told(engine, session_id, Cancel(reason=body and body.reason))


@router.post("/message")
async def message(body: MessageBody, engine: TheEngine, session_id: TheSession) -> SessionView:
    """Say something to a session; it is taken up where the session next listens."""
    return await _told(engine, session_id, Say(text=body.text))


async def _told(engine: TheEngine, session_id: TheSession, command: Command) -> SessionView:
    return view(await engine.tell(session_id, command))
