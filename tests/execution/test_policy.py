"""Which calls rules are about, and which rule decides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.execution.policy import DEFAULTS, Call, Reach, fits, offer_for, rule_on
from belayer.vocabulary.events.event import Effect
from belayer.vocabulary.rules import Risk, Rule, Verdict

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
READ, WRITE, EXTERNAL = Effect.READ, Effect.WRITE, Effect.EXTERNAL

parts = st.text("ab.", min_size=1, max_size=3).filter(lambda part: part not in (".", ".."))
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)
hosts = st.from_regex(r"[a-c]{1,2}(\.[a-c]{1,2}){0,2}(:[1-9]{2})?", fullmatch=True)
tools = st.sampled_from(["files.read", "files.write", "http_fetch", "mail", "mail*", "ma?l", "ma\\il"])
reaches = st.builds(
    Reach,
    paths=st.lists(paths, max_size=2).map(tuple),
    hosts=st.lists(hosts, max_size=2).map(tuple),
    risk=st.sampled_from(Risk),
    usd=st.sampled_from([0.0, 0.5, 2.0]),
    below=st.booleans(),
)
calls = st.builds(Call, tools, st.sampled_from(Effect), reaches)
patterns = (st.text("ab./*?\\", min_size=1, max_size=8)).filter(
    lambda pattern: not pattern.startswith("/") and ".." not in pattern.split("/")
)
rules = st.builds(
    Rule,
    verdict=st.sampled_from(Verdict),
    tool=st.none() | st.sampled_from(["files.*", "mail", "*", "http_fetch"]),
    effect=st.none() | st.sampled_from(["read", "write", "external"]),
    path=st.none() | patterns,
    host=st.none() | patterns,
    risk=st.sampled_from(Risk),
    usd=st.none() | st.just(1.0),
)


def call(
    tool: str = "t",
    effect: Effect = READ,
    *,
    at: str | tuple[str, ...] = (),
    on: str | tuple[str, ...] = (),
    risk: Risk = Risk.LOW,
    below: bool = False,
) -> Call:
    at, on = ((one,) if isinstance(one, str) else one for one in (at, on))
    return Call(tool, effect, Reach(paths=at, hosts=on, risk=risk, below=below))


@given(st.lists(rules, max_size=6), calls)
def test_a_deny_anywhere_wins_and_else_the_first_that_fits_decides(given: list[Rule], made: Call) -> None:
    ruling = rule_on(made, given)
    fitting = [rule for rule in (*given, *DEFAULTS) if fits(rule, made)]
    denying = [rule for rule in fitting if rule.verdict is DENY]
    if denying:
        assert ruling.rule is denying[0]
    else:
        assert ruling.rule is (fitting[0] if fitting else None)
    assert ruling.verdict is (ruling.rule.verdict if ruling.rule else ASK)


@given(st.lists(rules, max_size=6), rules, calls)
def test_no_further_rule_allows_what_was_denied(given: list[Rule], more: Rule, made: Call) -> None:
    if rule_on(made, given).verdict is DENY:
        assert rule_on(made, [more, *given]).verdict is DENY
        assert rule_on(made, [*given, more]).verdict is DENY


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (call(effect=READ), ALLOW),
        (call(effect=WRITE), ALLOW),
        (call(effect=EXTERNAL), ASK),
        (call(effect=READ, risk=Risk.HIGH), ASK),
        (call(effect=WRITE, risk=Risk.HIGH), ASK),
        (call(effect=EXTERNAL, risk=Risk.HIGH), ASK),
    ],
)
def test_where_nobody_has_said_anything_the_defaults_hold(made: Call, verdict: Verdict) -> None:
    assert rule_on(made, []).verdict is verdict


FIT = [
    ("docs/**", "docs/a"),
    ("docs/**", "docs/a/b/c.md"),
    ("docs/**", "docs"),
    ("docs/", "docs/a/b"),
    ("./docs/**", "docs/a"),
    ("docs/*", "docs/a"),
    ("docs/*.md", "docs/.md"),
    ("**", "a"),
    ("**", "a/b/c"),
    ("**/x", "x"),
    ("**/x", "a/b/x"),
    ("a/**/x", "a/x"),
    ("a/**/x", "a/b/c/x"),
    ("a**", "a/b"),
    ("a?c", "abc"),
    (r"\*", "*"),
    (r"\?\\", "?\\"),
    ("a[b]+(c|d)$^", "a[b]+(c|d)$^"),
    ("*\n*", "a\nb"),
    ("ü*", "über"),
]
MISS = [
    ("docs/**", "docsx/a"),
    ("docs/**", "x/docs/a"),
    ("docs/*", "docs/a/b"),
    ("docs/*", "docs"),
    ("docs", "docs/a"),
    ("*", "a/b"),
    ("**/x", "ax"),
    ("**/x", "x/y"),
    ("a/**/x", "ax"),
    ("a/**/x", "a/bx"),
    ("a?c", "a/c"),
    (r"\*", "a"),
    (r"\**", "ab"),
    ("a.c", "abc"),
    ("[ab]", "a"),
    ("a", "A"),
    ("a", "a\n"),
]


@pytest.mark.parametrize(("pattern", "path"), FIT)
def test_a_pattern_fits_a_path(pattern: str, path: str) -> None:
    for verdict in Verdict:
        assert fits(Rule(verdict=verdict, path=pattern), call(at=path))


@pytest.mark.parametrize(("pattern", "path"), MISS)
def test_a_pattern_does_not_fit_another_path(pattern: str, path: str) -> None:
    for verdict in Verdict:
        assert not fits(Rule(verdict=verdict, path=pattern), call(at=path))


def test_a_rule_that_allows_must_fit_every_path_and_one_that_does_not_fits_any() -> None:
    made = call(effect=WRITE, at=("docs/a", "src/b"))
    assert not fits(Rule(verdict=ALLOW, path="docs/**"), made)
    assert fits(Rule(verdict=ALLOW, path="**"), made)
    assert fits(Rule(verdict=DENY, path="docs/**"), made)
    assert fits(Rule(verdict=ASK, path="src/*"), made)


def test_a_rule_that_allows_must_fit_every_host() -> None:
    made = call(on=("a.org", "b.org"))
    assert not fits(Rule(verdict=ALLOW, host="a.org"), made)
    assert fits(Rule(verdict=ALLOW, host="*.org"), made)
    assert fits(Rule(verdict=DENY, host="b.org"), made)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_rule_about_paths_or_hosts_is_not_about_calls_without_any(verdict: Verdict) -> None:
    assert not fits(Rule(verdict=verdict, path="**"), call())
    assert not fits(Rule(verdict=verdict, host="**"), call())


@pytest.mark.parametrize("verdict", [ASK, DENY])
@pytest.mark.parametrize("pattern", ["secrets/**", "secrets/*.pem", "secrets/a/b", "sec*/a", "secrets/"])
def test_to_change_a_folder_is_to_change_what_lies_in_it(verdict: Verdict, pattern: str) -> None:
    """Else what is protected under one name would be moved to another first."""
    rule = Rule(verdict=verdict, path=pattern)
    assert fits(rule, call(effect=WRITE, at=("secrets", "open")))
    assert not fits(rule, call(effect=WRITE, at=("other", "open")))


def test_what_a_pattern_finds_under_any_name_does_not_keep_everything_else_from_being_moved() -> None:
    rule = Rule(verdict=DENY, path="**/.env")
    assert not fits(rule, call(effect=WRITE, at=("a", "b")))
    assert fits(rule, call(effect=WRITE, at=("a/.env", "b")))


@pytest.mark.parametrize(
    ("pattern", "path", "is_reached"),
    [
        ("secrets/**", ".", True),
        ("**/.env", ".", True),
        ("**/.env", "src", True),
        ("secrets/*.pem", "secrets", True),
        ("secrets/**", "secrets/deep", True),
        ("a/**/x", "a/b", True),
        ("secrets/**", "src", False),
        ("secrets/*.pem", "secrets/deep", False),
        ("secrets/key", "secrets/keys", False),
        ("a/**/x", "b", False),
    ],
)
def test_a_search_touches_what_lies_below(pattern: str, path: str, is_reached: bool) -> None:
    made = call(at=path, below=True)
    assert fits(Rule(verdict=DENY, path=pattern), made) is is_reached
    assert fits(Rule(verdict=ASK, path=pattern), made) is is_reached


@pytest.mark.parametrize(
    ("pattern", "path", "is_allowed"),
    [
        ("docs/**", "docs", True),
        ("docs/**", "docs/deep", True),
        ("**", ".", True),
        ("docs/*", "docs/deep", False),
        ("docs", "docs", False),
        ("docs/**/x", "docs/x", False),
        ("docs/**", ".", False),
    ],
)
def test_a_rule_that_allows_must_fit_all_that_lies_below(pattern: str, path: str, is_allowed: bool) -> None:
    assert fits(Rule(verdict=ALLOW, path=pattern), call(at=path, below=True)) is is_allowed


def test_to_list_a_folder_is_not_to_read_what_lies_in_it() -> None:
    assert not fits(Rule(verdict=DENY, path="secrets/**"), call(at="."))
    assert fits(Rule(verdict=DENY, path="secrets/**"), call(at="secrets"))


@given(st.sampled_from([ASK, DENY]), patterns, paths, parts)
def test_what_fits_below_a_folder_is_reached_by_whoever_goes_through_it(
    verdict: Verdict, pattern: str, folder: str, name: str
) -> None:
    rule = Rule(verdict=verdict, path=pattern)
    if fits(rule, call(at=f"{folder}/{name}")):
        assert fits(rule, call(at=folder, below=True))


@given(patterns, paths, parts)
def test_what_may_be_gone_through_may_be_touched(pattern: str, folder: str, name: str) -> None:
    rule = Rule(verdict=ALLOW, path=pattern)
    if fits(rule, call(at=folder, below=True)):
        assert fits(rule, call(at=f"{folder}/{name}"))


@pytest.mark.parametrize(
    ("pattern", "host"),
    [
        ("*.example.org", "a.example.org"),
        ("*.example.org", "a.b.example.org"),
        ("Example.ORG", "example.org"),
        ("example.org.", "EXAMPLE.org"),
        ("example.org", "example.org."),
        ("example.org:8080", "example.org:8080"),
        ("example.org:8080", "Example.org.:8080"),
        ("example.org:*", "example.org:1"),
        ("*", "example.org:8080"),
        ("::1", "::1"),
        ("[::1]:80", "[::1]:80"),
        ("127.0.0.*", "127.0.0.1"),
    ],
)
def test_a_pattern_fits_a_host_however_it_is_spelled(pattern: str, host: str) -> None:
    for verdict in Verdict:
        assert fits(Rule(verdict=verdict, host=pattern), call(on=host))


@pytest.mark.parametrize(
    ("pattern", "host"),
    [
        ("*.example.org", "example.org"),
        ("*.example.org", "a.example.org.evil.test"),
        ("*.example.org", "aexample.org"),
        ("example.org", "example.org.evil.test"),
        ("example.org", "examplexorg"),
        ("example.org:80", "example.org:8080"),
        ("::1", "::2"),
    ],
)
def test_a_pattern_does_not_fit_another_host(pattern: str, host: str) -> None:
    for verdict in Verdict:
        assert not fits(Rule(verdict=verdict, host=pattern), call(on=host))


def test_without_a_port_a_rule_forbids_all_of_them_and_allows_the_usual_one() -> None:
    for host in ("example.org:8080", "[::1]:8080"):
        name = host.removesuffix(":8080")
        assert fits(Rule(verdict=DENY, host=name), call(on=host))
        assert fits(Rule(verdict=ASK, host=name), call(on=host))
        assert not fits(Rule(verdict=ALLOW, host=name), call(on=host))


def test_a_rule_about_a_risk_or_a_cost_is_about_that_and_more() -> None:
    rule = Rule(verdict=ASK, risk=Risk.MEDIUM)
    assert [fits(rule, call(risk=risk)) for risk in Risk] == [False, True, True]
    costly = Rule(verdict=ASK, usd=1.0)
    assert [fits(costly, Call("t", READ, Reach(usd=usd))) for usd in (0.5, 1.0, 1.5)] == [False, False, True]


def test_great_harm_is_allowed_only_by_a_rule_that_names_it() -> None:
    made = call("files.delete", WRITE, at="docs", risk=Risk.HIGH, below=True)
    assert rule_on(made, [Rule(verdict=ALLOW, tool="files.*")]).verdict is ASK
    assert rule_on(made, [Rule(verdict=ALLOW, path="**", effect="write")]).verdict is ASK
    assert rule_on(made, [Rule(verdict=ALLOW, tool="files.*", risk=Risk.HIGH)]).verdict is ALLOW


@given(calls, calls)
def test_an_offer_covers_the_tool_and_the_host_it_was_made_for_and_nothing_else(
    made: Call, other: Call
) -> None:
    offer = offer_for(made)
    several = len(set(made.reach.hosts)) > 1
    assert (offer is None) == (made.reach.risk is Risk.HIGH or several)
    if offer is None:
        return
    assert fits(offer, made)
    if fits(offer, other):
        assert (other.tool, other.effect) == (made.tool, made.effect)
        assert not made.reach.hosts or set(other.reach.hosts) == set(made.reach.hosts)
        assert other.reach.risk is not Risk.HIGH


@pytest.mark.parametrize(
    "pattern", ["*a" * 250, "?*" * 250, "**/" * 160 + "x", "**a" * 160, "*" * 500, "a*/" * 166]
)
@pytest.mark.parametrize("text", ["a" * 4096, "a/" * 2048, "ab/" * 1365])
def test_no_pattern_takes_for_ever(pattern: str, text: str) -> None:
    for verdict in Verdict:
        fits(Rule(verdict=verdict, path=pattern), call(effect=WRITE, at=text, below=True))
