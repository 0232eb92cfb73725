"""Whatever a session wrote, no command passes it to the terminal as anything but text."""

import pytest

from tests.cli.stage import FLOWS, Cli

HOSTILE = "ok\r\nerror: forged \x1b]52;c;aGk=\x07 \x1b[31m \u202e [bold]x[/bold] \u200b :smile:"


@pytest.fixture
def session(cli: Cli) -> str:
    return cli("run", f"{FLOWS}:loud", "-i", f"text={HOSTILE}", "--title", HOSTILE, "--json").json()[
        "session_id"
    ]


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
    assert "<U+001B>" in said.out
    for line in said.out.splitlines():
        assert not line.startswith("error: forged")
    for part in ("\x1b", "\x07", "\u202e", "\u200b", "\r"):
        assert part not in said.out + said.err


def test_markup_and_emoji_names_stay_what_they_are(cli: Cli, session: str) -> None:
    said = cli("show", session).out
    assert "[bold]x[/bold]" in said
    assert ":smile:" in said


def test_json_is_ascii_so_that_nothing_in_it_acts(cli: Cli, session: str) -> None:
    assert cli("show", session, "--events", "--json").out.isascii()
    assert cli("ls", "--json").out.isascii()
