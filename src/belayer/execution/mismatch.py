"""Say plainly when the log and the code do not tell the same story."""

from collections.abc import Callable

from belayer.execution.executor import Step
from belayer.execution.journal import Trace
from belayer.vocabulary.errors import ReplayMismatch
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested

_SHOWN = 80


def mismatch(path: str, recorded: str, asked: str) -> ReplayMismatch:
    return ReplayMismatch(
        f"Under the key {path!r} the log has {recorded}, but the code now asks for {asked}.",
        "Bring back the workflow the session was started with and resume it, or rewind it to before this step.",
    )


def check_shape(step: Step, trace: Trace, clean: Callable[[Json], Json]) -> None:
    """Raise unless the recorded step is the one the code asks for. What was recorded has no secrets in it."""
    recorded = trace.first
    same_act = recorded.name == step.act.name
    if same_act and (recorded.input == step.input or recorded.input == clean(step.input)):
        return
    raise mismatch(
        step.key,
        f"{recorded.name}({_short(recorded.input)})",
        f"{step.act.name}({_short(clean(step.input))})",
    )


def described(request: InputRequested | ApprovalRequested) -> str:
    if isinstance(request, ApprovalRequested):
        return f"an approval of {request.title!r} with digest {request.digest[:12]}"
    return f"the {request.kind} question {request.prompt!r}"


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
