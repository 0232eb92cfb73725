"""A home of its own for every test."""

from pathlib import Path

import pytest

from tests.cli.stage import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "home")
