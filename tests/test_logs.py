"""Logs for the operator: a line of JSON each, without secrets, with the session's id."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from belayer.logs import set_up_logs
from belayer.sessions.redact import Redactor

SECRET = "hunter2hunter2"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with logs; afterwards everything is as it was."""
    set_up_logs(tmp_path / "logs", Redactor([SECRET]))
    yield tmp_path / "logs"
    tear_down()


def tear_down() -> None:
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    ours = logging.getLogger("belayer")
    for handler in ours.handlers:
        handler.close()
    ours.handlers, ours.propagate = [], True
    ours.setLevel(logging.NOTSET)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "belayer.jsonl").read_text().splitlines()]


class TestFile:
    def test_a_line_has_its_sentence_its_facts_its_level_and_its_time(self, folder: Path) -> None:
        structlog.get_logger().info("step retried", key="a/1", attempt=2)
        (line,) = lines(folder)
        assert (line["event"], line["key"], line["attempt"], line["level"]) == (
            "step retried",
            "a/1",
            2,
            "info",
        )
        assert line["timestamp"].endswith("Z")

    def test_a_session_that_is_bound_once_stands_in_every_line(self, folder: Path) -> None:
        with structlog.contextvars.bound_contextvars(session_id="abc"):
            structlog.get_logger().info("one")
            structlog.get_logger().warning("two")
        structlog.get_logger().info("three")
        assert [line.get("session_id") for line in lines(folder)] == ["abc", "abc", None]

    def test_a_logger_made_before_the_set_up_writes_too(self, tmp_path: Path) -> None:
        logger = structlog.get_logger()
        set_up_logs(tmp_path, Redactor())
        logger.info("early")
        found = lines(tmp_path)
        tear_down()
        assert [line["event"] for line in found] == ["early"]

    def test_an_exception_is_kept_with_its_trace(self, folder: Path) -> None:
        try:
            raise ValueError("broken")
        except ValueError:
            structlog.get_logger().exception("it failed")
        assert "ValueError: broken" in lines(folder)[0]["exception"]

    def test_details_for_developers_are_left_out(self, folder: Path) -> None:
        structlog.get_logger().debug("detail")
        structlog.get_logger().info("news")
        assert [line["event"] for line in lines(folder)] == ["news"]

    def test_a_value_with_line_breaks_does_not_make_a_second_line(self, folder: Path) -> None:
        structlog.get_logger().info("said", text='one\r\n{"event":"forged"}\n')
        assert [line["event"] for line in lines(folder)] == ["said"]

    def test_setting_up_again_writes_each_line_once(self, folder: Path) -> None:
        handlers = logging.getLogger("belayer").handlers
        set_up_logs(folder, Redactor())
        structlog.get_logger().info("once")
        for handler in handlers:
            handler.close()
        assert len(lines(folder)) == 1

    def test_nothing_is_made_before_there_is_something_to_say(self, folder: Path) -> None:
        assert list(folder.iterdir()) == []


class TestSecrets:
    @pytest.mark.parametrize(
        "facts",
        [
            pytest.param({"text": f"it is {SECRET}"}, id="in a text"),
            pytest.param({"facts": {"password": SECRET}}, id="in a dictionary"),
            pytest.param({"facts": [SECRET]}, id="in a list"),
            pytest.param({"facts": {"deep": [{"er": SECRET}]}}, id="deep inside"),
            pytest.param({"error": ValueError(f"bad {SECRET}")}, id="in an error"),
            pytest.param({"path": Path(f"/x/{SECRET}")}, id="in a path"),
            pytest.param({"content": SECRET.encode()}, id="in bytes"),
        ],
    )
    def test_a_secret_does_not_get_into_the_file(self, folder: Path, facts: dict[str, Any]) -> None:
        structlog.get_logger().info("said", **facts)
        assert SECRET not in (folder / "belayer.jsonl").read_text()

    def test_a_secret_in_the_sentence_is_redacted(self, folder: Path) -> None:
        structlog.get_logger().info(f"said {SECRET}")
        assert lines(folder)[0]["event"] == "said [redacted]"

    def test_a_secret_in_a_trace_is_redacted(self, folder: Path) -> None:
        try:
            raise ValueError(SECRET)
        except ValueError:
            structlog.get_logger().exception("it failed")
        assert SECRET not in (folder / "belayer.jsonl").read_text()

    def test_a_secret_in_a_plain_log_line_of_ours_is_redacted(self, folder: Path) -> None:
        logging.getLogger("belayer.somewhere").warning("said %s", SECRET)
        assert SECRET not in (folder / "belayer.jsonl").read_text()

    def test_a_secret_does_not_get_to_stderr(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        set_up_again(folder)
        structlog.get_logger().error("said", text=SECRET, facts=[SECRET])
        assert SECRET not in capsys.readouterr().err


def set_up_again(folder: Path) -> None:
    """So that stderr is the one that the test captures."""
    tear_down()
    set_up_logs(folder, Redactor([SECRET]))


class TestStderr:
    def test_warnings_go_to_the_person_at_the_terminal(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        set_up_again(folder)
        structlog.get_logger().warning("look here", key="a")
        assert "look here" in capsys.readouterr().err

    def test_news_do_not(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        set_up_again(folder)
        structlog.get_logger().info("all is well")
        assert capsys.readouterr().err == ""

    def test_it_can_be_left_out(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        set_up_logs(tmp_path, Redactor(), to_stderr=False)
        structlog.get_logger().error("quiet")
        tear_down()
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize("text", ["a\x1b]0;title\x07b", "a\x1b[2Jb", "a\nforged line", "a\rb"])
    def test_a_value_cannot_drive_the_terminal(
        self, folder: Path, capsys: pytest.CaptureFixture[str], text: str
    ) -> None:
        set_up_again(folder)
        structlog.get_logger().warning("said", text=text)
        shown = capsys.readouterr().err
        assert "\x1b" not in shown
        assert "\r" not in shown
        assert len(shown.splitlines()) == 1
