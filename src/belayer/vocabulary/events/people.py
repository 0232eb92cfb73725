"""Where a session and a person meet: requests and answers."""

from typing import Literal

from belayer.vocabulary.errors import Problem
from belayer.vocabulary.events.event import Event, Json
from belayer.vocabulary.ids import RequestId
from belayer.vocabulary.rules import Risk, Rule

Kind = Literal["text", "choice", "confirm", "form", "file"]
Purpose = Literal["question", "in_doubt", "budget", "failure"]


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
    problem: Problem | None = None
    impact: str | None = None


class ApprovalRequested(Event):
    """The session shows something and goes on only if a person agrees to exactly that."""

    type: Literal["approval_request"] = "approval_request"
    request_id: RequestId
    key: str
    title: str
    shown: Json = None
    digest: str
    why: str | None = None
    risk: Risk | None = None
    targets: dict[str, str | None] | None = None
    offers: Rule | None = None
    replaces: RequestId | None = None


class Said(Event):
    """A person told the session something without being asked."""

    type: Literal["message"] = "message"
    text: str


class Responded(Event):
    """A person answered a question or decided on an approval."""

    type: Literal["user_response"] = "user_response"
    request_id: RequestId
    value: Json = None
    approved: bool | None = None
    digest: str | None = None
    notes: str | None = None
    remember: Literal["session"] | None = None
