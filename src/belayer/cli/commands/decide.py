"""Say what a session asked for: answer, approve, reject. Then go on with it."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from belayer.cli.company import drive_on
from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Detach, Home, NoInput, Reason, RequestName, SessionPrefix
from belayer.cli.outcome import tell_status
from belayer.cli.people import Later, ask
from belayer.cli.reading import shown_by
from belayer.cli.requests import shown_lines, the_request
from belayer.cli.targets import workflow_named
from belayer.cli.values import answer_from, json_or_text, unfit_refused
from belayer.sessions.state import Request, SessionState
from belayer.vocabulary.commands import Answer, Approve, Command, Reject
from belayer.vocabulary.errors import ConfigurationError, UnfitAnswer
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId
from belayer.workflows.workflow import Workflow

_SHORTEST_DIGEST = 12
_VALUE_HELP = "A text, yes or no, a choice or its number, or a form as JSON. Without it you are asked."
Value = Annotated[str | None, typer.Argument(metavar="[VALUE]", help=_VALUE_HELP, show_default=False)]
Digest = Annotated[
    str | None,
    typer.Option(
        "--digest", help="What you saw: refused if it is something else by now.", show_default=False
    ),
]
Notes = Annotated[str | None, typer.Option("--notes", help="Something for the record.", show_default=False)]

Decide = Callable[[Desk, SessionState, RequestId], Awaitable[Command]]


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

    async def decide(desk: Desk, state: SessionState, request_id: RequestId) -> Command:
        return Answer(request_id=request_id, value=await _value(desk, state, request_id, value))

    async def work(desk: Desk) -> int:
        return await _tell(desk, prefix, request, InputRequested, decide, detach=detach)

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


def approve(
    prefix: SessionPrefix,
    request: RequestName = None,
    digest: Digest = None,
    notes: Notes = None,
    detach: Detach = False,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Approve exactly what a session shows, and go on with it."""

    async def decide(desk: Desk, state: SessionState, request_id: RequestId) -> Command:
        await _show(desk, state, request_id)
        return Approve(request_id=request_id, digest=_digest(state, request_id, digest), notes=notes)

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

    async def decide(desk: Desk, state: SessionState, request_id: RequestId) -> Command:  # noqa: ARG001
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
                command = await decide(desk, state, request_id)
        except Later:
            desk.screen.say("Left for later. Nothing was changed.")
            return Exit.WAITING
        state = await engine.tell(session_id, command)
    workflow = None if detach else _loadable(desk, state)
    if workflow is None:
        tell_status(desk, state)
        return Exit.DONE
    return await drive_on(desk, session_id, workflow, after=after)


def _loadable(desk: Desk, state: SessionState) -> Workflow | None:
    """The session's code, if it can be run here. What was said is on record either way."""
    try:
        return workflow_named(state.workflow, desk.home)
    except ConfigurationError as error:
        desk.screen.warn(f"Recorded, but this process cannot go on with the session: {error.detail}")
        return None


async def _value(desk: Desk, state: SessionState, request_id: RequestId, text: str | None) -> Json:
    request = state.pending.get(request_id)
    if not isinstance(request, InputRequested):
        return None if text is None else json_or_text(text)
    if text is not None:
        return answer_from(request, text)
    if not desk.screen.interactive:
        raise UnfitAnswer(
            f"No answer was given to the question {request.prompt!r}.",
            f"Give it after the id: `{desk.command('answer', state.id, 'VALUE')}`.",
        )
    await _show(desk, state, request_id)
    return await ask(desk.screen, request)


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


async def _show(desk: Desk, state: SessionState, request_id: RequestId) -> None:
    request = state.pending.get(request_id)
    if request is not None:
        for line in shown_lines(request, await shown_by(desk.home, request)):
            desk.screen.say(line)
