"""An estimate is calibrated or it is unknown; it is never a guess, and never nonsense."""

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.execution.estimate import (
    FEWEST_SAMPLES,
    LEVEL,
    UNKNOWN,
    Ahead,
    Durations,
    Eta,
    is_early,
    remaining,
)
from belayer.sessions.history import Sample
from scripts import eta_coverage

WEIRD_SECONDS = st.one_of(st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1e9]), st.floats(0, 1e9))
SIZES = st.one_of(st.sampled_from([0.0, 1.0, 1e12]), st.floats(0, 1e12))
WEIRD_SAMPLES = st.lists(st.builds(Sample, SIZES, WEIRD_SECONDS), min_size=FEWEST_SAMPLES, max_size=60)
LEVELS = st.floats(0.01, 0.99)


def learned(samples: Sequence[Sample]) -> Durations:
    durations = Durations.of(samples)
    assert durations is not None
    return durations


def lognormal(middle: float = 0.0, count: int = 100, seed: int = 1) -> Durations:
    """A tool whose input does not matter."""
    dice = random.Random(seed)
    return learned([Sample(dice.uniform(0, 1e4), dice.lognormvariate(middle, 0.5)) for _ in range(count)])


def always(seconds: float) -> Durations:
    return learned([Sample(10.0, seconds)] * 30)


def numbers(eta: Eta) -> tuple[float, float, float]:
    low, mid, high, confidence = eta
    assert low is not None
    assert mid is not None
    assert high is not None
    assert confidence == LEVEL
    return low, mid, high


def is_sound(*seconds: float) -> bool:
    return all(math.isfinite(value) and value >= 0 for value in seconds)


@st.composite
def plans(draw: st.DrawFn) -> list[Ahead]:
    """Steps of known length that need some of those before them."""
    count = draw(st.integers(1, 12))
    return [
        Ahead(
            str(place),
            tuple(str(need) for need in range(place) if draw(st.booleans())),
            known=draw(st.floats(0, 1000)),
        )
        for place in range(count)
    ]


def longest_path(plan: Sequence[Ahead]) -> float:
    ends: dict[str, float] = {}
    for step in plan:
        ends[step.key] = max((ends[need] for need in step.needs), default=0.0) + (step.known or 0.0)
    return max(ends.values())


class TestDurations:
    def test_too_few_samples_say_nothing(self) -> None:
        assert Durations.of([Sample(1.0, 1.0)] * (FEWEST_SAMPLES - 1)) is None
        assert Durations.of([Sample(1.0, 1.0)] * FEWEST_SAMPLES) is not None

    @given(WEIRD_SAMPLES, SIZES, LEVELS)
    def test_an_interval_is_in_order_and_sound_whatever_was_seen(
        self, samples: list[Sample], size: float, level: float
    ) -> None:
        low, mid, high = learned(samples).interval(size, level)
        assert low <= mid <= high
        assert is_sound(low, mid, high)

    @given(WEIRD_SAMPLES, SIZES, LEVELS, LEVELS)
    def test_a_higher_level_never_makes_an_interval_narrower(
        self, samples: list[Sample], size: float, one: float, other: float
    ) -> None:
        durations = learned(samples)
        inner, outer = durations.interval(size, min(one, other)), durations.interval(size, max(one, other))
        assert outer.low <= inner.low
        assert inner.high <= outer.high

    @given(WEIRD_SAMPLES, SIZES, st.floats(0, 1), st.floats(0, 1))
    def test_the_quantile_function_never_falls(
        self, samples: list[Sample], size: float, one: float, other: float
    ) -> None:
        durations = learned(samples)
        low, high = durations.at(size, min(one, other)), durations.at(size, max(one, other))
        assert low <= high
        assert is_sound(low, high)

    def test_a_tool_that_grows_with_its_input_is_understood(self) -> None:
        dice = random.Random(1)
        sizes = [dice.uniform(100, 100_000) for _ in range(100)]
        durations = learned([Sample(size, size / 1000 * dice.lognormvariate(0, 0.1)) for size in sizes])
        assert durations.interval(1_000).mid == pytest.approx(1.0, rel=0.2)
        assert durations.interval(50_000).mid == pytest.approx(50.0, rel=0.2)

    def test_twenty_samples_do_not_make_a_slope_out_of_chance(self) -> None:
        dice = random.Random(1)
        durations = learned([Sample(dice.uniform(90, 110), dice.lognormvariate(0, 0.5)) for _ in range(20)])
        assert durations.at(10_000, 0.5) < 3 * durations.at(100, 0.5)

    def test_what_was_long_ago_is_forgotten(self) -> None:
        durations = learned([Sample(1.0, 1.0)] * 300 + [Sample(1.0, 10.0)] * 200)
        low, mid, high = durations.interval(1.0)
        assert low > 9.0
        assert mid == pytest.approx(10.0, rel=0.05)
        assert high < 11.0

    def test_few_samples_make_a_wider_interval_than_many(self) -> None:
        def width(count: int) -> float:
            intervals = [lognormal(count=count, seed=seed).interval(100) for seed in range(20)]
            return sum(math.log(interval.high / interval.low) for interval in intervals)

        assert width(20) > width(50) > width(400)


class TestEarly:
    def test_a_step_below_the_interval_is_early(self) -> None:
        durations = lognormal()
        low = durations.interval(100).low
        assert is_early(durations, 100, low * 0.9)
        assert not is_early(durations, 100, low * 1.1)

    def test_a_step_that_takes_as_long_as_always_is_not_early(self) -> None:
        assert not is_early(always(2.0), 10.0, 2.0)

    def test_nothing_is_early_for_a_tool_that_takes_no_time(self) -> None:
        assert not is_early(always(0.0), 10.0, 0.0)


class TestRemaining:
    def test_nothing_ahead_takes_no_time(self) -> None:
        assert remaining([], 1) == Eta(0.0, 0.0, 0.0, LEVEL)

    def test_one_unknown_step_makes_all_unknown(self) -> None:
        assert remaining([Ahead("a", known=1.0), Ahead("b")], 1) == UNKNOWN

    def test_steps_that_need_each_other_are_unknown(self) -> None:
        assert remaining([Ahead("a", ("b",), known=1.0), Ahead("b", ("a",), known=1.0)], 2) == UNKNOWN
        assert remaining([Ahead("a", ("a",), known=1.0)], 1) == UNKNOWN

    def test_one_slot_takes_the_sum(self) -> None:
        assert numbers(remaining([Ahead(key, known=2.0) for key in "abc"], 1)) == (6.0, 6.0, 6.0)

    def test_no_slot_is_as_good_as_one(self) -> None:
        assert remaining([Ahead("a", known=2.0)], 0) == remaining([Ahead("a", known=2.0)], 1)

    def test_slots_are_shared_in_order(self) -> None:
        steps = [
            Ahead(key, known=seconds) for key, seconds in (("a", 3.0), ("b", 1.0), ("c", 2.0), ("d", 4.0))
        ]
        assert numbers(remaining(steps, 2))[1] == 7.0

    def test_a_ready_step_overtakes_one_that_waits(self) -> None:
        steps = [Ahead("a", known=3.0), Ahead("b", ("a",), known=3.0), Ahead("c", known=3.0)]
        assert numbers(remaining(steps, 2))[1] == 6.0

    def test_needs_that_are_not_ahead_are_done(self) -> None:
        assert numbers(remaining([Ahead("b", ("a",), known=2.0)], 1))[1] == 2.0

    def test_a_known_step_under_way_takes_what_is_left_of_it(self) -> None:
        assert numbers(remaining([Ahead("a", known=5.0, elapsed=3.0)], 1))[1] == 2.0
        assert numbers(remaining([Ahead("a", known=5.0, elapsed=30.0)], 1))[1] == 0.0

    def test_a_step_under_way_keeps_its_slot_wherever_it_stands(self) -> None:
        steps = [Ahead("a", known=2.0), Ahead("b", known=5.0, elapsed=1.0)]
        assert numbers(remaining(steps, 1))[1] == 6.0

    def test_more_steps_under_way_than_slots_all_end(self) -> None:
        steps = [Ahead(key, known=5.0, elapsed=1.0) for key in "abc"]
        assert numbers(remaining([*steps, Ahead("d", known=1.0)], 1))[1] == 5.0

    @given(plans(), st.integers(1, 5))
    def test_it_takes_at_least_the_longest_path_and_at_most_the_sum(
        self, plan: list[Ahead], parallel: int
    ) -> None:
        low, mid, high = numbers(remaining(plan, parallel))
        total = math.fsum(step.known or 0.0 for step in plan)
        assert low == mid == high
        assert max(longest_path(plan), total / parallel) - 1e-6 <= mid <= total + 1e-6

    @given(st.permutations(range(8)), st.sampled_from([1, 8]))
    @settings(max_examples=20)
    def test_the_order_of_steps_is_no_matter_where_none_has_to_wait_for_a_slot_in_turn(
        self, order: list[int], parallel: int
    ) -> None:
        durations = [lognormal(), lognormal(2.0)]
        plan = [Ahead(str(place), (), durations[place % 2], 100.0 * place) for place in range(8)]
        shuffled = [plan[place] for place in order]
        assert numbers(remaining(shuffled, parallel)) == pytest.approx(numbers(remaining(plan, parallel)))

    @given(
        WEIRD_SAMPLES,
        st.lists(st.tuples(SIZES, st.none() | WEIRD_SECONDS), min_size=1, max_size=5),
        st.integers(1, 3),
    )
    @settings(max_examples=50)
    def test_it_is_in_order_and_sound_whatever_was_seen(
        self, samples: list[Sample], steps: list[tuple[float, float | None]], parallel: int
    ) -> None:
        durations = learned(samples)
        plan = [Ahead(str(n), (), durations, size, None, gone) for n, (size, gone) in enumerate(steps)]
        low, mid, high = numbers(remaining(plan, parallel))
        assert low <= mid <= high
        assert is_sound(low, mid, high)

    @pytest.mark.parametrize("known", [math.nan, math.inf, -1.0, 1e308])
    def test_a_tool_that_says_nonsense_does_no_harm(self, known: float) -> None:
        assert is_sound(*numbers(remaining([Ahead(key, known=known) for key in "abc"], 1)))

    def test_the_same_question_gets_the_same_answer(self) -> None:
        plan = [Ahead(key, (), lognormal(), 10.0) for key in "abc"]
        assert remaining(plan, 2) == remaining(plan, 2)

    def test_a_step_that_has_just_begun_takes_as_long_as_one_that_has_not(self) -> None:
        durations = lognormal()
        fresh = numbers(remaining([Ahead("a", (), durations, 100)], 1))
        begun = numbers(remaining([Ahead("a", (), durations, 100, elapsed=0.0)], 1))
        assert begun[1] == pytest.approx(fresh[1], rel=0.2)

    def test_the_two_modes_of_a_tool_are_told_apart_once_the_first_is_over(self) -> None:
        durations = learned([Sample(1.0, seconds) for seconds in (0.1, 10.0) * 50])
        low, mid, _ = numbers(remaining([Ahead("a", (), durations, 1.0, elapsed=1.0)], 1))
        assert 8.0 < low <= mid < 10.0

    def test_a_step_that_outlasts_all_that_was_seen_is_not_about_to_end(self) -> None:
        low, mid, high = numbers(remaining([Ahead("a", (), always(1.0), 10.0, elapsed=100.0)], 1))
        assert 0 < low < mid < high <= 100.0

    def test_a_plan_that_uses_one_tool_often_is_less_sure_than_one_of_many_tools(self) -> None:
        one = [Ahead(str(n), (), durations, 10.0) for n, durations in enumerate([lognormal()] * 10)]
        many = [Ahead(str(n), (), lognormal(), 10.0) for n in range(10)]
        (low, _, high), (inner_low, _, inner_high) = numbers(remaining(one, 1)), numbers(remaining(many, 1))
        assert high - low > inner_high - inner_low

    def test_a_long_plan_gets_an_answer_too(self) -> None:
        durations = always(1.0)
        plan = [Ahead(str(n), (str(n - 1),), durations, 10.0) for n in range(1_000)]
        assert numbers(remaining(plan, 3))[1] == pytest.approx(1_000.0)


class TestCoverage:
    def test_four_of_five_intervals_hold(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert eta_coverage.main() == 0
        assert "plans overall" in capsys.readouterr().out

    def test_narrower_intervals_are_found_out(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert eta_coverage.main(narrowed=0.5) == 1
        assert "is not between 70% and 90%" in capsys.readouterr().err

    def test_wider_intervals_are_found_out(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert eta_coverage.main(narrowed=3.0) == 1
        assert "is not between 70% and 90%" in capsys.readouterr().err

    def test_a_tool_that_drifts_is_covered_like_the_others(self) -> None:
        share = eta_coverage.steps_held(1.0)["steps, drifting"]
        assert eta_coverage.FEWEST <= share.part <= eta_coverage.MOST
