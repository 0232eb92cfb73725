"""A box on each rung that works here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.boxes import RUNGS, Box, furnished, lasting


@pytest.fixture(scope="module", params=RUNGS)
def rung(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    yield from lasting(request.param, tmp_path_factory.mktemp("box"))


@pytest.fixture
def box(rung: Box, tmp_path: Path) -> Box:
    return furnished(rung.sandbox, rung.home, tmp_path)
