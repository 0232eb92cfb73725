"""Put a session's request to the person behind an MCP client, in the protocol's own way, and read what they said.

Nobody but the person fills in these forms. A client that cannot ask is not asked; a "no" leaves the session waiting.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp import types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import is_version_at_least
from pydantic import ValidationError

from belayer.sessions.state import SessionState
from belayer.vocabulary.commands import Answer, Approve, Reject
from belayer.vocabulary.errors import UnfitAnswer
from belayer.vocabulary.events.event import Json, Shape
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId, SessionId

# From this version on, the client comes back with the answer; before it, the server asks in the middle of the call.
_COMES_BACK = "2026-07-28"
# Clients give up after ten rounds of one call; what is still open then is told instead.
MOST_ROUNDS = 8
# A person must see all of what they approve; what is longer has to be looked at elsewhere.
_MOST_SHOWN = 20_000
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_FIELD_TYPES = ("string", "number", "integer", "boolean")
_FIELD_TEXTS = ("title", "description")
_FIELD_LIMITS = ("minLength", "maxLength", "minimum", "maximum")

Content = dict[str, str | int | float | bool | list[str] | None]


class Carried(Shape):
    """What a call that was answered with a question brings along when it comes back."""

    session_id: SessionId
    request_id: RequestId
    round: int


@dataclass(frozen=True, slots=True)
class Form:
    """A request as the person sees it. The fields are flat, as the protocol wants them."""

    request_id: RequestId
    message: str
    fields: dict[str, Any]
    required: tuple[str, ...]

    def params(self) -> types.ElicitRequestFormParams:
        schema = {"type": "object", "properties": self.fields, "required": list(self.required)}
        return types.ElicitRequestFormParams(message=self.message, requested_schema=schema)


@dataclass(frozen=True, slots=True)
class Person:
    """The person behind one call, as far as the client lets us reach them."""

    context: ServerRequestContext[Any]
    call: types.CallToolRequestParams

    @property
    def carried(self) -> Carried | None:
        """What an earlier round of this call left; it comes sealed, so it is ours."""
        state = self.call.request_state
        return Carried.model_validate_json(state) if state is not None else None

    @property
    def reachable(self) -> bool:
        """Whether the client can put a form to the person."""
        able = self.context.session.client_capabilities
        elicits = able.elicitation if able is not None else None
        if elicits is None or (elicits.form is None and elicits.url is not None):
            return False
        return self._comes_back or self.context.session.can_send_request

    def brings(self, request_id: RequestId) -> bool:
        """Whether the client was sent to get what the person says to this request, and is back."""
        return self.carried is not None and self.carried.request_id == request_id

    async def fill_in(self, session_id: SessionId, form: Form) -> Content | types.InputRequiredResult | None:
        """What the person filled in, None if they would not; or what the client is to come back with."""
        said = self._brought(form) if self._comes_back else await self._asked_now(form)
        if isinstance(said, types.ElicitResult):
            return said.content or {} if said.action == "accept" else None
        if said is None:
            return None
        earlier = self.carried.round if self.carried else 0
        carried = Carried(session_id=session_id, request_id=form.request_id, round=earlier + 1)
        return types.InputRequiredResult(
            input_requests={form.request_id: said}, request_state=carried.model_dump_json()
        )

    @property
    def _comes_back(self) -> bool:
        return is_version_at_least(self.context.protocol_version, _COMES_BACK)

    def _brought(self, form: Form) -> types.ElicitResult | types.ElicitRequest | None:
        """The answer that the client came back with, if it was asked for that; else the question."""
        responses = self.call.input_responses or {}
        given = responses.get(form.request_id) if self.brings(form.request_id) else None
        if given is None:
            return types.ElicitRequest(params=form.params())
        return given if isinstance(given, types.ElicitResult) else None

    async def _asked_now(self, form: Form) -> types.ElicitResult | None:
        params = form.params()
        try:
            return await self.context.session.elicit_form(
                params.message, params.requested_schema, related_request_id=self.context.request_id
            )
        except (MCPError, ValidationError):  # the client said that it could ask, and could not
            return None


def question_form(state: SessionState, request: InputRequested) -> Form | None:
    """The form for a question; None if it cannot be asked in a flat form."""
    if request.kind == "form":
        given = _flat_fields(request.form or {})
        fields, required = given if given is not None else ({}, ())
        if not fields:
            return None
    else:
        fields, required = {"answer": _answer_field(request)}, ("answer",)
    because = [request.problem.detail] if request.problem is not None else []
    lines = [f"{_whose(state)} asks:", *_barred(request.prompt), *_barred(*because)]
    return Form(request.request_id, "\n".join(lines), fields, required)


def approval_form(state: SessionState, request: ApprovalRequested) -> Form:
    """The form for an approval: all of what is shown, or UnfitAnswer if that is too much for a form."""
    shown = json.dumps(request.shown, ensure_ascii=False, indent=2)
    if len(shown) > _MOST_SHOWN:
        raise UnfitAnswer(
            f"What is to be approved has {len(shown):,} characters, which is too much to be shown in a form.",
            f"A person can see and decide it with `belayer approve {state.id}` or in the browser.",
        )
    lines = [f"{_whose(state)} asks for approval of:", *_barred(request.title, shown)]
    lines += [f"Risk: {request.risk}"] if request.risk is not None else []
    lines += ["Why it asks:", *_barred(request.why)] if request.why else []
    lines.append(f"Digest: {request.digest}")
    fields: dict[str, Any] = {
        "decision": {"type": "string", "title": "Decision", "enum": ["approve", "reject"]},
        "notes": {"type": "string", "title": "Notes", "maxLength": 10_000},
    }
    if request.offers is not None:
        rule = f"Until the session ends: {_seen(request.offers.in_words())}"
        fields["remember"] = {"type": "boolean", "title": "Always in this session", "description": rule}
    return Form(request.request_id, "\n".join(lines), fields, ("decision",))


def confirmation_form(state: SessionState, request: InputRequested, value: Json) -> Form:
    """The form for an answer that somebody else would give: the person agrees to it or not."""
    lines = [
        f"{_whose(state)} asks:",
        *_barred(request.prompt),
        "The agent would answer:",
        *_barred(json.dumps(value, ensure_ascii=False, indent=2)),
    ]
    field = {"type": "boolean", "title": "Give this answer"}
    return Form(request.request_id, "\n".join(lines), {"agreed": field}, ("agreed",))


def is_confirmed(content: Content) -> bool:
    return content.get("agreed") is True


def answer_from(request: InputRequested, content: Content) -> Answer:
    """The answer that a filled-in form gives."""
    value = dict(content) if request.kind == "form" else content.get("answer")
    return Answer(request_id=request.request_id, value=cast("Json", value))


def decision_from(request: ApprovalRequested, digest: str, content: Content) -> Approve | Reject:
    """The decision that a filled-in form gives."""
    notes = content.get("notes")
    said = notes[:10_000] if isinstance(notes, str) and notes else None
    match content.get("decision"):
        case "approve":
            remember = "session" if content.get("remember") is True and request.offers is not None else None
            return Approve(request_id=request.request_id, digest=digest, notes=said, remember=remember)
        case "reject":
            return Reject(request_id=request.request_id, digest=digest, reason=said)
        case _:
            raise UnfitAnswer(
                "The form came back without a decision. Nothing was decided.", "Choose approve or reject."
            )


def _answer_field(request: InputRequested) -> dict[str, Any]:
    match request.kind:
        case "confirm":
            return {"type": "boolean", "title": "Answer"}
        case "choice":
            # New parameters do not fit into a flat form: to edit, one answers in another way.
            offered = [one for one in request.choices if request.purpose != "failure" or one != "edit"]
            return {"type": "string", "title": "Answer", "enum": offered}
        case "file":
            return {"type": "string", "title": "File of the workspace"}
        case _:
            return {"type": "string", "title": "Answer"}


def _flat_fields(schema: Mapping[str, Json]) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """The form's fields, with only what the protocol knows; None if one of them is more than a single value."""
    properties = schema.get("properties")
    required = schema.get("required")
    fields: dict[str, Any] = {}
    for name, field in (properties if isinstance(properties, dict) else {}).items():
        if not isinstance(field, dict) or field.get("type") not in _FIELD_TYPES or _seen(name) != name:
            return None
        fields[name] = _flat_field(field)
    wanted = required if isinstance(required, list) else []
    return fields, tuple(name for name in wanted if isinstance(name, str) and name in fields)


def _flat_field(field: Mapping[str, Json]) -> dict[str, Any]:
    kept: dict[str, Any] = {"type": field["type"]}
    kept |= {name: _seen(text) for name in _FIELD_TEXTS if isinstance(text := field.get(name), str)}
    kept |= {name: limit for name in _FIELD_LIMITS if type(limit := field.get(name)) in (int, float)}
    choices = field.get("enum")
    if (
        field["type"] == "string"
        and isinstance(choices, list)
        and all(isinstance(one, str) for one in choices)
    ):
        kept["enum"] = choices
    return kept


def _whose(state: SessionState) -> str:
    return f"Belayer session {state.id} ({_seen(state.title)})"


def _barred(*texts: str) -> Iterable[str]:
    """What the session wrote, with a bar before every line: it cannot pose as ours."""
    return (f"| {_seen(line)}" for text in texts for line in text.replace("\r\n", "\n").split("\n"))


def _seen(text: str) -> str:
    """The text with everything that cannot be seen as itself shown by its number."""
    return "".join(f"<U+{ord(one):04X}>" if unicodedata.category(one) in _UNSEEN else one for one in text)
