"""Say what a session asked for: answer, approve, reject. Then go on with it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import typer

from belayer.cli.company import drive_on
from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Detach, Home, NoInput, Reason, RequestName, SessionPrefix
from belayer.cli.outcome import tell_status
from belayer.cli.people import Later, ask
from belayer.cli.reading import asked_now
from belayer.cli.requests import Asked, shown_lines, the_request
from belayer.cli.targets import Code, code_named
from belayer.cli.values import answer_from, json_or_text, unfit_refused
from belayer.engine import Engine
from belayer.sessions.state import Request, SessionState
from belayer.vocabulary.commands import Answer, Approve, Command, Reject
from belayer.vocabulary.errors import ConfigurationError, DigestChanged, Refused, UnfitAnswer
from belayer.vocabulary.events.event import Json, Status
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId, SessionId

_SHORTEST_DIGEST = 12
_VALUE_HELP = (
    "A text, yes or no, a choice or its number, or a form as JSON. After a failure: retry, skip, abort, …, or"
    ' {"choice": "edit", "params": {…}}. Without it you are asked.'
)
Value = Annotated[str | None, typer.Argument(metavar="[VALUE]", help=_VALUE_HELP, show_default=False)]
Digest = Annotated[
    str | None,
    typer.Option(
        "--digest", help="What you saw: refused if it is something else by now.", show_default=False
    ),
]
Notes = Annotated[str | None, typer.Option("--notes", help="Something for the record.", show_default=False)]

Remember = Annotated[
    bool, typer.Option("--remember", help="Also allow calls like this one for the rest of the session.")
]

Decide = Callable[[Desk, SessionState, RequestId, Asked | None], Awaitable[Command]]


def answer(
    prefix: SessionPrefix,
    value: Value = None,
    request: RequestName = None,
    detach: Detach = False,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Answer what a session asks, and go on with it."""

    async def decide(desk: Desk, state: SessionState, request_id: RequestId, asked: Asked | None) -> Command:
        return Answer(request_id=request_id, value=await _value(desk, state, asked, value))

    async def work(desk: Desk) -> int:
        return await _tell(desk, prefix, request, InputRequested, decide, detach=detach)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


def approve(
    prefix: SessionPrefix,
    request: RequestName = None,
    digest: Digest = None,
    notes: Notes = None,
    remember: Remember = False,
    detach: Detach = False,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Approve exactly what a session shows, and go on with it."""

    async def decide(desk: Desk, state: SessionState, request_id: RequestId, asked: Asked | None) -> Command:
        _show(desk, asked)
        return Approve(
            request_id=request_id,
            digest=_digest(state, request_id, digest),
            notes=notes,
            remember=_remembered(asked) if remember else None,
        )

    async def work(desk: Desk) -> int:
        return await _tell(desk, prefix, request, ApprovalRequested, decide, detach=detach)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


def reject(
    prefix: SessionPrefix,
    request: RequestName = None,
    digest: Digest = None,
    reason: Reason = None,
    detach: Detach = False,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Say no to what a session shows, and go on with it."""

    async def decide(
        _desk: Desk, state: SessionState, request_id: RequestId, _asked: Asked | None
    ) -> Command:
        return Reject(request_id=request_id, digest=_digest(state, request_id, digest), reason=reason)

    async def work(desk: Desk) -> int:
        return await _tell(desk, prefix, request, ApprovalRequested, decide, detach=detach)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


async def _tell(
    desk: Desk, prefix: str, wanted: str | None, kind: type[Request], decide: Decide, *, detach: bool
) -> int:
    async with desk.engine() as engine:
        session_id = await engine.find(prefix)
        state = await engine.state(session_id)
        after = state.seq
        request_id = the_request(desk, state, wanted, kind)
        try:
            with unfit_refused():
                command = await decide(desk, state, request_id, await _asked(desk, engine, state, request_id))
        except Later:
            desk.screen.say("Left for later. Nothing was changed.")
            return Exit.WAITING
        try:
            state = await engine.tell(session_id, command)
        except DigestChanged as error:
            state = await engine.state(session_id)
            if detach or state.status is not Status.QUEUED:
                raise
            desk.screen.trouble(error.problem())
            return await _ask_again(desk, session_id, code_named(state.workflow, desk.home), after)
    code = None if detach else _loadable(desk, state)
    if code is None:
        tell_status(desk, state)
        return Exit.DONE
    return await drive_on(desk, session_id, code, after=after)


async def _ask_again(desk: Desk, session_id: SessionId, code: Code, after: int) -> int:
    """What was to be approved has changed: let the session show what is there now. Nothing was approved."""
    ending = await drive_on(desk, session_id, code, after=after)
    return ending if desk.screen.interactive else Exit.REFUSED


def _loadable(desk: Desk, state: SessionState) -> Code | None:
    """The session's code, if it can be run here. What was said is on record either way."""
    try:
        return code_named(state.workflow, desk.home)
    except ConfigurationError as error:
        desk.screen.warn(f"Recorded, but this process cannot go on with the session: {error.detail}")
        return None


async def _asked(desk: Desk, engine: Engine, state: SessionState, request_id: RequestId) -> Asked | None:
    request = state.pending.get(request_id)
    return request and await asked_now(desk, state, request, await engine.records(state.id))


async def _value(desk: Desk, state: SessionState, asked: Asked | None, text: str | None) -> Json:
    request = asked and asked.request
    if asked is None or not isinstance(request, InputRequested):
        return None if text is None else json_or_text(text)
    if text is not None:
        return answer_from(request, text)
    if not desk.screen.interactive:
        raise UnfitAnswer(
            f"No answer was given to the question {request.prompt!r}.",
            f"Give it after the id: `{desk.command('answer', state.id, 'VALUE')}`.",
        )
    _show(desk, asked)
    return await ask(desk.screen, asked, request)


def _digest(state: SessionState, request_id: RequestId, seen: str | None) -> str:
    """The digest that the person means; its first characters are enough. Without one, what is shown now."""
    request = state.pending.get(request_id)
    known = request.digest if isinstance(request, ApprovalRequested) else _decided(state, request_id)
    if seen is None or (len(seen) >= _SHORTEST_DIGEST and known.startswith(seen)):
        return known
    return seen


def _decided(state: SessionState, request_id: RequestId) -> str:
    earlier = state.answered.get(request_id)
    return (earlier.digest if earlier else None) or ""


def _remembered(asked: Asked | None) -> Literal["session"]:
    request = asked and asked.request
    if isinstance(request, ApprovalRequested) and request.offers is None:
        raise Refused(
            "This cannot be allowed for the rest of the session: calls like it are asked about each time.",
            "Approve this one alone, without --remember.",
        )
    return "session"


def _show(desk: Desk, asked: Asked | None) -> None:
    for line in shown_lines(asked) if asked else ():
        desk.screen.say(line)
