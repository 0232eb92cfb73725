"""Plans survive kills, faults and time-outs: the drill of bench/reliability.py, made small."""

from pathlib import Path

import pytest

from bench.reliability import drill


@pytest.mark.parametrize("seed", [1, 2])
def test_plans_come_through_kills_and_faults_with_nothing_done_twice(seed: int, tmp_path: Path) -> None:
    verdict = drill(tmp_path / "home", runs=40, kills=2, seed=seed, speed=50)
    assert verdict.troubles == ()
    assert verdict.completed == 40
    assert verdict.kills == 2
