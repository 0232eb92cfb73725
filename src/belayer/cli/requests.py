"""What a session asks of a person, as text, and how to answer it from a command line."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from rich.text import Text

from belayer.cli.calls import barred, call_lines, is_call
from belayer.cli.desk import Desk
from belayer.cli.recovery import failure_lines
from belayer.cli.safe_text import safe_block, safe_line
from belayer.cli.wording import pretty
from belayer.sessions.state import Request, SessionState
from belayer.vocabulary.errors import UnknownRequest
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId

_SHORTEST = 8
_LABELS = {"question": "? ", "in_doubt": "? In doubt: ", "budget": "? Budget: "}
_EDIT = '{"choice": "edit", "params": {…}}'


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, what an approval shows, what a failed step was given, and the command that shows all of it."""

    request: Request
    shown: Json = None
    params: dict[str, Json] | None = None
    see_all: str | None = None


def shown_lines(asked: Asked, *, full: bool = False) -> Iterator[Text]:
    """The request for a person to read. What the session wrote has a bar before every line: it cannot pose as ours."""
    request = asked.request
    if isinstance(request, ApprovalRequested):
        yield from _approval_lines(request, asked.shown, None if full else asked.see_all)
    elif request.purpose == "failure":
        yield from failure_lines(request)
    else:
        first, *rest = safe_block(request.prompt).split("\n")
        yield Text.assemble((_LABELS[request.purpose], "bold yellow"), (first, "bold"))
        yield from barred("\n".join(rest)) if rest else ()
        for number, choice in enumerate(request.choices, 1):
            yield Text.assemble((f"  {number}. ", "cyan"), safe_line(choice))


def _approval_lines(request: ApprovalRequested, shown: Json, see_all: str | None) -> Iterator[Text]:
    yield Text.assemble(("? Approval: ", "bold yellow"), (safe_line(request.title), "bold"))
    if is_call(request, shown):
        yield from call_lines(request, cast("dict[str, Json]", shown), see_all)
    else:
        yield from barred(pretty(shown))
    yield Text(f"  digest {request.digest}", style="bright_black")


def how_to_answer(desk: Desk, state: SessionState, request: Request) -> list[str]:
    """The commands that answer the request."""
    which = ["--request", request.request_id] if len(state.pending) > 1 else []
    if isinstance(request, ApprovalRequested):
        seen = ["--digest", request.digest]
        always = [desk.command("approve", state.id, "--remember", *seen, *which)] if request.offers else []
        return [
            desk.command("approve", state.id, *seen, *which),
            *always,
            desk.command("reject", state.id, "--reason", "…", *which),
        ]
    if request.purpose == "failure":
        values = [_EDIT if choice == "edit" else choice for choice in request.choices]
        return [desk.command("answer", state.id, value, *which) for value in values]
    return [desk.command("answer", state.id, _example(request), *which)]


def _example(request: InputRequested) -> str:
    match request.kind:
        case "text":
            return "TEXT"
        case "file":
            return "FILE"
        case "confirm":
            return "yes"
        case "choice":
            return request.choices[0] if request.choices else "CHOICE"
        case "form":
            return "JSON"


def the_request(desk: Desk, state: SessionState, wanted: str | None, kind: type[Request]) -> RequestId:
    """The request that is meant: the named one, or the only open one of its kind."""
    if wanted is not None:
        return _named(state, wanted)
    fitting = [request for request in state.pending.values() if isinstance(request, kind)]
    if len(fitting) == 1:
        return fitting[0].request_id
    raise _not_one(desk, state, fitting or list(state.pending.values()))


def _named(state: SessionState, wanted: str) -> RequestId:
    known = [*state.pending, *state.answered]
    found = [id_ for id_ in known if id_ == wanted]
    found = found or [id_ for id_, request in state.pending.items() if request.key == wanted]
    if not found and len(wanted) >= _SHORTEST:
        found = [id_ for id_ in known if id_.startswith(wanted)]
    return found[0] if len(found) == 1 else RequestId(wanted)


def _not_one(desk: Desk, state: SessionState, open_: list[Request]) -> UnknownRequest:
    look = f"See what it asks with `{desk.command('show', state.id)}`."
    if not open_:
        return UnknownRequest(f"Session {state.id} asks nothing now (it is {state.status}).", look)
    if len(open_) == 1:
        other = "reject or approve it" if isinstance(open_[0], ApprovalRequested) else "answer it"
        return UnknownRequest(f"Session {state.id} asks something else: {other}.", look)
    names = "; ".join(f"{request.key} ({request.request_id})" for request in open_)
    return UnknownRequest(
        f"Session {state.id} has {len(open_)} open requests: {names}.", "Say which with --request KEY."
    )
