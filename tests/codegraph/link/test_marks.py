"""Which files have a hash, whether it was arranged with all the others or came later."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from belayer.codegraph.link.marks import Marks

HASHES = st.sampled_from([0, 1, 2, 1 << 16, (1 << 16) + 1, (1 << 32) - 1, (1 << 32) - (1 << 16)])
PATHS = st.sampled_from(["a.py", "b.py", "c.py", "d/e.py", "d.py"])
OWN = st.sets(HASHES, max_size=4)
EDITS = st.lists(st.tuples(PATHS, st.none() | OWN), max_size=8)


def packed(hashes: set[int]) -> bytes:
    return array("I", sorted(hashes)).tobytes()


def check(marks: Marks, files: dict[str, set[int]], wanted: set[int]) -> None:
    for each in wanted:
        assert marks.having(each) == tuple(sorted(path for path, own in files.items() if each in own))
    assert marks.having_any(wanted) == {path for path, own in files.items() if own & wanted}


@given(st.dictionaries(PATHS, OWN), EDITS, st.sets(HASHES, min_size=1), st.booleans())
def test_after_any_edits_they_are_those_that_the_files_have_now(
    files: dict[str, set[int]], edits: list[tuple[str, set[int] | None]], wanted: set[int], at_once: bool
) -> None:
    marks = Marks({path: packed(own) for path, own in files.items()})
    if at_once:
        marks.arrange()
    check(marks, files, wanted)
    for path, own in edits:
        if own is None:
            marks.remove(path)
            files.pop(path, None)
        else:
            marks.put(path, packed(own))
            files[path] = own
        check(marks, files, wanted)


def test_the_thousandth_look_finds_what_the_first_one_found() -> None:
    files = {f"{number}.py": {number, number // 2 + 5_000} for number in range(1_000)}
    marks = Marks({path: packed(own) for path, own in files.items()})
    for number in range(1_000):
        assert marks.having(number) == (f"{number}.py",)
    assert marks.having(5_000) == ("0.py", "1.py")
