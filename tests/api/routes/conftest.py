"""An engine on a real home, and a client of its API."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from belayer.engine import Engine
from belayer.execution.run import Run
from tests.api.visiting import visiting
from tests.api.work import asking, echoing
from tests.support.engines import Gate, home_engine


@pytest.fixture
def gate() -> Gate:
    """What the workflow `passing` has to get through."""
    return Gate()


@pytest.fixture
async def engine(tmp_path: Path, gate: Gate) -> AsyncGenerator[Engine]:
    """A real home with a real store."""

    async def passing(run: Run) -> str:
        return await run.step("gate", gate.pass_, "through")

    async with home_engine(tmp_path / "home", asking, echoing, passing) as engine:
        yield engine


@pytest.fixture
async def client(engine: Engine) -> AsyncGenerator[httpx.AsyncClient]:
    async with visiting(engine) as client:
        yield client
