"""A rule tried on the calls of the past before it is believed."""

from pathlib import Path
from typing import Any

import pytest

from belayer.engine import Engine
from belayer.tools.toolbox import Toolbox
from belayer.tools.trial import Trial, tried
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.rules import Risk, Rule, Verdict
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import reached, records_of
from tests.support.plans import Hands, begin, plan_engine, step

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


def sent(id_: str, host: str) -> dict[str, Any]:
    return {"id": id_, "tool": "send", "params": {"name": id_, "host": host}, "critical": False}


async def decided(engine: Engine, keeping: Keeping, *decisions: tuple[str, bool]) -> Any:
    """The records of a session that sent to hosts, as a person decided on each."""
    session = await begin(engine, *(sent(f"s{number}", host) for number, (host, _) in enumerate(decisions)))
    for _, yes in decisions:
        await reached(session, Status.WAITING)
        await (session.approve() if yes else session.reject("no"))
    await session.result()
    return await records_of(keeping, session.id)


@pytest.fixture
def keeping(tmp_path: Path) -> Keeping:
    return kept_in_memory(tmp_path)


async def test_a_trial_counts_what_people_said_of_the_calls_that_fit(keeping: Keeping) -> None:
    hands = Hands()
    async with plan_engine(hands, keeping) as engine:
        records = await decided(engine, keeping, ("a.org", True), ("a.org", False), ("b.org", True))
    box = Toolbox(hands.tools())
    rule = Rule(verdict=ALLOW, tool="send", host="a.org")
    assert tried(rule, [records], box) == Trial(rule=rule, calls=2, approved=1, rejected=1)
    every = Rule(verdict=DENY, tool="send")
    assert tried(every, [records, records], box) == Trial(rule=every, calls=6, approved=4, rejected=2)


async def test_a_call_nobody_was_asked_about_counts_as_unasked(keeping: Keeping) -> None:
    hands = Hands()
    async with plan_engine(hands, keeping) as engine:
        session = await begin(engine, step("a"), step("b", "put"))
        await session.result()
        for tool in ("look", "put"):
            trial = await engine.try_rule(Rule(verdict=ASK, tool=tool))
            assert (trial.calls, trial.unasked) == (1, 1)
        assert (await engine.try_rule(Rule(verdict=ASK, tool="send"))).calls == 0


async def test_what_a_rule_would_have_meant_is_the_same_as_what_it_then_means(keeping: Keeping) -> None:
    async with plan_engine(Hands(), keeping) as engine:
        await decided(engine, keeping, ("a.org", True), ("b.org", True))
        rule = Rule(verdict=ALLOW, tool="send", host="a.org")
        assert (await engine.try_rule(rule)).calls == 1
        session = await begin(engine, sent("x", "a.org"), sent("y", "b.org"), policy=(rule,))
        state = await reached(session, Status.WAITING)
        assert [request.key for request in state.pending.values()] == ["#gate/y/1"]


async def test_calls_that_can_no_longer_be_read_are_left_out(keeping: Keeping) -> None:
    hands = Hands()
    async with plan_engine(hands, keeping) as engine:
        records = await decided(engine, keeping, ("a.org", True))
    others = [tool for tool in hands.tools() if tool.name != "send"]
    assert tried(Rule(verdict=ALLOW, effect="external"), [records], Toolbox(others)).calls == 0


async def test_great_harm_is_not_among_what_a_rule_would_have_passed(keeping: Keeping) -> None:
    hands = Hands()
    async with plan_engine(hands, keeping) as engine:
        step_ = {"id": "s", "tool": "send", "params": {"name": "s", "risk": "high"}}
        session = await begin(engine, step_)
        await reached(session, Status.WAITING)
        await session.approve()
        await session.result()
        assert (await engine.try_rule(Rule(verdict=ALLOW, tool="send"))).calls == 0
        assert (await engine.try_rule(Rule(verdict=ALLOW, tool="send", risk=Risk.HIGH))).calls == 1


@pytest.mark.parametrize(
    ("verdict", "counts", "words"),
    [
        (ALLOW, {}, "No call of the past fits this rule."),
        (ALLOW, {"calls": 1, "approved": 1}, "It would have passed 1 call, none you rejected."),
        (ALLOW, {"calls": 7, "rejected": 2}, "It would have passed 7 calls, 2 of them you REJECTED."),
        (ASK, {"calls": 2, "approved": 1}, "It would have asked about 2 calls, 1 of them you approved."),
        (DENY, {"calls": 3}, "It would have forbidden 3 calls, none you approved."),
    ],
)
def test_a_trial_says_in_words_what_it_found(verdict: Verdict, counts: dict[str, int], words: str) -> None:
    assert Trial(rule=Rule(verdict=verdict, tool="x"), **counts).in_words() == words
