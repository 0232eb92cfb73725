"""Only what a person approved again and again and never rejected is suggested."""

from hypothesis import given
from hypothesis import strategies as st

from belayer.execution.policy import Call, Reach, fits
from belayer.tools.suggestions import suggested
from belayer.vocabulary.events.event import Effect
from belayer.vocabulary.rules import Risk, Rule, Verdict


def call(host: str = "a.org", risk: Risk = Risk.LOW, tool: str = "post") -> Call:
    return Call(tool, Effect.EXTERNAL, Reach(hosts=(host,), risk=risk))


def test_three_approvals_of_one_host_suggest_that_host_alone() -> None:
    found = suggested([(call(), True)] * 3 + [(call("b.org"), True)] * 2)
    assert [(one.rule.tool, one.rule.host, one.approved) for one in found] == [("post", "a.org", 3)]


def test_one_rejection_is_enough() -> None:
    assert suggested([(call(), True)] * 9 + [(call(), False)]) == []


def test_what_nobody_was_asked_about_suggests_nothing() -> None:
    assert suggested([(call(), None)] * 9) == []


def test_high_risk_is_never_suggested() -> None:
    assert suggested([(call(risk=Risk.HIGH), True)] * 9) == []


def test_what_is_allowed_or_forbidden_by_now_is_not_suggested() -> None:
    for verdict in (Verdict.ALLOW, Verdict.DENY):
        assert suggested([(call(), True)] * 3, [Rule(verdict=verdict, tool="post")]) == []


@given(
    st.lists(
        st.tuples(
            st.builds(
                call, st.sampled_from(["a", "b*", "*"]), st.sampled_from(Risk), st.sampled_from(["x", "y"])
            ),
            st.sampled_from([True, False, None]),
        ),
        max_size=40,
    )
)
def test_no_suggestion_would_have_passed_what_was_rejected(calls: list[tuple[Call, bool | None]]) -> None:
    for one in suggested(calls):
        assert one.approved >= 3
        assert not any(fits(one.rule, made) for made, said in calls if said is False)
