"""Rules from the command line: seen, tried on the past, and believed only after that."""

import json
import shutil

import pytest

from belayer.cli.exits import Exit
from tests.cli.stage import Cli, write


def rules(cli: Cli) -> list[dict[str, str]]:
    return cli("policy", "--json").json()["rules"]


@pytest.fixture
def history(cli: Cli) -> Cli:
    """Three writes approved, one rejected; files below docs were never rejected."""
    cli("policy", "ask", "--tool", "files.write", "--yes")
    for place in ("docs/a", "docs/b", "docs/c"):
        cli("approve", cli.run_plan(write("note", place)))
    cli("reject", cli.run_plan(write("note", "src/a")), "--reason", "no")
    return cli


def test_the_defaults_are_shown_after_ones_own_rules_and_numbered_on(cli: Cli) -> None:
    cli("policy", "deny", "--path", "secret/**", "--note", "never", "--yes")
    cli("policy", "ask", "--tool", "wait", "--yes")
    lines = [
        line.split(maxsplit=2) for line in cli("policy").out.splitlines() if line.strip()[:1].isdecimal()
    ]
    assert [line[:2] for line in lines] == [
        ["1.", "ask"],
        ["2.", "deny"],
        ["3.", "ask"],
        ["4.", "allow"],
        ["5.", "allow"],
        ["6.", "ask"],
    ]
    assert "path secret/**  (never)" in lines[1][2]


def test_a_rule_is_tried_on_the_past_before_it_is_saved(history: Cli) -> None:
    said = history("policy", "allow", "--path", "docs/**", "--yes")
    assert said.code == Exit.DONE
    assert "It would have passed 3 calls, none you rejected." in said.out
    assert rules(history)[0] == {"verdict": "allow", "path": "docs/**"}


def test_yes_is_not_enough_for_what_was_rejected(history: Cli) -> None:
    before = rules(history)
    said = history("policy", "allow", "--tool", "files.*", "--yes")
    assert said.code == Exit.REFUSED
    assert "1 of them you REJECTED" in said.out
    assert "--although-rejected" in said.err
    assert rules(history) == before
    assert history("policy", "allow", "--tool", "files.*", "--yes", "--although-rejected").code == Exit.DONE
    assert len(rules(history)) == 2


def test_a_try_changes_nothing(history: Cli) -> None:
    before = rules(history)
    said = history("policy", "try", "deny", "--tool", "files.write", "--json").json()
    assert (said["calls"], said["approved"], said["rejected"]) == (4, 3, 1)
    assert "forbidden 4 calls" in history("policy", "try", "deny", "--tool", "files.write").out
    assert rules(history) == before


def test_a_rule_counts_from_then_on(cli: Cli) -> None:
    cli("policy", "deny", "--path", "secret/**", "--yes")
    said = cli("run", cli.plan(write("note", "secret/a")), "--workspace", str(cli.workspace))
    assert "may not do this: the rule is: deny path secret/**" in said.out
    assert cli("policy", "remove", "1", "--yes").code == Exit.DONE
    assert (
        cli("run", cli.plan(write("note", "secret/a")), "--workspace", str(cli.workspace)).code == Exit.DONE
    )


def test_the_same_rule_again_moves_to_the_front(cli: Cli) -> None:
    for tool in ("wait", "files.*", "wait"):
        cli("policy", "ask", "--tool", tool, "--yes")
    assert [rule["tool"] for rule in rules(cli)] == ["wait", "files.*"]


def test_rules_that_came_with_a_copy_do_not_count_until_they_are_accepted(cli: Cli) -> None:
    cli("policy", "allow", "--effect", "external", "--note", "trust \x1b[31m me\u202e", "--yes")
    copy = Cli(cli.home.with_name("copy"))
    copy.home.mkdir()
    shutil.copy(cli.home / "policy.json", copy.home)
    said = copy("policy")
    assert "They do NOT count" in said.err
    assert "belayer policy accept" in said.out
    assert "trust <U+001B>[31m me<U+202E>" in said.out
    assert rules(copy) == []
    refused = copy("policy", "ask", "--tool", "wait", "--yes")
    assert refused.code == Exit.REFUSED
    assert "belayer policy accept" in refused.err
    assert copy("policy", "accept").code == Exit.REFUSED
    assert copy("policy", "accept", "--yes").code == Exit.DONE
    assert rules(copy) == rules(cli)
    assert copy("policy", "accept", "--yes").code == Exit.REFUSED


def test_what_was_approved_again_and_again_is_suggested_with_its_command(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    for place in ("a", "b"):
        cli("approve", cli.run_plan(write("note", place)))
    assert "Nothing to suggest" in cli("policy", "suggest").out
    cli("approve", cli.run_plan(write("note", "c")))
    said = cli("policy", "suggest")
    assert "You approved 3 times, and never rejected:" in said.out
    command = next(line.split() for line in said.out.splitlines() if "belayer policy allow" in line)
    assert cli(*command[1:], "--yes").code == Exit.DONE
    assert "Nothing to suggest" in cli("policy", "suggest").out
    assert cli("policy", "suggest", "--json").json() == {"suggestions": []}


def test_what_was_once_rejected_is_not_suggested(history: Cli) -> None:
    assert history("policy", "suggest", "--json").json() == {"suggestions": []}


def test_options_belong_after_the_commands_own_name(cli: Cli) -> None:
    said = cli("policy", "--home", "elsewhere", "ask", "--tool", "wait", "--yes")
    assert said.code == Exit.USAGE
    assert not cli.home.exists()


def test_rules_that_cannot_be_read_stop_everything_with_a_sentence(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "policy.json").write_text(json.dumps({"rules": "all"}))
    said = cli("policy")
    assert said.code == Exit.FAILED
    assert "cannot be read" in said.err
    assert "Correct the file" in said.err
