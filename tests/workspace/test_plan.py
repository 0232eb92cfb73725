"""What a restore decides to do, before it touches anything."""

import pytest

from belayer.workspace.plan import Move, plan
from belayer.workspace.scan import CUT, FILE, LEFT_OUT, LINK, Item, Scan

ONE, TWO = b"1" * 20, b"2" * 20


def found(**kinds: dict[bytes, Item] | set[bytes]) -> Scan:
    scan = Scan()
    for name, value in kinds.items():
        setattr(scan, name, value)
    return scan


def kinds(moves: list[Move]) -> dict[bytes, str]:
    return {move.path: move.kind for move in moves}


def test_what_is_as_it_was_is_left_alone() -> None:
    items = {b"a": Item(FILE, ONE), b"b/c": Item(LINK, TWO)}
    assert plan(items, found(items=items)) == []


def test_a_link_that_leads_elsewhere_is_put_right() -> None:
    assert kinds(plan({b"a": Item(LINK, ONE)}, found(items={b"a": Item(LINK, TWO)}))) == {b"a": "write"}


def test_a_folder_in_a_files_place_goes_only_if_all_in_it_may_go() -> None:
    wanted = {b"a": Item(FILE, ONE)}
    now = {b"a/b": Item(FILE, ONE)}
    assert kinds(plan(wanted, found(items=now, folders={b"a"}))) == {b"a": "write", b"a/b": "delete"}
    stays = plan(wanted, found(items=now, folders={b"a"}, kept={b"a/.git"}))
    assert kinds(stays) == {b"a": "skip", b"a/b": "delete"}


@pytest.mark.parametrize(
    "now",
    [
        found(items={b"d": Item(LINK, ONE)}),
        found(items={b"d": Item(FILE, ONE)}, hard_linked={b"d"}),
        found(items={b"d": Item(LEFT_OUT, ONE)}),
        found(kept={b"d"}),
    ],
)
def test_what_stands_in_a_folders_place_and_must_stay_is_told_once_for_all_that_was_in_it(now: Scan) -> None:
    wanted = {b"d/a": Item(FILE, ONE), b"d/e/b": Item(FILE, ONE)}
    assert kinds(plan(wanted, now)) == {b"d": "skip"}


def test_a_plain_file_in_a_folders_place_makes_room() -> None:
    now = found(items={b"d": Item(FILE, ONE)})
    assert kinds(plan({b"d/a": Item(FILE, ONE)}, now)) == {b"d": "delete", b"d/a": "write"}


@pytest.mark.parametrize("left_out", [b"deep", b"deep/" + CUT, CUT])
def test_where_the_snapshot_did_not_look_nothing_is_deleted(left_out: bytes) -> None:
    wanted = {left_out: Item(LEFT_OUT, ONE)}
    now = found(items={left_out: Item(LEFT_OUT, ONE), b"deep/er/new": Item(FILE, ONE)})
    assert plan(wanted, now) == []


def test_what_was_left_out_and_has_changed_is_told() -> None:
    wanted = {b"large": Item(LEFT_OUT, ONE)}
    assert kinds(plan(wanted, found(items={b"large": Item(LEFT_OUT, TWO)}))) == {b"large": "skip"}
    assert kinds(plan(wanted, found())) == {b"large": "skip"}
