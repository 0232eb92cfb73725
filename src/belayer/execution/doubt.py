"""A step had begun and nobody knows how it ended: ask its probe, then a person, and never guess."""

import structlog

from belayer.execution import requests
from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.drive import Drive
from belayer.execution.executor import Step
from belayer.vocabulary.errors import InDoubt
from belayer.vocabulary.events.event import Json, Mode
from belayer.vocabulary.events.steps import DoubtRaised

_logger = structlog.get_logger()

HAPPENED, DID_NOT_HAPPEN, CHECK = "happened", "did not happen", "check"


async def settle(drive: Drive, step: Step, attempt: int, reason: str) -> Happened | DidNotHappen:
    """What became of the given attempt at the step."""
    path = f"{step.key}/doubt/{attempt}"
    asked = 1
    while _verdict(drive, f"{path}/{asked}") == CHECK:
        asked += 1
    if f"{path}/{asked}" not in drive.journal.requests:
        found = await _probe(step)
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
        f"{step.act.name} (step {step.key}) had begun and its end is not known: {reason} Did it take effect?",
        kind="choice",
        choices=(HAPPENED, DID_NOT_HAPPEN, CHECK),
        purpose="in_doubt",
        because=DoubtRaised(key=step.key, name=step.act.name, attempt=attempt, reason=reason),
    )
    return Happened(_output(given)) if _choice(given) == HAPPENED else DidNotHappen()


async def _probe(step: Step) -> Probed:
    """What the act's own probe finds; a probe that fails has found nothing."""
    if step.act.probe is None:
        return None
    try:
        return await step.act.probe(*step.args, **step.kwargs)
    except Exception as error:  # noqa: BLE001 - foreign code; a person is asked instead
        _logger.warning("probe failed", step=step.key, error=f"{type(error).__name__}: {error}")
        return None


def _verdict(drive: Drive, path: str) -> Json:
    request = drive.journal.requests.get(path)
    given = drive.journal.answer_to(request) if request else None
    return _choice(given.value) if given else None


def _choice(value: Json) -> Json:
    return value.get("choice") if isinstance(value, dict) else value


def _output(value: Json) -> Json:
    """A person who knows what the step gave may say so: {"choice": "happened", "output": …}."""
    return value.get("output") if isinstance(value, dict) else None
