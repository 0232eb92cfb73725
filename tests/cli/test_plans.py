"""Plans from the command line: checked, rehearsed, carried out, answered, and taken back with their files."""

import json
from pathlib import Path
from typing import Any

import pytest

from belayer.cli.exits import Exit
from tests.cli.stage import FLOWS, Cli, read, write

DELETE = {"id": "clear", "tool": "files.delete", "params": {"path": "out", "folder": True}}


def started(cli: Cli, *steps: dict[str, Any], **more: Any) -> list[str]:
    return ["run", cli.plan(*steps, **more), "--workspace", str(cli.workspace)]


def test_a_plan_runs_to_its_end_and_says_each_thing_once(cli: Cli) -> None:
    back = read("back", "{{steps.note.output.path}}", title="Read it back")
    said = cli(*started(cli, write("note", "out/a.txt"), back, title="A note"))
    assert said.code == Exit.DONE
    assert said.out.startswith("A note · ")
    assert [line.split(" (")[0] for line in said.out.splitlines()[1:3]] == [
        "done: note",
        "done: Read it back",
    ]
    assert "2 completed" in said.out
    assert (cli.workspace / "out" / "a.txt").read_text() == "hello\n"


def test_a_plan_in_yaml_takes_inputs_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "greet.yaml"
    file.write_text(
        "inputs: {name: null, times: 1}\nsteps:\n- id: a\n  tool: files.write\n"
        '  params: {path: a.txt, content: "{{input.name}} {{input.times}}"}\n'
    )
    where = ["--workspace", str(cli.workspace), "--json"]
    said = cli("run", str(file), "-i", "name=Ada", "--input", '{"times": 2}', *where)
    assert said.code == Exit.DONE
    assert said.json()["title"] == "greet"
    assert said.json()["workflow"] == "plan"
    assert (cli.workspace / "a.txt").read_text() == "Ada 2"


def test_a_plan_works_in_the_folder_where_it_is_started(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = cli("run", cli.plan(write("note", "here.txt")), "--json")
    assert said.json()["workspace"] == str(tmp_path)
    assert (tmp_path / "here.txt").exists()


def test_a_python_workflow_may_have_a_workspace_too(cli: Cli) -> None:
    said = cli("run", f"{FLOWS}:plain", "--workspace", str(cli.workspace), "--json")
    assert said.json()["workspace"] == str(cli.workspace)


def test_the_same_key_gives_the_same_plan_session(cli: Cli) -> None:
    words = [*started(cli, write("note", "a.txt")), "--key", "k", "--json"]
    assert cli(*words).json()["session_id"] == cli(*words).json()["session_id"]


def test_an_unfit_plan_names_every_problem_with_its_line_and_starts_nothing(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("steps:\n- id: a\n  tool: files.reed\n- id: b\n  tool: files.read\n  needs: [c]\n")
    said = cli("run", str(file))
    assert said.code == Exit.REFUSED
    assert "The plan has 3 problems; nothing was run." in said.err
    assert '(step "a", line 3): there is no tool "files.reed" (did you mean "files.read"?)' in said.err
    assert "line 6" in said.err
    assert cli("ls", "--json").json() == {"sessions": []}


def test_a_dry_run_says_the_order_and_what_the_rules_say_and_does_nothing(cli: Cli) -> None:
    cli("policy", "deny", "--path", "secret/**", "--yes")
    plan = cli.plan(
        read("late", "{{steps.note.output.path}}"),
        write("note", "a.txt", fallback={"tool": "files.list"}),
        DELETE,
        read("spy", "secret/key"),
        {"id": "nap", "tool": "wait", "params": {"seconds": 5}},
        read("given", "{{input.where}}"),
        inputs={"where": "b.txt"},
    )
    said = cli("run", plan, "--dry-run", "--workspace", str(cli.workspace))
    assert said.code == Exit.DONE
    rows = [line.split()[:4] for line in said.out.splitlines() if "files." in line or "wait" in line]
    assert rows == [
        ["1.", "note", "files.write", "allow"],
        ["or", "note", "files.list", "allow"],
        ["2.", "late", "files.read", "open"],
        ["3.", "clear", "files.delete", "ask"],
        ["4.", "spy", "files.read", "deny"],
        ["5.", "nap", "wait", "allow"],
        ["6.", "given", "files.read", "allow"],
    ]
    assert "Nothing was run" in said.out
    assert list(cli.workspace.iterdir()) == []
    assert cli("ls", "--json").json() == {"sessions": []}
    alone = cli("run", plan, "--dry-run", "--mode", "autonomous")
    assert "It would fail at clear" in alone.out


def test_a_dry_run_estimates_from_the_past(cli: Cli) -> None:
    plan = cli.plan(*(write(f"s{number}", "a.txt") for number in range(10)))
    assert "nobody can say yet" in cli("run", plan, "--dry-run").out
    for _ in range(3):
        cli("run", plan, "--workspace", str(cli.workspace))
    said = cli("run", plan, "--dry-run", "--json").json()
    assert said["estimate"]["confidence"] == 0.8
    assert said["estimate"]["low"] <= said["estimate"]["mid"] <= said["estimate"]["high"]
    assert len(said["steps"]) == 10


def test_only_a_plan_can_be_rehearsed(cli: Cli) -> None:
    assert cli("run", f"{FLOWS}:plain", "--dry-run").code == Exit.USAGE


def test_a_failure_says_what_it_means_and_how_to_go_on(cli: Cli) -> None:
    said = cli(*started(cli, read("gone", "none.txt"), read("after", "{{steps.gone.output.path}}")))
    assert said.code == Exit.WAITING
    assert "? Failed: gone failed: 'none.txt' does not exist." in said.out
    assert "hint: List the folder" in said.out
    assert "impact:" in said.out
    for way in ("retry", "skip", "abort", """'{"choice": "edit", "params": {…}}'"""):
        assert f" {way}\n" in said.out


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        ("skip", Exit.DONE, "skipped"),
        ("s", Exit.DONE, "skipped"),
        ("retry", Exit.WAITING, "paused"),
        ("abort", Exit.FAILED, "failed"),
        ('{"choice": "edit", "params": {"path": "there.txt"}}', Exit.DONE, "completed"),
    ],
)
def test_a_failure_is_answered_by_a_word_a_letter_or_an_object(
    cli: Cli, answer: str, code: Exit, status: str
) -> None:
    (cli.workspace / "there.txt").write_text("x")
    id_ = cli.run_plan(read("gone", "none.txt"))
    assert cli("answer", id_, answer).code == code
    assert [step["status"] for step in cli.shown(id_)["plan"]] == [status]


def test_an_undone_plan_leaves_no_file_behind(cli: Cli) -> None:
    id_ = cli.run_plan(write("note", "a.txt"), read("gone", "none.txt"))
    assert (cli.workspace / "a.txt").exists()
    assert cli("answer", id_, "undo").code == Exit.FAILED
    assert not (cli.workspace / "a.txt").exists()


def test_an_optional_failure_and_what_it_takes_along_is_told(cli: Cli) -> None:
    lost = read("lost", "{{steps.gone.output.path}}", optional=True)
    said = cli(*started(cli, read("gone", "none.txt", optional=True), lost, write("note", "a.txt")))
    assert said.code == Exit.DONE
    assert "failed: gone" in said.out
    assert "skipped: lost: " in said.out
    assert "1 failed, 1 skipped, 1 completed" in said.out


def test_a_fallback_is_told_and_used(cli: Cli) -> None:
    said = cli(*started(cli, read("gone", "none.txt", fallback={"tool": "files.list"})))
    assert said.code == Exit.DONE
    assert "Trying files.list instead" in said.out
    assert "done: gone (try 2)" in said.out


def test_show_lists_every_step_of_a_plan_as_it_stands(cli: Cli) -> None:
    id_ = cli.run_plan(write("note", "a.txt", title="A note"), DELETE, read("late", "a.txt"))
    said = cli("show", id_).out
    assert "1 of 3 planned steps" in said
    assert "workspace" in said
    lines = [line.split() for line in said.splitlines()]
    assert ["✓", "A", "note", "files.write"] in [line[:4] for line in lines]
    assert ["‖", "clear", "files.delete"] in [line[:3] for line in lines]
    assert ["○", "late", "files.read"] in [line[:3] for line in lines]


def test_a_long_plan_is_shown_in_part(cli: Cli) -> None:
    steps = [write(f"s{number}", "a.txt") for number in range(40)]
    said = cli("show", cli.run_plan(*steps, DELETE, *(read(f"r{n}", "a.txt") for n in range(40)))).out
    assert "… 10 earlier steps" in said
    assert "… 11 more steps" in said


def test_a_call_is_shown_with_its_reason_and_exactly_as_it_would_be_made(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    (cli.workspace / "a.txt").write_text("old\n")
    said = cli(*started(cli, write("note", "a.txt", "new\n"))).out
    assert "tool: files.write (effect: write)" in said
    assert "why: the rule is: ask tool files.write" in said
    assert '  │ path: "a.txt"' in said
    assert "  │ -old\n  │ +new\n" in said
    assert "touches: a.txt (sha256 " in said
    assert "always: would mean, in this session: allow tool files.write, effect write" in said
    assert "--remember" in said


def test_what_is_remembered_is_not_asked_again_in_this_session(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    once = cli.run_plan(write("one", "a.txt"), write("two", "b.txt"))
    assert cli("approve", once).code == Exit.WAITING
    always = cli.run_plan(write("one", "a.txt"), write("two", "b.txt"))
    said = cli("approve", always, "--remember")
    assert said.code == Exit.DONE
    assert "approved, also for calls like it in this session" in said.out


def test_a_long_value_is_cut_and_says_where_all_of_it_is(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    id_ = cli.run_plan(write("note", "a.txt", "x" * 50_000 + "the end"))
    said = cli("show", id_).out
    assert "cut: it has 50,007 characters, sha256 " in said
    assert f"all of it: belayer show {id_} --full" in said
    assert "the end" not in said.split("what would change")[0]
    assert "the end" in cli("show", id_, "--full").out


def test_an_approval_of_what_has_changed_is_refused_and_asked_anew(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    id_ = cli.run_plan(write("note", "a.txt", "new\n"))
    (cli.workspace / "a.txt").write_text("somebody else's\n")
    said = cli("approve", id_)
    assert said.code == Exit.REFUSED
    assert "have changed since it was shown" in said.err
    assert "│ -somebody else's" in said.out.split("? Approval")[2]
    assert (cli.workspace / "a.txt").read_text() == "somebody else's\n"
    assert cli("approve", id_).code == Exit.DONE
    assert (cli.workspace / "a.txt").read_text() == "new\n"


def test_a_rewind_brings_files_back_and_says_which(cli: Cli) -> None:
    (cli.workspace / "a.txt").write_text("before\n")
    id_ = cli.run_plan(write("one", "a.txt", "after\n"), write("two", "b.txt"))
    unsure = cli("rewind", id_, "3")
    assert unsure.code == Exit.REFUSED
    assert (cli.workspace / "b.txt").exists()
    said = cli("rewind", id_, "3", "--yes")
    assert said.code == Exit.DONE
    assert "step one  (its files are brought back)" in said.out
    assert "bring back  a.txt" in said.out
    assert "delete      b.txt" in said.out
    assert (cli.workspace / "a.txt").read_text() == "before\n"
    assert not (cli.workspace / "b.txt").exists()
    assert "files brought back: 1 written, 1 deleted" in cli("show", id_, "--events").out
    assert cli("resume", id_).code == Exit.DONE
    assert (cli.workspace / "a.txt").read_text() == "after\n"


def test_a_rewind_may_leave_the_files_alone(cli: Cli) -> None:
    id_ = cli.run_plan(write("one", "a.txt"))
    said = cli("rewind", id_, "3", "--no-files", "--yes")
    assert "step one  (its files stay as they are)" in said.out
    assert "The files of the workspace stay as they are." in said.out
    assert (cli.workspace / "a.txt").exists()


def test_a_rewind_says_when_no_file_changes(cli: Cli) -> None:
    (cli.workspace / "a.txt").write_text("x")
    id_ = cli.run_plan(read("one", "a.txt"))
    assert "No file of the workspace changes." in cli("rewind", id_, "3", "--yes").out


def test_a_rewind_lists_some_files_and_counts_the_rest(cli: Cli) -> None:
    id_ = cli.run_plan(*(write(f"s{number}", f"{number}.txt") for number in range(30)))
    said = cli("rewind", id_, "3", "--yes").out
    assert said.count("  delete      ") == 20
    assert "… and 10 more" in said


def test_a_plan_is_taken_up_by_whoever_resumes_it(cli: Cli) -> None:
    id_ = cli.run_plan({"id": "who", "tool": "request_input", "params": {"prompt": "Who?"}})
    cli("pause", id_)
    assert cli("resume", id_).code == Exit.WAITING
    assert cli("answer", id_, "Ada", "--detach").code == Exit.DONE
    assert cli("resume", "--all", "--json").json()["sessions"] == [{"session_id": id_, "status": "completed"}]


def test_a_plan_of_many_steps_gives_its_envelopes_to_a_script(cli: Cli) -> None:
    id_ = cli.run_plan(*(write(f"s{number}", "a.txt") for number in range(20)), parallel=4)
    said = cli("follow", id_, "--json")
    events = [json.loads(line) for line in said.out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert sum(event["type"] == "step" and event["data"]["status"] == "completed" for event in events) == 20
