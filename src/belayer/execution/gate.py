"""Whether a step may be done: rules allow it, forbid it, or a person decides on exactly this call and what it meets.

An approval is for one step and holds only while the files it touches are as they were shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from belayer.execution import requests
from belayer.execution.act import Act
from belayer.execution.approvals import seal
from belayer.execution.drive import Drive
from belayer.execution.executor import Step
from belayer.execution.failures import understood
from belayer.execution.journal import GATE
from belayer.execution.policy import Call, Ruling, offer_for, rule_on
from belayer.execution.recorder import asides
from belayer.execution.suspended import Suspended
from belayer.vocabulary.errors import Fenced, PolicyDenied, Rejected, ReplayMismatch, StepFailed, StoreError
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import new_request_id
from belayer.vocabulary.rules import Risk, Verdict

_CHANGED = "What it touches has changed since it was shown."


async def pass_gate(drive: Drive, step: Step) -> None:
    """Return when the step may be done. A refusal is on record as the step's failure."""
    if step.act.guard is None:
        return
    try:
        await decide(drive, step)
    except (Fenced, StoreError, ReplayMismatch):
        raise
    except Exception as error:  # the functions of the tool are foreign code
        problem = understood(error, step.act.name)
        await drive.executor.refuse(step, problem)
        raise StepFailed(step.key, problem.problem()) from error


async def decide(drive: Drive, step: Step) -> None:
    """Return when the step may be done; raise why it may not."""
    call, ruling = _ruled(drive, step.act, step.args, step.kwargs)
    if ruling.verdict is Verdict.ASK or _path(step, 1) in drive.journal.requests:
        await _ask(drive, step, call, ruling)


def _ruled(
    drive: Drive, act: Act[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Call, Ruling]:
    assert act.guard is not None
    call = Call(act.name, act.effect, act.guard.reach(*args, **kwargs))
    ruling = rule_on(call, drive.rules())
    if ruling.verdict is Verdict.DENY:
        raise PolicyDenied(
            f"{call.tool} may not do this: {_words(ruling)}.",
            "Change the call, or the rule: `belayer policy` shows the rules.",
        )
    return call, ruling


async def _ask(drive: Drive, step: Step, call: Call, ruling: Ruling) -> None:
    count = 1
    while _path(step, count + 1) in drive.journal.requests:
        count += 1
    known = drive.journal.requests.get(_path(step, count))
    if known is None:
        requests.need_person(drive, step.key, f"an approval of {_title(step, call)}", _how_to_allow(call))
    asked = await _request(drive, step, call, ruling)
    if not isinstance(known, ApprovalRequested):
        await _show(drive, _path(step, 1), asked)
        raise Suspended(f"waits for a decision on {step.key}")
    given = drive.journal.answer_to(known)
    if given is not None and not given.approved:
        raise Rejected(
            f"A person said no to {_title(step, call)}{': ' + given.notes.rstrip('.') if given.notes else ''}.",
            "Change what it does, or leave it out.",
        )
    if known.digest != asked.digest:
        again = asked.model_copy(update={"replaces": known.request_id, "why": f"{_CHANGED} {asked.why}"})
        await _show(drive, _path(step, count + 1), again)
        raise Suspended(f"waits for a decision on {step.key}")
    if given is None:
        raise Suspended(f"waits for a decision on {step.key}")


async def _request(drive: Drive, step: Step, call: Call, ruling: Ruling) -> ApprovalRequested:
    """The request for an approval of the call as it is now."""
    guard = step.act.guard
    assert guard is not None
    targets = await guard.targets(*step.args, **step.kwargs) if guard.targets else None
    preview = await guard.preview(*step.args, **step.kwargs) if guard.preview else None
    given = await drive.recorder.whole("input", step.input.value, asides(input=step.input))
    shown: dict[str, Json] = {"tool": call.tool, "params": given, "effect": call.effect.value}
    shown |= {"preview": preview} if preview is not None else {}
    shown |= {"targets": {**targets}} if targets else {}
    clean = drive.recorder.clean(shown)
    title = _title(step, call)
    kept = await drive.recorder.keep(clean)
    return ApprovalRequested(
        request_id=new_request_id(drive.recorder.now()),
        key="",
        title=title,
        shown=kept.value,
        aside=asides(shown=kept),
        digest=seal(title, clean),
        why=_words(ruling),
        risk=call.reach.risk if call.reach.risk is not Risk.LOW else None,
        targets=targets or None,
        offers=offer_for(call),
    )


async def _show(drive: Drive, path: str, asked: ApprovalRequested) -> None:
    request = asked.model_copy(update={"key": path})
    drive.journal.requests[path] = request
    await drive.recorder.begin(request)


def _path(step: Step, count: int) -> str:
    return f"{GATE}{step.key}/{count}"


def _title(step: Step, call: Call) -> str:
    paths = [path for path in call.reach.paths if path != "."]  # all of the workspace says nothing
    touched = ", ".join([*call.reach.hosts, *paths][:3])
    return f"{call.tool}{' on ' + touched if touched else ''} ({step.key})"


def _words(ruling: Ruling) -> str:
    if ruling.rule is None:
        return "no rule is about it"
    note = f" ({ruling.rule.note})" if ruling.rule.note else ""
    return f"the rule is: {ruling.rule.in_words()}{note}"


def _how_to_allow(call: Call) -> str:
    rule = offer_for(call)
    if rule is None:
        return "Start it again in hitl mode: calls of this risk are always for a person to decide."
    words = [f"--tool {rule.tool}", *([f"--host {rule.host}"] if rule.host else [])]
    return f"Start it again in hitl mode, or allow it first: belayer policy allow {' '.join(words)}"
