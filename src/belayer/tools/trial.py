"""What a rule would have meant for the calls of the past: tried on the log before it is believed. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from belayer.execution.policy import Call, fits
from belayer.sessions.record import Record
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Json, Shape
from belayer.vocabulary.events.people import ApprovalRequested, Responded
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.rules import Rule, Verdict

_GATE = "#gate/"


class Trial(Shape):
    """The calls of the past that a rule is about, and what people said of them."""

    rule: Rule
    calls: int = 0
    unasked: int = 0
    approved: int = 0
    rejected: int = 0

    def in_words(self) -> str:
        would = {Verdict.ALLOW: "passed", Verdict.ASK: "asked about", Verdict.DENY: "forbidden"}[
            self.rule.verdict
        ]
        if self.calls == 0:
            return "No call of the past fits this rule."
        calls = "1 call" if self.calls == 1 else f"{self.calls} calls"
        if self.rule.verdict is Verdict.ALLOW:
            rejected = "none you rejected" if self.rejected == 0 else f"{self.rejected} of them you REJECTED"
            return f"It would have {would} {calls}, {rejected}."
        approved = "none you approved" if self.approved == 0 else f"{self.approved} of them you approved"
        return f"It would have {would} {calls}, {approved}."


def tried(rule: Rule, sessions: Iterable[Sequence[Record]], tools: Toolbox) -> Trial:
    """The rule against every call in these logs."""
    said = [
        decision for records in sessions for call, decision in calls_of(records, tools) if fits(rule, call)
    ]
    return Trial(
        rule=rule,
        calls=len(said),
        unasked=said.count(None),
        approved=said.count(True),
        rejected=said.count(False),
    )


def calls_of(records: Sequence[Record], tools: Toolbox) -> Iterator[tuple[Call, bool | None]]:
    """Every call of a session, with what a person decided on it, if one was asked."""
    inputs: dict[str, tuple[str, Json]] = {}
    asked: dict[str, str] = {}
    decided: dict[str, bool] = {}
    for record in records:
        match event := record.event():
            case StepChanged() if event.key not in inputs:
                inputs[event.key] = (event.name, event.input)
            case ApprovalRequested() if event.key.startswith(_GATE):
                asked[event.request_id] = event.key.removeprefix(_GATE).rpartition("/")[0]
            case Responded() if event.request_id in asked and event.approved is not None:
                decided[asked[event.request_id]] = event.approved
            case _:
                pass
    for key, (name, given) in inputs.items():
        call = _call(name, given, tools)
        if call is not None:
            yield call, decided.get(key)


def _call(name: str, given: Json, tools: Toolbox) -> Call | None:
    """The call as rules see it; None for what is no tool's, or can no longer be read."""
    if not isinstance(given, dict) or name not in tools.names():
        return None
    tool = tools.named(name)
    try:
        return Call(name, tool.effect, tool.reach(tool.read(given)))
    except BelayerError:
        return None
