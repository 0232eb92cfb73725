"""Ask a person through the log: find the request and its answer there, or make the request and leave."""

from belayer.execution.approvals import Decision, seal
from belayer.execution.drive import Drive
from belayer.execution.mismatch import described, mismatch
from belayer.execution.recorder import asides
from belayer.execution.suspended import Suspended
from belayer.vocabulary.errors import NeedsPerson, Problem
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Json, Mode
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Kind, Purpose
from belayer.vocabulary.ids import new_request_id

_ASKS_TOO_MUCH = "Start it again in hitl mode, or give it in the input what it has to ask for."


async def answer(
    drive: Drive,
    path: str,
    prompt: str,
    *,
    kind: Kind = "text",
    choices: tuple[str, ...] = (),
    form: dict[str, Json] | None = None,
    purpose: Purpose = "question",
    problem: Problem | None = None,
    impact: str | None = None,
    because: AnyEvent | None = None,
) -> Json:
    """The answer to a question; Suspended as long as there is none. `because` goes on record with the question."""
    request = drive.journal.requests.get(path)
    if request is None:
        need_person(drive, path, f"an answer to {prompt!r}")
        request = drive.journal.requests[path] = InputRequested(
            request_id=new_request_id(drive.recorder.now()),
            key=path,
            prompt=prompt,
            kind=kind,
            choices=choices,
            form=form,
            purpose=purpose,
            problem=problem,
            impact=impact,
        )
        await drive.recorder.begin(*([because] if because else []), request)
    elif purpose == "question" and not _same_question(drive, request, prompt, kind, choices, form):
        raise mismatch(path, described(request), f"the {kind} question {prompt!r}")
    given = drive.journal.answer_to(request)
    if given is None:
        raise Suspended(f"waits for an answer to {path}")
    return given.value


def _same_question(
    drive: Drive,
    request: InputRequested | ApprovalRequested,
    prompt: str,
    kind: Kind,
    choices: tuple[str, ...],
    form: dict[str, Json] | None,
) -> bool:
    """Whether the answer to the recorded request answers this question. What was recorded has no secrets in it."""
    if not isinstance(request, InputRequested) or (request.kind, request.form) != (kind, form):
        return False
    recorded = [request.prompt, *request.choices]
    asked: Json = [prompt, *choices]
    return recorded == asked or recorded == drive.recorder.clean(asked)


async def decision(drive: Drive, path: str, title: str, shown: object) -> Decision:
    """A person's decision on exactly what is shown; Suspended as long as there is none."""
    clean = drive.recorder.clean(shown)
    digest = seal(title, clean)
    request = drive.journal.requests.get(path)
    if request is None:
        need_person(drive, path, f"an approval of {title!r}")
        kept = await drive.recorder.keep(clean)
        request = drive.journal.requests[path] = ApprovalRequested(
            request_id=new_request_id(drive.recorder.now()),
            key=path,
            title=title,
            shown=kept.value,
            aside=asides(shown=kept),
            digest=digest,
        )
        await drive.recorder.begin(request)
    elif not isinstance(request, ApprovalRequested) or request.digest != digest:
        raise mismatch(path, described(request), f"an approval of {title!r} with digest {digest[:12]}")
    given = drive.journal.answer_to(request)
    if given is None:
        raise Suspended(f"waits for a decision on {path}")
    return Decision(given.approved is True, given.notes, digest)


def need_person(drive: Drive, path: str, what: str, way_out: str = _ASKS_TOO_MUCH) -> None:
    """Raise when the session may not stop for a person."""
    if drive.mode is Mode.AUTONOMOUS:
        raise NeedsPerson(f"The session runs autonomously and needs {what} (at {path}).", way_out)
