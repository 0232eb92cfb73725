"""The chain: whatever is changed afterwards is found, and named."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.sessions.record import GENESIS, Entry, Record, chain, check_chain, in_force, rewound_to
from belayer.vocabulary.errors import CorruptLog
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import SessionChanged
from tests.support.records import beginning, entry, named, records, said

ONE, TWO = named(1), named(2)
LOG = records(ONE, beginning(), *(said(f"line {n}") for n in range(5)))


def rewind_to(seq: int) -> SessionChanged:
    return SessionChanged(status=Status.PAUSED, rewound_to=seq)


def kept(*events: Any) -> list[int]:
    return [record.seq for record in in_force(records(ONE, *events))]


def test_an_untouched_chain_holds() -> None:
    assert check_chain(LOG) == LOG[-1].hash


def test_an_empty_chain_holds() -> None:
    assert check_chain([]) == GENESIS


def test_a_chain_can_be_checked_in_parts() -> None:
    middle = check_chain(LOG[:3])
    assert check_chain(LOG[3:], 3, middle) == LOG[-1].hash


def test_chaining_in_parts_is_chaining_at_once() -> None:
    lines = [entry(said(str(n))) for n in range(4)]
    first = chain(ONE, 0, GENESIS, lines[:2])
    assert first + chain(ONE, 2, first[-1].hash, lines[2:]) == chain(ONE, 0, GENESIS, lines)


@settings(max_examples=100)
@given(place=st.integers(0, len(LOG) - 1), at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_in_the_data_of_any_record_is_found_and_named(place: int, at: int, bit: int) -> None:
    changed = bytearray(LOG[place].data)
    changed[at % len(changed)] ^= 1 << bit
    assert named_by(replace(LOG[place], data=bytes(changed))) == place + 1


@settings(max_examples=100)
@given(place=st.integers(0, len(LOG) - 1), at=st.integers(0, 31), bit=st.integers(0, 7))
def test_a_flipped_bit_in_the_hash_of_any_record_is_found_and_named(place: int, at: int, bit: int) -> None:
    changed = bytearray(LOG[place].hash)
    changed[at] ^= 1 << bit
    assert named_by(replace(LOG[place], hash=bytes(changed))) == place + 1


@given(
    place=st.integers(0, len(LOG) - 1),
    change=st.sampled_from(
        [
            {"at": 0},
            {"type": "status"},
            {"version": 2},
            {"stage": "testing"},
            {"session_id": TWO},
            {"data": b""},
        ]
    ),
)
def test_a_change_in_any_other_field_of_any_record_is_found_and_named(
    place: int, change: dict[str, Any]
) -> None:
    assert named_by(replace(LOG[place], **change)) == place + 1


def named_by(changed: Record) -> int:
    """Which seq the check names when this record stands in the log."""
    altered = [changed if record.seq == changed.seq else record for record in LOG]
    with pytest.raises(CorruptLog) as caught:
        check_chain(altered)
    return caught.value.seq


@pytest.mark.parametrize("missing", range(1, len(LOG)))
def test_a_missing_record_is_named(missing: int) -> None:
    with pytest.raises(CorruptLog) as caught:
        check_chain([record for record in LOG if record.seq != missing])
    assert caught.value.seq == missing


def test_swapped_records_are_found() -> None:
    swapped = [*LOG[:2], LOG[3], LOG[2], *LOG[4:]]
    with pytest.raises(CorruptLog) as caught:
        check_chain(swapped)
    assert caught.value.seq == 3


def test_records_with_swapped_contents_are_found() -> None:
    swapped = [*LOG[:2], replace(LOG[3], seq=3), replace(LOG[2], seq=4), *LOG[4:]]
    with pytest.raises(CorruptLog) as caught:
        check_chain(swapped)
    assert caught.value.seq == 3


def test_a_record_that_stands_twice_is_found() -> None:
    with pytest.raises(CorruptLog):
        check_chain([*LOG[:2], LOG[1], *LOG[2:]])


def test_a_record_of_another_session_is_found() -> None:
    other = records(TWO, beginning(), *(said(f"line {n}") for n in range(5)))
    with pytest.raises(CorruptLog):
        check_chain([*LOG[:3], replace(other[3], session_id=ONE), *LOG[4:]])


def test_the_message_names_session_and_seq_and_says_what_to_do() -> None:
    with pytest.raises(CorruptLog, match=f"session {ONE} is damaged at seq 2") as caught:
        check_chain([LOG[0], *LOG[2:]])
    assert "belayer export" in (caught.value.hint or "")


class TestEnvelope:
    def test_the_envelope_is_the_one_of_the_protocol(self) -> None:
        (record,) = chain(ONE, 0, GENESIS, [entry(said("☃"), stage="planning")])
        assert json.loads(record.wire()) == {
            "seq": 1,
            "session_id": ONE,
            "type": "log",
            "stage": "planning",
            "timestamp": "2026-01-01T00:00:00.000000Z",
            "data": {"text": "☃", "level": "info"},
        }

    def test_no_stage_is_null(self) -> None:
        assert json.loads(LOG[0].wire())["stage"] is None

    @given(stage=st.text(min_size=1, max_size=20))
    def test_the_envelope_is_valid_json_whatever_the_stage(self, stage: str) -> None:
        (record,) = chain(ONE, 0, GENESIS, [Entry("log", 1, 0, b'{"text":"x"}', stage)])
        assert json.loads(record.wire())["stage"] == stage


class TestInForce:
    def test_without_a_rewind_everything_is_in_force(self) -> None:
        assert kept(beginning(), said(), said()) == [1, 2, 3]

    def test_a_rewind_leaves_behind_what_came_after_its_target(self) -> None:
        assert kept(beginning(), said(), said(), said(), rewind_to(2)) == [1, 2, 5]

    def test_what_comes_after_a_rewind_is_in_force(self) -> None:
        assert kept(beginning(), said(), said(), rewind_to(1), said()) == [1, 4, 5]

    def test_a_rewind_may_go_back_before_an_earlier_rewind(self) -> None:
        assert kept(beginning(), said(), said(), rewind_to(2), said(), rewind_to(1), said()) == [1, 6, 7]

    def test_a_rewind_may_go_back_to_an_earlier_rewind(self) -> None:
        assert kept(beginning(), said(), rewind_to(1), said(), said(), rewind_to(4)) == [1, 3, 4, 6]

    def test_a_rewind_into_what_was_left_behind_goes_to_the_last_before_it(self) -> None:
        assert kept(beginning(), said(), said(), said(), rewind_to(2), said(), rewind_to(4)) == [1, 2, 7]

    @given(st.lists(st.integers(1, 30), max_size=12))
    def test_what_is_in_force_is_in_order_and_ends_with_the_last(self, targets: list[int]) -> None:
        events: list[Any] = [beginning()]
        for target in targets:
            events += [said(), rewind_to(min(target, len(events)))]
        seqs = kept(*events)
        assert seqs == sorted(set(seqs))
        assert (seqs[0], seqs[-1]) == (1, len(events))

    def test_only_a_rewind_says_where_it_goes_back_to(self) -> None:
        made = records(ONE, beginning(), said('"rewound_to"'), rewind_to(1))
        assert [rewound_to(record) for record in made] == [None, None, 1]
