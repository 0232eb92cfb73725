"""How a step comes out: as the log says, or by doing it, with every doubt settled on the way."""

from collections import Counter
from functools import partial

from belayer.execution.act import Happened
from belayer.execution.doubt import settle
from belayer.execution.drive import Drive
from belayer.execution.executor import Done, Step
from belayer.execution.gate import pass_gate
from belayer.execution.hold import hold_if_exceeded
from belayer.execution.journal import Trace
from belayer.execution.mismatch import check_shape
from belayer.execution.recorder import asides
from belayer.vocabulary.errors import Category, StepFailed, TransientError
from belayer.vocabulary.events.event import StepStatus
from belayer.vocabulary.events.steps import StepChanged


async def outcome(drive: Drive, step: Step) -> StepChanged:
    """The event that says how the step ended; StepFailed when it failed."""
    trace = drive.journal.steps.get(step.key)
    if trace is None:
        await pass_gate(drive, step)
        return await _do(drive, step, 1, Counter())
    check_shape(step, trace, drive.recorder.clean)
    if trace.outcome is not None:
        return _recorded(step, trace.outcome)
    if not trace.in_doubt:
        await pass_gate(drive, step)
    elif not step.act.repeatable:
        return await _settle(drive, step, trace.attempts, _why(trace), trace.failures)
    return await _do(drive, step, trace.attempts + 1, trace.failures)


def _recorded(step: Step, ended: StepChanged) -> StepChanged:
    if ended.problem is not None:
        raise StepFailed(step.key, ended.problem)
    return ended


async def _do(drive: Drive, step: Step, attempt: int, failures: Counter[Category]) -> StepChanged:
    while True:
        if drive.limited:
            await hold_if_exceeded(drive)
        result = await drive.executor.perform(step, attempt, failures, partial(pass_gate, drive, step))
        if isinstance(result, Done):
            if drive.limited:
                drive.usage = drive.usage.plus(result.event.spent())
            return result.event
        found = await settle(drive, step, result.attempt, result.reason)
        if isinstance(found, Happened):
            return await _happened(drive, step, result.attempt, found)
        if found.by_probe:  # an attempt that broke off without effect is a failure like any other
            broke_off = TransientError(
                result.reason, "It had no effect; it was tried again as often as it may be."
            )
            await drive.executor.failed(step, result.attempt, failures, broke_off)
        attempt = result.attempt + 1
        await pass_gate(drive, step)


async def _settle(
    drive: Drive, step: Step, attempt: int, reason: str, failures: Counter[Category]
) -> StepChanged:
    """What became of an attempt that an earlier drive began."""
    found = await settle(drive, step, attempt, reason)
    if isinstance(found, Happened):
        return await _happened(drive, step, attempt, found)
    await pass_gate(drive, step)
    return await _do(drive, step, attempt + 1, failures)


async def _happened(drive: Drive, step: Step, attempt: int, found: Happened) -> StepChanged:
    output = await drive.recorder.keep(found.output)
    (record,) = await drive.recorder.append(
        StepChanged(
            key=step.key,
            name=step.act.name,
            status=StepStatus.COMPLETED,
            attempt=attempt,
            effect=step.act.effect,
            output=output.value,
            aside=asides(output=output),
            seconds=0.0,
            workspace=await drive.executor.files_now(),
        )
    )
    recorded = record.event()
    assert isinstance(recorded, StepChanged)
    return recorded


def _why(trace: Trace) -> str:
    if trace.last.status is StepStatus.PAUSED:
        return "It was stopped in the middle."
    return "The engine stopped before it could record the end."
