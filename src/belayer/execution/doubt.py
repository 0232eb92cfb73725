"""A step had begun and nobody knows how it ended: ask its probe, then a person, and never guess."""

import asyncio

import structlog

from belayer.execution import requests
from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.drive import Drive
from belayer.execution.executor import Step
from belayer.execution.step import UNDER_WAY, StepUnderWay
from belayer.vocabulary.errors import InDoubt, Unrecordable
from belayer.vocabulary.events.event import Json, Mode
from belayer.vocabulary.events.steps import DoubtRaised

_logger = structlog.get_logger()

HAPPENED, DID_NOT_HAPPEN, CHECK = "happened", "did not happen", "check"
_OUTPUT_WELCOME = (
    ' If it did and gave something that is needed later, say what: {"choice": "happened", "output": …}.'
)
_OUTPUT_NEEDED = ' What it gave is needed later. Say what it was: {"choice": "happened", "output": …}.'


async def settle(drive: Drive, step: Step, attempt: int, reason: str) -> Happened | DidNotHappen:
    """What became of the given attempt at the step."""
    path = f"{step.key}#doubt/{attempt}"
    asked = 1
    while _leaves_open(step, _answer(drive, f"{path}/{asked}")):
        asked += 1
    if f"{path}/{asked}" not in drive.journal.requests:
        found = await _probe(drive, step, attempt)
        if found is not None:
            return found
    if drive.mode is Mode.AUTONOMOUS:
        raise InDoubt(
            f"{step.act.name} (step {step.key}) had begun and nobody knows whether it took effect: {reason}",
            "See what happened outside. Then start again in hitl mode, or rewind to before the step if it did not.",
        )
    given = await requests.answer(
        drive,
        f"{path}/{asked}",
        f"{step.act.name} (step {step.key}) had begun and its end is not known: {reason} Did it take effect?"
        + (_OUTPUT_NEEDED if _is_output_missing(drive, f"{path}/{asked - 1}") else _OUTPUT_WELCOME),
        kind="choice",
        choices=(HAPPENED, DID_NOT_HAPPEN, CHECK),
        purpose="in_doubt",
        because=DoubtRaised(key=step.key, name=step.act.name, attempt=attempt, reason=reason),
    )
    return Happened(_output(given)) if _choice(given) == HAPPENED else DidNotHappen(by_probe=False)


async def _probe(drive: Drive, step: Step, attempt: int) -> Probed:
    """What the act's own probe finds; a probe that fails has found nothing."""
    if step.act.probe is None:
        return None
    recorder = drive.recorder
    under_way = StepUnderWay(
        step.key,
        attempt,
        step.idempotency_key,
        False,
        recorder.show,
        step.permits,
        step.lets_load,
        recorder.put,
    )
    token = UNDER_WAY.set(under_way)
    try:
        async with asyncio.timeout(step.act.timeout):
            return await step.act.probe(*step.args, **step.kwargs)
    except Exception as error:  # noqa: BLE001 - foreign code; a person is asked instead
        _logger.warning("probe failed", step=step.key, error=f"{type(error).__name__}: {error}")
        return None
    finally:
        UNDER_WAY.reset(token)


def _answer(drive: Drive, path: str) -> Json:
    request = drive.journal.requests.get(path)
    given = drive.journal.answer_to(request) if request else None
    return given.value if given else None


def _is_output_missing(drive: Drive, path: str) -> bool:
    """Whether somebody said that it happened, and that was not enough."""
    return _choice(_answer(drive, path)) == HAPPENED


def _leaves_open(step: Step, answer: Json) -> bool:
    """Whether one must look, or ask, again: somebody said to check, or what it gave is still missing."""
    if _choice(answer) != HAPPENED:
        return _choice(answer) == CHECK
    try:
        step.act.check(_output(answer))
    except Unrecordable:
        return True
    return False


def _choice(value: Json) -> Json:
    return value.get("choice") if isinstance(value, dict) else value


def _output(value: Json) -> Json:
    """A person who knows what the step gave may say so: {"choice": "happened", "output": …}."""
    return value.get("output") if isinstance(value, dict) else None
