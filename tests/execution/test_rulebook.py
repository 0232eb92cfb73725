"""A person's rules in a file: read again, ignored where they were not saved, and never guessed at."""

import json
import shutil
from pathlib import Path

import pytest

from belayer.execution.rulebook import Rulebook
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import NotReady, SessionFailed
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.rules import Risk, Rule, Verdict
from belayer.wiring import kept_in_memory
from tests.support.engines import engine_on, reached
from tests.support.plans import begin

RULES = (
    Rule(verdict=Verdict.DENY, path="secrets/**", note="nobody's business: \u202eä"),
    Rule(verdict=Verdict.ALLOW, tool="files.*", effect="write"),
)
FORBIDDEN = Rule(verdict=Verdict.DENY, tool="files.write")
WRITES = {"id": "w", "tool": "files.write", "params": {"path": "a.txt", "content": "x"}}


def test_rules_are_read_as_they_were_saved(tmp_path: Path) -> None:
    Rulebook(tmp_path).save(RULES)
    assert Rulebook(tmp_path).rules() == RULES
    assert Rulebook(tmp_path).foreign() == ()


def test_saved_rules_take_the_place_of_others(tmp_path: Path) -> None:
    book = Rulebook(tmp_path / "new" / "home")
    book.save(RULES)
    book.save(RULES[:1])
    assert book.rules() == RULES[:1]
    assert [path.name for path in (tmp_path / "new" / "home").iterdir()] == ["policy.json"]


def test_without_a_file_there_are_no_rules(tmp_path: Path) -> None:
    assert Rulebook(tmp_path).rules() == ()
    assert Rulebook(tmp_path / "missing").rules() == ()
    assert Rulebook(tmp_path).foreign() == ()


def test_without_a_folder_rules_hold_as_long_as_the_book() -> None:
    book = Rulebook()
    book.save(RULES)
    assert book.rules() == RULES
    assert book.path is None
    assert Rulebook().rules() == ()


def test_rules_that_came_with_a_copy_of_the_folder_do_not_count_until_they_are_saved_there(
    tmp_path: Path,
) -> None:
    Rulebook(tmp_path / "mine").save(RULES)
    shutil.copytree(tmp_path / "mine", tmp_path / "copy")
    copy = Rulebook(tmp_path / "copy")
    assert (copy.rules(), copy.foreign()) == ((), RULES)
    copy.save(copy.foreign())
    assert (copy.rules(), copy.foreign()) == (RULES, ())


def test_rules_move_along_with_their_folder(tmp_path: Path) -> None:
    Rulebook(tmp_path / "here").save(RULES)
    (tmp_path / "here").rename(tmp_path / "there")
    assert Rulebook(tmp_path / "there").rules() == RULES


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"saved_in": 1}',
        b'{"saved_in": 1, "rules": [], "more": 1}',
        b'{"saved_in": 1, "rules": [{"verdict": "allow"}]}',
        b'{"saved_in": 1, "rules": [{"verdict": "maybe", "tool": "x"}]}',
        b'{"saved_in": 1, "rules": [{"verdict": "allow", "tool": "x", "pth": "y"}]}',
        b'{"saved_in": 1, "rules": ' + b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_said_to_be_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "policy.json").write_bytes(content)
    for read in (Rulebook(tmp_path).rules, Rulebook(tmp_path).foreign):
        with pytest.raises(NotReady) as refused:
            read()
        assert "policy.json" in refused.value.detail
        assert refused.value.hint


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "policy.json").mkdir()
    with pytest.raises(NotReady, match=r"policy\.json"):
        Rulebook(tmp_path).rules()


def test_rules_that_cannot_be_saved_leave_those_that_are_there(tmp_path: Path) -> None:
    book = Rulebook(tmp_path)
    book.save(RULES)
    (tmp_path / "policy.new").mkdir()
    with pytest.raises(NotReady, match="still hold") as refused:
        book.save([FORBIDDEN])
    assert refused.value.hint
    assert book.rules() == RULES


async def test_a_session_holds_while_the_rules_cannot_be_read_and_goes_on_once_they_can(
    tmp_path: Path,
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    Rulebook(home).save([Rule(verdict=Verdict.DENY, path="secrets/**")])
    good = (home / "policy.json").read_bytes()
    (home / "policy.json").write_bytes(good[:-10])
    async with engine_on(kept_in_memory(home), ManualClock()) as engine:
        session = await begin(engine, WRITES, workspace=work)
        state = await reached(session, Status.PAUSED)
        assert "policy.json" in (state.reason or "")
        assert not (work / "a.txt").exists()
        await session.resume()
        assert (await reached(session, Status.PAUSED)).reason == state.reason
        (home / "policy.json").write_bytes(good)
        await session.resume()
        await session.result()
    assert (work / "a.txt").read_text() == "x"


async def test_a_rule_of_the_book_forbids_a_call_and_names_itself(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    Rulebook(home).save([FORBIDDEN])
    async with engine_on(kept_in_memory(home), ManualClock()) as engine:
        session = await begin(engine, {**WRITES, "critical": False}, workspace=work)
        result = await session.result()
    assert "deny tool files.write" in json.dumps(result)
    assert not (work / "a.txt").exists()


async def test_a_plan_cannot_bring_its_own_rules(tmp_path: Path) -> None:
    """What lies in the workspace is not the word of whoever runs Belayer here."""
    home, work = tmp_path / "home", tmp_path / "work"
    Rulebook(work).save([Rule(verdict=Verdict.ALLOW, tool="**", risk=Risk.HIGH)])
    shutil.copytree(work, work / ".belayer")
    (work / "docs").mkdir()
    steps = {"id": "d", "tool": "files.delete", "params": {"path": "docs", "folder": True}}
    async with engine_on(kept_in_memory(home), ManualClock()) as engine:
        session = await begin(engine, steps, workspace=work)
        await reached(session, Status.WAITING)
        await session.reject("no")
        await reached(session, Status.WAITING)
        await session.answer("abort")
        with pytest.raises(SessionFailed, match="said no"):
            await session.result()
    assert (work / "docs").is_dir()
