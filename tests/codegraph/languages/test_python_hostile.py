"""Python source that was written to hurt, or broken by accident: it is read as far as it goes, and never raises."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.codegraph.facts import pack, unpack
from belayer.codegraph.languages.python import PYTHON
from belayer.codegraph.link.words import words_of
from tests.codegraph.graphs import edges, linked

DEEP = {
    "parentheses": "x = " + "(" * 100_000,
    "attributes": "x" + ".a" * 100_000,
    "calls": "f" + "()" * 50_000,
    "nested calls": "f(" * 50_000 + ")" * 50_000,
    "lambdas": "x = " + "lambda: " * 30_000 + "1",
    "operators": "x = " + "a + " * 100_000 + "1",
    "lists": "x = " + "[" * 50_000,
    "assignments": "a = " * 50_000 + "1",
    "decorators": "@a\n" * 20_000 + "def f(): pass",
    "types": "def f(x: " + "List[" * 20_000 + "]" * 20_000 + "): pass",
    "blocks": "".join(" " * n + "if x:\n" for n in range(2_000)),
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting_comes_to_an_end(source: str) -> None:
    assert [part.path for part in linked({"main.py": source})] == ["main.py"]


SOURCE = b"""
import os.path as p
from .a import (b as c, d)
@deco(1)
class A(B[int], metaclass=M):
    x: dict[str, 'A | None'] = {}
    async def m(self, *a, k=lambda y: y, **kw) -> list[A]:
        async with self.n() as (q, r):
            return [i async for i in f'{q!r:>{w}}' if (z := i)]
match v:
    case A(x=1) as s if s: yield s
try: raise E from e
except* (F, G) as h: del h[0], h
finally: nonlocal_ = a[1:2, ...]
"""


@given(
    st.lists(
        st.tuples(st.integers(0, len(SOURCE)), st.integers(0, len(SOURCE)), st.binary(max_size=4)), max_size=4
    )
)
def test_source_that_was_cut_and_mixed_up_is_still_read(cuts: list[tuple[int, int, bytes]]) -> None:
    source = SOURCE
    for start, end, filling in cuts:
        source = source[:start] + filling + source[end:]
    facts = PYTHON.read("a.py", source)
    assert unpack(pack(facts)) == facts
    assert words_of(facts) == words_of(unpack(pack(facts)))


def test_what_can_be_read_of_a_broken_file_counts() -> None:
    found = edges({"main.py": "def f(): pass\ndef g(:\n  f()\nf()\n"})
    assert "main.py -calls-> main.py::f resolved" in found


def test_strange_bytes_are_read() -> None:
    assert linked({"main.py": "x = '\ud7ff'\n"})
    assert PYTHON.read("a.py", bytes(range(256))).is_broken


def test_nothing_of_a_file_stays_in_memory_when_its_facts_are_dropped() -> None:
    PYTHON.read("a.py", SOURCE)
    gc.collect()
    PYTHON.read("a.py", SOURCE)
    assert gc.collect() == 0  # the build's processes never collect: what is left in circles would stay


@pytest.mark.parametrize(
    "written", ["a. b.c(d .e)", "a\\\n.b.c(d.\\\ne)", "(a\n.b  # why\n.c)(d.e)", "a.b.c(d.e  # why\n)"]
)
def test_a_dotted_name_means_the_same_however_it_is_spaced(written: str) -> None:
    plain, spaced = (
        PYTHON.read("a.py", text.encode()) for text in ("import a, d\na.b.c(d.e)", f"import a, d\n{written}")
    )
    assert [(call.callee, call.args) for call in spaced.calls] == [
        (call.callee, call.args) for call in plain.calls
    ]
    assert {reference.value for reference in plain.references} <= {
        reference.value for reference in spaced.references
    }


@pytest.mark.parametrize("word", ["None", "True", "lambda", "if"])
def test_a_keyword_is_no_name(word: str) -> None:
    facts = PYTHON.read("a.py", f"{word}.x.y()".encode())
    assert ("name", word) not in [reference.value for reference in facts.references]
    assert all(call.callee != ("attr", ("attr", ("name", word), "x"), "y") for call in facts.calls)
