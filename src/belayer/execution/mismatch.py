"""Say plainly when the log and the code do not tell the same story."""

from collections.abc import Callable

from belayer.execution.executor import Step
from belayer.execution.journal import Trace
from belayer.vocabulary.errors import ReplayMismatch
from belayer.vocabulary.events.event import Aside, Json
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested

_SHOWN = 80


def mismatch(path: str, recorded: str, asked: str) -> ReplayMismatch:
    return ReplayMismatch(
        f"Under the key {path!r} the log has {recorded}, but the code now asks for {asked}.",
        "Bring back the workflow the session was started with and resume it, or rewind it to before this step.",
    )


def check_shape(step: Step, trace: Trace, clean: Callable[[Json], Json]) -> None:
    """Raise unless the recorded step is the one the code asks for. What was recorded has no secrets in it."""
    recorded, given = trace.first, step.input
    aside = (recorded.aside or {}).get("input")
    if (recorded.name, aside) == (step.act.name, given.aside) and (
        recorded.input == given.value or recorded.input == clean(given.value)
    ):
        return
    raise mismatch(
        step.key,
        f"{recorded.name}({_shown(recorded.input, aside)})",
        f"{step.act.name}({_shown(clean(given.value), given.aside)})",
    )


def described(request: InputRequested | ApprovalRequested) -> str:
    if isinstance(request, ApprovalRequested):
        return f"an approval of {request.title!r} with digest {request.digest[:12]}"
    return f"the {request.kind} question {request.prompt!r}"


def _shown(value: Json, aside: Aside | None) -> str:
    text = repr(value) if aside is None else f"{aside.bytes} bytes with digest {aside.digest[:12]}"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
