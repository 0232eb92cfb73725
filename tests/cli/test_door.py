"""An error that nobody expected: a short message, the details in the log file, exit code 1."""

import json
from pathlib import Path

import pytest
import typer

from belayer.cli.desk import Desk, carry_out


async def _stumble(desk: Desk) -> int:
    raise RuntimeError("the rope is wet")


async def _stop(desk: Desk) -> int:
    desk.when_stopped = "Stopped. Go on with: belayer resume x"
    raise KeyboardInterrupt


def test_an_unexpected_error_is_a_sentence_and_a_log_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ending:
        carry_out(_stumble, home=tmp_path, as_json=False)
    assert ending.value.exit_code == 1
    err = capsys.readouterr().err
    assert "RuntimeError: the rope is wet" in err
    assert "Traceback" not in err
    log = tmp_path / "logs" / "belayer.jsonl"
    assert str(log) in err.replace("\n", "")
    assert "in _stumble" in json.loads(log.read_text())["exception"]


def test_an_unexpected_error_is_json_where_json_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit):
        carry_out(_stumble, home=tmp_path, as_json=True)
    problem = json.loads(capsys.readouterr().err)
    assert "the rope is wet" in problem["detail"]
    assert "belayer.jsonl" in problem["hint"]


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ending:
        carry_out(_stop, home=tmp_path, as_json=False)
    assert ending.value.exit_code == 130
    assert "belayer resume x" in capsys.readouterr().err
