"""Whether a call may be made, must be asked about, or is forbidden. Pure: told the rules and the call, it answers."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import re2

from belayer.vocabulary.events.event import Effect
from belayer.vocabulary.rules import Risk, Rule, Verdict

_RISKS = list(Risk)
_PATTERNS_KNOWN = 1_000
_TOKENS = re.compile(r"\\.|\*\*/?|\*|.", re.DOTALL)

# What holds where no rule of a person's says otherwise.
DEFAULTS: tuple[Rule, ...] = (
    Rule(verdict=Verdict.ASK, risk=Risk.HIGH, note="what could do great harm is asked about"),
    Rule(verdict=Verdict.ALLOW, effect=Effect.READ, note="looking is free"),
    Rule(verdict=Verdict.ALLOW, effect=Effect.WRITE, note="files of the workspace can be brought back"),
    Rule(verdict=Verdict.ASK, effect=Effect.EXTERNAL, note="what leaves the house cannot be taken back"),
)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a call would touch, and what that may cost. `below`: also whatever the folders at its paths hold."""

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    risk: Risk = Risk.LOW
    usd: float = 0.0
    below: bool = False


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
    """Whether the rule is about this call.

    A rule that allows must fit everything the call touches, and is about great harm only if it names a risk.
    """
    reach = call.reach
    return (
        (rule.tool is None or _is_match(rule.tool, call.tool))
        and (rule.effect is None or rule.effect == call.effect)
        and (rule.path is None or _touches(rule, [_is_at(rule, rule.path, call, at) for at in reach.paths]))
        and (rule.host is None or _touches(rule, [_is_on(rule, rule.host, host) for host in reach.hosts]))
        and (rule.risk is None or _RISKS.index(reach.risk) >= _RISKS.index(rule.risk))
        and (rule.risk is not None or rule.verdict is not Verdict.ALLOW or reach.risk is not Risk.HIGH)
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


def _touches(rule: Rule, found: Sequence[bool]) -> bool:
    return bool(found) and (all(found) if rule.verdict is Verdict.ALLOW else any(found))


def _is_at(rule: Rule, pattern: str, call: Call, path: str) -> bool:
    """Whether the rule's pattern is about what the call does at this path."""
    pattern = pattern.removeprefix("./") or "**"
    pattern += "**" if pattern.endswith("/") else ""
    if rule.verdict is Verdict.ALLOW:
        covers = pattern.endswith("**") and _is_match(pattern, f"{path}/")
        return _is_match(pattern, path) and (covers or not call.reach.below)
    return _is_match(pattern, path) or _reaches(pattern, call, path)


def _reaches(pattern: str, call: Call, path: str) -> bool:
    """Whether something below the path could fit, and the call would touch it there.

    To change a folder is to change what the pattern finds under its name; `**/x` finds it under any name.
    """
    if call.effect is Effect.READ and not call.reach.below:
        return False
    head, folders = _anchored(pattern)
    if path == "." or any(_is_match(folder, path) for folder in folders):
        return True
    return call.reach.below and head != pattern and _is_match(f"{head}**", f"{path}/")


def _is_on(rule: Rule, pattern: str, host: str) -> bool:
    """Whether the pattern fits the host. Without a port, a rule that allows means the usual one, others mean any."""
    (_, wanted), (name, whole) = _spelled(pattern), _spelled(host)
    return _is_match(wanted, whole) or (rule.verdict is not Verdict.ALLOW and _is_match(wanted, name))


def _spelled(host: str) -> tuple[str, str]:
    """The host in one spelling, without its port and with it; `::1` has none, `[::1]:80` has."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or (":" in name and not name.endswith("]")):
        name, port = host.lower(), ""
    name = name.strip("[]").removesuffix(".")
    return name, f"{name}:{port}" if port else name


def _literal(text: str) -> str:
    """The text as a pattern that fits nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", text)


@lru_cache(_PATTERNS_KNOWN)
def _anchored(pattern: str) -> tuple[str, tuple[str, ...]]:
    """The pattern up to its first `**`, and the patterns of the folders that this leads through."""
    tokens = _TOKENS.findall(pattern)
    end = next((place for place, token in enumerate(tokens) if token.startswith("**")), len(tokens))
    slashes = [place for place, token in enumerate(tokens[:end]) if token == "/"]
    return "".join(tokens[:end]), tuple("".join(tokens[:place]) for place in slashes)


def _is_match(pattern: str, text: str) -> bool:
    return _glob(pattern).search(text) is not None


@lru_cache(_PATTERNS_KNOWN)
def _glob(pattern: str) -> "re2.Pattern":
    """`*` is anything within one part of a path, `**` anything at all, `?` one character, `\\*` a star.

    `docs/**` is the folder and all in it. RE2, because a pattern of many stars must not take for ever.
    """
    tokens = _TOKENS.findall(pattern)
    tail = "(?:/.*)?" if tokens[-2:] == ["/", "**"] else ""
    parts = [_expression(token) for token in (tokens[:-2] if tail else tokens)]
    return re2.compile(rf"(?s)\A{''.join(parts)}{tail}\z")


def _expression(token: str) -> str:
    match token:
        case "**/":
            return "(?:[^/]+/)*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            return re2.escape(token[1:] if token.startswith("\\") and len(token) > 1 else token)
