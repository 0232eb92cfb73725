"""Every refusal and failure: an exit code, a sentence, a hint, as text and as JSON, and a store that did not change."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from belayer.cli.exits import Exit
from tests.cli.stage import FLOWS, SPOIL, Cli, read, write

Words = list[str]


@dataclass(frozen=True)
class Case:
    """What is there, what is typed, and what must come of it."""

    prepare: Callable[[Cli], Words]
    code: Exit
    says: str
    hint: str
    env: dict[str, str] = field(default_factory=dict[str, str])


def two_sessions(cli: Cli) -> Words:
    cli.run("plain")
    cli.run("plain")
    return ["show", "0"]


def answered(cli: Cli) -> Words:
    id_ = cli.run("ask")
    request = cli.shown(id_)["pending"][0]["request_id"]
    cli("answer", id_, "red", "--detach")
    return ["answer", id_, "blue", "--request", request]


def decided(cli: Cli) -> Words:
    id_ = cli.run("approval")
    request = cli.shown(id_)["pending"][0]["request_id"]
    cli("approve", id_)
    return ["reject", id_, "--request", request]


def damaged(cli: Cli) -> str:
    id_ = cli.run("plain", "-i", "name=ada")
    cli.sql(SPOIL)
    return id_


def newer(cli: Cli) -> Words:
    cli.run("plain")
    cli.sql("PRAGMA user_version = 99")
    return ["ls"]


def no_database(cli: Cli) -> Words:
    cli.home.mkdir()
    (cli.home / "belayer.db").write_bytes(b"this is not a database, by any means" * 100)
    return ["ls"]


def home_is_a_file(cli: Cli) -> Words:
    cli.home.write_text("")
    return ["ls"]


def imported(content: str) -> Callable[[Cli], Words]:
    def prepare(cli: Cli) -> Words:
        file = cli.home.with_name("file.json")
        file.write_text(content)
        return ["import", str(file)]

    return prepare


def tampered(cli: Cli) -> Words:
    id_ = cli.run("plain", "-i", "name=ada")
    exported = cli("export", id_).out
    cli("prune", "--keep", "0", "--yes")
    return imported(exported.replace("ADA", "EVE"))(cli)


def key_reused(cli: Cli) -> Words:
    cli.run("plain", "--key", "k")
    return ["run", f"{FLOWS}:plain", "--key", "k", "-i", "name=other"]


def forgotten_workflow(cli: Cli) -> Words:
    id_ = cli.run("ask")
    cli("pause", id_)
    (cli.home / "workflows.json").unlink()
    return ["resume", id_]


def plan_text(content: bytes, name: str = "plan.yaml") -> Callable[[Cli], Words]:
    def prepare(cli: Cli) -> Words:
        file = cli.home.with_name(name)
        file.write_bytes(content)
        return ["run", str(file), "--workspace", str(cli.workspace)]

    return prepare


def planned(*steps: dict[str, Any], more: Words | None = None, **rest: Any) -> Callable[[Cli], Words]:
    return lambda cli: ["run", cli.plan(*steps, **rest), "--workspace", str(cli.workspace), *(more or [])]


def folder_as_plan(cli: Cli) -> Words:
    folder = cli.home.with_name("d.yaml")
    folder.mkdir()
    return ["run", str(folder)]


def key_of_another_plan(cli: Cli) -> Words:
    cli(*planned(write("a", "x"), more=["--key", "k"])(cli))
    return planned(write("b", "x"), more=["--key", "k"])(cli)


def asked_call(*words: str) -> Callable[[Cli], Words]:
    """A call of high risk waits for approval."""

    def prepare(cli: Cli) -> Words:
        (cli.workspace / "out").mkdir()
        call = {"id": "clear", "tool": "files.delete", "params": {"path": "out", "folder": True}}
        return [words[0], cli.run_plan(call), *words[1:]]

    return prepare


def rejected_before(cli: Cli) -> Words:
    cli("reject", asked_call("reject")(cli)[1])
    return ["policy", "allow", "--tool", "files.*", "--risk", "high", "--yes"]


CASES = {
    "no plan": Case(
        lambda cli: ["run", "no/such.yaml"], Exit.REFUSED, "such.yaml cannot be read", "path of a plan"
    ),
    "plan that is a folder": Case(
        folder_as_plan,
        Exit.REFUSED,
        "cannot be read (Is a directory)",
        "path of a plan",
    ),
    "plan that is no text": Case(
        plan_text(b"steps:\n- \xff\xfe"), Exit.REFUSED, "not a text in UTF-8 (line 2)", "Save it as UTF-8"
    ),
    "plan that is huge": Case(
        plan_text(b"# " + b"\xc3\xa4" * 600_000), Exit.REFUSED, "larger than 1 MB", "Correct"
    ),
    "empty plan": Case(plan_text(b""), Exit.REFUSED, "The plan has 1 problem", "Correct these"),
    "plan that is no YAML": Case(plan_text(b"steps: [\n"), Exit.REFUSED, "line ", "Correct these"),
    "plan that is no JSON": Case(
        plan_text(b'{"steps": [}', "p.json"), Exit.REFUSED, "line 1", "Correct these"
    ),
    "plan with an unknown tool": Case(
        planned({"id": "a", "tool": "rm"}), Exit.REFUSED, 'there is no tool "rm"', "Correct these"
    ),
    "plan with a circle": Case(
        planned(read("a", "x", needs=["b"]), read("b", "x", needs=["a"])),
        Exit.REFUSED,
        "wait for each other in a circle",
        "Correct these",
    ),
    "plan with a wrong parameter": Case(
        planned({"id": "a", "tool": "files.read", "params": {"file": "x"}}),
        Exit.REFUSED,
        "steps[0].params.path",
        "Correct these",
    ),
    "plan without its input": Case(
        planned(read("a", "{{input.x}}"), inputs={"x": None}), Exit.REFUSED, "must be given", "Correct these"
    ),
    "plan with an input it does not have": Case(
        planned(read("a", "x"), more=["-i", "y=1"]), Exit.REFUSED, "has no such input", "Correct these"
    ),
    "plan in no folder": Case(
        lambda cli: ["run", cli.plan(read("a", "x")), "--workspace", "no/such/folder"],
        Exit.FAILED,
        "cannot be a workspace",
        "folder that is there",
    ),
    "key of another plan": Case(
        key_of_another_plan,
        Exit.REFUSED,
        "with another request",
        "new key",
    ),
    "edit without parameters": Case(
        lambda cli: ["answer", cli.run_plan(read("a", "none")), "edit"],
        Exit.REFUSED,
        "say what they should be",
        '"params"',
    ),
    "way out that is not offered": Case(
        lambda cli: ["answer", cli.run_plan(read("a", "none")), "fallback"],
        Exit.REFUSED,
        "does not answer",
        "one of: retry",
    ),
    "remember what is always asked": Case(
        asked_call("approve", "--remember"), Exit.REFUSED, "asked about each time", "without --remember"
    ),
    "unknown tool": Case(lambda cli: ["tools", "rm"], Exit.FAILED, "no tool 'rm'", "files.read"),
    "rule that nobody confirms": Case(
        lambda cli: ["policy", "ask", "--tool", "wait"], Exit.REFUSED, "Nobody is here to confirm", "--yes"
    ),
    "rule that is too long": Case(
        lambda cli: ["policy", "ask", "--tool", "x" * 600, "--yes"],
        Exit.REFUSED,
        "The tool cannot be taken",
        "Correct it",
    ),
    "rule against one's own word": Case(
        rejected_before, Exit.REFUSED, "passed 1 call that you rejected", "--although-rejected"
    ),
    "rule that is not there": Case(
        lambda cli: ["policy", "remove", "1", "--yes"], Exit.REFUSED, "You have 0 rules", "belayer policy"
    ),
    "unknown id": Case(
        lambda cli: ["show", "ffff"], Exit.REFUSED, "There is no session 'ffff'", "belayer ls"
    ),
    "ambiguous prefix": Case(
        two_sessions, Exit.REFUSED, "Several sessions begin with '0'", "Give more of the id"
    ),
    "answered already": Case(answered, Exit.REFUSED, "has been answered already: 'red'", "rewind"),
    "decided already": Case(decided, Exit.REFUSED, "has already been approved", "first decision counts"),
    "old digest": Case(
        lambda cli: ["approve", cli.run("approval"), "--digest", "0" * 64],
        Exit.REFUSED,
        "is not what you saw",
        "Look at it again",
    ),
    "resume of a finished session": Case(
        lambda cli: ["resume", cli.run("plain")], Exit.REFUSED, "is completed, so it cannot resume", "rewind"
    ),
    "pause of a finished session": Case(
        lambda cli: ["pause", cli.run("plain")], Exit.REFUSED, "is completed, so it cannot pause", "rewind"
    ),
    "damaged log": Case(
        lambda cli: ["show", damaged(cli)], Exit.FAILED, "is damaged at seq 3", "belayer export"
    ),
    "resume of a damaged log": Case(
        lambda cli: ["resume", damaged(cli)], Exit.FAILED, "is damaged at seq 3", "belayer export"
    ),
    "newer schema": Case(newer, Exit.FAILED, "schema version 99", "Update Belayer"),
    "no database": Case(no_database, Exit.FAILED, "cannot be used", "belayer verify"),
    "home is a file": Case(home_is_a_file, Exit.FAILED, "cannot be", "BELAYER_HOME"),
    "bad setting": Case(
        lambda cli: ["ls"], Exit.FAILED, "BELAYER_CONCURRENCY", "Correct", {"BELAYER_CONCURRENCY": "no"}
    ),
    "unknown setting": Case(
        lambda cli: ["ls"], Exit.FAILED, "did you mean BELAYER_GRACE?", "Correct", {"BELAYER_GRACES": "1"}
    ),
    "unknown input": Case(
        lambda cli: ["run", f"{FLOWS}:plain", "-i", "nom=x"], Exit.REFUSED, "nom is unknown", "It takes: name"
    ),
    "unfit input": Case(
        lambda cli: ["run", f"{FLOWS}:long", "-i", "count=many"],
        Exit.REFUSED,
        "count: Input should be",
        "It takes: count",
    ),
    "key of another request": Case(key_reused, Exit.REFUSED, "with another request", "new key"),
    "unknown workflow": Case(
        lambda cli: ["run", "nothing"], Exit.FAILED, "no workflow 'nothing'", "belayer run flow.py"
    ),
    "no such file": Case(
        lambda cli: ["run", "no/such.py"], Exit.FAILED, "is not a Python file", "path of a .py"
    ),
    "several workflows": Case(lambda cli: ["run", str(FLOWS)], Exit.FAILED, "workflows", "Name one of"),
    "workflow forgotten": Case(
        forgotten_workflow, Exit.FAILED, "No file with the workflow 'ask'", "Run it once"
    ),
    "not an export": Case(imported("{}"), Exit.REFUSED, "This is not a session export", "belayer export"),
    "not even JSON": Case(imported("hello"), Exit.REFUSED, "This is not a session export", "belayer export"),
    "export that was changed": Case(
        tampered, Exit.REFUSED, "damaged or was changed", "Export the session again"
    ),
    "no file to import": Case(
        lambda cli: ["import", "no-such.json"], Exit.REFUSED, "cannot be read", "belayer export"
    ),
    "nothing asked": Case(
        lambda cli: ["answer", cli.run("plain"), "x"], Exit.REFUSED, "asks nothing now", "belayer show"
    ),
    "several asked": Case(
        lambda cli: ["answer", cli.run("two"), "x"],
        Exit.REFUSED,
        "has 2 open requests: both/0/which",
        "--request",
    ),
    "unfit answer": Case(
        lambda cli: ["answer", cli.run("ask"), "green"], Exit.REFUSED, "does not answer", "one of: red, blue"
    ),
    "unfit form": Case(
        lambda cli: ["answer", cli.run("form"), '{"name": 3}'],
        Exit.REFUSED,
        "age is missing",
        "Correct these fields",
    ),
    "no answer given": Case(
        lambda cli: ["answer", cli.run("ask")], Exit.REFUSED, "No answer was given", "Give it after the id"
    ),
    "approval of a question": Case(
        lambda cli: ["approve", cli.run("ask")],
        Exit.REFUSED,
        "asks something else: answer it",
        "belayer show",
    ),
    "unknown request": Case(
        lambda cli: ["answer", cli.run("ask"), "red", "--request", "other"],
        Exit.REFUSED,
        "no open request other",
        "show",
    ),
    "rewind beyond the end": Case(
        lambda cli: ["rewind", cli.run("plain"), "99", "--yes"],
        Exit.REFUSED,
        "cannot go back to 99",
        "--events",
    ),
    "rewind that nobody confirms": Case(
        lambda cli: ["rewind", cli.run("plain"), "2"], Exit.REFUSED, "Nobody is here to confirm", "--yes"
    ),
    "fork beyond the end": Case(
        lambda cli: ["fork", cli.run("plain"), "--seq", "99"],
        Exit.REFUSED,
        "cannot be forked at 99",
        "--events",
    ),
    "prune that nobody confirms": Case(
        lambda cli: [cli.run("plain"), "prune", "--keep", "0"][1:],
        Exit.REFUSED,
        "Nobody is here to confirm",
        "--yes",
    ),
    "name that is too long": Case(
        lambda cli: ["checkpoint", cli.run("plain"), "x" * 300],
        Exit.REFUSED,
        "name cannot be taken",
        "Correct it",
    ),
    "export into nowhere": Case(
        lambda cli: ["export", cli.run("plain"), "-o", "no/such/folder/file"],
        Exit.FAILED,
        "cannot be written",
        "-o FILE",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_trouble_is_a_code_a_sentence_a_hint_and_no_change(cli: Cli, case: Case) -> None:
    words = case.prepare(cli)
    before = cli.content()
    cli.env = case.env

    said = cli(*words)
    assert said.code == case.code
    assert case.says in said.err.split("hint:")[0]
    assert case.hint in said.err.split("hint:")[1]
    assert "Traceback" not in said.err

    told = cli(*words, "--json")
    problem = json.loads(told.err)
    assert told.code == case.code
    assert case.says in problem["detail"]
    assert case.hint in problem["hint"]
    assert problem["kind"]
    assert problem["category"] in ("transient", "configuration", "permission", "resource", "logic")

    assert cli.content() == before


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "survey", "-i", "nothing"],
        ["run", "survey", "--input", "["],
        ["ls", "--status", "asleep"],
        ["prune"],
        ["prune", "--older-than", "tomorrow"],
        ["rewind", "x", "0"],
        ["resume"],
        ["resume", "x", "--all"],
        ["nonsense"],
        ["ls", "--nonsense"],
        ["run", "survey", "--dry-run"],
        ["policy", "allow", "--yes"],
        ["policy", "allow", "--effect", "magic"],
        ["policy", "try", "perhaps", "--tool", "x"],
        ["policy", "remove", "0"],
        ["policy", "--json", "suggest"],
        ["policy", "nonsense"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_a_usage_error(cli: Cli, words: list[str]) -> None:
    said = cli(*words)
    assert said.code == Exit.USAGE
    assert "Usage: " in said.err
    assert not cli.home.exists()
