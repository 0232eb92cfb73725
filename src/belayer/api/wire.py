"""What a client may send over a WebSocket, and how it is answered."""

from datetime import timedelta
from typing import Annotated, Any, Literal, assert_never

import structlog
from pydantic import Field, StrictInt, StrictStr, TypeAdapter, ValidationError
from pydantic_core import to_json

from belayer.api.problems import InternalError, UnfitRequest, problem_response, status_of
from belayer.api.shapes import ApproveBody, MessageBody, PauseBody, RejectBody, RespondBody, StopBody
from belayer.api.strict import strict_json
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
from belayer.vocabulary.errors import BelayerError, RateLimited, Refused
from belayer.vocabulary.events.event import Shape
from belayer.vocabulary.ids import new_reference

_logger = structlog.get_logger()

FrameId = Annotated[StrictStr, Field(max_length=200)] | StrictInt | None


class NotAvailable(Refused):
    """The session's workflow cannot do this."""


class _Sent(Shape):
    """A frame may carry an id, which its answer carries too."""

    id: FrameId = None


class RespondFrame(_Sent):
    """Answer a question."""

    type: Literal["user_response"]
    data: RespondBody


class ApproveFrame(_Sent):
    """Agree to exactly what was shown."""

    type: Literal["approve"]
    data: ApproveBody


class RejectFrame(_Sent):
    """Say no to what was shown."""

    type: Literal["reject"]
    data: RejectBody


class MessageFrame(_Sent):
    """Say something to the session."""

    type: Literal["message"]
    data: MessageBody


class PauseFrame(_Sent):
    """Begin nothing new until somebody resumes."""

    type: Literal["pause"]
    data: PauseBody | None = None


class StopFrame(_Sent):
    """Go on, stop the current step, or end the session for good."""

    type: Literal["resume", "interrupt", "cancel"]
    data: StopBody | None = None


class SummarizeFrame(_Sent):
    """Shorten what the model sees."""

    type: Literal["summarize"]
    data: Annotated[dict[str, Any], Field(max_length=0)] | None = None


class PingFrame(_Sent):
    """See whether somebody is there."""

    type: Literal["ping"]
    data: Annotated[dict[str, Any], Field(max_length=0)] | None = None


ClientFrame = (
    RespondFrame
    | ApproveFrame
    | RejectFrame
    | MessageFrame
    | PauseFrame
    | StopFrame
    | SummarizeFrame
    | PingFrame
)
_READER = TypeAdapter[ClientFrame](Annotated[ClientFrame, Field(discriminator="type")])


def read_frame(content: dict[str, Any]) -> ClientFrame:
    """The frame that this is; UnfitRequest if it is none."""
    try:
        return _READER.validate_python(content)
    except ValidationError as error:
        found = [f"{_place(item['loc'])}: {item['msg']}"[:300] for item in error.errors(include_url=False)]
        raise UnfitRequest(
            f"The frame does not fit: {'; '.join(found[:5])}.", "Correct these, then send it again."
        ) from error


def command_in(frame: ClientFrame) -> Command | None:
    """What the frame asks of the session; None for a ping."""
    match frame:
        case RespondFrame(data=data):
            return Answer(request_id=data.request_id, value=data.value)
        case ApproveFrame(data=data):
            return Approve(**dict(data))
        case RejectFrame(data=data):
            return Reject(request_id=data.request_id, digest=data.digest, reason=data.reason or data.notes)
        case MessageFrame(data=data):
            return Say(text=data.text)
        case PauseFrame(data=data):
            return _pause(data or PauseBody())
        case StopFrame(type=type_, data=data):
            stop = {"resume": Resume, "interrupt": Interrupt, "cancel": Cancel}[type_]
            return stop(reason=data and data.reason)
        case SummarizeFrame():
            raise NotAvailable(
                "This session's workflow keeps no context that could be summarised.", "Go on without it."
            )
        case PingFrame():
            return None
        case _:
            assert_never(frame)


def object_in(text: str) -> dict[str, Any]:
    """The JSON object that the text is; UnfitJson or UnfitRequest if it is none."""
    content = strict_json(text.encode("utf-8", "surrogatepass"))
    if not isinstance(content, dict):
        raise UnfitRequest("A frame must be a JSON object.", 'Send {"type": …, "data": …}.')
    return content


def ack(id_: object) -> str:
    """The answer to a frame that was carried out."""
    return to_json({"type": "ack", "id": _echoed(id_)}).decode()


def refusal(id_: object, error: Exception) -> str:
    """The answer to a frame that was not carried out. What nobody foresaw is in the log, under a reference."""
    status = _status(error)
    if isinstance(error, BelayerError) and status != 500:
        problem = problem_response(error, status)
    else:
        reference = new_reference()
        _logger.error("frame failed", reference=reference, error=type(error).__name__, exc_info=error)
        hidden = InternalError(
            "Something went wrong inside Belayer. Sessions are not harmed.",
            f"Look for {reference} in the log, or tell whoever runs this server.",
        )
        problem = problem_response(hidden, 500, reference=reference)
    told = b'{"type":"error","id":%s,"data":%s}' % (to_json(_echoed(id_)), bytes(problem.body))
    return told.decode()


def _status(error: Exception) -> int:
    if isinstance(error, RateLimited):
        return 429
    return status_of(error) if isinstance(error, BelayerError) else 500


def _echoed(id_: object) -> str | int | None:
    """The id as it came, if it is one."""
    if isinstance(id_, str):
        return id_[:200]
    return id_ if isinstance(id_, int) and not isinstance(id_, bool) else None


def _pause(body: PauseBody) -> Pause:
    timeout = timedelta(seconds=body.timeout) if body.timeout else None
    return Pause(reason=body.reason, timeout=timeout, then=body.then)


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:100] for part in loc) or "type"
