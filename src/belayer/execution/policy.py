"""Whether a call may be made, must be asked about, or is forbidden. Pure: told the rules and the call, it answers."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from belayer.vocabulary.events.event import Effect
from belayer.vocabulary.rules import Risk, Rule, Verdict

_RISKS = list(Risk)
_PATTERNS_KNOWN = 1_000

# What holds where no rule of a person's says otherwise.
DEFAULTS: tuple[Rule, ...] = (
    Rule(verdict=Verdict.ASK, risk=Risk.HIGH, note="what could do great harm is asked about"),
    Rule(verdict=Verdict.ALLOW, effect=Effect.READ, note="looking is free"),
    Rule(verdict=Verdict.ALLOW, effect=Effect.WRITE, note="files of the workspace can be brought back"),
    Rule(verdict=Verdict.ASK, effect=Effect.EXTERNAL, note="what leaves the house cannot be taken back"),
)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a call would touch, and what that may cost."""

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    risk: Risk = Risk.LOW
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool's call as rules see it."""

    tool: str
    effect: Effect
    reach: Reach = Reach()


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict and the rule it comes from."""

    verdict: Verdict
    rule: Rule | None


def rule_on(call: Call, rules: Iterable[Rule]) -> Ruling:
    """A deny anywhere wins; else the first rule that fits decides, a person's before the defaults."""
    fitting = [rule for rule in (*rules, *DEFAULTS) if fits(rule, call)]
    for rule in fitting:
        if rule.verdict is Verdict.DENY:
            return Ruling(Verdict.DENY, rule)
    if not fitting:
        return Ruling(Verdict.ASK, None)
    return Ruling(fitting[0].verdict, fitting[0])


def fits(rule: Rule, call: Call) -> bool:
    """Whether the rule is about this call. A rule that allows must fit everything the call touches."""
    reach = call.reach
    every = rule.verdict is Verdict.ALLOW
    return (
        (rule.tool is None or _glob(rule.tool).fullmatch(call.tool) is not None)
        and (rule.effect is None or rule.effect == call.effect)
        and (rule.path is None or _touches(rule.path, reach.paths, every=every))
        and (rule.host is None or _touches(rule.host, reach.hosts, every=every))
        and (rule.risk is None or _RISKS.index(reach.risk) >= _RISKS.index(rule.risk))
        and (rule.usd is None or reach.usd > rule.usd)
    )


def offer_for(call: Call) -> Rule | None:
    """The rule that "do not ask again in this session" stands for; None for what is always asked about."""
    if call.reach.risk is Risk.HIGH:
        return None
    host = call.reach.hosts[0] if len(set(call.reach.hosts)) == 1 else None
    if call.reach.hosts and host is None:
        return None
    return Rule(
        verdict=Verdict.ALLOW, tool=_literal(call.tool), effect=call.effect, host=host and _literal(host)
    )


def _touches(pattern: str, things: Sequence[str], *, every: bool) -> bool:
    glob = _glob(pattern)
    found = [glob.fullmatch(thing) is not None for thing in things]
    return bool(found) and (all(found) if every else any(found))


def _literal(text: str) -> str:
    """The text as a pattern that fits nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", text)


@lru_cache(_PATTERNS_KNOWN)
def _glob(pattern: str) -> re.Pattern[str]:
    """`*` is anything within one part of a path, `**` anything at all, `?` one character, `\\*` a star."""
    parts: list[str] = []
    for token in re.findall(r"\\.|\*\*/?|\*|.", pattern, re.DOTALL):
        match token:
            case "**/":
                parts.append("(?:[^/]+/)*")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case _:
                parts.append(re.escape(token[1:] if token.startswith("\\") and len(token) > 1 else token))
    return re.compile("".join(parts), re.DOTALL)
