"""Commands as processes: killed, stopped with Ctrl-C, two at once."""

import json
import signal
import sys
from pathlib import Path

import pytest

from belayer.cli.exits import Exit
from tests.cli.stage import FLOWS, Cli, read_until


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "gate"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def held(gate: Path, notes: Path) -> list[str]:
    """The command that runs a session which waits at the gate, in the middle of a step."""
    return ["run", f"{FLOWS}:held", "-i", f"gate={gate}", "-i", f"notes={notes}"]


def the_one(cli: Cli) -> str:
    return cli("ls", "--json").json()["sessions"][0]["session_id"]


def test_a_killed_session_is_found_and_taken_up_where_it_was(
    cli: Cli, held: list[str], gate: Path, notes: Path
) -> None:
    with cli.start(*held) as process:
        read_until(process.stdout, "at the gate")
        process.kill()
        process.communicate()
    id_ = the_one(cli)
    assert "its process has died" in cli("show", id_).out
    found = cli("doctor")
    assert found.code == Exit.FAILED
    assert f"belayer resume {id_}" in found.out
    gate.touch()
    assert cli.process("resume", id_).code == Exit.DONE
    assert notes.read_text() == "before\nafter\n"
    assert cli("verify").code == Exit.DONE


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_end_leaves_a_session_that_can_be_resumed(
    cli: Cli, held: list[str], gate: Path, notes: Path, how: signal.Signals
) -> None:
    cli.env = {"BELAYER_GRACE": "0"}
    with cli.start(*held) as process:
        read_until(process.stdout, "at the gate")
        process.send_signal(how)
        _, err = process.communicate()
    id_ = the_one(cli)
    assert process.returncode == Exit.STOPPED
    assert f"belayer resume {id_}" in err
    assert "Traceback" not in err
    gate.touch()
    assert cli("resume", id_).code == Exit.DONE
    assert notes.read_text() == "before\nafter\n"


def test_a_session_that_another_process_drives_is_followed_not_driven(
    cli: Cli, held: list[str], gate: Path, notes: Path
) -> None:
    with cli.start(*held) as driver:
        read_until(driver.stdout, "at the gate")
        id_ = the_one(cli)
        with cli.start("resume", id_) as second, cli.start("follow", id_, "--json") as follower:
            read_until(second.stdout, "Another process drives this session")
            read_until(follower.stdout, "at the gate")
            gate.touch()
            assert "through" in driver.communicate()[0]
            assert "through" in second.communicate()[0]
            last = follower.communicate()[0].splitlines()[-1]
    assert (driver.returncode, second.returncode, follower.returncode) == (Exit.DONE, Exit.DONE, Exit.DONE)
    assert json.loads(last)["data"]["result"] == "through"
    assert notes.read_text() == "before\nafter\n"
    events = cli("show", id_, "--events", "--json").json()["events"]
    assert [event["data"]["epoch"] for event in events if "epoch" in event["data"]] == [1]


def test_a_pause_from_another_process_ends_the_step_and_then_the_run(
    cli: Cli, held: list[str], gate: Path, notes: Path
) -> None:
    with cli.start(*held) as process:
        read_until(process.stdout, "at the gate")
        id_ = the_one(cli)
        assert cli("pause", id_).code == Exit.DONE
        gate.touch()
        out, _ = process.communicate()
    assert process.returncode == Exit.WAITING
    assert f"belayer resume {id_}" in out
    assert notes.read_text() == "before\n"
    assert cli("resume", id_).code == Exit.DONE


def test_following_what_nobody_drives_says_so(cli: Cli) -> None:
    id_ = cli.run("ask")
    cli("answer", id_, "red", "--detach")
    with cli.start("follow", id_) as follower:
        read_until(follower.stderr, "no process drives it")
        assert cli("resume", id_).code == Exit.DONE
        out, _ = follower.communicate()
    assert follower.returncode == Exit.DONE
    assert "red" in out


def test_no_terminal_means_no_control_codes(cli: Cli) -> None:
    said = cli.process("run", f"{FLOWS}:long", "-i", "count=3")
    assert said.code == Exit.DONE
    assert "\x1b" not in said.out + said.err
    assert "done: step 2" in said.out


def test_output_that_nobody_reads_any_more_is_no_error(cli: Cli) -> None:
    id_ = cli.run("long", "-i", "count=2000")
    with cli.start("show", id_, "--events") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_the_demo_is_killed_and_goes_on_to_the_end(cli: Cli) -> None:
    said = cli.process("demo")
    assert said.code == Exit.DONE, said
    for part in (
        "kill -9",
        "The log is intact",
        "the demo answers itself",
        "none done twice",
        "LARGEST FUNCTIONS",
    ):
        assert part in said.out
    report = next((cli.home / "demo").glob("*/survey.md"))
    assert report.read_text().index("Largest functions") < report.read_text().index("Lines by language")


def test_the_demo_answers_a_script_in_json(cli: Cli, tmp_path: Path) -> None:
    result = cli.process("demo", "--json", "--home", str(tmp_path / "here")).json()
    assert result["done_twice"] == []
    assert result["writes"] == ["wrote survey.csv", "wrote survey.md"]
    assert Path(result["result"]["report"]).is_file()


def test_the_module_is_the_command(cli: Cli) -> None:
    assert "Exit codes" in cli.process("--help").out
    assert cli.process("--version").out.startswith("belayer ")
    assert sys.executable
