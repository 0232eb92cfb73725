"""What a person does with sessions, command by command, and the exit codes a script gets."""

import json
from pathlib import Path

import pytest

from belayer.cli.app import COMMANDS, POLICY
from belayer.cli.exits import Exit
from tests.cli.stage import FLOWS, SPOIL, Cli


def flow(name: str) -> str:
    return f"{FLOWS}:{name}"


def test_a_workflow_that_needs_nobody_runs_to_its_result(cli: Cli) -> None:
    said = cli("run", flow("plain"), "-i", "name=ada", "--title", "Shouting")
    assert said.code == Exit.DONE
    assert "Shouting" in said.out
    assert "done: shout" in said.out
    assert "ADA" in said.out


def test_a_workflow_is_known_by_name_once_it_was_run(cli: Cli) -> None:
    cli.run("plain")
    assert cli("run", "plain").code == Exit.DONE


def test_a_session_that_asks_says_what_and_how_to_answer(cli: Cli) -> None:
    said = cli("run", flow("ask"))
    assert said.code == Exit.WAITING
    assert "Which colour?" in said.out
    assert "2. blue" in said.out
    command = next(line.split() for line in said.out.splitlines() if "belayer answer" in line)
    answered = cli(*command[1:])
    assert answered.code == Exit.DONE
    assert "red" in answered.out


def test_the_home_that_was_given_stands_in_the_command_to_paste(cli: Cli, tmp_path: Path) -> None:
    said = cli("run", flow("ask"), "--home", str(tmp_path / "other"))
    assert f"--home {tmp_path / 'other'}" in said.out


@pytest.mark.parametrize(
    ("asked", "typed", "result"),
    [
        ("ask", "2", "blue"),
        ("text", "123", "123"),
        ("sure", "yes", True),
        ("form", '{"name": "Ada", "age": 36}', {"name": "Ada", "age": 36}),
    ],
)
def test_an_answer_leads_to_the_result(cli: Cli, asked: str, typed: str, result: object) -> None:
    said = cli("answer", cli.run(asked), typed, "--json")
    assert said.code == Exit.DONE
    assert said.json()["result"] == result


def test_the_same_answer_again_changes_nothing_and_is_fine(cli: Cli) -> None:
    id_ = cli.run("ask")
    request = cli.shown(id_)["pending"][0]["request_id"]
    cli("answer", id_, "red")
    before = cli.content()
    assert cli("answer", id_, "red", "--request", request).code == Exit.DONE
    assert cli.content() == before


def test_of_several_requests_the_named_one_is_answered(cli: Cli) -> None:
    id_ = cli.run("two")
    assert cli("answer", id_, "first", "--request", "both/0/which").code == Exit.WAITING
    said = cli("answer", id_, "second", "--json")
    assert said.json()["result"] == ["first", "second"]


def test_an_approval_shows_what_is_approved(cli: Cli) -> None:
    id_ = cli.run("approval")
    digest = cli.shown(id_)["pending"][0]["digest"]
    said = cli("approve", id_, "--digest", digest[:16], "--notes", "fine")
    assert said.code == Exit.DONE
    assert "drop the table" in said.out
    assert cli.shown(id_)["result"] == {"approved": True, "notes": "fine"}


def test_an_approval_of_much_shows_it_all(cli: Cli) -> None:
    content = "x" * 100_000 + "the end"
    id_ = cli.run("approval", "-i", f"content={content}")
    assert "the end" in cli("approve", id_).out


def test_a_rejection_is_an_answer_like_any_other(cli: Cli) -> None:
    said = cli("reject", cli.run("approval"), "--reason", "not on a Friday", "--json")
    assert said.code == Exit.DONE
    assert said.json()["result"] == {"approved": False, "notes": "not on a Friday"}


def test_detached_an_answer_is_only_recorded(cli: Cli) -> None:
    id_ = cli.run("ask")
    assert cli("answer", id_, "red", "--detach").code == Exit.DONE
    assert cli.shown(id_)["status"] == "queued"
    assert cli("resume", id_).code == Exit.DONE


def test_an_answer_is_recorded_even_where_the_workflow_is_not_known(cli: Cli) -> None:
    id_ = cli.run("ask")
    (cli.home / "workflows.json").unlink()
    said = cli("answer", id_, "red")
    assert said.code == Exit.DONE
    assert "cannot go on with the session" in said.err
    assert cli.shown(id_)["status"] == "queued"


def test_a_failed_session_says_why_and_where_to_go_back_to(cli: Cli) -> None:
    said = cli("run", flow("broken"))
    assert said.code == Exit.FAILED
    assert "ValueError: boom" in said.out
    assert "belayer rewind" in said.out


def test_a_session_that_sleeps_is_waited_for(cli: Cli) -> None:
    said = cli("run", flow("nap"))
    assert said.code == Exit.DONE
    assert "awake" in said.out


def test_a_budget_that_is_used_up_asks_for_more(cli: Cli) -> None:
    said = cli("run", flow("long"), "-i", "count=5", "--budget-steps", "3", "--json")
    assert said.code == Exit.WAITING
    assert said.json()["pending"][0]["purpose"] == "budget"
    assert cli("answer", said.json()["session_id"], "extend").code == Exit.DONE


def test_an_autonomous_session_fails_where_it_would_ask(cli: Cli) -> None:
    said = cli("run", flow("ask"), "--mode", "autonomous")
    assert said.code == Exit.FAILED
    assert "hitl" in said.out


def test_the_same_key_gives_the_same_session(cli: Cli) -> None:
    assert cli.run("ask", "--key", "k") == cli.run("ask", "--key", "k")


def test_pause_resume_interrupt_and_cancel_say_the_new_status(cli: Cli) -> None:
    id_ = cli.run("ask")
    assert "paused" in cli("pause", id_, "--reason", "lunch").out
    assert cli("resume", id_).code == Exit.WAITING
    assert cli("interrupt", id_, "--json").json()["status"] == "interrupted"
    assert cli("resume", id_, "--detach", "--json").json()["status"] == "queued"
    assert cli("cancel", id_).code == Exit.DONE
    assert cli("follow", id_).code == Exit.FAILED


def test_a_pause_with_an_end_says_when(cli: Cli) -> None:
    said = cli("pause", cli.run("ask"), "--timeout", "3600", "--then", "cancel")
    assert "it will cancel at" in said.out


def test_an_answer_to_a_paused_session_leaves_it_paused(cli: Cli) -> None:
    id_ = cli.run("ask")
    cli("pause", id_)
    said = cli("answer", id_, "red")
    assert said.code == Exit.WAITING
    assert "belayer resume" in said.out
    assert cli("resume", id_).code == Exit.DONE


def test_resume_all_takes_up_what_is_unfinished_and_leaves_the_paused(cli: Cli) -> None:
    ready, paused = cli.run("ask"), cli.run("ask")
    cli("answer", ready, "red", "--detach")
    cli("pause", paused)
    said = cli("resume", "--all", "--json")
    assert said.json()["sessions"] == [{"session_id": ready, "status": "completed"}]
    assert cli.shown(paused)["status"] == "paused"


def test_ids_in_the_list_can_be_pasted(cli: Cli) -> None:
    ids = [cli.run("plain") for _ in range(3)]
    shown = [line.split()[0] for line in cli("ls", "--workflow", "plain").out.splitlines()[1:]]
    assert len(shown) == 3
    assert [cli.shown(prefix)["session_id"] for prefix in shown] == ids[::-1]


def test_a_list_can_be_narrowed(cli: Cli) -> None:
    asking, done = cli.run("ask", "--title", "Colours"), cli.run("plain")
    assert [row["session_id"] for row in cli("ls", "--status", "waiting", "--json").json()["sessions"]] == [
        asking
    ]
    assert [row["session_id"] for row in cli("ls", "--workflow", "plain", "--json").json()["sessions"]] == [
        done
    ]
    assert [row["session_id"] for row in cli("ls", "-q", "colours", "--json").json()["sessions"]] == [asking]
    assert len(cli("ls", "--limit", "1", "--json").json()["sessions"]) == 1
    assert "No such sessions" in cli("ls", "--mode", "autonomous").out


def test_an_empty_home_has_an_empty_list(cli: Cli) -> None:
    assert "No sessions in" in cli("ls").out
    assert cli("ls", "--json").json() == {"sessions": []}


def test_show_says_what_was_done_and_what_is_asked(cli: Cli, tmp_path: Path) -> None:
    id_ = cli.run("written", "-i", f"notes={tmp_path / 'notes'}")
    said = cli("show", id_).out
    for part in (id_, "waiting", "✓  write", "before the write", "More?", f"belayer answer {id_}"):
        assert part in said


def test_show_lists_events_after_a_cursor(cli: Cli) -> None:
    id_ = cli.run("plain")
    lines = cli("show", id_, "--events", "--after", "2").out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["3", "4"]
    assert [event["seq"] for event in cli("show", id_, "--events", "--json").json()["events"]] == [1, 2, 3, 4]


def test_follow_gives_the_envelopes_as_they_are_on_the_wire(cli: Cli) -> None:
    id_ = cli.run("plain")
    said = cli("follow", id_, "--json", "--after", "1")
    assert said.code == Exit.DONE
    events = cli("show", id_, "--events", "--json").json()["events"]
    assert [json.loads(line) for line in said.out.splitlines()] == events[1:]


def test_a_rewind_says_what_it_takes_back_and_what_it_cannot(cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    id_ = cli.run("written", "-i", f"notes={notes}")
    cli("answer", id_, "yes")
    back = next(step["seq"] for step in cli.shown(id_)["steps"] if step["key"] == "read")
    said = cli("rewind", id_, str(back), "--yes")
    assert said.code == Exit.DONE
    assert "step write  (what it did outside is NOT undone)" in said.out
    assert "answer yes" in said.out
    assert "step read" not in said.out
    assert cli("resume", id_).code == Exit.WAITING
    assert notes.read_text() == "written\nwritten\n"


def test_a_fork_goes_its_own_way(cli: Cli) -> None:
    id_ = cli.run("ask")
    fork = cli("fork", id_, "--json").json()["session_id"]
    cli("resume", fork)
    assert cli("answer", fork, "blue", "--json").json()["result"] == "blue"
    assert cli("answer", id_, "red", "--json").json()["result"] == "red"


def test_a_checkpoint_is_a_place_to_come_back_to(cli: Cli) -> None:
    id_ = cli.run("ask")
    said = cli("checkpoint", id_, "before I choose").out
    command = (
        next(line for line in said.splitlines() if "belayer rewind" in line).split("belayer ")[1].split()
    )
    cli("answer", id_, "red")
    assert cli(*command, "--yes").code == Exit.DONE
    cli("resume", id_)
    assert cli("answer", id_, "blue", "--json").json()["result"] == "blue"


def test_a_session_moves_to_another_home_and_goes_on_there(cli: Cli, tmp_path: Path) -> None:
    id_ = cli.run("ask")
    file = tmp_path / "session.json"
    assert cli("export", id_, "-o", str(file)).code == Exit.DONE
    assert cli("export", id_).out.encode() == file.read_bytes()
    other = Cli(tmp_path / "other")
    other.run("ask")
    assert other("import", str(file), "--json").json()["session_id"] == id_
    assert other("import", "-", stdin=file.read_text()).code == Exit.DONE
    other("resume", id_)
    assert other("answer", id_, "blue", "--json").json()["result"] == "blue"


def test_of_a_damaged_log_the_intact_part_is_exported_with_a_warning(cli: Cli) -> None:
    id_ = cli.run("plain", "-i", "name=ada")
    cli.sql(SPOIL)
    said = cli("export", id_)
    assert said.code == Exit.FAILED
    assert "only the intact part" in said.err
    file = json.loads(said.out)
    assert (file["complete"], len(file["events"])) == (False, 2)


def test_verify_names_the_damaged_event_and_clears_the_others(cli: Cli) -> None:
    damaged = cli.run("plain", "-i", "name=ada")
    cli.run("plain")
    assert cli("verify").code == Exit.DONE
    cli.sql(SPOIL)
    said = cli("verify")
    assert said.code == Exit.FAILED
    assert f"session {damaged} seq 3" in said.out
    damage = cli("verify", "--json").json()["damage"]
    assert [(item["session_id"], item["seq"]) for item in damage] == [(damaged, 3)]


def test_verify_rebuilds_a_list_that_differs_from_the_logs(cli: Cli) -> None:
    cli.run("plain")
    cli.sql("UPDATE sessions SET title = 'another'")
    said = cli("verify")
    assert said.code == Exit.FAILED
    assert "--rebuild" in said.out
    assert cli("verify", "--rebuild").code == Exit.DONE
    assert cli("verify").code == Exit.DONE


def test_prune_removes_only_what_has_ended(cli: Cli) -> None:
    waiting, done = cli.run("ask"), cli.run("plain")
    tried = cli("prune", "--keep", "0", "--dry-run")
    assert done in tried.out
    assert waiting not in tried.out
    assert cli("prune", "--older-than", "1d", "--yes", "--json").json()["sessions"] == []
    assert "Removed 1 sessions" in cli("prune", "--keep", "0", "--yes").out
    assert [row["session_id"] for row in cli("ls", "--json").json()["sessions"]] == [waiting]


def test_doctor_finds_a_sound_installation_in_order(cli: Cli) -> None:
    cli.run("plain")
    said = cli("doctor")
    assert said.code == Exit.DONE
    for part in (
        "Belayer",
        "Python",
        "SQLite",
        str(cli.home),
        "concurrency",
        "schema version",
        "GB free",
        "1 completed",
    ):
        assert part in said.out


def test_doctor_says_what_to_do_about_a_store_it_cannot_open(cli: Cli) -> None:
    cli.run("plain")
    cli.sql("PRAGMA user_version = 99")
    said = cli("doctor")
    assert said.code == Exit.FAILED
    assert "Update Belayer" in said.out
    assert not cli("doctor", "--json").json()["right"]


@pytest.mark.parametrize(
    "command",
    [
        *(command for panel in COMMANDS.values() for command, _, _ in panel),
        "policy",
        *(f"policy {command}" for command, _, _ in POLICY),
    ],
)
def test_every_command_has_json_home_and_an_example(cli: Cli, command: str) -> None:
    said = cli(*command.split(), "--help")
    assert said.code == Exit.DONE
    for part in ("--json", "--home", f"Example: belayer {command}"):
        assert part in said.out or (command, part) == (
            "mcp",
            "--json",
        )  # it speaks a protocol, not to a person
