"""The tools there are, how they are, and the rules for their calls."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from belayer.api.asked import TheEngine
from belayer.api.strict import StrictRoute
from belayer.execution.policy import DEFAULTS
from belayer.tools.suggestions import Suggestion
from belayer.tools.trial import Trial
from belayer.tools.view import ToolView
from belayer.vocabulary.events.event import Shape
from belayer.vocabulary.rules import Rule

router = APIRouter(prefix="/api", tags=["tools"], route_class=StrictRoute)


class Tools(Shape):
    """Every tool."""

    tools: tuple[ToolView, ...]


class Policy(Shape):
    """The rules in their order. `foreign` lie in the home, and do not count: they were saved elsewhere."""

    rules: tuple[Rule, ...]
    defaults: tuple[Rule, ...] = DEFAULTS
    foreign: tuple[Rule, ...] = ()


class PolicyBody(Shape):
    """The rules that are to hold from now on."""

    rules: Annotated[tuple[Rule, ...], Field(max_length=1_000)]


class Suggestions(Shape):
    """Rules to think about, the most often approved first."""

    suggestions: tuple[Suggestion, ...]


class TrialBody(Shape):
    """A rule to be held against the past."""

    rule: Rule


class TrialResult(Trial):
    """What came of it, also in a sentence."""

    words: str


@router.get("/tools")
async def tools(engine: TheEngine) -> Tools:
    """Every tool with its health, its breaker, its latency and its success rate."""
    return Tools(tools=tuple(await engine.tools()))


@router.get("/policy")
async def policy(engine: TheEngine) -> Policy:
    """The rules in force, in the order in which they are asked."""
    return Policy(rules=engine.rulebook.rules(), foreign=engine.rulebook.foreign())


@router.get("/policy/suggestions")
async def policy_suggestions(engine: TheEngine) -> Suggestions:
    """Rules that your own decisions suggest: for what you approved again and again and never rejected."""
    return Suggestions(suggestions=tuple(await engine.suggestions()))


@router.put("/policy")
async def save_policy(body: PolicyBody, engine: TheEngine) -> Policy:
    """Have these rules and no others."""
    engine.rulebook.save(body.rules)
    return Policy(rules=engine.rulebook.rules())


@router.post("/policy/try")
async def try_rule(body: TrialBody, engine: TheEngine) -> TrialResult:
    """What a rule would have meant for the calls of the past. Nothing is saved."""
    trial = await engine.try_rule(body.rule)
    return TrialResult(**dict(trial), words=trial.in_words())
