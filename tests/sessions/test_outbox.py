"""What is left to be told survives in a file, in order, and nothing is lost by reading it again."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belayer.sessions.outbox import Letter, Outbox
from belayer.sessions.store import Mark
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.ids import SessionId
from tests.support.records import beginning, named, now_is, records

ONE, TWO = named(1), named(2)


def outbox_in(folder: Path) -> Outbox:
    return Outbox(folder / "outbox.json")


def taking(folder: Path, *letters: tuple[SessionId, int]) -> Outbox:
    """An outbox with these letters."""
    outbox = outbox_in(folder)
    for session_id, seq in letters:
        log = records(session_id, beginning(), *[now_is(Status.WAITING)] * 9)
        outbox.take([log[seq - 1]], Mark(seq, b"\x01", seq))
    return outbox


def places(letters: list[Letter]) -> list[tuple[SessionId, int]]:
    return [(letter.session_id, letter.seq) for letter in letters]


class TestOrder:
    def test_only_the_first_letter_of_a_session_is_due(self, tmp_path: Path) -> None:
        outbox = taking(tmp_path, (ONE, 2), (ONE, 3), (TWO, 5))
        assert places(outbox.due(0, (), 9)) == [(ONE, 2), (TWO, 5)]

    def test_a_letter_that_has_to_wait_keeps_its_followers_waiting_and_nobody_else(
        self, tmp_path: Path
    ) -> None:
        outbox = taking(tmp_path, (ONE, 2), (ONE, 3), (TWO, 5))
        outbox.postpone(outbox.due(0, (), 1)[0], 100)
        assert places(outbox.due(99, (), 9)) == [(TWO, 5)]
        assert [letter.attempts for letter in outbox.due(100, (TWO,), 9)] == [1]

    def test_no_more_are_due_than_are_wanted(self, tmp_path: Path) -> None:
        outbox = taking(tmp_path, (ONE, 2), (TWO, 5))
        assert [len(outbox.due(0, (), most)) for most in (-1, 0, 1, 2)] == [0, 0, 1, 2]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.sampled_from(["first arrives", "first fails", "second arrives"]), max_size=20))
    def test_whatever_fails_a_sessions_letters_arrive_in_their_order(
        self, tmp_path: Path, luck: list[str]
    ) -> None:
        outbox = taking(tmp_path, *[(ONE, seq) for seq in range(1, 6)], *[(TWO, seq) for seq in range(1, 6)])
        arrived: dict[SessionId, list[int]] = {ONE: [], TWO: []}
        for what in luck:
            due = {letter.session_id: letter for letter in outbox.due(1, (), 9)}
            letter = due.get(TWO if what == "second arrives" else ONE)
            if letter is not None and what == "first fails":
                outbox.postpone(letter, 1)
            elif letter is not None:
                arrived[letter.session_id].append(letter.seq)
                outbox.settle(letter)
        for seqs in arrived.values():
            assert seqs == list(range(1, len(seqs) + 1))


class TestKeeping:
    async def test_what_was_saved_is_taken_up_again(self, tmp_path: Path) -> None:
        outbox = taking(tmp_path, (ONE, 2), (TWO, 5))
        outbox.postpone(outbox.due(0, (), 1)[0], 7)
        await outbox.save()
        again = outbox_in(tmp_path)
        assert again.read()
        assert again.mark == outbox.mark
        assert again.due(9, (), 9) == outbox.due(9, (), 9)

    async def test_nothing_is_left_behind_beside_the_file(self, tmp_path: Path) -> None:
        await taking(tmp_path, (ONE, 2)).save()
        assert [path.name for path in tmp_path.iterdir()] == ["outbox.json"]

    def test_a_new_outbox_has_nothing_to_read(self, tmp_path: Path) -> None:
        assert not outbox_in(tmp_path).read()

    @pytest.mark.parametrize("content", ["", "{}", '{"place": 1}', "\x00\xff", "[" * 10_000])
    def test_a_file_of_nonsense_is_like_none(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "outbox.json").write_text(content)
        assert not outbox_in(tmp_path).read()

    async def test_a_disk_that_cannot_be_written_is_tried_again(self, tmp_path: Path) -> None:
        outbox = taking(tmp_path / "missing", (ONE, 2))
        await outbox.save()
        await asyncio.to_thread((tmp_path / "missing").mkdir)
        await outbox.save()
        assert outbox_in(tmp_path / "missing").read()

    def test_only_so_many_are_taken_in(self, tmp_path: Path) -> None:
        outbox = taking(tmp_path)
        (record,) = records(ONE, beginning())
        outbox.take([record] * 999, Mark())
        assert outbox.has_room
        outbox.take([record], Mark())
        assert not outbox.has_room


class TestHolding:
    def test_one_has_it_at_a_time(self, tmp_path: Path) -> None:
        first, second = outbox_in(tmp_path), outbox_in(tmp_path)
        assert first.hold()
        assert not second.hold()
        first.release()
        assert second.hold()
        second.release()
