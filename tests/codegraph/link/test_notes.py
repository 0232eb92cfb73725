"""An answer is looked for once, and whoever takes it over owes the keys that it rests on."""

import pytest

from belayer.codegraph.link.notes import FULL, HOP, LAST, Notes, near


class Chain:
    """A question about each number rests on the next one; every one asks a key of its own."""

    def __init__(self, length: int, cost: int = 1) -> None:
        self.notes, self.length, self.cost = Notes(), length, cost
        self.looked_at: list[int] = []

    def ask(self, number: int, fuel: int) -> int:
        return self.notes.ask(("chain", number), fuel, self.cost, -1, self._find, number)

    def _find(self, number: int, fuel: int) -> int:
        self.looked_at.append(number)
        self.notes.keys.add(number)
        return self.ask(number + 1, fuel) if number + 1 < self.length else number


@pytest.mark.parametrize("length", [1, 2, 5, 20])
def test_the_keys_of_an_answer_are_those_of_all_that_it_rests_on(length: int) -> None:
    chain = Chain(length)
    assert chain.ask(0, FULL) == length - 1
    assert chain.notes.all_keys() == set(range(length))


@pytest.mark.parametrize("length", [1, 2, 5, 20])
def test_an_answer_is_found_once_and_still_owes_its_keys_in_the_next_file(length: int) -> None:
    chain = Chain(length)
    chain.ask(0, FULL)
    chain.notes.begin()
    assert chain.ask(0, FULL) == length - 1
    assert chain.looked_at == list(range(length))
    assert chain.notes.all_keys() == set(range(length))


def test_a_file_does_not_owe_what_an_earlier_file_asked() -> None:
    chain = Chain(9)
    chain.ask(0, FULL)
    chain.notes.begin()
    chain.ask(7, FULL)
    assert chain.notes.all_keys() == {7, 8}


def test_an_answer_that_ran_out_of_steps_is_not_given_to_who_has_more() -> None:
    chain = Chain(8)
    assert chain.ask(0, LAST + 3) == -1
    assert chain.ask(0, LAST + 8) == 7


def test_an_answer_that_lacked_hops_is_not_given_to_who_has_more() -> None:
    chain = Chain(3, HOP)
    assert chain.ask(0, near(FULL) + HOP) == -1
    assert chain.ask(0, near(FULL) + 2 * HOP) == -1
    assert chain.ask(0, near(FULL) + 3 * HOP) == 2


def test_an_answer_that_needs_more_fuel_than_there_is_is_not_given_to_who_has_less() -> None:
    chain = Chain(8)
    assert chain.ask(0, FULL) == 7
    assert chain.ask(0, LAST + 3) == -1


def test_what_lacks_fuel_is_looked_for_once_for_each_amount() -> None:
    chain = Chain(8)
    chain.ask(0, LAST + 3)
    looked_at = list(chain.looked_at)
    assert chain.ask(0, LAST + 3) == -1
    assert chain.looked_at == looked_at


def test_settled_notes_hold_all_keys_directly() -> None:
    chain = Chain(20)
    chain.ask(0, FULL)
    chain.notes.settle()
    assert sorted(map(hash, chain.notes.keys)) == list(range(20))
