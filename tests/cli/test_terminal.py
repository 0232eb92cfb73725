"""At a real terminal (a pty): the live view, and questions answered where they are asked."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from belayer.cli.exits import Exit
from tests.cli.stage import FLOWS, Cli, read, write


class Terminal:
    """A terminal with somebody at it."""

    def __init__(self, descriptor: int, process: "subprocess.Popen[bytes]") -> None:
        self._descriptor = descriptor
        self._process = process
        self.raw = b""

    @property
    def screen(self) -> str:
        """What was written, without the control sequences."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw.decode(errors="replace"))

    def see(self, text: str) -> None:
        """Wait until the text is there."""
        while text not in self.screen:
            assert self._read(), f"{text!r} never came; this did:\n{self.screen}"

    def type(self, text: str) -> None:
        self.raw = b""
        os.write(self._descriptor, text.encode())

    def ends_with(self) -> int:
        while self._read():
            pass
        return self._process.wait()

    def _read(self) -> bool:
        try:
            piece = os.read(self._descriptor, 65_536)
        except OSError:  # the other side has gone
            return False
        self.raw += piece
        return bool(piece)


# A process that leads a session owns the terminal it opens; only then does Ctrl-C reach it.
_BELAYER = "import os; os.close(os.open(os.ttyname(0), os.O_RDWR)); from belayer.cli.app import main; main()"


@contextmanager
def terminal(cli: Cli, *words: str) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    env = {**cli.environment(), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    command = [sys.executable, "-c", _BELAYER, *words]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            yield Terminal(ours, process)
        finally:
            os.close(ours)
            process.kill()


def test_a_choice_is_made_by_number_and_a_wrong_one_asked_again(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:ask") as at:
        at.see("> ")
        at.type("7\n")
        at.see("hint:")
        at.see("> ")
        at.type("2\n")
        assert at.ends_with() == Exit.DONE
        assert "blue" in at.screen


def test_an_approval_is_given_where_it_is_shown(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:approval") as at:
        at.see("later) > ")
        assert "drop the table" in at.screen
        assert "digest" in at.screen
        at.type("approve\n")
        assert at.ends_with() == Exit.DONE


def test_a_rejection_may_say_why(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:approval") as at:
        at.see("later) > ")
        at.type("r\n")
        at.see("> ")
        at.type("too risky\n")
        assert at.ends_with() == Exit.DONE
        assert "too risky" in at.screen


def test_a_question_may_be_left_for_later(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:sure") as at:
        at.see("> ")
        at.type("\n")
        assert at.ends_with() == Exit.WAITING
        assert "belayer answer" in at.screen


def test_a_form_is_filled_in_field_by_field(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:form") as at:
        for typed in ("Ada\n", "36\n", "cat, dog\n"):
            at.see("> ")
            at.type(typed)
        assert at.ends_with() == Exit.DONE
        assert '"cat"' in at.screen


def test_an_answer_from_elsewhere_ends_the_question_here(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:text") as at:
        at.see("> ")
        id_ = cli("ls", "--json").json()["sessions"][0]["session_id"]
        assert cli("answer", id_, "Ada", "--detach").code == Exit.DONE
        at.see("settled elsewhere")
        assert at.ends_with() == Exit.DONE


def test_a_rewind_is_confirmed_first(cli: Cli) -> None:
    id_ = cli.run("plain")
    before = cli.content()
    with terminal(cli, "rewind", id_, "2") as at:
        at.see("> ")
        assert "step shout" in at.screen
        at.type("n\n")
        assert at.ends_with() == Exit.REFUSED
    assert cli.content() == before
    with terminal(cli, "rewind", id_, "2") as at:
        at.see("> ")
        at.type("y\n")
        assert at.ends_with() == Exit.DONE
    assert cli.shown(id_)["status"] == "paused"


def test_the_live_view_shows_progress_and_the_last_steps_only(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:long", "-i", "count=300") as at:
        assert at.ends_with() == Exit.DONE
        last = at.screen[at.screen.rindex("earlier steps") - 10 :]
        assert "… 288 earlier steps" in last
        assert last.count("✓ step") == 12
        assert "300" in last


def test_ctrl_c_at_a_question_keeps_the_session(cli: Cli) -> None:
    with terminal(cli, "run", f"{FLOWS}:ask") as at:
        at.see("> ")
        at.type("\x03")
        assert at.ends_with() == Exit.STOPPED
        assert "belayer resume" in at.screen
    assert cli("ls", "--json").json()["sessions"][0]["status"] == "waiting"


def test_hostile_text_cannot_reach_the_terminal(cli: Cli, tmp_path: Path) -> None:
    text = "x\x1b]0;owned\x07\u202e"
    with terminal(cli, "run", f"{FLOWS}:loud", "-i", f"text={text}", "--title", text) as at:
        at.see("later) > ")
        assert b"\x1b]" not in at.raw
        assert b"\x07" not in at.raw
        assert "\u202e" not in at.screen
        assert "<U+202E>" in at.screen
        at.type("later\n")
        assert at.ends_with() == Exit.WAITING


def test_an_answer_without_a_value_is_asked_for_and_may_be_left(cli: Cli) -> None:
    id_ = cli.run("ask")
    before = cli.content()
    with terminal(cli, "answer", id_) as at:
        at.see("> ")
        at.type("\x04")
        assert at.ends_with() == Exit.WAITING
    assert cli.content() == before
    with terminal(cli, "answer", id_) as at:
        at.see("> ")
        at.type("blue\n")
        assert at.ends_with() == Exit.DONE


def test_show_at_a_terminal_shows_what_is_asked(cli: Cli) -> None:
    with terminal(cli, "show", cli.run("ask")) as at:
        assert at.ends_with() == Exit.DONE
        assert "Which colour?" in at.screen


def test_a_failure_is_mended_where_it_is_shown(cli: Cli) -> None:
    (cli.workspace / "there.txt").write_text("x")
    plan = cli.plan(read("one", "there.txt"), read("two", "none.txt"), read("three", "there.txt"))
    with terminal(cli, "run", plan, "--workspace", str(cli.workspace)) as at:
        at.see("later) > ")
        assert "‖ two  'none.txt' does not exist." in at.screen
        assert "e edit" in at.screen
        at.type("e\n")
        at.see("  > ")
        assert '"path": "none.txt"' in at.screen
        at.type("nonsense\n")
        at.see("neither NAME=VALUE nor JSON")
        at.see("  > ")
        at.type("path=there.txt\n")
        at.see("  > ")
        at.type("\n")
        assert at.ends_with() == Exit.DONE
        assert "✓ two (try 2)" in at.screen
        assert "3 completed" in at.screen


def test_an_edit_that_changes_nothing_asks_again(cli: Cli) -> None:
    with terminal(cli, "run", cli.plan(read("one", "none")), "--workspace", str(cli.workspace)) as at:
        at.see("later) > ")
        at.type("edit\n")
        at.see("  > ")
        at.type("\n")
        at.see("later) > ")
        at.type("skip\n")
        assert at.ends_with() == Exit.DONE


def test_a_call_is_allowed_for_the_whole_session_where_it_is_shown(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    plan = cli.plan(write("one", "a.txt", "x\n" * 200), write("two", "b.txt"))
    with terminal(cli, "run", plan, "--workspace", str(cli.workspace)) as at:
        at.see("later) > ")
        assert "always in this session" in at.screen
        assert "cut: there are" in at.screen
        at.type("show all\n")
        at.see("later) > ")
        assert "all of it" not in at.screen
        at.type("perhaps\n")
        at.see("Say one of")
        at.see("later) > ")
        at.type("always\n")
        assert at.ends_with() == Exit.DONE
        assert "2 completed" in at.screen


def test_a_changed_target_is_told_and_shown_anew(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    plan = cli.plan(write("one", "a.txt", "new\n"))
    with terminal(cli, "run", plan, "--workspace", str(cli.workspace)) as at:
        at.see("later) > ")
        (cli.workspace / "a.txt").write_text("another\n")
        at.type("approve\n")
        at.see("have changed since it was shown")
        at.see("later) > ")
        assert "-another" in at.screen
        at.type("approve\n")
        assert at.ends_with() == Exit.DONE
    assert (cli.workspace / "a.txt").read_text() == "new\n"


def test_a_rule_is_confirmed_after_it_was_tried(cli: Cli) -> None:
    with terminal(cli, "policy", "deny", "--path", "secret/**") as at:
        at.see("> ")
        assert "No call of the past fits this rule." in at.screen
        at.type("n\n")
        assert at.ends_with() == Exit.REFUSED
    assert cli("policy", "--json").json()["rules"] == []


def test_hostile_text_of_a_plan_cannot_reach_the_terminal(cli: Cli) -> None:
    cli("policy", "ask", "--tool", "files.write", "--yes")
    text = "x\x1b]0;owned\x07\u202e"
    (cli.workspace / "a.txt").write_text(text)
    plan = cli.plan(write("one", "a.txt", f"{text}\n? Approval: forged", title=text), title=text)
    with terminal(cli, "run", plan, "--workspace", str(cli.workspace)) as at:
        at.see("later) > ")
        assert b"\x1b]" not in at.raw
        assert b"\x07" not in at.raw
        assert "\u202e" not in at.screen
        assert "│ ? Approval: forged" in at.screen
        assert "\n? Approval: forged" not in at.screen
        at.type("later\n")
        assert at.ends_with() == Exit.WAITING
