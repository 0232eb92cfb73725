"""See it work: a survey in a process of its own is killed with kill -9 in the middle, and goes on to its end."""

import os
from datetime import UTC, datetime
from pathlib import Path

from belayer.cli.demonstration import Demonstration
from belayer.cli.desk import Desk, carry_out
from belayer.cli.options import AsJson, Home, NoInput
from belayer.settings import read_settings


def demo(no_input: NoInput = False, as_json: AsJson = False, home: Home = None) -> None:
    """Survey Python's own library, be killed half-way, and finish all the same. Takes some seconds."""

    async def work(desk: Desk) -> int:
        place = home or desk.home / "demo" / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
        stage = Desk(desk.screen, read_settings(home=place), place, notices=desk.notices)
        try:
            return await Demonstration(stage, Path(os.__file__).parent).perform()
        finally:
            desk.when_stopped = stage.when_stopped

    carry_out(work, home=home, as_json=as_json, no_input=no_input)
