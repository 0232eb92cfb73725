"""Every problem of a plan at once, each in its place; and what a plan without problems comes to."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.errors import Category, UnfitPlan
from belayer.workflows.plan.check import CheckedPlan, check
from belayer.workflows.plan.source import read_plan
from tests.workflows.plan.desk import Desk, jsons, plan, problems_of, step

IDS = "use a letter or _, then up to 63 letters, digits, _ or -"
MEMBERS = "id, tool, params, needs, critical, optional, fallback, timeout, retries, when, title"


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


# A step's own mistakes, as steps[0] of a plan in which `z` is another step, and what is said of them.
IN_A_STEP: list[tuple[dict[str, Any], str]] = [
    ({"id": 5}, "steps[0].id: must be a text, not a number"),
    ({"id": "1a"}, f'steps[0].id (step "1a"): "1a" is no id: {IDS}'),
    ({"id": "a\n"}, f'steps[0].id (step "a\\n"): "a\\n" is no id: {IDS}'),
    ({"id": "a" * 65}, f'steps[0].id (step "{"a" * 59}…"): "{"a" * 59}…" is no id: {IDS}'),
    ({"id": "\x1b[2J"}, f'steps[0].id (step "\\u001b[2J"): "\\u001b[2J" is no id: {IDS}'),
    ({"tool": None}, 'steps[0].tool (step "a"): must be a text, not null'),
    ({"tool": ""}, 'steps[0].tool (step "a"): must not be empty'),
    ({"tool": "x" * 201}, 'steps[0].tool (step "a"): must have at most 200 characters, not 201'),
    ({"tool": "sey"}, 'steps[0].tool (step "a"): there is no tool "sey" (did you mean "say"?)'),
    (
        {"tool": "qqqq"},
        'steps[0].tool (step "a"): there is no tool "qqqq"; there are: "files.read", "say", "wait"',
    ),
    (
        {"tool": "files", "params": {"action": "burn"}},
        'steps[0].tool (step "a"): there is no tool "files" (did you mean "files.read"?)',
    ),
    ({"params": []}, 'steps[0].params (step "a"): must be an object, not a list'),
    ({"params": None}, 'steps[0].params (step "a"): must be an object, not null'),
    ({"params": {"text": 5}}, 'steps[0].params.text (step "a"): must be a text'),
    ({"params": {"x": deep(50)}}, 'steps[0].params (step "a"): lists and objects lie more than 50 deep'),
    (
        {"params": {"x": 2**63}},
        'steps[0].params (step "a"): a whole number goes beyond 64 bits; make it a text',
    ),
    (
        {"params": {"a b": ["{{x}}"]}},
        'steps[0].params["a b"][0] (step "a"): "x}}" begins no reference: write steps.ID.output, steps.ID.status,'
        " steps.ID.problem.detail or input.NAME",
    ),
    ({"needs": "z"}, 'steps[0].needs (step "a"): must be a list, not a text'),
    ({"needs": [1]}, 'steps[0].needs[0] (step "a"): must be a text, not a number'),
    ({"needs": ["z"] * 1001}, 'steps[0].needs (step "a"): must have at most 1,000 entries, not 1,001'),
    ({"needs": ["y"]}, 'steps[0].needs[0] (step "a"): there is no step "y"'),
    ({"needs": ["z", "a"]}, 'steps[0].needs[1] (step "a"): a step cannot need itself'),
    ({"critical": "yes"}, 'steps[0].critical (step "a"): must be true or false, not a text'),
    ({"optional": None}, 'steps[0].optional (step "a"): must be true or false, not null'),
    (
        {"critical": True, "optional": True},
        'steps[0] (step "a"): a step cannot be both critical and optional; leave one of them out',
    ),
    ({"fallback": "say"}, 'steps[0].fallback (step "a"): must be an object, not a text'),
    ({"fallback": {}}, 'steps[0].fallback (step "a"): "tool" is missing'),
    (
        {"fallback": {"tool": "say", "needs": []}},
        'steps[0].fallback.needs (step "a"): there is no such member; there are: tool, params',
    ),
    (
        {"fallback": {"tool": "sai"}},
        'steps[0].fallback.tool (step "a"): there is no tool "sai" (did you mean "say"?)',
    ),
    (
        {"fallback": {"tool": "wait", "params": {"seconds": "x"}}},
        'steps[0].fallback.params.seconds (step "a"): must be a number',
    ),
    (
        {"fallback": {"tool": "say", "params": {"text": "{{steps.a.output}}"}}},
        'steps[0].fallback.params.text (step "a"): a step cannot refer to itself',
    ),
    ({"timeout": 0}, 'steps[0].timeout (step "a"): must be more than 0'),
    ({"timeout": 86_401}, 'steps[0].timeout (step "a"): must be at most 86,400'),
    ({"timeout": "5"}, 'steps[0].timeout (step "a"): must be a number, not a text'),
    ({"timeout": True}, 'steps[0].timeout (step "a"): must be a number, not true'),
    ({"retries": -1}, 'steps[0].retries (step "a"): must be at least 0'),
    ({"retries": 21}, 'steps[0].retries (step "a"): must be at most 20'),
    ({"retries": 1.5}, 'steps[0].retries (step "a"): must be a whole number, not a number'),
    ({"when": []}, 'steps[0].when (step "a"): must be a condition, true or false, not a list'),
    ({"when": "x" * 2001}, 'steps[0].when (step "a"): must have at most 2,000 characters, not 2,001'),
    (
        {"when": "steps.z.output.x ="},
        'steps[0].when (step "a"): the condition cannot be read at character 18: "=" is not known here; write ==',
    ),
    ({"when": "steps.y.status"}, 'steps[0].when (step "a"): there is no step "y"'),
    ({"when": "steps.a.status"}, 'steps[0].when (step "a"): a step cannot refer to itself'),
    (
        {"when": "input.city"},
        'steps[0].when (step "a"): the plan has no input "city"; under inputs it has: nothing',
    ),
    (
        {"params": {"text": "{{input.city}}"}},
        'steps[0].params.text (step "a"): the plan has no input "city"; under inputs it has: nothing',
    ),
    (
        {"params": {"text": "{{steps.a.output}}"}},
        'steps[0].params.text (step "a"): a step cannot refer to itself',
    ),
    ({"params": {"text": "{{steps.y.status}}"}}, 'steps[0].params.text (step "a"): there is no step "y"'),
    ({"title": 5}, 'steps[0].title (step "a"): must be a text, not a number'),
    ({"title": "x" * 201}, 'steps[0].title (step "a"): must have at most 200 characters, not 201'),
    ({"depends_on": []}, f'steps[0].depends_on (step "a"): there is no such member; there are: {MEMBERS}'),
    ({"\u202e": 1}, f'steps[0]["\\u202e"] (step "a"): there is no such member; there are: {MEMBERS}'),
]


@pytest.mark.parametrize(("wrong", "said"), IN_A_STEP)
def test_a_mistake_in_a_step_is_said_in_its_place(wrong: dict[str, Any], said: str) -> None:
    assert problems_of(plan({**step("a"), **wrong}, step("z"))) == [said]


IN_A_PLAN: list[tuple[Any, list[str]]] = [
    (None, ["plan: must be an object, not null"]),
    ([], ["plan: must be an object, not a list"]),
    ("steps", ["plan: must be an object, not a text"]),
    ({}, ['plan: "steps" is missing']),
    ({"steps": {}}, ["steps: must be a list, not an object"]),
    ({"steps": []}, ["steps: must have at least one step"]),
    ({"steps": [7]}, ["steps[0]: must be an object, not a number"]),
    ({"steps": [{}]}, ['steps[0]: "id" is missing', 'steps[0]: "tool" is missing']),
    ({"steps": [{}] * 100_000}, ["steps: there are 100,000 steps; a plan has at most 1,000"]),
    (plan(step("a"), parallel=0), ["parallel: must be at least 1"]),
    (plan(step("a"), parallel=65), ["parallel: must be at most 64"]),
    (plan(step("a"), parallel="2"), ["parallel: must be a whole number, not a text"]),
    (plan(step("a"), title=[]), ["title: must be a text, not a list"]),
    (plan(step("a"), inputs=[]), ["inputs: must be an object, not a list"]),
    (plan(step("a"), inputs={"a b": 1}), [f'inputs["a b"]: is no name: {IDS}']),
    (plan(step("a"), inputs={"x": deep(50)}), ["inputs: lists and objects lie more than 50 deep"]),
    (plan(step("a"), name="x"), ["name: there is no such member; there are: steps, parallel, title, inputs"]),
    (
        plan(step("a"), step("b"), step("a"), step("a")),
        [
            'steps[2].id (step "a"): the id "a" is taken already, by steps[0]',
            'steps[3].id (step "a"): the id "a" is taken already, by steps[0]',
        ],
    ),
    (
        plan(step("c", "a"), step("a", "b"), step("b", "a")),
        ['steps[1] (step "a"): these steps wait for each other in a circle, each for the next: a → b → a'],
    ),
    (
        plan(
            step("a", when="steps.c.status == 'failed'"),
            step("b", "a"),
            step("c", params={"x": "{{steps.b.output}}"}),
        ),
        [
            'steps[0] (step "a"): these steps wait for each other in a circle, each for the next: a → c → b → a'
        ],
    ),
    (
        plan(*[step(f"s{number}", f"s{(number + 1) % 100}") for number in range(100)]),
        [
            'steps[0] (step "s0"): these steps wait for each other in a circle, each for the next: '
            + " → ".join(f"s{number}" for number in range(20))
            + " → … (80 more) → s0"
        ],
    ),
    (
        plan(step("fetch"), step("b", "fetsh")),
        ['steps[1].needs[0] (step "b"): there is no step "fetsh" (did you mean "fetch"?)'],
    ),
]


@pytest.mark.parametrize(("given_plan", "said"), IN_A_PLAN)
def test_a_mistake_in_a_plan_is_said_in_its_place(given_plan: Any, said: list[str]) -> None:
    assert problems_of(given_plan) == said


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object(), deep(5_000)])
def test_what_is_no_json_is_refused(value: Any) -> None:
    [said] = problems_of(plan(step("a", params={"x": value})))
    assert said.startswith("plan: this is not plain JSON: ")


WRONG = """\
steps:
  - id: fetch
    tool: sey
    needs: [store]
  - id: store
    tool: say
    params:
      text: "{{steps.fetch.output.body}}"
      more: "{{steps.feth.output}}"
    retries: many
  - id: fetch
    tool: say
    when: steps.other.status = 'failed'
parallel: 100
"""


def test_every_problem_is_told_at_once_with_its_line() -> None:
    assert problems_of(read_plan(WRONG)) == [
        "parallel (line 14): must be at most 64",
        'steps[0].tool (step "fetch", line 3): there is no tool "sey" (did you mean "say"?)',
        'steps[1].retries (step "store", line 10): must be a whole number, not a text',
        'steps[2].id (step "fetch", line 11): the id "fetch" is taken already, by steps[0]',
        'steps[2].when (step "fetch", line 13): the condition cannot be read at character 20: "=" is not known here;'
        " write ==",
    ]


def test_a_refusal_names_the_fifty_first_problems_and_counts_the_rest() -> None:
    with pytest.raises(UnfitPlan) as caught:
        check(plan(*[step(f"s{number}", "nowhere") for number in range(60)]), Desk())
    assert caught.value.detail.startswith("The plan has 60 problems; nothing was run.\n  steps[0].needs[0] ")
    assert caught.value.detail.endswith("… and 10 more")
    assert caught.value.category is Category.CONFIGURATION


def test_a_plan_with_endless_problems_is_left_early() -> None:
    needs = [f"x{number}" for number in range(1_000)]
    assert len(problems_of(plan(*[step(f"s{number}", *needs) for number in range(200)]))) == 1_000
    assert len(problems_of({"steps": [{"needs": [0] * 1_000}] * 1_000})) == 1_000


def test_a_thousand_steps_that_all_need_each_other_in_turn_are_fine() -> None:
    ids = [f"s{number}" for number in range(1_000)]
    checked = check(plan(*[step(one, *ids[number + 1 :]) for number, one in enumerate(ids)]), Desk())
    assert checked.order == tuple(reversed(ids))


def test_a_reference_to_an_output_is_a_need() -> None:
    checked = check(
        plan(
            step("a"),
            step("b"),
            step("c"),
            step("d", "a", params={"text": "{{steps.b.output}}"}, when="steps.c.output.ok"),
            step("e", fallback={"tool": "say", "params": {"text": "{{steps.d.output}}"}}),
        ),
        Desk(),
    )
    assert checked.needs["d"] == {"a", "b", "c"}
    assert checked.needs["e"] == {"d"}
    assert checked.needing("b") == ("d", "e")


def test_a_step_that_asks_how_another_ended_comes_after_it_but_does_not_need_it() -> None:
    checked = check(
        plan(
            step(
                "alarm",
                when="steps.work.status == 'failed'",
                params={"text": "{{steps.work.problem.detail}}"},
            ),
            step("work"),
        ),
        Desk(),
    )
    assert checked.order == ("work", "alarm")
    assert checked.needs["alarm"] == frozenset()
    assert checked.after["alarm"] == {"work"}
    assert checked.needing("work") == ()


def test_a_need_that_is_named_twice_counts_once() -> None:
    checked = check(plan(step("a"), step("b", "a", "a", params={"text": "{{steps.a.output}}"})), Desk())
    assert checked.needs == {"a": frozenset(), "b": {"a"}}


def test_a_parameter_that_a_template_will_fill_in_is_not_checked_yet() -> None:
    given_plan = plan(step("a"), {"id": "b", "tool": "wait", "params": {"seconds": "{{steps.a.output}}"}})
    assert check(given_plan, Desk()).order == ("a", "b")


def test_a_tool_may_be_known_only_by_its_parameters() -> None:
    assert check(plan({"id": "a", "tool": "files", "params": {"action": "read"}}), Desk()).order == ("a",)


def test_steps_can_be_had_in_order_and_by_id() -> None:
    checked = check(plan(step("b", "a"), step("a")), Desk())
    assert [one.id for one in checked.steps()] == ["a", "b"]
    assert checked.step("b").needs == ("a",)
    assert checked.plan_order({"b", "a"}) == ("a", "b")


INPUTS = plan(step("a", params={"text": "{{input.city}}"}), inputs={"city": None, "zip": "89073"})


def test_inputs_have_their_defaults_unless_given() -> None:
    assert check(INPUTS, Desk(), {"city": "Ulm"}).inputs == {"city": "Ulm", "zip": "89073"}
    assert check(INPUTS, Desk(), {"city": "Ulm", "zip": None}).inputs == {"city": "Ulm", "zip": "89073"}
    assert check(INPUTS, Desk(), {"city": "Ulm", "zip": 0}).inputs == {"city": "Ulm", "zip": 0}
    assert check(INPUTS, Desk()).inputs == {"city": None, "zip": "89073"}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, ["inputs.city: must be given at the start"]),
        ({"city": None}, ["inputs.city: must be given at the start"]),
        (
            {"city": 1, "town": 2},
            ['inputs.town: is given, but the plan has no such input; it has: "city", "zip"'],
        ),
        ({"city": 2**64}, ["inputs.city: a whole number goes beyond 64 bits; make it a text"]),
        ({"city": deep(52)}, ["inputs.city: lists and objects lie more than 50 deep"]),
    ],
)
def test_inputs_that_do_not_fit_are_said(inputs: dict[str, Any], said: list[str]) -> None:
    assert problems_of(INPUTS, inputs) == said


def test_inputs_that_are_no_json_are_refused() -> None:
    assert problems_of(INPUTS, {"city": float("nan")})[0].startswith("inputs: this is not plain JSON")


def test_the_digest_is_that_of_what_will_be_done() -> None:
    def digest(given_plan: Any, city: str = "Ulm") -> str:
        return check(given_plan, Desk(), {"city": city}).digest

    same = read_plan(
        "inputs: {zip: '89073', city: ~}\nsteps: [{tool: say, params: {text: '{{input.city}}'}, id: a}]"
    )
    assert digest(INPUTS) == digest(same) == digest(read_plan(json.dumps(INPUTS)))
    assert len({digest(INPUTS), digest(INPUTS, "Bonn"), digest({**INPUTS, "parallel": 2})}) == 3


@st.composite
def acyclic(draw: st.DrawFn) -> tuple[Any, dict[str, set[str]]]:
    """A plan whose steps need only earlier ones of a hidden order, some by name, some by reference."""
    ids = [f"s{number}" for number in range(draw(st.integers(1, 10)))]
    steps: list[Any] = []
    needs: dict[str, set[str]] = {}
    for number, one in enumerate(ids):
        named, referred = (draw(st.sets(st.sampled_from(ids[:number]))) if number else set() for _ in "ab")
        params = {"texts": [f"{{{{steps.{other}.output}}}}" for other in sorted(referred)]}
        steps.append(step(one, *sorted(named), params=params))
        needs[one] = named | referred
    return plan(*draw(st.permutations(steps))), needs


def reached(needs: dict[str, set[str]], lost: str) -> set[str]:
    """All that cannot do without a step, the slow way."""
    found: set[str] = set()
    for _ in needs:
        found |= {one for one, its in needs.items() if its & (found | {lost})}
    return found


@given(acyclic())
def test_every_step_comes_after_what_it_needs_and_takes_down_what_needs_it(given_plan: Any) -> None:
    raw, needs = given_plan
    checked = check(raw, Desk())
    assert checked.needs == needs
    assert sorted(checked.order) == sorted(needs)
    for position, one in enumerate(checked.order):
        assert needs[one] <= set(checked.order[:position])
        assert set(checked.needing(one)) == reached(needs, one)
        assert list(checked.needing(one)) == sorted(checked.needing(one), key=checked.order.index)


somewhat_like_steps = st.lists(
    st.dictionaries(
        st.sampled_from([*MEMBERS.split(", "), "x"]), jsons | st.sampled_from(["a", "say", "{{"]), max_size=6
    )
)


@given(
    jsons
    | st.fixed_dictionaries({"steps": somewhat_like_steps}, optional={"inputs": jsons, "parallel": jsons})
)
def test_anything_is_a_plan_or_refused_with_problems(data: Any) -> None:
    try:
        found = check(data, Desk(), {})
    except UnfitPlan as error:
        found = error
    assert isinstance(found, CheckedPlan) or all(map(str.isprintable, found.detail.split("\n")))
