"""Where a session and a person meet: requests and answers."""

from typing import Literal

from belayer.vocabulary.events.event import Event, Json
from belayer.vocabulary.ids import RequestId

Kind = Literal["text", "choice", "confirm", "form", "file"]
Purpose = Literal["question", "in_doubt", "budget"]


class InputRequested(Event):
    """The session needs something only a person can say."""

    type: Literal["request_input"] = "request_input"
    request_id: RequestId
    key: str
    prompt: str
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    form: dict[str, Json] | None = None
    purpose: Purpose = "question"


class ApprovalRequested(Event):
    """The session shows something and goes on only if a person agrees to exactly that."""

    type: Literal["approval_request"] = "approval_request"
    request_id: RequestId
    key: str
    title: str
    shown: Json = None
    digest: str


class Responded(Event):
    """A person answered a question or decided on an approval."""

    type: Literal["user_response"] = "user_response"
    request_id: RequestId
    value: Json = None
    approved: bool | None = None
    digest: str | None = None
    notes: str | None = None
    remember: Literal["session"] | None = None
