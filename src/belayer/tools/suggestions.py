"""Which rules a person's own decisions suggest: what they approved again and again and never rejected. Pure."""

from collections import Counter
from collections.abc import Sequence

from belayer.execution.policy import Call, fits, offer_for, rule_on
from belayer.vocabulary.events.event import Shape
from belayer.vocabulary.rules import Rule, Verdict

_FEWEST = 3


class Suggestion(Shape):
    """A rule, and how often a person said yes to what it would allow."""

    rule: Rule
    approved: int


def suggested(calls: Sequence[tuple[Call, bool | None]], rules: Sequence[Rule] = ()) -> list[Suggestion]:
    """Rules for calls that were approved at least three times, never rejected, and are still asked about."""
    counts = Counter(
        rule
        for call, said in calls
        if said and _is_asked(call, rules) and (rule := offer_for(call)) is not None
    )
    rejected = [call for call, said in calls if said is False]
    return [
        Suggestion(rule=rule, approved=count)
        for rule, count in counts.most_common()
        if count >= _FEWEST and not any(fits(rule, call) for call in rejected)
    ]


def _is_asked(call: Call, rules: Sequence[Rule]) -> bool:
    return rule_on(call, rules).verdict is Verdict.ASK
