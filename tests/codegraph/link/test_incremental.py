"""An edit links again only what looked at what it changed, and the graph is the one that linking everything gives."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.codegraph.facts import Facts
from belayer.codegraph.link.linker import Linked, Linker
from belayer.codegraph.link.marks import Marks
from tests.codegraph.graphs import Shelf

PATHS = (
    "main.py",
    "lib.py",
    "pkg/__init__.py",
    "pkg/a.py",
    "pkg/b.py",
    "pkg/sub/c.py",
    "tests/test_all.py",
    "tests/conftest.py",
)
# Lines that refer to each other across files, whichever of them are there.
LINES = (
    "from lib import f",
    "from lib import f as g",
    "from pkg import *",
    "from pkg.a import A, make",
    "from pkg import a, b",
    "import pkg.b as b",
    "from .a import A",
    "from .b import *",
    "from . import b",
    "from pkg.sub.c import helper",
    "__all__ = ['f', 'A']",
    "def f(x): return x",
    "def f(x, y=None): x(); return y",
    "def g(): return f",
    "def helper(cb): cb()",
    "def make(): return A()",
    "def call(o): o.run()",
    "class A:\n    def run(self): self.step()\n    def step(self): pass",
    "class A:\n    def __init__(self, cb): self.cb = cb\n    def run(self): self.cb()",
    "class B(A):\n    def step(self): super().step()",
    "class B(a.A):\n    def run(self): helper(self.step)",
    "x = A()",
    "x = make()",
    "x.run()",
    "f(g)",
    "helper(f)",
    "call(A())",
    "call(B())",
    "h = f",
    "h = [f, g]",
    "h[0]()",
    "b.f(g)",
    "a.A().run()",
    "d = {'k': f}",
    "d['k'] = g",
    "d['k']()",
    "def test_x(thing): thing.run(); f(1)",
    "import pytest\n@pytest.fixture\ndef thing(): return A()",
    "from fastapi import APIRouter\nrouter = APIRouter(prefix='/p')",
    "@router.get('/x')\ndef endpoint(): return f(1)",
    "from fastapi import FastAPI\napp = FastAPI()",
    "app.include_router(b.router, prefix='/api')",
    "app.include_router(router)",
    "def deco(fn):\n    def inner(): return fn()\n    return inner",
    "@deco\ndef f(): pass",
    "for i in [f, A]: i()",
    "with A() as q: q.run()",
)
sources = st.lists(st.sampled_from(LINES), max_size=6).map("\n".join)
projects = st.dictionaries(st.sampled_from(PATHS), sources, min_size=1, max_size=6)
edits = st.lists(
    st.dictionaries(st.sampled_from(PATHS), st.none() | sources, min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def everything(sources: Mapping[str, str]) -> dict[str, Linked]:
    shelf = Shelf(sources)
    return {part.path: part for part in Linker(shelf).link(shelf.paths())}


def updated(
    graph: Mapping[str, Linked], before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[dict[str, Linked], set[str]]:
    """The graph after an edit, made from the one before, and the files that were linked again for it."""
    old, new = Shelf(before), Shelf(after)
    touched = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    changed: dict[str, Facts | None] = {path: old.facts(path) for path in touched}
    linker = Linker(new)
    memories = Marks({path: part.memory for path, part in graph.items()})
    again = linker.affected(changed, old.manifests(), memories)
    kept = {path: part for path, part in graph.items() if new.facts(path) is not None}
    return {**kept, **{part.path: part for part in linker.link(sorted(again))}}, again


def edited(sources: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    merged = {**sources, **changes}
    return {path: text for path, text in merged.items() if text is not None}


@settings(max_examples=150)
@given(projects, edits)
def test_any_sequence_of_edits_gives_the_graph_that_linking_everything_gives(
    project: dict[str, str], changes: list[dict[str, str | None]]
) -> None:
    graph = everything(project)
    for change in changes:
        after = edited(project, change)
        graph, _ = updated(graph, project, after)
        project = after
        assert shown(graph) == shown(everything(project))


def shown(graph: Mapping[str, Linked]) -> dict[str, object]:
    return {path: (part.nodes, part.edges) for path, part in graph.items()}


@settings(max_examples=60)
@given(projects)
def test_a_file_is_linked_the_same_whatever_was_linked_before_it(project: dict[str, str]) -> None:
    together = everything(project)
    shelf = Shelf(project)
    alone = {path: next(iter(Linker(shelf).link([path]))) for path in shelf.paths()}
    assert alone == together


LIBRARY = {
    "lib.py": "def f(x):\n    y = x\n    return y\n\nclass A:\n    def run(self):\n        pass\n",
    "main.py": "from lib import f, A\nf(1)\nA().run()\n",
    "other.py": "import main\n",
}


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"lib.py": LIBRARY["lib.py"].replace("pass", "print(1)")}, {"lib.py"}),
        ({"lib.py": "# moved down\n" + LIBRARY["lib.py"]}, {"lib.py"}),
        ({"lib.py": LIBRARY["lib.py"].replace("run", "go")}, {"lib.py", "main.py"}),
        ({"main.py": "import lib\nlib.f(2)\n"}, {"main.py"}),
        ({"lib.py": None}, {"main.py"}),
    ],
)
def test_an_edit_links_again_only_who_looked_at_what_it_changed(
    change: dict[str, str | None], again: set[str]
) -> None:
    graph = everything(LIBRARY)
    assert updated(graph, LIBRARY, edited(LIBRARY, change))[1] == again
