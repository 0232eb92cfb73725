"""In which order steps are taken, and where they wait for each other in a circle."""

from hypothesis import given
from hypothesis import strategies as st

from belayer.workflows.plan.order import arrange


def test_steps_are_taken_as_listed_when_nothing_speaks_against_it() -> None:
    assert arrange({"c": set(), "a": set(), "b": {"c"}})[0] == ("c", "a", "b")


def test_a_step_listed_before_what_it_waits_for_is_taken_after_it() -> None:
    assert arrange({"a": {"c"}, "b": set(), "c": set()})[0] == ("b", "c", "a")


def test_a_circle_is_told_in_order() -> None:
    assert arrange({"x": {"a"}, "a": {"b"}, "b": {"c"}, "c": {"a"}})[1] == [("a", "b", "c")]


def test_two_circles_are_both_told() -> None:
    after = {"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"c"}, "e": {"d"}}
    assert arrange(after)[1] == [("a", "b"), ("c", "d")]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, set[str]]:
    names = [f"s{number}" for number in range(draw(st.integers(1, 12)))]
    return {name: draw(st.sets(st.sampled_from(names), max_size=3)) - {name} for name in names}


@given(graphs())
def test_either_every_step_comes_after_what_it_waits_for_or_there_is_a_true_circle(
    after: dict[str, set[str]],
) -> None:
    order, circles = arrange(after)
    for position, step in enumerate(order):
        assert circles or after[step] <= set(order[:position])
    for circle in circles:
        assert all(then in after[step] for step, then in zip(circle, (*circle[1:], circle[0]), strict=True))
    assert circles or sorted(order) == sorted(after)
