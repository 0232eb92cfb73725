"""The logs in golden/, which the browser folds too, fold to the states that stand beside them."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from belayer.sessions.record import Record
from belayer.sessions.state import fold
from belayer.vocabulary.clock import to_micros
from belayer.vocabulary.ids import SessionId
from tests.replay.make_golden import told
from tests.replay.test_golden import known_then

LOGS = sorted((Path(__file__).parents[2] / "golden").glob("*.jsonl"))


def record(line: str) -> Record:
    """The event of a line, as a reader of the wire has it: without its place in the chain."""
    frame: dict[str, Any] = json.loads(line)
    at = to_micros(datetime.fromisoformat(frame["timestamp"]))
    data = json.dumps(frame["data"]).encode()
    return Record(
        SessionId(frame["session_id"]), frame["seq"], frame["type"], 1, at, frame["stage"], data, b""
    )


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_golden_log_folds_to_the_state_beside_it(path: Path) -> None:
    records = [record(line) for line in path.read_text().splitlines()]
    then = json.loads(path.with_suffix(".state.json").read_bytes())
    assert known_then(told(fold(records[0].session_id, records)), then) == then


def test_there_are_golden_logs() -> None:
    assert len(LOGS) >= 2
