"""Go back, branch off, carry away and bring in."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from belayer.api.asked import TheEngine, TheSession
from belayer.api.shapes import (
    CheckpointBody,
    CheckpointListed,
    Checkpoints,
    FileChange,
    ForkBody,
    RewindBody,
    RewindPreview,
    Started,
)
from belayer.api.strict import MOST_BYTES_IMPORTED, StrictRequest, StrictRoute
from belayer.engine import Engine
from belayer.sessions.view import SessionView, view
from belayer.vocabulary.commands import Fork, MakeCheckpoint, Rewind
from belayer.vocabulary.errors import BadCursor
from belayer.vocabulary.events.event import StepStatus
from belayer.vocabulary.ids import SessionId


class LargeRequest(StrictRequest):
    """A session's file may be large."""

    most_bytes = MOST_BYTES_IMPORTED


class LargeRoute(StrictRoute):
    """A route that takes large requests."""

    request_class = LargeRequest


# What a browser draws without running anything; SVG is not among them.
_PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_HARMLESS = {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}

router = APIRouter(prefix="/api/execution", tags=["history"], route_class=StrictRoute)
importing = APIRouter(prefix="/api/execution", tags=["history"], route_class=LargeRoute)


@router.get("/sessions/{session_id}/checkpoints")
async def checkpoints(engine: TheEngine, session_id: TheSession) -> Checkpoints:
    """Where a session can go back to: every step that ended, and every place with a name."""
    state = await engine.state(session_id)
    steps = [
        CheckpointListed(seq=step.seq, name=step.key, kind="step")
        for step in state.steps.values()
        if step.status is StepStatus.COMPLETED and step.seconds is not None
    ]
    named = [CheckpointListed(seq=seq, name=name, kind="named") for seq, name in state.checkpoints.items()]
    return Checkpoints(checkpoints=tuple(sorted([*steps, *named], key=lambda one: one.seq)))


@router.post("/sessions/{session_id}/checkpoints", status_code=201)
async def make_checkpoint(body: CheckpointBody, engine: TheEngine, session_id: TheSession) -> SessionView:
    """Give the place where a session is now a name."""
    return view(await engine.tell(session_id, MakeCheckpoint(name=body.name)))


@router.get("/sessions/{session_id}/rewind")
async def rewind_preview(
    engine: TheEngine, session_id: TheSession, seq: Annotated[int, Query(ge=1, le=2**53)]
) -> RewindPreview:
    """What a rewind would do to the files."""
    row = await engine.row(session_id)
    if seq >= row.last_seq:
        raise BadCursor(
            f"Session {session_id} has {row.last_seq} events, so it cannot go back to {seq}.",
            "Choose an event before its last.",
        )
    changes = await engine.files_after(session_id, seq)
    return RewindPreview(
        changes=tuple(FileChange(path=one.path, kind=one.kind, why=one.why) for one in changes)
    )


@router.post("/sessions/{session_id}/rewind")
async def rewind(body: RewindBody, engine: TheEngine, session_id: TheSession) -> SessionView:
    """Go back to just after an event, files and all. The session is paused then."""
    return view(await engine.tell(session_id, Rewind(seq=body.seq, files=body.files)))


@router.post("/sessions/{session_id}/fork", status_code=201)
async def fork(engine: TheEngine, session_id: TheSession, body: ForkBody | None = None) -> Started:
    """Begin another session with the same past."""
    return await _started(engine, await engine.fork(Fork(session_id=session_id, seq=body and body.seq)))


@router.get(
    "/sessions/{session_id}/export",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def export(engine: TheEngine, session_id: TheSession) -> Response:
    """The whole session as one file."""
    name = f'attachment; filename="{session_id}.json"'
    return Response(
        await engine.export(session_id), media_type="application/json", headers={"Content-Disposition": name}
    )


@router.get(
    "/sessions/{session_id}/artifacts/{name}",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
async def artifact(
    engine: TheEngine, session_id: TheSession, name: Annotated[str, Path(max_length=200)]
) -> Response:
    """Something that the session made. Pictures can be shown; whatever else it is, it is only ever saved."""
    media_type, content = await engine.artifact(session_id, name)
    shown = media_type in _PICTURES
    return Response(
        content,
        media_type=media_type if shown else "application/octet-stream",
        headers={"Content-Disposition": "inline" if shown else f'attachment; filename="{name}"', **_HARMLESS},
    )


@importing.post(
    "/import",
    status_code=201,
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
    },
)
async def import_(request: Request, engine: TheEngine) -> Started:
    """Take in a session's file. The session is paused until somebody resumes it."""
    return await _started(engine, await engine.take_in(await request.body()))


async def _started(engine: Engine, session_id: SessionId) -> Started:
    row = await engine.row(session_id)
    return Started(
        session_id=row.id, status=row.status, mode=row.mode, title=row.title, workflow=row.workflow
    )
