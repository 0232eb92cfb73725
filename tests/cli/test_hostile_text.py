"""Whatever a session wrote, no command passes it to the terminal as anything but text."""

import pytest

from tests.cli.stage import FLOWS, Cli, Outcome, read, write

HOSTILE = "ok\r\nerror: forged \x1b]52;c;aGk=\x07 \x1b[31m \u202e [bold]x[/bold] \u200b :smile:"


@pytest.fixture
def session(cli: Cli) -> str:
    return cli("run", f"{FLOWS}:loud", "-i", f"text={HOSTILE}", "--title", HOSTILE, "--json").json()[
        "session_id"
    ]


def assert_harmless(said: Outcome) -> None:
    assert "<U+001B>" in said.out + said.err
    for line in (said.out + said.err).splitlines():
        assert not line.startswith("error: forged")
    for part in ("\x1b", "\x07", "\u202e", "\u200b", "\r"):
        assert part not in said.out + said.err


@pytest.mark.parametrize(
    "words",
    [
        ["ls"],
        ["show", "ID"],
        ["show", "ID", "--events"],
        ["follow", "ID"],
        ["pause", "ID"],
        ["approve", "ID"],
        ["fork", "ID"],
        ["cancel", "ID"],
    ],
    ids=" ".join,
)
def test_a_hostile_text_is_shown_escaped(cli: Cli, session: str, words: list[str]) -> None:
    said = cli(*(session if word == "ID" else word for word in words))
    assert_harmless(said)


@pytest.mark.parametrize(
    "words",
    [
        ["show", "ID"],
        ["show", "ID", "--full"],
        ["show", "ID", "--events"],
        ["approve", "ID"],
        ["reject", "ID"],
    ],
    ids=" ".join,
)
def test_a_hostile_call_is_shown_escaped(cli: Cli, words: list[str]) -> None:
    cli("policy", "ask", "--tool", "files.write", "--note", HOSTILE, "--yes")
    (cli.workspace / "a.txt").write_text(HOSTILE)
    id_ = cli.run_plan(write("one", "a.txt", f"{HOSTILE}\n{HOSTILE}", title=HOSTILE[:200]), title=HOSTILE)
    assert_harmless(cli(*(id_ if word == "ID" else word for word in words)))


@pytest.mark.parametrize("words", [["show", "ID"], ["answer", "ID", "x"], ["ls"]], ids=" ".join)
def test_a_hostile_question_of_a_plan_is_shown_escaped(cli: Cli, words: list[str]) -> None:
    params = {"prompt": HOSTILE, "kind": "choice", "choices": [HOSTILE]}
    id_ = cli.run_plan({"id": "ask", "tool": "request_input", "params": params}, title=HOSTILE)
    assert_harmless(cli(*(id_ if word == "ID" else word for word in words)))


def test_a_hostile_failure_and_result_are_shown_escaped(cli: Cli) -> None:
    id_ = cli.run_plan(read("gone", HOSTILE, title=HOSTILE), write("one", "a.txt"), read("two", "a.txt"))
    assert_harmless(cli("show", id_))
    (cli.workspace / "b.txt").write_text(HOSTILE)
    assert_harmless(cli("answer", id_, '{"choice": "edit", "params": {"path": "b.txt"}}'))


def test_a_hostile_plan_is_refused_and_rehearsed_escaped(cli: Cli) -> None:
    assert_harmless(cli("run", cli.plan(read("one", "a", title=HOSTILE), title=HOSTILE), "--dry-run"))
    unfit = cli("run", cli.plan({"id": HOSTILE, "tool": HOSTILE, HOSTILE: HOSTILE}, **{HOSTILE: 1}))
    for part in ("\x1b", "\x07", "\u202e", "\u200b", "\r"):
        assert part not in unfit.err


def test_hostile_rules_are_shown_escaped(cli: Cli) -> None:
    said = cli("policy", "deny", "--tool", HOSTILE, "--path", HOSTILE, "--note", HOSTILE, "--yes")
    assert_harmless(said)
    assert_harmless(cli("policy"))
    assert_harmless(cli("policy", "remove", "1", "--yes"))


def test_markup_and_emoji_names_stay_what_they_are(cli: Cli, session: str) -> None:
    said = cli("show", session).out
    assert "[bold]x[/bold]" in said
    assert ":smile:" in said


def test_json_is_ascii_so_that_nothing_in_it_acts(cli: Cli, session: str) -> None:
    assert cli("show", session, "--events", "--json").out.isascii()
    assert cli("ls", "--json").out.isascii()
